"""Checks against the table of what clouds can do: what a cloud lacks is refused, never ignored."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.errors import Problem, listed
from outlast.intent.checks_forms import placed_regions
from outlast.intent.intent import Intent
from outlast.intent.partitions import fills_card, is_sliced
from outlast.intent.regions import NodePool, Region

WORDS = {
    "permissions-boundary": "policy that bounds the roles it makes",
    "capacity-block": "capacity blocks",
    "zonal-nat": "way out for each zone",
    "partly-divided-card": "card of which a division leaves a part free",
    "time-slicing": "time-slices of a card",
}
"""Capability -> what a cloud has none of, in a message after "has no"."""


def check_capabilities(intent: Intent) -> Iterator[Problem]:
    """Regions ask their cloud only for what it can do."""
    for name, where, region in placed_regions(intent):
        if region.permissions_boundary is not None:
            boundary = region.permissions_boundary
            yield from _asked(intent, f"{where}.permissions_boundary", region, "permissions-boundary", boundary)
        if region.network.nat == "zonal":
            yield from _asked(intent, f"{where}.network.nat", region, "zonal-nat", "zonal")
        for pool_id, pool in region.node_pools.items():
            yield from _check_partition(intent, f"{where}.node_pools.{pool_id}.partition", region, pool)
        for key, held in intent.holdings(name).reservations.items():
            if held.block:
                block = f"{intent.name}/capacity.yaml, regions.{name}.reservations.{key}.block"
                yield from _asked(intent, block, region, "capacity-block", "true")


def _check_partition(intent: Intent, where: str, region: Region, pool: NodePool) -> Iterator[Problem]:
    machine = intent.facts.machine_types.get((region.cloud, pool.machine_type))
    if machine is None:
        return  # the check of the machine type says so
    if is_sliced(pool.partition):
        yield from _asked(intent, where, region, "time-slicing", pool.partition)
    elif not fills_card(intent.facts.accelerators[machine.accelerator], pool.partition):
        yield from _asked(intent, where, region, "partly-divided-card", pool.partition)


def _asked(intent: Intent, where: str, region: Region, capability: str, got: str) -> Iterator[Problem]:
    if intent.facts.can(region.cloud, capability):
        return
    able = [cloud for cloud in intent.facts.clouds if intent.facts.can(cloud, capability)]
    yield Problem(
        where=where,
        what=f"{region.cloud} has no {WORDS[capability]}",
        got=got,
        allowed=f"on {listed(able)}",
        do="Remove it, or use a region of another cloud",
    )
