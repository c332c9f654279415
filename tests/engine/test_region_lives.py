"""The life of a region on each cloud, on the real engine: grown, changed, broken, mended, torn down and rebuilt.

One small fleet has a region on each cloud. A life is lived once, by all three regions at the same time, and what was
seen on the way is judged cloud by cloud.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import pytest

from simcloud.life import Operation, drift, faults, lift_faults, operations, resources, set_fault
from tests.engine.simulation import Ran, Simulation
from tests.engine.small_fleet import (
    CLUSTERS,
    COUNTS,
    GIVEN_UP,
    MORE_TOK_S,
    NODE_POOLS,
    PEAK_TOK_S,
    REGIONS,
    RESERVATIONS,
    TAGS,
    ZONES,
    Counts,
    adopt,
    change,
    cluster,
    counts,
    demand_becomes,
    deploy,
    documents,
    held,
    name_of,
    node_pools,
    nodes_of,
    planned,
    right,
    settle,
    stack_of,
    up,
)

pytestmark = pytest.mark.real
QUOTAS = {
    "aws": ("us-east-1", "L-417A185B", 192),
    "gcp": ("europe-west4", "GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100", 8),
    "azure": ("polandcentral", "standardNDSH100v5Family", 96),
}
"""Provider region, quota of the H100 machine type, and what a node counts against it.

