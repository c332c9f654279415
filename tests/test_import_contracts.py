"""Every import contract breaks when an import that it forbids is planted, and only that contract.

The planted tree has the real tree's folders and contracts but empty modules, so that a case depends on nothing else.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LINTER = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
CONTRACTS = {contract["name"] for contract in LINTER["contracts"]}

PLANTED = {
    "core in layers": ("outlast/facts/planted.py", "import outlast.intent"),
    "core knows no Pulumi": ("outlast/proof/planted.py", "import pulumi"),
    "numpy in planner and drill": ("outlast/spend/planted.py", "import numpy"),
    "solver in planner": ("outlast/drill/planted.py", "import highspy"),
    "planner behind the command line": ("outlast/report/planted.py", "from outlast import planner"),
    "simcloud behind the command line": ("outlast/previews/planted.py", "import simcloud.rows"),
    "processes started in few places": ("outlast/rules/planted.py", "def run():\n    import subprocess"),
    "components share no cloud": ("components/base.py", "import pulumi_aws"),
    "aws components see aws": ("components/cluster/aws.py", "import pulumi_gcp"),
    "gcp components see gcp": ("components/cluster/gcp.py", "from components.network import aws"),
    "azure components see azure": ("components/cluster/azure.py", "import pulumi_aws"),
    "serving sees Kubernetes": ("components/serving/planted.py", "import pulumi_aws.eks"),
    "stacks wire": ("stacks/planted.py", "import pulumi_aws"),
    "policies judge": ("policies/planted.py", "from outlast import spend"),
    "simcloud stands alone": ("simcloud/planted.py", "import outlast.lock"),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """The project's packages with empty modules, its contracts, and one module for each name the contracts use."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "tools" / "checks", tmp_path / "tools" / "checks")
    for package in LINTER["root_packages"]:
        touch(tmp_path / package / "__init__.py")
        for source in (ROOT / package).rglob("*.py"):
            touch(tmp_path / source.relative_to(ROOT))
    for layer in LINTER["contracts"][0]["layers"]:
        for name in layer.replace("(", "").replace(")", "").replace("|", ":").split(":"):
            if not (tmp_path / "outlast" / f"{name.strip()}.py").exists():
                touch(tmp_path / "outlast" / name.strip() / "__init__.py")
    for module in ("components/network/aws.py", "simcloud/rows/__init__.py"):
        touch(tmp_path / module)
    return tmp_path


def touch(module: Path) -> None:
    """Make an empty module, and its packages up to the one below the tree's root."""
    for package in (module.parent, *module.parent.parents):
        package.mkdir(parents=True, exist_ok=True)
        if (package / "pyproject.toml").exists():
            break
        (package / "__init__.py").touch()
    module.touch()


def broken(tree: Path) -> list[str]:
    """Names of the contracts that a tree breaks."""
    lint = Path(sys.executable).with_name("lint-imports")
    wide = {**os.environ, "COLUMNS": "200"}
    answer = subprocess.run([lint, "--no-logo", "--no-cache"], cwd=tree, env=wide, capture_output=True, text=True)
    verdicts = re.findall(r"^(.+) (KEPT|BROKEN)$", answer.stdout, re.MULTILINE)
    assert {name for name, _ in verdicts} == CONTRACTS, answer.stdout + answer.stderr
    return [name for name, verdict in verdicts if verdict == "BROKEN"]


def test_an_unplanted_tree_breaks_nothing(tree):
    assert broken(tree) == []


@pytest.mark.parametrize(("module", "source"), PLANTED.values(), ids=PLANTED)
def test_a_planted_import_breaks_its_contract(tree, request, module, source):
    touch(tree / module)
    (tree / module).write_text(f"{source}\n")
    assert broken(tree) == [request.node.callspec.id]


def test_a_package_without_a_layer_is_refused(tree):
    touch(tree / "outlast" / "elsewhere" / "__init__.py")
    assert broken(tree) == ["core in layers"]


def test_every_contract_has_a_planted_violation():
    assert set(PLANTED) == CONTRACTS
