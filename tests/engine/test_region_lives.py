"""The life of a region on each cloud, on the real engine: grown, changed, broken, mended, torn down and rebuilt.

One small fleet has a region on each cloud; every test works on a copy of it, deployed.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from random import Random
from typing import Any

import pytest
import yaml

from components.base import module_of
from outlast.lock import read_lock
from simcloud.life import drift, lift_faults, operations, resources, set_fault
from tests.builders import REGION_PLACES, make_curve, make_documents, merged
from tests.engine.simulation import Ran, Simulation

pytestmark = pytest.mark.real
REGIONS = {"aws": "us-east", "gcp": "eu-west", "azure": "eu-central"}
NODE_POOLS = {
    "aws": "aws:eks/nodeGroup:NodeGroup",
    "gcp": "gcp:container/nodePool:NodePool",
    "azure": "azure-native:containerservice:AgentPool",
}
CLUSTERS = {
    "aws": "aws:eks/cluster:Cluster",
    "gcp": "gcp:container/cluster:Cluster",
    "azure": "azure-native:containerservice:ManagedCluster",
}
QUOTAS = {
    "aws": "L-417A185B",
    "gcp": "GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100",
    "azure": "standardNDSH100v5Family",
}
NODE_UNITS = {"aws": 192, "gcp": 8, "azure": 96}
"""What a node of the cloud's H100 machine type counts against its quota. Source: config/facts/machine_types.csv."""
MACHINES = {"aws": "p5.48xlarge", "gcp": "a3-highgpu-8g", "azure": "Standard_ND96isr_H100_v5"}
RESERVATIONS = {
    "aws": ("cr-0a1", "cr-0a2"),
    "gcp": ("held-1", "held-2"),
    "azure": ("held-1", "held-2"),
}
"""One held now, and one that follows it."""
COUNTS = {"aws": "scalingConfig.minSize", "gcp": "nodeCount", "azure": "count"}
TAGS = {"aws": "tags", "gcp": "resourceLabels", "azure": "tags"}
SEED = 20261130
KILLS = 4
"""Resources of a region, drawn by the seed, at whose birth the plugin is killed."""
PEAK_TOK_S, MORE_TOK_S = 3000, 6000


def _documents() -> dict[str, Any]:
    names = tuple(REGIONS.values())
    return merged(
        make_documents(*names),
        {
            "fleet": {"kubernetes": "1.35", "dns": {"region": REGIONS["aws"]}},
            "demand": {"demand": [make_curve("shop", name, PEAK_TOK_S) for name in names]},
            "regions": {"regions": {REGIONS[cloud]: {"node_pools": {"rh100": _reserved(cloud)}} for cloud in REGIONS}},
            "capacity": {
                "regions": {REGIONS[cloud]: {"reservations": _reservations(cloud)} for cloud in REGIONS},
                "discounts": [
                    {"cloud": cloud, "basis": "reserved", "off": "40 %", "reference": "order 1"} for cloud in REGIONS
                ],
            },
        },
    )


def _reserved(cloud: str) -> dict[str, Any]:
    zone = REGION_PLACES[REGIONS[cloud]][2][0]
    return {
        "machine_type": MACHINES[cloud],
        "zones": [zone],
        "capacity": "reserved",
        "reservation": RESERVATIONS[cloud][0],
    }


def _reservations(cloud: str) -> dict[str, Any]:
    zone = REGION_PLACES[REGIONS[cloud]][2][0]
    return {name: {"machine_type": MACHINES[cloud], "zone": zone, "nodes": 2} for name in RESERVATIONS[cloud]}


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    """The fleet, deployed and settled; not to be changed."""
    made = Simulation.of_fleet(tmp_path_factory.mktemp("lives") / "fleet", _documents())
    for command in (("plan", "test"), ("plan", "test", "--settle"), ("sim", "up", "test")):
        _right(made.outlast(*command))
    return made


@pytest.fixture
def fleet(pristine: Simulation, tmp_path) -> Simulation:
    """A copy that the test may break."""
    return pristine.copy(tmp_path / "fleet")


