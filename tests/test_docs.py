"""Documents say what is there: named tests and commands exist, settings match the code."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest
import typer
from typer.testing import CliRunner

from outlast.cli.app import app

REPO = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| (F\d\d) \| (.*?) \| (.*?) \| ?(.*?) ?\|$", (REPO / "docs/features.md").read_text(), re.MULTILINE
)
COMMANDS = set(typer.main.get_command(app).commands)  # type: ignore[attr-defined]


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


PAGES = ("first-deployment", "upgrades", "teardown")
OFFLINE = {"check", "permissions", "quotas", "preflight", "verify", "spend", "drill"}
"""Commands that need neither engine nor account."""
STATE = "--state"


def commands_of(page: str) -> list[list[str]]:
    """Return the words of every command line in the shell blocks of a page."""
    text = (REPO / page).read_text()
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [words for line in lines if (words := shlex.split(line, comments=True))]


OUTLAST = [
    (page, words)
    for page in ("README.md", "docs/own-fleet.md", *(f"docs/{name}.md" for name in PAGES))
    for words in commands_of(page)
    if words[0] == "outlast"
]


def test_every_page_for_operators_is_linked_from_the_readme() -> None:
    assert {page for page in PAGES if f"docs/{page}.md" not in (REPO / "README.md").read_text()} == set()


@pytest.mark.parametrize(("page", "words"), OUTLAST, ids=[" ".join(words) for _, words in OUTLAST])
def test_command_lines_of_documents_are_understood(page: str, words: list[str]) -> None:
    command: Any = typer.main.get_command(app)
    rest = words[1:]
    while isinstance(command, click.Group):
        assert rest, page
        command = command.commands[rest.pop(0)]
    command.make_parser(click.Context(command)).parse_args(rest)


RUN = sorted({tuple(words) for page, words in OUTLAST if words[1] in OFFLINE and STATE not in words})


@pytest.mark.parametrize("words", RUN, ids=[" ".join(words) for words in RUN])
def test_command_lines_of_documents_that_need_no_engine_run_on_the_demo(words: tuple[str, ...], tmp_path) -> None:
    names = {"prod": "demo", "grants": str(tmp_path / "grants")}
    arguments = [names.get(word, word) for word in words[1:]]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output


SHOWN = re.findall(
    r"^```console\n\$ outlast ((?:why|quote) [^\n]*)\n(.*?)^```",
    (REPO / "docs/explain.md").read_text(),
    re.MULTILINE | re.DOTALL,
)


@pytest.mark.parametrize(("line", "shown"), SHOWN, ids=[line for line, _ in SHOWN])
def test_what_a_page_shows_of_the_demo_is_what_the_command_says(line: str, shown: str) -> None:
    done = CliRunner().invoke(app, shlex.split(line), catch_exceptions=False)
    said = " ".join(done.output.split())
    assert [row for row in shown.splitlines() if set(row) != {"─"} and " ".join(row.split()) not in said] == []
