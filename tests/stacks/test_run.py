"""A user's mistake ends the program in plain words, without a traceback."""

import shutil

import pulumi
import pytest

from stacks import run as run_stack
from tests.builders import CONFIG


def said_before_exit(stack, monkeypatch):
    """Run a program that must end by itself; return what it told the user."""
    said: list[str] = []
    monkeypatch.setattr(pulumi.log, "error", said.append)
    with pytest.raises(SystemExit) as caught:
        run_stack(stack)
    assert caught.value.code == 32
    return "\n".join(said)


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        ("demo", "not a stack's name"),
        ("dmeo.global", "Did you mean 'demo'"),
        ("demo.us-eats", "Did you mean 'us-east'"),
    ],
)
def test_a_mistake_in_the_name_is_a_clean_error(stack, message, monkeypatch):
    monkeypatch.delenv("OUTLAST_CONFIG", raising=False)
    assert message in said_before_exit(stack, monkeypatch)


def test_a_fleet_without_a_lock_is_told_to_plan(tmp_path, monkeypatch):
    shutil.copytree(CONFIG, tmp_path / "config", ignore=shutil.ignore_patterns("plan.lock.yaml"))
    monkeypatch.setenv("OUTLAST_CONFIG", str(tmp_path / "config"))
    assert "Run 'outlast plan demo' and commit the result" in said_before_exit("demo.global", monkeypatch)