Source: config/facts/quotas.csv and machine_types.csv.
"""
SEED = 20261130
KILLS = 4
"""Resources of a region, drawn by the seed, at whose birth the plugin is killed."""


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    """The fleet, deployed under the policies; not to be changed."""
    made = Simulation.of_fleet(tmp_path_factory.mktemp("lives") / "fleet", documents())
    right(made.outlast("plan", "test"))
    right(made.outlast("sim", "up", "test"))
    return made


@pytest.fixture
def fleet(pristine: Simulation, tmp_path) -> Simulation:
    """A copy that the test may break."""
    return pristine.copy(tmp_path / "fleet")


@pytest.fixture(params=REGIONS)
def cloud(request) -> str:
    return str(request.param)


def test_a_second_deployment_changes_nothing(pristine, cloud):
    right(pristine.pulumi("preview", "--stack", stack_of(cloud), "--policy-pack", "policies", "--expect-no-changes"))


def test_a_refresh_finds_nothing(pristine, cloud):
    right(pristine.pulumi("refresh", "--preview-only", "--stack", stack_of(cloud), "--expect-no-changes"))


@dataclass(frozen=True, kw_only=True)
class Growth:
    """A raise that meets a stockout in one zone and then a revoked quota, goes through, and is taken back."""

    before: Counts
    stocked_out: dict[str, Ran]
    without_a_zone: Counts
    revoked: dict[str, Ran]
    at_quota: Counts
    raised: Counts
    wanted: Counts
    lowered: Counts


@pytest.fixture(scope="module")
def growth(pristine: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Growth:
    fleet = pristine.copy(tmp_path_factory.mktemp("growth") / "fleet")
    before = counts(fleet)
    demand_becomes(fleet, MORE_TOK_S)
    for cloud, zones in ZONES.items():
        set_fault(fleet.sim, "stockout", {"cloud": cloud, "machine_type": "*", "zone": zones[-1]})
    stocked_out, without_a_zone = up(fleet, "--continue-on-error"), counts(fleet)
    lift_faults(fleet.sim)
    for cloud, (place, code, units) in QUOTAS.items():
        used = sum(without_a_zone[cloud].values()) * units
        set_fault(fleet.sim, "revoke-quota", {"cloud": cloud, "region": place, "code": code, "granted": used})
    revoked, at_quota = up(fleet), counts(fleet)
    lift_faults(fleet.sim)
    deploy(fleet)
    raised, wanted = counts(fleet), planned(fleet)
    demand_becomes(fleet, PEAK_TOK_S)
    deploy(fleet)
    settle(fleet)
    return Growth(
        before=before,
        stocked_out=stocked_out,
        without_a_zone=without_a_zone,
        revoked=revoked,
        at_quota=at_quota,
        raised=raised,
        wanted=wanted,
        lowered=counts(fleet),
    )


def test_a_stockout_in_one_zone_is_named_and_stops_that_zone_only(growth, cloud):
    ran, before, after = growth.stocked_out[cloud], growth.before[cloud], growth.without_a_zone[cloud]
    assert ran.code != 0
    assert ZONES[cloud][-1] in ran.refusal, ran.output
    grown = {name for name, nodes in growth.wanted[cloud].items() if nodes > before[name]}
    stopped = {name for name in grown if after[name] == before[name]}
    assert 0 < len(stopped) < len(grown)
    assert all(after[name] == growth.wanted[cloud][name] for name in grown - stopped)


def test_a_quota_revoked_half_way_is_named_and_stops_a_raise(growth, cloud):
    ran, (_, code, _) = growth.revoked[cloud], QUOTAS[cloud]
    assert ran.code != 0
    assert code in ran.refusal, ran.output
    assert growth.at_quota[cloud] == growth.without_a_zone[cloud]


def test_a_raise_that_was_stopped_is_completed_by_the_next_up_in_the_same_node_pools(growth, cloud):
    assert growth.raised[cloud] == growth.wanted[cloud]
    assert growth.raised[cloud].keys() == growth.before[cloud].keys()


def test_a_raise_that_is_taken_back_settles_to_what_was_there(growth, cloud):
    assert growth.lowered[cloud] == growth.before[cloud]


@dataclass(frozen=True, kw_only=True)
class Move:
    """Another reservation, and the on-demand node pool gives up a zone."""

    before: Counts
    both: Counts
    after: Counts
    wanted: Counts


@pytest.fixture(scope="module")
def move(pristine: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Move:
    fleet = pristine.copy(tmp_path_factory.mktemp("move") / "fleet")
    before = counts(fleet)
    change(fleet, "regions", _moved)
    right(fleet.outlast("plan", "test"))
    deploy(fleet)
    both = counts(fleet)
    settle(fleet)
    return Move(before=before, both=both, after=counts(fleet), wanted=planned(fleet))


def _moved(document: dict[str, Any]) -> None:
    for cloud, region in REGIONS.items():
        node_pools = document["regions"][region]["node_pools"]
        node_pools["rh100"]["reservation"] = RESERVATIONS[cloud][1]
        node_pools["gh100"]["zones"].remove(ZONES[cloud][GIVEN_UP[cloud] - 1])


def _generations(pools: Counts, cloud: str) -> set[str]:
    return {name for name in pools[cloud] if name.startswith(f"{REGIONS[cloud]}-rh100-")}


def test_another_reservation_is_a_new_generation_beside_the_old_until_it_settles(move, cloud):
    old, both, new = (_generations(pools, cloud) for pools in (move.before, move.both, move.after))
    assert old
    assert old < both
    assert new == both - old


def test_nodes_of_a_zone_that_is_given_up_stay_until_others_have_grown(move, cloud):
    gone = {name for name in move.before[cloud] if name.startswith(f"{REGIONS[cloud]}-gh100-{GIVEN_UP[cloud]}-")}
    assert gone
    assert all(move.both[cloud][name] == move.before[cloud][name] for name in gone)
    assert not gone & move.after[cloud].keys()
    assert move.after == move.wanted


@pytest.fixture(scope="module")
def upgrade(pristine: Simulation, tmp_path_factory: pytest.TempPathFactory) -> list[Operation]:
    """What the engine asked of the clouds to raise Kubernetes by a minor version."""
    fleet = pristine.copy(tmp_path_factory.mktemp("upgrade") / "fleet")
    seen = len(operations(fleet.sim))
    change(fleet, "fleet", lambda document: document.update(kubernetes="1.36"))
    for ran in up(fleet).values():
        right(ran)
    return [item for item in operations(fleet.sim)[seen:] if not item.preview and item.outcome == "done"]


def _updated(upgrade: list[Operation], cloud: str) -> list[str]:
    """Types of what was updated in a cloud's region, in this order."""
    ours = [item for item in upgrade if item.urn.startswith(f"urn:pulumi:{stack_of(cloud)}::")]
    return [item.urn.split("::")[2].split("$")[-1] for item in ours if item.method == "update"]


def test_a_minor_version_moves_the_control_plane_before_any_node_pool(upgrade, cloud):
    assert _updated(upgrade, cloud)[0] == CLUSTERS[cloud]


def test_a_minor_version_moves_node_pools_unless_the_cloud_does_it(upgrade, pristine, cloud):
    pools = node_pools(pristine, cloud)
    by_itself = all(item.inputs.get("management", {}).get("autoUpgrade") for item in pools.values())
    assert _updated(upgrade, cloud).count(NODE_POOLS[cloud]) >= (0 if by_itself else len(pools))
    assert (NODE_POOLS[cloud] in _updated(upgrade, cloud)) is not by_itself


def test_a_minor_version_makes_and_replaces_nothing(upgrade):
    assert {item.method for item in upgrade} <= {"read", "update"}


@dataclass(frozen=True, kw_only=True)
class Rebirth:
    """Every region torn down, and deployed again while plugins are killed."""

    before: dict[str, list[str]]
    left: dict[str, list[str]]
    spared: dict[str, list[str]]
    """Planted kills that never struck."""
    simulation: Simulation


