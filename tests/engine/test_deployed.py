"""The deployed demo: it stays as it is, passes its own policies, and every reader sees the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from outlast.facts import load_facts
from outlast.intent import load_intent
from outlast.lock import read_lock
from outlast.proof import realises
from outlast.view import Resource, View, after_preview, from_export, normalise, view_of
from stacks.names import parse
from stacks.run import declare as declare_stack
from tests.engine.simulation import FLEET, REPO, STACKS, Simulation
from tests.recording import declare

pytestmark = pytest.mark.engine


def test_second_up_changes_nothing(pristine: Simulation) -> None:
    ran = pristine.pulumi("preview", "--stack", f"{FLEET}.us-east", "--policy-pack", "policies", "--expect-no-changes")
    assert ran.code == 0, ran.output


def test_refresh_finds_no_drift(pristine: Simulation) -> None:
    ran = pristine.pulumi("refresh", "--preview-only", "--stack", f"{FLEET}.eu-west", "--expect-no-changes")
    assert ran.code == 0, ran.output


@pytest.mark.parametrize("part", STACKS)
def test_exported_state_passes_the_policies(pristine: Simulation, part: str, tmp_path) -> None:
    state = tmp_path / "state.json"
    state.write_text(pristine.pulumi("stack", "export", "--stack", f"{FLEET}.{part}").output, encoding="utf-8")
    ran = pristine.pulumi("policy", "analyze", "--file", str(state), "--policy-pack", "policies")
    assert ran.code == 0, ran.output


def test_verify_judges_an_exported_state(pristine: Simulation, tmp_path) -> None:
    state = tmp_path / "state.json"
    state.write_text(pristine.pulumi("stack", "export", "--stack", f"{FLEET}.eu-north").output, encoding="utf-8")
    ran = pristine.outlast("verify", FLEET, "--state", str(state))
    assert ran.code == 0, ran.output


def test_states_say_that_the_clouds_are_simulated(pristine: Simulation) -> None:
    ran = pristine.pulumi("stack", "output", "clouds", "--stack", f"{FLEET}.us-east")
    assert ran.output.strip() == "simulated"


@pytest.mark.parametrize("part", ["us-east", "eu-west"])
def test_all_readers_give_the_same_view(deployed: Simulation, part: str, tmp_path) -> None:
    stack = f"{FLEET}.{part}"
    facts = load_facts(deployed.config)
    seen = tmp_path / "pack.json"
    preview = deployed.pulumi(
        "preview", "--json", "--show-sames", "--stack", stack, "--policy-pack", str(REPO / "tests/engine/reading_pack"),
        variables={"OUTLAST_SEEN": str(seen)},
    )  # fmt: skip
    export = deployed.pulumi("stack", "export", "--stack", stack)
    intent = load_intent(deployed.config, FLEET, facts)
    lock = read_lock(deployed.fleet)
    exports = {
        f"{FLEET}.global": _document(deployed.pulumi("stack", "output", "--json", "--stack", f"{FLEET}.global").output)
    }
    recorded = declare(lambda: declare_stack(parse(stack), intent, lock), preview=False, stack=stack, stacks=exports)
    views = {
        "preview": view_of(after_preview(_document(preview.output)), facts),
        "export": view_of(from_export(_document(export.output)), facts),
        "pack": view_of(map(_resource, json.loads(seen.read_text())), facts),
        "recorder": view_of(recorded, facts),
    }
    first = _comparable(views["preview"])
    assert first["node_pools"]
    assert first["workloads"]
    for reader, view in views.items():
        assert _comparable(view) == first, reader
        assert realises(view, lock, part) == (), reader


def _resource(entry: dict) -> Resource:
    plain: Any = {key: normalise(value) for key, value in entry.items()}
    return Resource(**plain)


def _comparable(view: View) -> dict[str, object]:
    """What rules and spend read of a view."""
    cloud = [resource for resource in view.cloud_resources if resource.type != "pulumi:providers:pulumi"]
    return {
        "types": sorted((resource.urn, resource.type) for resource in cloud),
        "places": {resource.urn: view.location(resource) for resource in cloud},
        "labels": {resource.urn: dict(view.labels(resource)) for resource in cloud},
        "protected": {resource.urn for resource in cloud if resource.protect},
        "node_pools": view.node_pools,
        "workloads": view.workloads,
        "records": view.records,
    }


def _document(text: str) -> dict:
    return json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
