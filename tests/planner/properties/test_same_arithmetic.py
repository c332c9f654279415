"""For any counts, good or bad, planner and proof say the same of every case of every tier."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from outlast.intent import Intent
from outlast.intent.models import COLD
from outlast.lock import Lock, Nodes
from outlast.planner import plan
from outlast.planner.arrays import Arrays, Lane, LaneKey, to_arrays
from outlast.planner.needs import broken_cases
from outlast.proof import prove
from tests.changed_locks import with_block
from tests.random_fleets import Fleet, few, fleets


def placed(lane: Lane, replicas: int, share: int) -> dict[tuple[str, str], int]:
    """Replicas by node pool and zone: even over zones, divided by a share where a zone has two node pools."""
    found: Counter[tuple[str, str]] = Counter()
    for zone, count in lane.places(replicas).items():
        first, *others = lane.zone_pools[zone]
        moved = count * share // 100 if others else 0
        found[first, zone] += count - moved
        if others:
            found[others[0], zone] += moved
    return dict(found)


def with_counts(lock: Lock, arrays: Arrays, replicas: dict[LaneKey, int], share: int) -> Lock:
    """The lock with other replicas, up at all hours, on more nodes than they ask for."""
    for region, block in lock.regions.items():
        rows, pools = dict(block.node_pools), {}
        for key, pool in block.pools.items():
            lane = arrays.lanes[region, pool.pool, pool.accelerator]
            like = block.node_pools[next(iter(pool.places))]
            places = {}
            for (node_pool, zone), count in placed(lane, replicas[lane.key], share).items():
                places[f"{node_pool}-{zone}"] = count
                rows[f"{node_pool}-{zone}"] = like.model_copy(update={"id": node_pool, "zone": zone})
            total = sum(places.values())
            counts = {"floor": 0 if pool.tier == COLD else total, "planned": total, "max": total}
            update: dict[str, Any] = {"places": places, "replicas": pool.replicas.model_copy(update=counts)}
            pools[key] = pool.model_copy(update=update | {"floors": (), "rollout": ()})
        many = Nodes(min=999, expected=999, max=999)
        kept = {key: row.model_copy(update={"nodes": many}) for key, row in rows.items()}
        lock = with_block(lock, region, block.model_copy(update={"pools": pools, "node_pools": kept}))
    return lock


def said_by_proof(lock: Lock, intent: Intent) -> set[tuple[str, str, str]]:
    return {(m.case.region, m.case.pool, m.case.lost.split()[0]) for m in prove(lock, intent).failures}


def said_by_planner(arrays: Arrays, replicas: dict[LaneKey, int], lock: Lock) -> set[tuple[str, str, str]]:
    return {(*key, case.lost) for key, case in broken_cases(arrays, replicas, lock.shares)}


@st.composite
def counted(draw: st.DrawFn) -> tuple[Fleet, list[int], int]:
    """A fleet, how much its plan's counts change lane by lane, and how two node pools of a zone divide."""
    changes = draw(st.lists(st.integers(-4, 3), min_size=12, max_size=12))
    return draw(fleets(regions=(2, 3), tiers=(1, 3))), changes, draw(st.integers(0, 100))


@few(24)
@given(counted())
def test_planner_and_proof_break_in_the_same_cases(drawn):
    fleet, changes, share = drawn
    intent = fleet.intent
    lock, arrays = plan(intent, None).lock, to_arrays(intent)
    pools = [(region, pool) for region, block in lock.regions.items() for pool in block.pools.values()]
    replicas = {
        (region, pool.pool, pool.accelerator): max(0, pool.replicas.planned + changes[number % len(changes)])
        for number, (region, pool) in enumerate(pools)
    }
    changed = with_counts(lock, arrays, replicas, share)
    assert said_by_planner(arrays, replicas, lock) == said_by_proof(changed, intent)
