"""The command line as a whole: its version, its ends, and the help of what can go wrong."""

import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from outlast.cli import app as command_line
from outlast.cli import deployments, sim
from outlast.errors import EnvironmentProblem
from simcloud.faults import KINDS, LASTING
from tests.builders import demo_intent

GLOBAL, REGION, ROUTING = "demo.global", "demo.us-east", "demo.routing"


def test_it_says_its_version(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["outlast", "--version"])
    with pytest.raises(SystemExit) as end:
        command_line.main()
    assert end.value.code == 0
    assert capsys.readouterr().out == f"outlast {version('outlast')}\n"


def test_an_interrupt_says_what_to_do_and_ends_with_130(monkeypatch, capsys):
    def interrupted(_fleet):
        raise KeyboardInterrupt

    monkeypatch.setattr("outlast.cli.context.load", interrupted)
    monkeypatch.setattr(sys, "argv", ["outlast", "check", "demo"])
    with pytest.raises(SystemExit) as end:
        command_line.main()
    assert end.value.code == 130
    what = "interrupted; what was under way may be half done: run the same command again\n"
    assert capsys.readouterr().err == what


def test_the_help_of_faults_lists_every_kind_with_its_keys_and_an_example():
    told = CliRunner().invoke(sim.app, ["faults", "--help"], env={"COLUMNS": "200"}).output
    lasting, once = told.split("Once, or as often")
    for kind, keys in KINDS.items():
        assert f"{kind} {' '.join(f'{key}=' for key in keys)}:" in (lasting if kind in LASTING else once)
    assert "outlast sim faults demo stockout cloud=" in told


def test_a_failed_up_says_which_stacks_are_up():
    assert sim._standing((GLOBAL, REGION, ROUTING), {GLOBAL: 1}, [REGION]) == (
        "up: demo.global; half done at most: demo.us-east; not begun: demo.routing"
    )
    assert sim._standing((GLOBAL,), {}, [GLOBAL]) == "up: none; half done at most: demo.global; not begun: none"


class NoStacks:
    """A backend that knows no stack."""

    def stacks(self):
        return ()


@pytest.fixture
def nothing_deployed(monkeypatch):
    monkeypatch.setattr("outlast.cli.context.engine", NoStacks)
    monkeypatch.setattr("outlast.cli.context.load", lambda _: type("Fleet", (), {"intent": demo_intent()}))


@pytest.mark.usefixtures("nothing_deployed")
def test_exports_of_no_stack_are_refused(tmp_path):
    with pytest.raises(EnvironmentProblem, match=r"no stack of demo yet.*outlast sim env"):
        deployments.exports("demo", str(tmp_path / "exports.json"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("nothing_deployed")
def test_applied_of_no_stack_is_written_for_the_first_deployment_and_says_so(tmp_path, capsys):
    deployments.applied("demo", str(tmp_path / "applied.json"))
    told = capsys.readouterr()
    assert (tmp_path / "applied.json").read_text() == "{}\n"
    assert "0 of 7 stacks" in told.out
    assert "the backend has no stack of demo yet" in told.err
