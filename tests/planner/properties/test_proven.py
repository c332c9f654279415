"""The proof, which shares no code with the planner, accepts every plan, its floors and its rollout windows."""

from hypothesis import given

from outlast.intent import HOURS, Intent
from outlast.lock import MAX_WINDOWS, Lock, check_lock, lock_text, overfull
from outlast.planner import plan, settled_lock
from outlast.proof import held_of_lock, misplaced, prove
from tests.changed_locks import with_pool
from tests.random_fleets import few, fleets

NO_LOSS = 1e-6


def shortcomings(lock: Lock, intent: Intent) -> list[object]:
    """Everything that any judge of a lock has against it."""
    return [
        *prove(lock, intent).failures,
        *misplaced(lock, intent),
        *overfull(lock),
        *check_lock(lock, "plan.lock.yaml"),
    ]


@few(9)
@given(fleets(regions=(2, 4), tiers=(1, 3)))
def test_raise_and_settle_survive_where_they_may_be_on_nodes_that_hold_them(fleet):
    intent = fleet.intent
    assert shortcomings(plan(intent, None).lock, intent) == []
    assert shortcomings(settled_lock(intent), intent) == []


@few(6)
@given(fleets())
def test_the_same_files_give_the_same_bytes(fleet):
    assert lock_text(settled_lock(fleet.intent)) == lock_text(settled_lock(fleet.intent))


@few(9)
@given(fleets())
def test_a_floor_is_few_windows_and_never_above_what_is_planned(fleet):
    lock = settled_lock(fleet.intent)
    held = held_of_lock(lock)
    for region, block in lock.regions.items():
        for key, pool in block.pools.items():
            assert len(pool.floors) <= MAX_WINDOWS
            assert max(held[region][key].serving) <= pool.replicas.planned


@few(9)
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
