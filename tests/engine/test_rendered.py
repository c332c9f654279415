"""A region's objects as files, from the real engine: all that the state holds, and the same every time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from outlast.view import Resource, from_export
from tests.engine.simulation import FLEET, Simulation

pytestmark = pytest.mark.engine
REGION = "us-east"


def render(simulation: Simulation, folder: Path) -> dict[str, bytes]:
    """Render a region and return the files."""
    ran = simulation.outlast("render", FLEET, "--stack", REGION, "--out", str(folder))
    assert ran.code == 0, ran.output
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def test_rendered_files_are_the_objects_of_the_state_and_a_second_render_changes_nothing(deployed, tmp_path):
    first = render(deployed, tmp_path / "out")
    state = deployed.pulumi("stack", "export", "--stack", f"{FLEET}.{REGION}").output
    objects = [resource for resource in from_export(json.loads(state)) if resource.package == "kubernetes"]
    held = sorted(map(identity, (resource for resource in objects if not is_provider(resource))))
    assert held
    assert sorted(map(written, first.values())) == held
    assert render(deployed, tmp_path / "out") == first


def is_provider(resource: Resource) -> bool:
    return resource.type.startswith("pulumi:providers:")


def identity(resource: Resource) -> tuple[str, ...]:
    paths = ("apiVersion", "kind", "metadata.namespace", "metadata.name")
    return tuple(str(resource.get(path) or "") for path in paths)


def written(content: bytes) -> tuple[str, ...]:
    document = yaml.safe_load(content)
    metadata = document["metadata"]
    return (document["apiVersion"], document["kind"], metadata.get("namespace", ""), metadata["name"])


def test_before_anything_is_deployed_the_first_stack_to_deploy_is_named_and_nothing_is_written(empty, tmp_path):
    for stack in ("global", REGION):
        empty.pulumi("stack", "init", f"{FLEET}.{stack}")
    ran = empty.outlast("render", FLEET, "--stack", REGION, "--out", str(tmp_path / "out"))
    assert ran.code == 1
    assert f"{FLEET}.global" in ran.refusal
    assert not (tmp_path / "out").exists()
