"""Long lives of the demo: growth and its way back, failures half-way, a region lost and redeployed, an interrupt."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from outlast.lock import read_applied, read_lock
from simcloud.life import resources, set_fault
from tests.engine.simulation import FLEET, REPO, Simulation

pytestmark = pytest.mark.real
NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
US_EAST = f"{FLEET}.us-east"


def _demand(simulation: Simulation, old: str, new: str) -> None:
    simulation.edit("demand.yaml", lambda text: text.replace(f"peak: {old} tok/s", f"peak: {new} tok/s"))


def _applied(simulation: Simulation, stack: str = US_EAST) -> str:
    output = simulation.pulumi("stack", "output", "applied", "--json", "--stack", stack).output
    return json.loads(output)["lock_digest"]


def test_demand_moves_and_the_fleet_shrinks_only_after_the_raise_is_everywhere(deployed: Simulation) -> None:
    before = read_lock(deployed.fleet)
    _demand(deployed, "90k", "50k")
    _demand(deployed, "36k", "70k")
    assert deployed.outlast("plan", FLEET).code == 0
    raised = read_lock(deployed.fleet)
    assert raised.step == "raise"
    assert all(
        row.nodes.min >= before.regions[region].node_pools[key].nodes.min
        for region, block in raised.regions.items()
        for key, row in block.node_pools.items()
    )
    early = deployed.outlast("plan", FLEET, "--settle")
    assert early.code == 1
    assert "applied" in early.refusal, early.output
    assert deployed.outlast("sim", "up", FLEET).code == 0
    assert deployed.outlast("plan", FLEET, "--settle").code == 0
    settled = read_lock(deployed.fleet)
    assert settled.step == "settle"
    assert settled.solver.usd_h < raised.solver.usd_h
    ran = deployed.outlast("sim", "up", FLEET)
    assert ran.code == 0, ran.output
    assert deployed.outlast("plan", FLEET, "--check").code == 0


def test_a_node_pool_that_fails_half_way_is_finished_by_the_next_up_and_claims_nothing_before(deployed) -> None:
    before = _applied(deployed)
    _demand(deployed, "90k", "110k")
    assert deployed.outlast("plan", FLEET).code == 0
    set_fault(deployed.sim, "fail-before", {"type": NODE_GROUP, "name": "us-east-gh100-2-a"})
    failed = deployed.outlast("sim", "up", FLEET, "--stack", US_EAST)
    assert failed.code == 1
    assert "us-east-gh100-2-a" in failed.refusal, failed.output
    assert _applied(deployed) == before
    assert deployed.outlast("sim", "up", FLEET, "--stack", US_EAST).code == 0
    assert _applied(deployed) != before


@pytest.mark.parametrize("failing", ["aws:eks/cluster:Cluster", NODE_GROUP])
def test_a_region_that_failed_half_way_is_torn_down_without_trying_again(empty: Simulation, failing: str) -> None:
    assert empty.outlast("sim", "up", FLEET, "--stack", f"{FLEET}.global").code == 0
    set_fault(empty.sim, "fail-before", {"type": failing, "name": "*"}, times=99)
    assert empty.outlast("sim", "up", FLEET, "--stack", US_EAST).code == 1
    down = empty.outlast("sim", "down", FLEET)
    assert down.code == 0, down.output
    assert resources(empty.sim) == []


@pytest.mark.parametrize("fault", ["fail-half-way", "kill"])
def test_a_region_recovers_from_a_fault_in_its_first_deployment(empty: Simulation, fault: str) -> None:
    assert empty.outlast("sim", "up", FLEET, "--stack", f"{FLEET}.global").code == 0
    set_fault(empty.sim, fault, {"type": "aws:ec2/vpc:Vpc", "name": "*"})
    failed = empty.outlast("sim", "up", FLEET, "--stack", US_EAST)
    assert failed.code == 1
    assert "Traceback" not in failed.output, failed.output
    again = empty.outlast("sim", "up", FLEET, "--stack", US_EAST)
    assert again.code == 0, again.output
    unchanged = empty.pulumi("preview", "--stack", US_EAST, "--expect-no-changes")
    assert unchanged.code == 0, unchanged.output


def test_a_region_is_destroyed_and_brought_back_from_configuration_and_lock(deployed: Simulation) -> None:
    ran = deployed.outlast("sim", "down", FLEET, "--stack", f"{FLEET}.eu-west")
    assert ran.code == 0, ran.output
    assert deployed.outlast("applied", FLEET).code == 0
    assert f"{FLEET}.eu-west" not in read_applied(deployed.sim / "applied.json")
    back = deployed.outlast("sim", "up", FLEET, "--stack", f"{FLEET}.eu-west")
    assert back.code == 0, back.output
    assert deployed.pulumi("preview", "--stack", f"{FLEET}.routing", "--diff").code == 0


def test_teardown_leaves_nothing_in_the_clouds_and_no_edit_in_the_project(deployed: Simulation) -> None:
    files = {path: path.read_bytes() for path in (REPO / "config" / "stacks").glob("*.yaml")}
    ran = deployed.outlast("sim", "down", FLEET)
    assert ran.code == 0, ran.output
    assert resources(deployed.sim) == []
    assert {path: path.read_bytes() for path in files} == files


def test_a_lost_zone_refuses_new_nodes_and_leaves_the_others_alone(deployed: Simulation) -> None:
    set_fault(deployed.sim, "lose-zone", {"cloud": "aws", "zone": "use1-az2"})
    _demand(deployed, "90k", "110k")
    assert deployed.outlast("plan", FLEET).code == 0
    ran = deployed.outlast("sim", "up", FLEET, "--stack", US_EAST)
    assert ran.code == 1
    assert "use1-az2" in ran.refusal, ran.output


def test_a_kept_demo_stays_up_as_committed_and_another_up_changes_nothing(tmp_path) -> None:
    project, environment = _copied_project(tmp_path)
    ran = subprocess.run(
        [sys.executable, "-m", "demo", "--keep"], cwd=project, env=environment, text=True, capture_output=True
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    up = f"pulumi up --yes --non-interactive --expect-no-changes --stack {US_EAST} --policy-pack policies"
    again = subprocess.run(
        ["bash", "-c", f'eval "$(.venv/bin/outlast sim env {FLEET})" && {up}'],
        cwd=project,
        env=environment,
        text=True,
        capture_output=True,
    )
    assert again.returncode == 0, again.stdout + again.stderr


def test_an_interrupted_demo_leaves_no_process_behind(tmp_path) -> None:
    project, environment = _copied_project(tmp_path)
    with subprocess.Popen(
        [sys.executable, "-m", "demo"],
        cwd=project,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as demo:
        assert demo.stdout is not None
        assert any(line.startswith("✔ up demo.global") for line in demo.stdout)
        deadline = time.monotonic() + 60
        while not any("simcloud.provider" in command for command in _processes_in(project)):
            assert time.monotonic() < deadline, "the next stack never started its plugins"
        demo.send_signal(signal.SIGINT)
        rest = demo.stdout.read()
        assert demo.wait(timeout=120) == 130, rest
    assert _processes_in(project) == []
    assert "Traceback" not in rest, rest


def _copied_project(folder: Path) -> tuple[Path, dict[str, str]]:
    """Return a copy of the project without its caches, and an environment that knows no simulation yet."""
    project = folder / "project"
    ignored = shutil.ignore_patterns(".venv", ".sim", ".git", "__pycache__", ".*_cache")
    shutil.copytree(REPO, project, ignore=ignored)
    (project / ".venv").symlink_to(REPO / ".venv")
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("OUTLAST_", "PULUMI_"))}
    return project, {**clean, "PYTHONPATH": str(project)}


def _processes_in(project: Path) -> list[str]:
    """Return the command lines of processes whose environment names the project's simulation."""
    found = []
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and f"OUTLAST_SIM={project}/".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found
