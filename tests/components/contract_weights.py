"""What every region's bucket of weights promises."""

from tests.components.clouds import reading, stored
from tests.components.contract_stores import StoreContract


class WeightsContract(StoreContract):
    """Invariants, on every cloud."""

    ROLE = "weights"

    def test_it_is_encrypted_with_the_regions_key(self, cloud):
        assert self.seen(cloud).locked_with == reading(cloud).keys(stored(cloud))

    def test_what_is_overwritten_is_kept(self, cloud):
        assert reading(cloud).versioned(stored(cloud))
