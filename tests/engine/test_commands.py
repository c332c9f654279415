"""Commands as a first-time user meets them: names mistyped, runs broken off, stacks half made, clouds that are lost."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from simcloud.life import resources, set_fault
from tests.engine.simulation import FLEET, REPO, STACKS, Simulation

pytestmark = pytest.mark.engine
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
_SILENT_S = 90
"""A command that shows nothing for so long hangs."""
INCOMPLETE = "its outputs are incomplete, so it counts as not deployed; run 'pulumi up -s demo.eu-north'"


def test_a_stack_with_incomplete_outputs_locks_no_command(deployed: Simulation, tmp_path: Path) -> None:
    state = json.loads(deployed.pulumi("stack", "export", "--stack", "demo.eu-north").output)
    (stack,) = [item for item in state["deployment"]["resources"] if item["type"] == "pulumi:pulumi:Stack"]
    stack["outputs"]["applied"] = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
    (tmp_path / "state.json").write_text(json.dumps(state), encoding="utf-8")
    ran = deployed.pulumi("stack", "import", "--stack", "demo.eu-north", "--file", str(tmp_path / "state.json"))
    assert ran.code == 0, ran.output
    env = deployed.outlast("sim", "env", FLEET)
    told = [line for line in env.output.splitlines() if not line.startswith("export ")]
    assert (env.code, told) == (0, [f"demo.eu-north: {INCOMPLETE}"])
    assert "export PULUMI_HOME=" in env.output
    applied = deployed.outlast("applied", FLEET)
    assert applied.code == 0
    assert f"{len(STACKS) - 1} of {len(STACKS)} stacks" in applied.output


@pytest.mark.parametrize("command", [("sim", "up"), ("sim", "down"), ("previews",)], ids=" ".join)
def test_a_mistyped_stack_is_refused_before_anything_runs(empty: Simulation, command: tuple[str, ...]) -> None:
    files = sorted((REPO / "config" / "stacks").iterdir())
    ran = empty.outlast(*command, FLEET, "--stack", "us-eats")
    assert ran.code == 1
    assert "unknown stack 'us-eats'" in ran.refusal
    assert "Did you mean 'demo.us-east'?" in ran.refusal
    assert json.loads(empty.pulumi("stack", "ls", "--json").output) == []
    assert sorted((REPO / "config" / "stacks").iterdir()) == files


def test_a_teardown_skips_what_holds_nothing_and_says_what_is_left(deployed: Simulation) -> None:
    first = deployed.outlast("sim", "down", FLEET, "--stack", "routing")
    left = len(resources(deployed.sim))
    assert first.code == 0, first.output
    assert f"1 stack down; the simulated clouds still hold {left} resources" in first.output
    again = deployed.outlast("sim", "down", FLEET, "--stack", "routing")
    assert again.code == 0
    assert again.output == (
        f"nothing to tear down: no resources in demo.routing; the simulated clouds still hold {left} resources\n"
    )


def test_a_reset_says_what_it_forgot(deployed: Simulation) -> None:
    held = len(resources(deployed.sim))
    assert deployed.outlast("sim", "reset").output == f"forgot {len(STACKS)} stacks and {held} resources\n"
    assert resources(deployed.sim) == []


def test_the_commands_need_no_engine_on_the_path_and_are_found_after_eval(empty: Simulation) -> None:
    bare = os.pathsep.join(["/usr/bin", "/bin"])
    env = empty.outlast("sim", "env", FLEET, PATH=bare)
    assert env.code == 0, env.output
    script = f"{env.output}\ncommand -v pulumi && outlast applied {FLEET}"
    ran = subprocess.run(
        ["/bin/sh", "-c", script], cwd=REPO, env={"PATH": bare}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert f"0 of {len(STACKS)} stacks" in ran.stdout


def test_a_failed_up_names_the_cause_and_where_the_fleet_stands(empty: Simulation) -> None:
    set_fault(empty.sim, "fail-before", {"type": "aws:s3/bucket:Bucket", "name": "*"})
    ran = empty.outlast("sim", "up", FLEET)
    assert ran.code == 1
    assert "internal error; nothing was made" in ran.output
    assert "up: none; half done at most: demo.global; not begun: demo.us-east, demo.eu-west" in ran.output
    assert not re.search("context canceled|Resource monitor|Traceback|update failed", ran.output), ran.output


def test_an_interrupted_up_says_what_to_do(empty: Simulation) -> None:
    command = [sys.executable, "-c", "from outlast.cli import main; main()", "sim", "up", FLEET]
    screen, terminal = os.openpty()
    with subprocess.Popen(
        command, cwd=REPO, env=empty.environment(), stdin=subprocess.DEVNULL, stdout=terminal, stderr=terminal
    ) as up:
        os.close(terminal)
        output = _read(screen, until="created Key")
        up.send_signal(signal.SIGINT)
        output += _read(screen)
    os.close(screen)
    assert up.returncode == 130, output
    assert output.endswith("interrupted; what was under way may be half done: run the same command again\r\n")
    assert "Traceback" not in output, output


def _read(screen: int, until: str | None = None) -> str:
    """Read what a command shows on its terminal: up to some words, or to its end."""
    shown = b""
    while until is None or until.encode() not in shown:
        assert select.select([screen], [], [], _SILENT_S)[0], shown.decode()
        try:
            shown += os.read(screen, 4096)
        except OSError:  # how Linux says that nobody writes any more
            break
    return shown.decode()


def test_a_refresh_of_a_lost_region_fails(deployed: Simulation) -> None:
    set_fault(deployed.sim, "lose-region", {"cloud": "aws", "region": "eu-north-1"})
    ran = deployed.pulumi("refresh", "--yes", "--skip-preview", "--stack", "demo.eu-north")
    assert ran.code != 0
    assert "eu-north-1 does not answer" in ran.refusal, ran.output


def test_what_the_engine_lost_is_adopted_by_the_command_in_the_refusal(deployed: Simulation) -> None:
    stack = "demo.us-east"
    state = json.loads(deployed.pulumi("stack", "export", "--stack", stack).output)
    urns = {item["urn"]: item for item in state["deployment"]["resources"]}
    lost = next(urn for urn, item in urns.items() if item["type"] == DEPLOYMENT)
    ran = deployed.pulumi("state", "delete", lost, "--stack", stack, "--yes", "--force")
    assert ran.code == 0, ran.output
    refused = deployed.pulumi("up", "--yes", "--skip-preview", "--stack", stack)
    assert refused.code != 0
    found = re.search(r"^ *(pulumi import .*)\n", refused.output, re.MULTILINE)
    assert found, refused.output
    command = found.group(1).replace("PARENT", urns[lost]["parent"].split("::")[-1])
    adopted = subprocess.run(
        ["/bin/sh", "-c", f"{command} --yes --non-interactive"],
        cwd=REPO,
        env=deployed.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert adopted.returncode == 0, adopted.stdout + adopted.stderr
    again = deployed.pulumi("up", "--yes", "--skip-preview", "--stack", stack)
    assert again.code == 0, again.output
