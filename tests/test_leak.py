"""A cloud leaks nowhere: without one cloud's files and facts, everything else imports and a fleet is still declared."""

import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from outlast.intent import stack_order
from outlast.intent.reading import parse_yaml
from tests.builders import demo_intent

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("outlast", "components", "stacks", "policies", "simcloud")
SDKS = {"gcp": "gcp", "azure": "azure-native"}
"""The cloud taken away -> the package of its SDK."""
GONE = {name: row.cloud for name, row in demo_intent().regions.items() if row.cloud in SDKS}
"""The demo's regions on them."""

PROGRAM = """
import importlib, json, pkgutil, sys
from pathlib import Path
sys.modules["pulumi_{sdk}"] = None  # an import of it fails, as if it were not installed
modules = []
for name in {packages}:
    package = importlib.import_module(name)
    found = pkgutil.walk_packages(package.__path__, f"{{name}}.")
    modules += [module.name for module in found if not module.name.endswith("__main__")]
files = [importlib.import_module(name).__file__ for name in modules]

from outlast.facts import load_facts
from outlast.intent import load_intent, stack_order
from outlast.intent.stacks import parse
from outlast.lock import read_lock
from outlast.rules import RULES, Deployment, run
from outlast.view import view_of
from stacks.run import declare as declare_stack
from tests.recording import declare

config = Path("config")
facts = load_facts(config)
intent = load_intent(config, "demo", facts)
lock = read_lock(config / "fleets" / "demo")
resources = [
    resource
    for stack in stack_order(intent)
    for resource in declare(lambda: declare_stack(parse(stack), intent, lock), preview=True, stack=stack)
]
deployment = Deployment(intent=intent, lock=lock, applied=None, view=view_of(resources, facts))
legal = [rule for rule in RULES if rule.id.startswith("R-")]
print(json.dumps({{
    "files": files,
    "types": sorted({{resource.type for resource in resources}}),
    "stacks": sorted(deployment.stacks),
    "violations": [violation.message() for violation in run(legal, deployment)],
}}))
"""


def without_cloud(tree: Path, cloud: str) -> list[str]:
    """Copy the project and take the cloud's files and facts away; return what was deleted."""
    for name in (*PACKAGES, "config"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tree / "tests").mkdir()
    shutil.copy2(ROOT / "tests" / "recording.py", tree / "tests")
    gone = sorted(path for name in PACKAGES for path in (tree / name).rglob("*") if path.stem == cloud)
    for path in gone:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in (tree / "config" / "facts").glob("*.csv"):
        with path.open(newline="", encoding="utf-8") as stream:
            table = csv.DictReader(stream)
            rows = [row for row in table if row.get("cloud") != cloud and not is_of(cloud, row.get("type", ""))]
        with path.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, table.fieldnames or ())
            writer.writeheader()
            writer.writerows(rows)
    return [path.relative_to(tree).as_posix() for path in gone]


def is_of(cloud: str, type_: str) -> bool:
    """Whether a resource type is a cloud's, or of its provider."""
    return SDKS[cloud] in type_.split(":")


def without_region(folder: Path, gone: str) -> None:
    """Take a region out of every file of a fleet; what it took goes to the others."""
    for path in folder.glob("*.yaml"):
        document = dropped(parse_yaml(path.read_text(encoding="utf-8"), path.name, []), gone)
        path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def with_gap(path: Path) -> None:
    """State that the residents of a jurisdiction with one region left do not survive its loss."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    gap = {"loss": "region", "owner": "a test", "reason": "one region is left", "expires": "2026-12-31"}
    document["classes"]["eu-resident"] |= {"survive": ["zone", "replica"], "gap": gap}
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def dropped(node: object, gone: str) -> object:
    """Return a document without the region; shares that no longer sum to 100 go to the first region left."""
    if isinstance(node, list):
        return [dropped(entry, gone) for entry in node if entry != gone]
    if not isinstance(node, dict):
        return node
    left = {key: dropped(value, gone) for key, value in node.items() if key != gone}
    kept = {key: value for key, value in left.items() if value or not node[key]}
    shares = [value for value in kept.values() if isinstance(value, int)]
    is_table = gone in node and bool(kept) and len(shares) == len(kept)
    return {**kept, next(iter(kept)): 100 - sum(shares[1:])} if is_table else kept


@pytest.fixture(scope="module", params=SDKS)
def cloud(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def declared(cloud: str, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What an interpreter says that saw only the tree without the cloud."""
    tree = tmp_path_factory.mktemp("leak")
    deleted = without_cloud(tree, cloud)
    for region in regions_on(cloud):
        without_region(tree / "config" / "fleets" / "demo", region)
        with_gap(tree / "config" / "fleets" / "demo" / "tenants.yaml")
    program = PROGRAM.format(sdk=SDKS[cloud].replace("-", "_"), packages=PACKAGES)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OUTLAST_", "PULUMI_"))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tree,
        env=environment | {"PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1]) | {"tree": str(tree), "deleted": deleted}


def regions_on(cloud: str) -> list[str]:
    """The demo's regions on a cloud."""
    return [region for region, on in GONE.items() if on == cloud]


def test_the_clouds_own_files_were_there_to_delete(cloud, declared):
    roles = {path.name for path in (ROOT / "components").iterdir() if (path / f"{cloud}.py").exists()}
    expected = {f"components/{role}/{cloud}.py" for role in roles} | {
        f"components/serving/overlays/{cloud}.py",
        f"outlast/ingest/quotas/{cloud}.py",
        f"outlast/ingest/starters/{cloud}.py",
        f"outlast/operations/permissions/{cloud}.py",
        f"outlast/operations/requests/{cloud}.py",
        f"outlast/view/{cloud}.py",
        f"simcloud/rows/{cloud}",
    }
    assert len(roles) > 5
    assert set(declared["deleted"]) == expected


def test_everything_else_imports_without_the_cloud(declared):
    assert len(declared["files"]) > 100
    assert [file for file in declared["files"] if not file.startswith(declared["tree"])] == []


def test_a_fleet_on_the_clouds_left_is_declared_and_breaks_no_law(cloud, declared):
    left = [stack for stack in stack_order(demo_intent()) if stack.partition(".")[2] not in regions_on(cloud)]
    assert declared["stacks"] == sorted(left)
    assert "aws:eks/nodeGroup:NodeGroup" in declared["types"]
    assert [type_ for type_ in declared["types"] if is_of(cloud, type_)] == []
    assert declared["violations"] == []
