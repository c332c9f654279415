"""What every region's registry of images promises."""

from components import images
from components.base import place_of
from tests.components.clouds import REGIONS, intent, reading, recorded, stored
from tests.components.contract_stores import StoreContract


def pulled(cloud):
    """What containers of the region pull from its own registry."""
    place = place_of(intent(), REGIONS[cloud], teardown=False)
    addresses = tuple(images.address(place, image) for image in intent().artifacts.images)
    pods = [row.get("spec.template.spec") for row in recorded(cloud).resources if row.get("spec.template.spec")]
    found = [one["image"] for pod in pods for kind in ("containers", "initContainers") for one in pod.get(kind) or ()]
    return [image for image in found if image.startswith(addresses)]


class ImagesContract(StoreContract):
    """Invariants, on every cloud."""

    ROLE = "images"

    def test_it_is_encrypted_with_the_regions_key_where_it_takes_one(self, cloud):
        assert self.seen(cloud).locked_with in (None, reading(cloud).keys(stored(cloud)))

    def test_tags_cannot_move_where_the_cloud_can_fix_them(self, cloud):
        assert reading(cloud).tags_fixed(stored(cloud)) in (None, True)

    def test_nodes_pull_by_digest(self, cloud):
        assert pulled(cloud)
        assert [image for image in pulled(cloud) if "@sha256:" not in image] == []
