"""The table of what clouds can do, held against the components that do it."""

from functools import partial
from pathlib import Path

import pytest

from components import identity
from components.base import Place, module_of
from outlast.errors import ConfigError
from outlast.intent import checks_capabilities
from outlast.view import is_built_in
from tests.builders import ACCOUNTS, REGION_PLACES, facts
from tests.recording import declare

ROOT = Path(__file__).parents[2]
PLACES = {
    cloud: Place(
        fleet="demo",
        region=region,
        jurisdiction="EU",
        cloud=cloud,
        provider_region=provider_region,
        zones=zones,
        account=ACCOUNTS[cloud],
        protect=True,
    )
    for region, (cloud, provider_region, zones) in REGION_PLACES.items()
    if cloud in ACCOUNTS
}
BOUNDARY = "arn:aws:iam::111122223333:policy/boundary"
EVERY = pytest.mark.parametrize("cloud", sorted(PLACES))


def test_every_capability_is_asked_for_somewhere_and_every_word_is_a_capability():
    known = {row.capability for row in facts().capabilities.values()}
    sources = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "outlast").rglob("*.py"))
    assert set(checks_capabilities.WORDS) <= known
    assert {word for word in known if f'"{word}"' not in sources} == set()


@EVERY
def test_roles_are_bounded_where_the_cloud_can(cloud):
    args = identity.IdentityArgs(place=PLACES[cloud], permissions_boundary=BOUNDARY)
    made = declare(partial(identity.declare, "x", args), preview=True)
    bounded = any(r.get("permissionsBoundary") == BOUNDARY for r in made if not is_built_in(r.type))
    assert bounded is facts().can(cloud, "permissions-boundary")


@EVERY
def test_a_partly_divided_card_is_refused_by_the_component_exactly_where_the_cloud_cannot(cloud):
    module = module_of("node_pool", cloud)
    refuses = hasattr(module, "partition_size")
    if refuses:
        with pytest.raises(ConfigError, match="fills a card"):
            module.partition_size("gh100", "mig-3x1g.10gb", fills_card=False)
    assert refuses is not facts().can(cloud, "partly-divided-card")