@pytest.fixture(scope="module")
def rebirth(pristine: Simulation, tmp_path_factory: pytest.TempPathFactory) -> Rebirth:
    fleet = pristine.copy(tmp_path_factory.mktemp("rebirth") / "fleet")
    before = {cloud: sorted(held(fleet, cloud), key=lambda item: item.urn) for cloud in REGIONS}
    stacks = [word for cloud in REGIONS for word in ("--stack", stack_of(cloud))]
    right(fleet.outlast("sim", "down", "test", *stacks))
    left = {cloud: [item.urn for item in held(fleet, cloud)] for cloud in REGIONS}
    doomed = {cloud: Random(SEED).sample(before[cloud], KILLS) for cloud in REGIONS}
    for item in (item for items in doomed.values() for item in items):
        set_fault(fleet.sim, "kill", {"type": item.type, "name": name_of(item)})
    _recover(fleet)
    waiting = [fault.arguments for fault in faults(fleet.sim)]
    spared = {
        cloud: [item.urn for item in items if {"type": item.type, "name": name_of(item)} in waiting]
        for cloud, items in doomed.items()
    }
    urns = {cloud: [item.urn for item in items] for cloud, items in before.items()}
    return Rebirth(before=urns, left=left, spared=spared, simulation=fleet)


def _recover(fleet: Simulation) -> None:
    """Bring the regions up again and again, adopting what a message says the cloud has."""
    for _ in range(2 * KILLS + 1):
        ran = up(fleet)
        failed = {cloud: done for cloud, done in ran.items() if done.code}
        if not failed:
            return
        for done in failed.values():
            assert "Traceback" not in done.output, done.output
            adopt(fleet, done.output)
    pytest.fail("\n".join(done.output for done in failed.values()))


def test_a_region_is_torn_down_to_nothing(rebirth, cloud):
    assert rebirth.before[cloud]
    assert rebirth.left[cloud] == []


def test_a_region_whose_plugins_are_killed_at_births_is_finished_by_further_ups(rebirth, cloud):
    assert rebirth.spared[cloud] == []
    right(rebirth.simulation.pulumi("preview", "--stack", stack_of(cloud), "--expect-no-changes"))


def test_a_region_is_rebuilt_from_files_and_lock(rebirth, cloud):
    assert {item.urn for item in held(rebirth.simulation, cloud)} == set(rebirth.before[cloud])


def test_drift_of_a_count_and_of_a_tag_is_seen_by_a_refresh_and_mended(fleet, cloud):
    pool, whole = next(iter(node_pools(fleet, cloud).values())), cluster(fleet, cloud)
    drift(fleet.sim, pool.type, pool.id, _at(COUNTS[cloud], nodes_of(pool, cloud) + 1))
    drift(fleet.sim, whole.type, whole.id, {TAGS[cloud]: {"outlast-region": "elsewhere"}})
    seen = fleet.pulumi("refresh", "--preview-only", "--diff", "--stack", stack_of(cloud))
    assert all(word in seen.output for word in (pool.urn, whole.urn, "elsewhere")), seen.output
    right(fleet.pulumi("up", "--refresh", "--yes", "--skip-preview", "--stack", stack_of(cloud)))
    assert counts(fleet)[cloud] == planned(fleet)[cloud]
    assert cluster(fleet, cloud).inputs[TAGS[cloud]] == whole.inputs[TAGS[cloud]]


def _at(path: str, value: int) -> dict[str, Any]:
    """Return a value below the keys of a dotted path."""
    *owners, last = path.split(".")
    found: dict[str, Any] = {last: value}
    for owner in reversed(owners):
        found = {owner: found}
    return found


def test_a_protected_region_is_not_deleted_by_the_engine(pristine, cloud):
    before = held(pristine, cloud)
    refused = pristine.pulumi("destroy", "--yes", "--stack", stack_of(cloud))
    assert refused.code != 0
    assert "protect" in refused.refusal, refused.output
    assert held(pristine, cloud) == before


def test_what_is_protected_in_the_cloud_outlives_the_engines_protection(fleet, cloud):
    guarded = _guarded(fleet, cloud)
    assert guarded
    for stack in {urn.split(":")[2] for urn in guarded}:
        right(fleet.pulumi("state", "unprotect", "--all", "--yes", "--stack", stack))
        ran = fleet.pulumi("destroy", "--yes", "--skip-preview", "--continue-on-error", "--stack", stack)
        assert ran.code != 0, ran.output
    assert guarded <= {item.urn for item in resources(fleet.sim)}


def _guarded(fleet: Simulation, cloud: str) -> set[str]:
    """What the region declares that the cloud shall not delete: what says so itself, and what a lock names."""
    declared = held(fleet, cloud)
    locked = {item.inputs.get("scope") for item in declared if item.inputs.get("level") == "CanNotDelete"}
    themselves = {item.urn for item in declared if item.inputs.get("deletionProtection") is True}
    return themselves | {item.urn for item in resources(fleet.sim) if item.id in locked}
