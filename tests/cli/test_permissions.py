"""``outlast permissions``: which documents it prints, and words it refuses."""

import json

import pytest
from typer.testing import CliRunner

from outlast.cli.app import app
from outlast.errors import ConfigError


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["permissions", "demo", *arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize(
    "arguments",
    [("--region", "mars"), ("--cloud", "nimbus"), ("--format", "yaml"), ("--region", "us-east", "--cloud", "aws")],
)
def test_words_that_name_nothing_are_refused(arguments):
    with pytest.raises(ConfigError):
        CliRunner().invoke(app, ["permissions", "demo", *arguments], catch_exceptions=False)


def test_a_cloud_alone_brings_its_documents_and_that_of_its_clusters():
    heads = {name.partition("-")[0] for name in json.loads(run("--cloud", "gcp", "--format", "json"))}
    assert heads == {"gcp", "kubernetes"}


def test_the_terminal_shows_every_document_with_its_commands():
    told = run()
    for name, content in json.loads(run("--format", "json")).items():
        assert f"{name}.json" in told
        assert json.dumps(content, indent=2) in told


def test_files_hold_what_is_printed(tmp_path):
    run("--out", str(tmp_path / "new"))
    written = {path.stem: json.loads(path.read_text()) for path in (tmp_path / "new").glob("*.json")}
    assert written == json.loads(run("--format", "json"))


def test_the_file_of_commands_holds_every_command_that_is_printed(tmp_path):
    run("--out", str(tmp_path))
    printed = [line.removeprefix("  $ ") for line in run().splitlines() if line.startswith("  $ ")]
    lines = (tmp_path / "commands.txt").read_text().splitlines()
    assert [line for line in lines if line and not line.startswith("#")] == printed
