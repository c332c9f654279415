"""A copy of the configuration that a test may change, and the files of other tools."""

import json
import shutil
from pathlib import Path

import pytest

from outlast.cli import main
from tests.builders import CONFIG

FIXTURES = Path(__file__).parent / "fixtures"


@pytest.fixture
def config(tmp_path):
    """The repository's configuration, copied."""
    root = tmp_path / "config"
    shutil.copytree(CONFIG, root)
    return root


@pytest.fixture
def outlast(config, monkeypatch, capsys):
    """Run the command line on the copied configuration; returns exit code, standard output and the messages."""
    monkeypatch.setenv("OUTLAST_CONFIG", str(config))

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["outlast", *map(str, arguments)])
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
        told = capsys.readouterr()
        assert "Traceback" not in told.err
        return code, told.out, told.err

    return run


@pytest.fixture
def unchanged(config):
    """Assert at the end that no file of the configuration differs from before."""
    before = contents(config)
    yield
    assert contents(config) == before


def contents(root):
    """Every file below a folder with its bytes."""
    return {path.relative_to(root): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def source(tmp_path):
    """Write a file of another tool; returns its path."""

    def write(content, name="export.json"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


@pytest.fixture
def altered(source):
    """Write a fixture with some of its keys changed; None takes a key out."""

    def write(name, **changes):
        document = json.loads((FIXTURES / name).read_text())
        document |= changes
        return source({key: value for key, value in document.items() if value is not None}, name)

    return write
