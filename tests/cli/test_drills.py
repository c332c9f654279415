"""What the drill says: the proof decides, the first minutes are an estimate."""

import pytest
from typer.testing import CliRunner

from outlast.cli.app import app
from outlast.errors import ConfigError
from tests.builders import CONFIG


@pytest.fixture(autouse=True)
def _configuration(monkeypatch):
    monkeypatch.setenv("OUTLAST_CONFIG", str(CONFIG))


def told(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["drill", "demo", "--lost", "us-east", *arguments])
    assert result.exit_code == 0
    return result.output


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
    assert sum(line.startswith(survivor) for line in first_minutes(told())) == 1


def test_the_assumptions_are_named():
    output = told("--detection-s", "90", "--prefill", "0.3", "--cache", "multi-turn")
    assumed = " ".join(first_minutes(output))
    assert all(word in assumed for word in ("90 s", "30%", "multi-turn"))


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
