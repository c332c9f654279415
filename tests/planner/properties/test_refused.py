"""One node fewer than a plan holds is refused: it does not hold its replicas, and what binds is not proven."""

from collections.abc import Iterator

from hypothesis import given

from outlast.lock import Lock, overfull
from outlast.planner import settled_lock
from outlast.proof import prove
from tests.changed_locks import with_places, with_row
from tests.random_fleets import few, fleets


def rows_of(lock: Lock) -> Iterator[tuple[str, str]]:
    return ((region, key) for region, block in lock.regions.items() for key in block.node_pools)


@few(9)
@given(fleets())
def test_one_node_fewer_in_any_row_does_not_hold_its_replicas(fleet):
    lock = settled_lock(fleet.intent)
    for region, key in rows_of(lock):
        assert [(row.region, row.node_pool) for row in overfull(with_row(lock, region, key, -1))] == [(region, key)]


@few(9)
@given(fleets())
def test_one_node_fewer_is_not_proven_where_one_replica_fewer_is_not(fleet):
    intent = fleet.intent
    lock = settled_lock(intent)
    for region, key in rows_of(lock):
        # The proof counts what fits, taking away from the last pool of a row first.
        name = [name for name, pool in lock.regions[region].pools.items() if pool.places.get(key)][-1]
        if prove(with_places(lock, region, name, key, -1), intent).failures:
            assert prove(with_row(lock, region, key, -1), intent).failures
