"""``outlast render``: what it refuses before it asks the engine, and what it does to a folder."""

import pytest

from outlast.cli import rendering
from outlast.errors import ConfigError, EnvironmentProblem
from outlast.operations import Change
from tests.builders import demo_intent


def held(**counts: int) -> dict[str, int]:
    """How many resources stacks of the demo hold."""
    return {f"demo.{name.replace('_', '-')}": count for name, count in counts.items()}


@pytest.mark.parametrize("stack", ["mars", "demo.mars", "other.us-east", "", "global", "demo.routing"])
def test_what_is_no_stack_of_a_region_is_refused(stack):
    with pytest.raises(ConfigError, match="--stack"):
        rendering._region_stack(demo_intent(), stack)


def test_a_stack_that_the_backend_does_not_know_is_refused():
    with pytest.raises(EnvironmentProblem, match=r"pulumi stack init demo\.us-east"):
        rendering._deploy_first(held(), demo_intent(), "demo.us-east")


@pytest.mark.parametrize(
    ("counts", "first"),
    [({"us_east": 0}, "global"), ({"global": 9, "us_east": 0}, "us-east"), ({"global": 9, "us_east": 3}, "us-east")],
)
def test_the_first_stack_that_holds_nothing_is_the_one_to_deploy(counts, first):
    assert rendering._deploy_first(held(**counts), demo_intent(), "demo.us-east") == f"demo.{first}"


def test_folders_that_a_removal_leaves_empty_go_and_others_stay(tmp_path):
    gone, kept = tmp_path / "serving/pod/a.yaml", tmp_path / "serving/service/b.yaml"
    for path in (gone, kept):
        path.parent.mkdir(parents=True)
        path.write_text("")
    rendering._apply(Change(write={}, remove=(gone,)), tmp_path)
    assert sorted(path.name for path in (tmp_path / "serving").iterdir()) == ["service"]


def test_new_files_are_written_with_their_folders(tmp_path):
    rendering._apply(Change(write={tmp_path / "a/b/c.yaml": "x\n"}, remove=()), tmp_path)
    assert (tmp_path / "a/b/c.yaml").read_text() == "x\n"
