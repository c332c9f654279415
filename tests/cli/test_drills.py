"""What the drill says: the proof decides, the first minutes are an estimate."""

import math

import pytest
from typer.testing import CliRunner

from outlast.cli import drills
from outlast.cli.app import app
from outlast.drill import Outcome
from outlast.errors import ConfigError
from tests.builders import CONFIG, demo_intent, write_demo


@pytest.fixture(autouse=True)
def _configuration(monkeypatch):
    monkeypatch.setenv("OUTLAST_CONFIG", str(CONFIG))


def told(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["drill", "demo", "--lost", "us-east", *arguments])
    assert result.exit_code == 0
    return result.stdout


def first_minutes(output: str) -> list[str]:
    """The lines from the estimate's heading to the verdict."""
    lines = output.splitlines()
    start = next(index for index, line in enumerate(lines) if "simulation, not a proof" in line)
    return lines[start:-1]


def refused(*arguments: str) -> str:
    error = CliRunner().invoke(app, ["drill", "demo", *arguments]).exception
    assert isinstance(error, ConfigError)
    return str(error)


@pytest.mark.parametrize("survivor", ["eu-west", "eu-north"])
def test_every_survivor_has_a_row_in_the_first_minutes(survivor):
    rows = [line for line in first_minutes(told()) if line.startswith(survivor)]
    models = demo_intent().models_of_class["open"]
    assert sum(any(model in row for row in rows) for model in models) == len(rows) == len(models)


def test_the_assumptions_are_named():
    output = told("--detection-s", "90", "--prefill", "0.3", "--cache", "multi-turn")
    assumed = " ".join(first_minutes(output))
    assert all(word in assumed for word in ("90 s", "30%", "multi-turn"))


def test_the_guardrails_say_how_much_of_the_time_is_prefill(tmp_path, monkeypatch):
    write_demo(tmp_path, "guardrails", {"prefill_surge": {"q": "73 %", "c": "40 %", "c_f": "0 %"}})
    (tmp_path / "facts").symlink_to(CONFIG / "facts")
    monkeypatch.setenv("OUTLAST_CONFIG", str(tmp_path))
    assert "73%" in first_minutes(told())[-1]
    assert "20%" in first_minutes(told("--prefill", "0.2"))[-1]


@pytest.mark.parametrize("figures", [(math.inf, math.inf, math.inf), (1.2, 700.0, math.inf), (1.0, 0.01, 2.0)])
def test_what_has_no_end_or_no_size_is_said_in_words(figures):
    shown = " ".join(drills._felt(Outcome("us-east", 0, "eu-north", "chat", *figures)))
    assert "inf" not in shown
    assert " 0.0" not in shown


def test_a_long_queue_does_not_change_the_verdict():
    calm, crowded = told("--prefill", "0"), told("--prefill", "1", "--cache", "multi-turn")
    assert first_minutes(calm) != first_minutes(crowded)
    assert calm.splitlines()[-1] == crowded.splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--lost", "us-eats"), "us-east"),
        (("--lost", "us-east", "--cache", "multi-trun"), "multi-turn"),
        (("--lost", "us-east", "--prefill", "1.5"), "1.5"),
        (("--lost", "us-east", "--prefill", "nan"), "nan"),
        (("--lost", "us-east", "--detection-s", "-1"), "-1 s"),
    ],
)
def test_a_wrong_argument_is_named(arguments, named):
    assert named in refused(*arguments)


def test_a_lock_of_other_files_is_said_beside_the_drill(tmp_path, monkeypatch):
    write_demo(tmp_path, "guardrails", {"burst_margin": "1 %"})
    (tmp_path / "facts").symlink_to(CONFIG / "facts")
    monkeypatch.setenv("OUTLAST_CONFIG", str(tmp_path))
    result = CliRunner().invoke(app, ["drill", "demo", "--lost", "eu-west"])
    assert "outlast plan demo" in result.stderr
