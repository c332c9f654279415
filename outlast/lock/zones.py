"""Whether regions have the zones that a lock's rows lie in, and the zones that their stacks were deployed with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from outlast.errors import Problem, listed
from outlast.intent import Intent
from outlast.lock.applied import Applied
from outlast.lock.models import Lock


def zoneless(lock: Lock, intent: Intent, regions: Iterable[str] | None = None) -> Iterator[Problem]:
    """Yield every row in a zone that its region does not have; leaving rows too, whose nodes are still there.

    Args:
        lock: whose rows.
        intent: the fleet, with its regions' zones.
        regions: the regions to look at; None: all.
    """
    for region in lock.regions if regions is None else regions:
        place, block = intent.regions.get(region), lock.regions.get(region)
        for key, row in block.node_pools.items() if place and block else ():
            if place and row.zone not in place.zones:
                yield Problem(
                    where=f"{intent.name}/plan.lock.yaml, regions.{region}.node_pools.{key}.zone",
                    what=f"{region} does not have this zone",
                    got=row.zone,
                    allowed=listed(place.zones),
                    do="Put the zone back into regions.yaml; settle and deploy first, then remove the zone",
                )


def changed_zones(intent: Intent, region: str, applied: Applied | None) -> Iterator[Problem]:
    """Yield that a deployed region's zones may not become those of the files.

    Either its cloud fixes them at birth, or nodes are still deployed in one that is to go. Their order counts, since
    ranges of nodes go by it where they are fixed; a cloud that changes zones has one range for the region. A deployment
    that did not say its zones is judged by its nodes only.
    """
    place, where = intent.regions[region], f"{intent.name}/regions.yaml, regions.{region}.zones"
    if applied is None:
        return
    gone = {row.zone for row in applied.counts.node_pools.values()} - set(place.zones)
    if applied.zones and place.zones != applied.zones and not intent.facts.can(place.cloud, "zone-change"):
        yield Problem(
            where=where,
            what=f"{place.cloud} never changes the zones of a region that is deployed",
            got=", ".join(place.zones),
            allowed=", ".join(applied.zones),
            do="Put them back; give up a zone by taking it out of node_pools' zones; a new zone is a new region",
        )
    elif gone:
        yield Problem(
            where=where,
            what=f"nodes are deployed in {listed(gone)}",
            got=", ".join(place.zones),
            do="Put the zone back; settle and deploy first, then remove the zone",
        )