@pytest.fixture(params=REGIONS)
def cloud(request) -> str:
    """Every cloud that components know."""
    module_of("node_pool", request.param)
    return str(request.param)


def _right(ran: Ran) -> Ran:
    assert ran.code == 0, ran.output
    return ran


def _stack(cloud: str) -> str:
    return f"test.{REGIONS[cloud]}"


def _up(fleet: Simulation, cloud: str) -> Ran:
    return fleet.outlast("sim", "up", "test", "--stack", _stack(cloud))


def _edit(fleet: Simulation, file: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a document of the fleet."""
    path = fleet.fleet / f"{file}.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def _demand(fleet: Simulation, cloud: str, tok_s: int) -> None:
    names = list(REGIONS.values())
    curve = make_curve("shop", REGIONS[cloud], tok_s)
    _edit(fleet, "demand", lambda document: document["demand"].__setitem__(names.index(REGIONS[cloud]), curve))


def _node_pools(fleet: Simulation, cloud: str, pool_id: str = "") -> dict[str, Any]:
    """Return the cloud's node pools of the lock by logical name, as the cloud holds them."""
    found = {item.urn.rsplit("::", 1)[-1]: item for item in resources(fleet.sim) if item.type == NODE_POOLS[cloud]}
    start, system = f"{REGIONS[cloud]}-{pool_id}", f"{REGIONS[cloud]}-system"
    return {name: item for name, item in found.items() if name.startswith(start) and name != system}


def _count(item: Any, cloud: str) -> int:
    value: Any = item.inputs
    for step in COUNTS[cloud].split("."):
        value = value[step]
    return int(value)


def _nodes(fleet: Simulation, cloud: str) -> int:
    return sum(_count(item, cloud) for item in _node_pools(fleet, cloud).values())


def _planned(fleet: Simulation, cloud: str) -> int:
    return sum(row.nodes.min for row in read_lock(fleet.fleet).regions[REGIONS[cloud]].node_pools.values())


def _settled(fleet: Simulation) -> None:
    """Deploy a raise everywhere, settle, and deploy what is left."""
    for command in (("plan", "test"), ("sim", "up", "test"), ("plan", "test", "--settle"), ("sim", "up", "test")):
        _right(fleet.outlast(*command))


def test_a_second_deployment_changes_nothing_and_a_refresh_finds_nothing(pristine, cloud):
    again = ("preview", "--stack", _stack(cloud), "--policy-pack", "policies", "--expect-no-changes")
    _right(pristine.pulumi(*again))
    _right(pristine.pulumi("refresh", "--preview-only", "--stack", _stack(cloud), "--expect-no-changes"))


def test_more_demand_raises_nodes_in_place_and_less_settles_them(fleet, cloud):
    before, pools = _nodes(fleet, cloud), set(_node_pools(fleet, cloud))
    _demand(fleet, cloud, MORE_TOK_S)
    _settled(fleet)
    assert _nodes(fleet, cloud) == _planned(fleet, cloud) > before
    _demand(fleet, cloud, PEAK_TOK_S)
    _settled(fleet)
    assert _nodes(fleet, cloud) == before
    assert set(_node_pools(fleet, cloud)) == pools


def test_another_reservation_is_a_new_generation_beside_the_old_until_it_settles(fleet, cloud):
    old = set(_node_pools(fleet, cloud, "rh100"))
    region, (_, renewed) = REGIONS[cloud], RESERVATIONS[cloud]
    _edit(fleet, "regions", lambda file: file["regions"][region]["node_pools"]["rh100"].update(reservation=renewed))
    _right(fleet.outlast("plan", "test"))
    _right(fleet.outlast("sim", "up", "test"))
    both = set(_node_pools(fleet, cloud, "rh100"))
    assert old < both
    _right(fleet.outlast("plan", "test", "--settle"))
    _right(fleet.outlast("sim", "up", "test"))
    assert set(_node_pools(fleet, cloud, "rh100")) == both - old


def test_a_zone_that_is_given_up_is_left_after_the_others_have_grown(fleet, cloud):
    region, (*kept, gone) = REGIONS[cloud], REGION_PLACES[REGIONS[cloud]][2]
    before = _nodes(fleet, cloud)
    _edit(fleet, "regions", lambda file: file["regions"][region]["node_pools"]["gh100"].update(zones=kept))
    _right(fleet.outlast("plan", "test"))
    _right(fleet.outlast("sim", "up", "test"))
    assert _nodes(fleet, cloud) > before
    _right(fleet.outlast("plan", "test", "--settle"))
    _right(fleet.outlast("sim", "up", "test"))
    rows = read_lock(fleet.fleet).regions[region].node_pools.values()
    assert gone not in {row.zone for row in rows if row.id == "gh100"}
    assert _nodes(fleet, cloud) == _planned(fleet, cloud)


def test_a_minor_version_moves_the_control_plane_first_and_replaces_no_node_pool(fleet, cloud):
    pools, seen = set(_node_pools(fleet, cloud)), len(operations(fleet.sim))
    _edit(fleet, "fleet", lambda file: file.update(kubernetes="1.36"))
    _right(_up(fleet, cloud))
    done = [item for item in operations(fleet.sim)[seen:] if not item.preview and item.outcome == "done"]
    updated = [item.urn.split("::")[2].split("$")[-1] for item in done if item.method == "update"]
    assert updated.index(CLUSTERS[cloud]) < updated.index(NODE_POOLS[cloud])
    assert {item.method for item in done} <= {"read", "update"}
    assert set(_node_pools(fleet, cloud)) == pools


def test_a_quota_revoked_half_way_stops_a_raise_that_the_next_up_completes(fleet, cloud):
    _demand(fleet, cloud, MORE_TOK_S)
    _right(fleet.outlast("plan", "test"))
    code, granted = QUOTAS[cloud], _nodes(fleet, cloud) * NODE_UNITS[cloud] + 1
    place = REGION_PLACES[REGIONS[cloud]][1]
    set_fault(fleet.sim, "revoke-quota", {"cloud": cloud, "region": place, "code": code, "granted": granted})
    stopped = _up(fleet, cloud)
    assert stopped.code == 1
    assert code in stopped.refusal, stopped.output
    lift_faults(fleet.sim)
    _right(_up(fleet, cloud))
    assert _nodes(fleet, cloud) == _planned(fleet, cloud)


def test_a_stockout_in_one_zone_stops_that_zone_only(fleet, cloud):
    _demand(fleet, cloud, MORE_TOK_S)
    _right(fleet.outlast("plan", "test"))
    before = {name: _count(item, cloud) for name, item in _node_pools(fleet, cloud).items()}
    zone = REGION_PLACES[REGIONS[cloud]][2][-1]
    set_fault(fleet.sim, "stockout", {"cloud": cloud, "machine_type": "*", "zone": zone})
    stopped = fleet.pulumi("up", "--yes", "--skip-preview", "--continue-on-error", "--stack", _stack(cloud))
    assert stopped.code != 0
    assert zone in stopped.refusal, stopped.output
    grown = [name for name, item in _node_pools(fleet, cloud).items() if _count(item, cloud) > before[name]]
    assert 0 < len(grown) < len(before)


def test_a_region_whose_plugin_is_killed_at_its_births_is_finished_by_the_next_up(fleet, cloud):
    stack = _stack(cloud)
    made = [item for item in resources(fleet.sim) if item.urn.startswith(f"urn:pulumi:{stack}::")]
    _right(fleet.outlast("sim", "down", "test", "--stack", stack))
    for item in Random(SEED).sample(sorted(made, key=lambda item: item.urn), KILLS):
        set_fault(fleet.sim, "kill", {"type": item.type, "name": item.urn.rsplit("::", 1)[-1]})
    _recovered(fleet, cloud)
    unchanged = fleet.pulumi("preview", "--stack", stack, "--expect-no-changes")
    _right(unchanged)


def _recovered(fleet: Simulation, cloud: str) -> None:
    """Bring a region up again and again, and adopt what a message says the cloud has already, until it is up."""
    for _ in range(2 * KILLS + 1):
        ran = _up(fleet, cloud)
        if ran.code == 0:
            return
        assert "Traceback" not in ran.output, ran.output
        for command in _adoptions(fleet, ran.output):
            _right(fleet.pulumi(*command))
    pytest.fail(ran.output)


def _adoptions(fleet: Simulation, output: str) -> list[list[str]]:
    """Return the imports that a refusal of a taken name prints, with the parent that it leaves to be looked up."""
    found = {" ".join(text.split()) for text in re.findall(r"pulumi (import .+?--protect=false)", output, re.DOTALL)}
    return [[*_with_parent(fleet, shlex.split(text)), "--yes", "--skip-preview"] for text in sorted(found)]


def _with_parent(fleet: Simulation, words: list[str]) -> list[str]:
    return [_parent(fleet, words, word) if word.startswith("parent=") else word for word in words]


def _parent(fleet: Simulation, words: list[str], word: str) -> str:
    """Fill in the name of the parent: the one component of its type in the stack."""
    stack = words[words.index("--stack") + 1]
    state = json.loads(fleet.pulumi("stack", "export", "--stack", stack).output)
    pattern = re.escape(word.removeprefix("parent=")).replace("PARENT", "[^:]+")
    (urn,) = [item["urn"] for item in state["deployment"]["resources"] if re.fullmatch(pattern, item["urn"])]
    return f"parent={urn}"


def test_drift_of_a_count_and_of_a_tag_is_seen_by_a_refresh_and_mended(fleet, cloud):
    pool = next(iter(_node_pools(fleet, cloud).values()))
    cluster = next(item for item in resources(fleet.sim) if item.type == CLUSTERS[cloud])
    wrong: dict[str, Any] = {}
    owner = wrong
    *path, last = COUNTS[cloud].split(".")
    for step in path:
        owner = owner.setdefault(step, {})
    owner[last] = _count(pool, cloud) - 1
    drift(fleet.sim, pool.type, pool.id, wrong)
    drift(fleet.sim, cluster.type, cluster.id, {TAGS[cloud]: {"outlast-region": "elsewhere"}})
    seen = fleet.pulumi("refresh", "--preview-only", "--diff", "--stack", _stack(cloud))
    assert all(word in seen.output for word in (pool.urn, cluster.urn, "elsewhere")), seen.output
    _right(fleet.pulumi("refresh", "--yes", "--skip-preview", "--stack", _stack(cloud)))
    _right(_up(fleet, cloud))
    assert _nodes(fleet, cloud) == _planned(fleet, cloud)


def test_a_protected_region_is_not_deleted_by_engine_or_cloud(fleet, cloud):
    before = len(resources(fleet.sim))
    refused = fleet.pulumi("destroy", "--yes", "--skip-preview", "--stack", _stack(cloud))
    assert refused.code != 0
    assert "protect" in refused.refusal, refused.output
    _right(fleet.pulumi("state", "unprotect", "--all", "--yes", "--stack", _stack(cloud)))
    by_the_cloud = fleet.pulumi("destroy", "--yes", "--skip-preview", "--stack", _stack(cloud))
    assert by_the_cloud.code != 0
    assert "protect" in by_the_cloud.refusal, by_the_cloud.output
    assert any(item.type == CLUSTERS[cloud] and REGIONS[cloud] in item.urn for item in resources(fleet.sim))
    assert before


def test_a_region_is_torn_down_to_nothing_and_rebuilt_from_files_and_lock(fleet, cloud):
    stack = _stack(cloud)
    before = {item.urn for item in resources(fleet.sim) if item.urn.startswith(f"urn:pulumi:{stack}::")}
    _right(fleet.outlast("sim", "down", "test", "--stack", stack))
    assert [item.urn for item in resources(fleet.sim) if item.urn.startswith(f"urn:pulumi:{stack}::")] == []
    _right(_up(fleet, cloud))
    after = {item.urn for item in resources(fleet.sim) if item.urn.startswith(f"urn:pulumi:{stack}::")}
    assert after == before
