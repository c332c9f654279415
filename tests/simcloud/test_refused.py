"""Every refusal of every simulated cloud, through the real engine: many in one run, which goes on after each.

The engine ends a run at the first resource whose inputs alone are wrong, so those are asked for in previews, several
of one resource at once; everything else is refused in two updates. The examples stand in `cases/*.yaml`.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from simcloud import environment
from simcloud.cloud import packages
from simcloud.home import WORLD, install
from simcloud.shapes import Shapes
from tests.simcloud import batches
from tests.simcloud.attempts import Heard, attempted, judged_alone, judged_together
from tests.simcloud.batches import Entry, Place, Shown
from tests.simcloud.conftest import close_site, open_site
from tests.simcloud.examples import Example, examples
from tests.simcloud.standing import Standing, stand

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).with_name("programs") / "batch"


@dataclass(frozen=True)
class Engine:
    """One stack of the batch program in one sim directory."""

    folder: Path
    package: str

    @staticmethod
    def new(folder: Path, package: str, places: int) -> Engine:
        sim = folder / "sim"
        (sim / "state").mkdir(parents=True)
        shutil.copytree(PROGRAM, folder / "program")
        (sim / WORLD).write_text(json.dumps(batches.world(places)))
        install(sim, ROOT, {package, batches.ITS_CLOUD} if package == batches.KUBERNETES else {package})
        engine = Engine(folder, package)
        engine.run([], "stack", "init", "test")
        return engine

    def run(self, document: list[Entry], *command: str) -> str:
        base = {**os.environ, "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])}
        text = json.dumps(document)
        path = self.folder / f"{sha256(text.encode()).hexdigest()}.json"
        path.write_text(text)
        variables = {**base, **environment(self.folder / "sim", ROOT, "small", base), "PULUMI_STACK": "test"}
        done = subprocess.run(
            ["pulumi", "--non-interactive", "--cwd", str(self.folder / "program"), *command],
            env={**variables, "BATCH": str(path), "PULUMI_ENABLE_STREAMING_JSON_PREVIEW": "true"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout + done.stderr

    def told(self, document: list[Entry], *command: str) -> dict[str, str]:
        """Run a command; return what it said of each resource, by type and name."""
        said: dict[str, str] = {}
        for line in self.run(document, *command).splitlines():
            if not line.startswith("{"):
                continue
            event = json.loads(line).get("diagnosticEvent", {})
            if event.get("severity") == "error" and event.get("urn"):
                urn = event["urn"].split("::", 2)[-1]
                said[urn] = said.get(urn, "") + event["message"]
        return said

    def state(self) -> dict[str, dict[str, Any]]:
        """Outputs of what the stack holds, by name."""
        deployment = json.loads(self.run([], "stack", "export"))["deployment"]
        found = deployment.get("resources") or ()
        return {
            item["urn"].split("::")[-1]: {**item.get("outputs", {}), "id": item["id"]}
            for item in found
            if item.get("custom") and not item["type"].startswith("pulumi:providers:")
        }


@dataclass
class Report:
    """What the engine said and made in two updates."""

    said: dict[int, str] = field(default_factory=dict)
    """What it said of the resource of each example, by the example's number."""
    strangers: dict[str, str] = field(default_factory=dict)
    """What it said of anything else."""
    missing: set[str] = field(default_factory=set)
    """What should have been made and was not."""
    surplus: set[str] = field(default_factory=set)
    """What should have been refused and was made."""


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory, all_shapes: Mapping[str, Shapes]) -> Iterator[Standing]:
    built = stand(tmp_path_factory.mktemp("standing"), all_shapes)
    yield built
    close_site(built.site)


@dataclass(frozen=True)
class Bench:
    """One package's engine, with the plan made in place 0."""

    package: str
    engine: Engine
    report: Report
    state: Mapping[str, Any]
    """Outputs after the first update."""


