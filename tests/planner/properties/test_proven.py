"""The proof, which shares no code with the planner, accepts every plan and refuses what is less."""

from collections.abc import Iterator

from hypothesis import assume, given

from outlast.intent import HOURS, Intent
from outlast.lock import MAX_WINDOWS, Lock, check_lock, lock_text, overfull
from outlast.planner import plan, settled_lock
from outlast.proof import held_of_lock, misplaced, prove
from tests.planner.properties.fleets import few, fleets
from tests.planner.properties.locks import with_block, with_places, with_pool, with_row

NO_LOSS = 1e-6


def shortcomings(lock: Lock, intent: Intent) -> list[object]:
    """Everything that any judge of a lock has against it."""
    return [
        *prove(lock, intent).failures,
        *misplaced(lock, intent),
        *overfull(lock),
        *check_lock(lock, "plan.lock.yaml"),
    ]


@few(14)
@given(fleets(regions=(2, 4), tiers=(1, 3)))
def test_raise_and_settle_survive_where_they_may_be_on_nodes_that_hold_them(fleet):
    intent = fleet.intent
    assert shortcomings(plan(intent, None).lock, intent) == []
    assert shortcomings(settled_lock(intent), intent) == []


@few(10)
@given(fleets())
def test_the_same_files_give_the_same_bytes(fleet):
    assert lock_text(settled_lock(fleet.intent)) == lock_text(settled_lock(fleet.intent))


def rows_of(lock: Lock) -> Iterator[tuple[str, str]]:
    return ((region, key) for region, block in lock.regions.items() for key in block.node_pools)


@few(14)
@given(fleets())
def test_one_node_fewer_in_any_row_does_not_hold_its_replicas(fleet):
    lock = settled_lock(fleet.intent)
    for region, key in rows_of(lock):
        assert [(row.region, row.node_pool) for row in overfull(with_row(lock, region, key, -1))] == [(region, key)]


@few(14)
@given(fleets())
def test_one_node_fewer_is_not_proven_where_one_replica_fewer_is_not(fleet):
    intent = fleet.intent
    lock = settled_lock(intent)
    for region, key in rows_of(lock):
        # The proof counts what fits, taking away from the last pool of a row first.
        name = [name for name, pool in lock.regions[region].pools.items() if pool.places.get(key)][-1]
        if prove(with_places(lock, region, name, key, -1), intent).failures:
            assert prove(with_row(lock, region, key, -1), intent).failures


@few(14)
@given(fleets(tiers=(1, 1)))
def test_some_row_of_every_plan_with_needs_is_binding(fleet):
    intent = fleet.intent
    assume(any(any(hours) for hours in intent.home_demand.values()))
    lock = settled_lock(intent)
    assert any(prove(with_row(lock, *row, -2), intent).failures for row in rows_of(lock))


@few(14)
@given(fleets())
def test_a_floor_is_few_windows_and_never_above_what_is_planned(fleet):
    lock = settled_lock(fleet.intent)
    held = held_of_lock(lock)
    for region, block in lock.regions.items():
        for key, pool in block.pools.items():
            assert len(pool.floors) <= MAX_WINDOWS
            assert max(held[region][key].serving) <= pool.replicas.planned


@few(14)
@given(fleets())
def test_the_replicas_of_a_rollout_window_are_free_in_all_its_hours(fleet):
    intent = fleet.intent
    lock = settled_lock(intent)
    for region, block in lock.regions.items():
        for key, pool in block.pools.items():
            for window in pool.rollout:
                taken = pool.replicas.model_copy(update={"floor": pool.replicas.planned - window.replicas})
                fewer = with_pool(lock, region, key, pool.model_copy(update={"replicas": taken, "floors": ()}))
                hours = [hour for hour in range(HOURS) if window.holds(hour)]
                margins = prove(fewer, intent).margins.values()
                short = [
                    m.case for m in margins if min(m.slack_by_hour[h] for h in hours) < -NO_LOSS * (1 + m.need_tok_s)
                ]
                assert short == []


@few(8)
@given(fleets())
def test_no_margin_is_left_where_a_region_is_missing_from_the_lock(fleet):
    intent = fleet.intent
    lock = settled_lock(intent)
    for region, block in lock.regions.items():
        if block.pools:
            assert prove(with_block(lock, region, None), intent).failures or not any(
                margin.need_tok_s for margin in prove(lock, intent).margins.values() if margin.case.region == region
            )
