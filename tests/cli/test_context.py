"""Names of stacks as people type them, and what is said of stacks that are not whole."""

from pathlib import Path

import pytest

from outlast.cli import context
from outlast.errors import ConfigError
from outlast.previews import Engine
from simcloud.fleet_config import mirror
from tests.builders import CONFIG, demo_intent

REGIONS = ("us-east", "eu-west", "eu-north", "eu-central", "ap-south")
ALL = ("demo.global", *(f"demo.{region}" for region in REGIONS), "demo.routing")


@pytest.mark.parametrize(
    ("names", "stacks"),
    [
        (None, ALL),
        ([], ALL),
        (["us-east"], ("demo.us-east",)),
        (["demo.us-east", "us-east"], ("demo.us-east",)),
        (["routing", "demo.global"], ("demo.global", "demo.routing")),
    ],
)
def test_stacks_are_chosen_in_the_order_of_deployment(names, stacks):
    assert context.chosen_stacks(demo_intent(), names) == stacks


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("us-eats", r"unknown stack 'us-eats' \(allowed demo\.ap-south.*Did you mean 'demo\.us-east'\?"),
        ("demo.us-eats", r"Did you mean 'demo\.us-east'\?"),
        ("prod.us-east", r"unknown stack 'prod\.us-east'"),
        ("zzz", "Choose one of them"),
    ],
)
def test_a_mistyped_stack_is_refused(name, answer):
    with pytest.raises(ConfigError, match=answer):
        context.chosen_stacks(demo_intent(), ["us-east", name])


def test_every_mistyped_stack_is_named():
    with pytest.raises(ConfigError) as refused:
        context.chosen_stacks(demo_intent(), ["zzz", "yyy"])
    assert len(refused.value.problems) == 2


def test_an_incomplete_stack_is_told_on_standard_error(monkeypatch, capsys):
    def applied_of(_engine, stacks, _known, incomplete):
        for stack in stacks:
            incomplete(stack)
        return {}

    monkeypatch.setattr("outlast.previews.applied_of", applied_of)
    assert context.deployed(Engine(Path()), ["demo.eu-north"]) == {}
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == (
        "demo.eu-north: its outputs are incomplete, so it counts as not deployed; run 'pulumi up -s demo.eu-north'\n"
    )


@pytest.mark.parametrize("is_mirror", [True, False])
def test_files_are_written_where_people_write_them(tmp_path, monkeypatch, is_mirror):
    mirrored = mirror(CONFIG, tmp_path / "sim", "demo")
    monkeypatch.setenv("OUTLAST_CONFIG", str(mirrored))
    monkeypatch.setenv("OUTLAST_SIM", str(tmp_path / ("sim" if is_mirror else "another")))
    assert context.written_root() == (CONFIG if is_mirror else mirrored)