@pytest.fixture(scope="module", params=packages())
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Every example that an update refuses, in two updates."""
    package = request.param
    shown = placed(package)
    engine = Engine.new(tmp_path_factory.mktemp(package), package, len(examples(package)) + 1)
    report = Report()
    state = run_updates(engine, shown, report)
    return Bench(package, engine, report, state)


def placed(package: str) -> list[Shown]:
    """Give every example that an update refuses a resource of its own, and a place of its own if it needs one."""
    shown = []
    for example in (one for one in examples(package) if not one.of_inputs):
        place = Place(package, example.number if example.alone else 0)
        name = place.called(example.of) if example.alone else f"{example.of}-{example.claim}-{example.number}"
        shown.append(Shown(example, place, name))
    return shown


def run_updates(engine: Engine, shown: list[Shown], report: Report) -> dict[str, Any]:
    """Create, then change and delete; return the state in between."""
    up = ("up", "--yes", "--skip-preview", "--continue-on-error", "--json")
    first = batches.first_run(engine.package, shown)
    creates = [item for item in shown if item.example.how == "create"]
    _note(report, creates, engine.told(first, *up))
    between = engine.state()
    _compare(report, batches.resources(first) - {item.name for item in creates}, between)
    later = [item for item in shown if item.example.how != "create"]
    second = batches.second_run(later, between)
    _note(report, later, engine.told(second, *up))
    kept = {item.name for item in later if item.example.how == "delete"}
    _compare(report, batches.resources(second) | kept, engine.state())
    return between


def _note(report: Report, shown: list[Shown], told: dict[str, str]) -> None:
    for item in shown:
        report.said[item.example.number] = told.pop(f"{item.example.type}::{item.name}", "")
    report.strangers |= told


def _compare(report: Report, wanted: set[str], found: Mapping[str, Any]) -> None:
    report.missing |= wanted - found.keys()
    report.surplus |= found.keys() - wanted


def unheard(expected: Iterable[Heard], said: Mapping[int, str]) -> dict[str, str]:
    """Examples whose sentence the engine did not print, with what it printed instead."""
    return {
        f"{heard.example}: {' | '.join(heard.words)}": said[heard.example.number]
        for heard in expected
        if not heard.is_refusal
        or not all(_same_ids(word) in _same_ids(said[heard.example.number]) for word in heard.words)
    }


def _same_ids(text: str) -> str:
    """Ids that clouds invent are made from URNs, and those are the engine's."""
    return re.sub(r"[0-9a-f]{7,}", "0", text)


@pytest.mark.engine
def test_every_refusal_of_an_update_is_heard_of_its_own_resource(
    bench: Bench, tmp_path_factory: pytest.TempPathFactory, all_shapes: Mapping[str, Shapes]
) -> None:
    expected = []
    for example in (one for one in examples(bench.package) if not one.of_inputs):
        site = open_site(tmp_path_factory.mktemp("site"), all_shapes)
        expected.append(attempted(site, example))
        close_site(site)
    assert unheard(expected, bench.report.said) == {}


@pytest.mark.engine
def test_everything_else_in_the_batch_goes_through(bench: Bench) -> None:
    assert (bench.report.strangers, bench.report.missing) == ({}, set())


@pytest.mark.engine
def test_what_is_refused_is_not_made(bench: Bench) -> None:
    assert bench.report.surplus == set()


@pytest.mark.engine
@pytest.mark.real
def test_every_refusal_of_inputs_is_heard_in_a_preview(bench: Bench, standing: Standing) -> None:
    expected = {one.number: judged_alone(standing, one) for one in examples(bench.package) if one.of_inputs}

    def heard(group: list[Example]) -> bool:
        return judged_together(standing, [expected[one.number] for one in group], batches.together(group))

    def ask(group: list[Example]) -> dict[int, str]:
        told = bench.engine.told(batches.previewed(group, bench.state), "preview", "--json")
        return {one.number: told.get(f"{one.type}::{batches.REFUSED}", "") for one in group}

    with ThreadPoolExecutor(max_workers=3) as pool:
        answers = pool.map(ask, batches.packed([one.example for one in expected.values()], heard))
        said = {key: text for answer in answers for key, text in answer.items()}
    assert unheard(expected.values(), said) == {}
