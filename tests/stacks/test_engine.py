"""The demo's stacks on the real engine and simulated clouds."""

import json
import os
import subprocess
from hashlib import sha256
from pathlib import Path

import pytest

from simcloud.life import prepare, reset, resources
from tests.stacks.conftest import STACKS

ROOT = Path(__file__).resolve().parents[2]
STACK_FILES = {stack: ROOT / "config" / "stacks" / f"Pulumi.{stack}.yaml" for stack in STACKS}


@pytest.fixture(scope="module")
def sim(tmp_path_factory):
    return tmp_path_factory.mktemp("sim")


@pytest.fixture(scope="module")
def run(sim):
    """Run the engine's command line in a sim of the test's own."""
    environment = {**os.environ, **prepare(sim, ROOT, "demo")}

    def run(*arguments, refused=False):
        done = subprocess.run(
            ["pulumi", *arguments, "--non-interactive", "--color=never"],
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode != 0) is refused, done.stdout + done.stderr
        return done.stdout

    return run


@pytest.fixture
def engine(sim, run):
    """An engine with the demo's stacks made and nothing deployed."""
    reset(sim)
    for stack in STACKS:
        run("stack", "init", stack)
    return run


def digests():
    return {stack: sha256(path.read_bytes()).hexdigest() for stack, path in STACK_FILES.items()}


@pytest.mark.engine
def test_a_region_waits_for_the_global_stack_only_in_an_update(engine):
    document = json.loads(engine("preview", "-s", "demo.us-east", "--json"))
    assert {step["op"] for step in document["steps"]} == {"create", "read"}
    messages = [entry["message"] for entry in document["diagnostics"]]
    assert any("keys.us-east of demo.global: pending demo.global in this pull request" in text for text in messages)
    output = engine("up", "-s", "demo.us-east", "--yes", "--skip-preview", refused=True)
    assert "Run 'pulumi up -s demo.global' first" in output
    assert "Traceback" not in output


@pytest.mark.engine
@pytest.mark.parametrize("region", ["us-east", "eu-west"])
def test_a_region_goes_up_after_the_global_stack_and_then_has_nothing_to_do(engine, region):
    for stack in ("demo.global", f"demo.{region}"):
        engine("up", "-s", stack, "--yes", "--skip-preview")
        engine("preview", "-s", stack, "--expect-no-changes")


@pytest.mark.real
def test_a_fleet_goes_up_is_protected_and_leaves_nothing_after_teardown(engine, sim, tmp_path):
    before = digests()
    for stack in STACKS:
        engine("up", "-s", stack, "--yes", "--skip-preview")
        engine("refresh", "-s", stack, "--yes", "--skip-preview", "--expect-no-changes")
    assert "cannot be deleted" in engine("destroy", "-s", "demo.global", "--yes", "--skip-preview", refused=True)
    for stack in reversed(STACKS):
        settings = tmp_path / STACK_FILES[stack].name
        settings.write_text(STACK_FILES[stack].read_text() + 'config:\n  outlast:teardown: "true"\n')
        for command in ("up", "destroy"):
            engine(command, "-s", stack, "--yes", "--skip-preview", "--config-file", str(settings))
    assert resources(sim) == []
    assert digests() == before, "making a stack must not touch the file that is committed"
