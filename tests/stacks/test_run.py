"""A user's mistake ends the program in plain words, without a traceback."""

import shutil

import pulumi
import pytest

from stacks import run as run_stack
from stacks.run import CONFIG_ROOT, config_root
from tests.builders import CONFIG


@pytest.mark.parametrize(
    ("stack", "message"),
    [
        ("demo", "not a stack's name"),
        ("dmeo.global", "Did you mean 'demo'"),
        ("demo.us-eats", "Did you mean 'us-east'"),
    ],
)
def test_a_mistake_in_the_name_is_a_clean_error(stack, message, monkeypatch):
    monkeypatch.delenv(CONFIG_ROOT, raising=False)
    with pytest.raises(pulumi.RunError, match=message) as caught:
        run_stack(stack)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_fleet_without_a_lock_is_told_to_plan(tmp_path, monkeypatch):
    shutil.copytree(CONFIG, tmp_path / "config", ignore=shutil.ignore_patterns("plan.lock.yaml"))
    monkeypatch.setenv(CONFIG_ROOT, str(tmp_path / "config"))
    with pytest.raises(pulumi.RunError, match="Run 'outlast plan demo' and commit the result"):
        run_stack("demo.global")


def test_the_files_lie_beside_the_program_unless_said_otherwise(monkeypatch):
    monkeypatch.delenv(CONFIG_ROOT, raising=False)
    assert config_root() == CONFIG
