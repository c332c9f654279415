"""For any counts, good or bad, planner and proof say the same of every case of every tier."""

from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from outlast.intent import Intent
from outlast.lock import Lock
from outlast.planner import plan
from outlast.planner.arrays import Arrays, Lane, LaneKey, to_arrays
from outlast.planner.needs import broken_cases
from outlast.proof import prove
from tests.planner.properties.fleets import Fleet, few, fleets
from tests.planner.properties.locks import with_block

Places = dict[LaneKey, dict[str, int]]


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
    """The lock with other replicas, up at all hours, on as many nodes as they ask for."""
    for region, block in lock.regions.items():
        rows = {(row.id, row.zone): key for key, row in block.node_pools.items()}
        pools = {}
        for key, pool in block.pools.items():
            lane = arrays.lanes[region, pool.pool, pool.accelerator]
            places = {rows[at]: count for at, count in placed(lane, replicas[lane.key], share).items() if at in rows}
            total = sum(places.values())
            cold = pool.tier == "scale-to-zero"
            counts = {"floor": 0 if cold else total, "planned": total, "max": total}
            update: dict[str, Any] = {"places": places, "replicas": pool.replicas.model_copy(update=counts)}
            pools[key] = pool.model_copy(update=update | {"floors": (), "rollout": ()})
        many = {
            key: row.model_copy(
                update={
                    "nodes": row.nodes.model_copy(update={"min": 0 if row.scaling == "elastic" else 999, "max": 999})
                }
            )
            for key, row in block.node_pools.items()
        }
        lock = with_block(lock, region, block.model_copy(update={"pools": pools, "node_pools": many}))
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


@few(40)
@given(counted())
def test_planner_and_proof_break_in_the_same_cases(drawn):
    fleet, changes, share = drawn
    intent = fleet.intent
    lock, arrays = plan(intent, None).lock, to_arrays(intent)
    keys = [(r, p.pool, p.accelerator) for r, block in lock.regions.items() for p in block.pools.values()]
    planned = {
        (r, p.pool, p.accelerator): p.replicas.planned for r, b in lock.regions.items() for p in b.pools.values()
    }
    replicas = {key: max(0, planned[key] + changes[n % 12]) for n, key in enumerate(keys)}
    changed = with_counts(lock, arrays, replicas, share)
    held = {key: sum(placed_rows(changed, key).values()) for key in keys}
    assert said_by_planner(arrays, held, lock) == said_by_proof(changed, intent)


def placed_rows(lock: Lock, key: LaneKey) -> dict[str, int]:
    region, pool, accelerator = key
    [found] = [p for p in lock.regions[region].pools.values() if (p.pool, p.accelerator) == (pool, accelerator)]
    return found.places
