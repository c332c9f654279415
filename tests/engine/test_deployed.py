"""The deployed demo: it stays as it is, passes its own policies, and every reader sees the same."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from outlast.facts import load_facts
from outlast.intent import load_intent
from outlast.intent.stacks import parse
from outlast.lock import Lock, read_lock
from outlast.proof import realises
from outlast.view import Resource, View, after_preview, from_export, is_built_in, normalise, view_of
from outlast.view.resource import unknown_paths
from stacks.run import declare as declare_stack
from tests.engine.simulation import FLEET, REGIONS, REPO, STACKS, Simulation
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


@pytest.mark.parametrize("part", STACKS)
def test_all_readers_give_the_same_view(deployed: Simulation, part: str, tmp_path) -> None:
    exports = {
        f"{FLEET}.{other}": _document(
            deployed.pulumi("stack", "output", "--json", "--stack", f"{FLEET}.{other}").output
        )
        for other in _read_by(part)
    }
    views = _previewed(deployed, part, tmp_path / "pack.json", exports, preview=False)
    export = deployed.pulumi("stack", "export", "--stack", f"{FLEET}.{part}")
    views["export"] = view_of(from_export(_document(export.output)), views["pack"].facts)
    _check_equal(views, read_lock(deployed.fleet), part)


@pytest.mark.parametrize("part", REGIONS)
def test_all_readers_give_the_same_view_before_anything_is_deployed(empty: Simulation, part: str, tmp_path) -> None:
    for stack in ("global", part):
        empty.pulumi("stack", "init", f"{FLEET}.{stack}")
    views = _previewed(empty, part, tmp_path / "pack.json", {}, preview=True)
    unknown = {reader: _unknown(view) for reader, view in views.items()}
    assert any("kubeconfig" in paths for paths in unknown["preview"].values()), "nothing was unknown"
    assert unknown["pack"] == unknown["preview"]
    assert unknown["recorder"] == unknown["preview"]
    _check_equal(views, read_lock(empty.fleet), part)


def _read_by(part: str) -> tuple[str, ...]:
    """Stacks whose outputs a stack reads."""
    return {"global": (), "routing": ("global", *REGIONS)}.get(part, ("global",))


def _previewed(simulation: Simulation, part: str, seen: Path, exports: dict, *, preview: bool) -> dict[str, View]:
    """Preview a stack once, with a pack that writes what it sees, and declare it against the recorder."""
    stack, facts = f"{FLEET}.{part}", load_facts(simulation.config)
    ran = simulation.pulumi(
        "preview", "--json", "--show-sames", "--stack", stack, "--policy-pack", str(REPO / "tests/engine/reading_pack"),
        variables={"OUTLAST_SEEN": str(seen)},
    )  # fmt: skip
    assert ran.code == 0, ran.output
    intent, lock = load_intent(simulation.config, FLEET, facts), read_lock(simulation.fleet)
    recorded = declare(lambda: declare_stack(parse(stack), intent, lock), preview=preview, stack=stack, stacks=exports)
    return {
        "preview": view_of(after_preview(_document(ran.output)), facts),
        "pack": view_of(map(_resource, json.loads(seen.read_text())), facts),
        "recorder": view_of(recorded, facts),
    }


def _check_equal(views: dict[str, View], lock: Lock, part: str) -> None:
    first = _comparable(views["preview"])
    assert first["types"]
    assert bool(first["node_pools"]) is bool(first["workloads"]) is (part in REGIONS)
    for reader, view in views.items():
        assert _comparable(view) == first, reader
        assert [view.location(row).undecided for row in view.cloud_resources if not view.location(row).is_decided] == []
        assert part not in REGIONS or realises(view, lock, part) == (), reader


def _resource(entry: dict) -> Resource:
    plain: Any = {key: normalise(value) for key, value in entry.items()}
    return Resource(**plain)


def _comparable(view: View) -> dict[str, object]:
    """What rules and spend read of a view."""
    cloud = _cloud(view)
    return {
        "types": sorted((resource.urn, resource.type) for resource in cloud),
        "places": {resource.urn: view.location(resource) for resource in cloud},
        "labels": {resource.urn: view.labels(resource) for resource in cloud},
        "providers": {resource.urn: resource.provider for resource in cloud},
        "made from": {resource.urn: _sources(view, resource) for resource in cloud},
        "protected": {resource.urn for resource in cloud if resource.protect},
        "node_pools": view.node_pools,
        "workloads": view.workloads,
        "records": view.records,
    }


def _cloud(view: View) -> list[Resource]:
    """Resources but the provider of references to stacks, which only the engine declares."""
    return [resource for resource in view.cloud_resources if resource.type != "pulumi:providers:pulumi"]


def _sources(view: View, resource: Resource) -> dict[str, list[str]]:
    """Input -> resources it was computed from; references to other stacks are no resources to a policy.

    Inputs that are ignored after birth are left out: the engine gives them as they were, and says of none where from.
    """
    known = {urn for urn, found in view.index.items() if not is_built_in(found.type)}
    given = {key: urns for key, urns in resource.property_dependencies.items() if key not in resource.ignore_changes}
    sources = {key: sorted(known & set(urns)) for key, urns in given.items()}
    return {key: urns for key, urns in sources.items() if urns}


def _unknown(view: View) -> dict[str, set[str]]:
    return {resource.urn: set(unknown_paths(resource.inputs)) for resource in _cloud(view)}


def _document(text: str) -> dict:
    return json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
