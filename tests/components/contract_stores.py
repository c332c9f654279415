"""What everything of a region that outlives it promises, whatever it stores."""

from dataclasses import dataclass

import pytest

from outlast.view import Resource, view_of
from outlast.view.places import Place
from tests.builders import facts
from tests.components.clouds import REGIONS, intent, reading, stored


@dataclass(frozen=True)
class StoreSeen:
    """A region's key, registry or bucket as the contract asks about it."""

    holders: tuple[Resource, ...]
    """What holds the data or the key, and what is paid for."""
    exposed: list[str]
    """What lets in whom the region's account does not know."""
    guarded: bool | None
    """Deletion protection of the cloud; None where it has none."""
    locked_with: frozenset[str] | None
    """Keys of the fleet that encrypt it; None where the cloud's own key does."""


class StoreContract:
    """Invariants of a store of the class's `ROLE`."""

    ROLE: str

    def seen(self, cloud, *, teardown=False):
        return reading(cloud).store(stored(cloud, teardown=teardown), self.ROLE)

    def test_it_lies_in_the_regions_place(self, cloud):
        view = view_of(stored(cloud).resources, facts())
        places = {place for holder in self.seen(cloud).holders for place in view.location(holder).places}
        assert places == {Place(cloud, intent().regions[REGIONS[cloud]].provider_region)}

    def test_it_says_whose_it_is(self, cloud):
        view, region = view_of(stored(cloud).resources, facts()), REGIONS[cloud]
        wanted = {"fleet": "test", "region": region, "jurisdiction": intent().jurisdiction(region).lower()}
        for row in self.seen(cloud).holders:
            assert {key: view.label(row, key) for key in wanted} == wanted, row.urn

    def test_it_is_closed_to_the_public(self, cloud):
        assert self.seen(cloud).exposed == []

    @pytest.mark.parametrize("teardown", [False, True], ids=["kept", "teardown"])
    def test_one_flag_protects_it_here_and_there(self, cloud, teardown):
        found = self.seen(cloud, teardown=teardown)
        assert {holder.protect for holder in found.holders} == {not teardown}
        assert found.guarded in (None, not teardown)
