"""Documents say what is there: named tests and commands exist, settings match the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

REPO = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| (F\d\d) \| (.*?) \| (.*?) \| ?(.*?) ?\|$", (REPO / "docs/features.md").read_text(), re.MULTILINE
)
PLANNING = {"init", "import", "check", "plan", "why", "quote", "runway", "replica"}
COMMANDS = PLANNING | {"verify", "drill", "previews", "spend", "applied", "exports", "sim"}


def test_every_feature_has_a_row() -> None:
    assert [row[0] for row in ROWS] == [f"F{number:02d}" for number in range(1, 40)]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_a_feature_that_claims_something_names_a_proof_that_exists(row: tuple[str, str, str, str]) -> None:
    _, _, state, shown = row
    assert state == "open" or state == "works" or state.startswith("part: ")
    proofs = re.findall(r"`([^`]+)`", shown)
    assert bool(proofs) == (state != "open")
    for proof in proofs:
        words = proof.split()
        if words[0] == "outlast":
            assert words[1] in COMMANDS
        elif words[0] == "make":
            assert f"{words[1]}:" in (REPO / "Makefile").read_text()
        else:
            assert (REPO / proof).exists(), proof


def test_links_between_documents_lead_somewhere() -> None:
    pages = [REPO / "README.md", REPO / "CHANGELOG.md", *(REPO / "docs").rglob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_readme_names_every_folder_of_the_tree() -> None:
    readme = (REPO / "README.md").read_text()
    for folder in ("config", "outlast", "components", "stacks", "policies", "simcloud", "demo", "tools", "benchmarks"):
        assert f"`{folder}/" in readme, folder


def test_every_environment_variable_of_ours_is_documented() -> None:
    page = (REPO / "docs/architecture.md").read_text()
    sources = [
        path
        for folder in ("outlast", "stacks", "policies", "simcloud", "tools")
        for path in (REPO / folder).rglob("*.py")
    ]
    used = set().union(*(re.findall(r"\bOUTLAST_[A-Z_]+\b", path.read_text()) for path in sources))
    assert {name for name in used if f"`{name}`" not in page} == set()
