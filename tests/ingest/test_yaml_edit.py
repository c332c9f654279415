"""Edits of YAML change what they were asked to, and leave every other line and comment."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.errors import ConfigError
from outlast.ingest.yaml_edit import quoted, with_item, with_keys

BLOCK = """\
# head
regions:
  us-east: # ours
    quotas:
      L-1: {granted: 10 vCPU, as_of: 2026-01-01} # asked twice
  # between
  eu-west:
    quotas: {L-2: {granted: 1 GPUs, ticket: T-1}}
# tail
"""


def lost(before, after):
    """Lines of `before` that `after` no longer has."""
    return [line for line in before.splitlines() if line not in after.splitlines()]


def test_a_value_changes_and_every_other_line_stays():
    edited = with_keys(BLOCK, ("regions", "us-east", "quotas", "L-1"), {"granted": "20 vCPU"}, "f")
    assert lost(BLOCK, edited) == ["      L-1: {granted: 10 vCPU, as_of: 2026-01-01} # asked twice"]
    assert "L-1: {granted: 20 vCPU, as_of: 2026-01-01} # asked twice" in edited


@pytest.mark.parametrize(
    "path",
    [
        ("regions", "us-east", "quotas", "L-9"),
        ("regions", "eu-west", "quotas", "L-9"),
        ("regions", "ap-south", "quotas", "L-9"),
        ("other", "deep", "place"),
    ],
    ids="/".join,
)
def test_a_mapping_that_is_absent_is_made_and_nothing_is_lost(path):
    edited = with_keys(BLOCK, path, {"granted": "5 vCPU", "as_of": "2026-11-30"}, "f")
    found = yaml.safe_load(edited)
    for part in path:
        found = found[part]
    assert found["granted"] == "5 vCPU"
    assert [line for line in lost(BLOCK, edited) if "#" in line] == []


def test_a_key_is_taken_out_of_a_block_and_of_one_line():
    text = "a:\n  keep: 1 # why\n  drop: 2\n  last: 3\nb: {drop: 1, keep: 2, end: 3}\n"
    edited = with_keys(text, ("a",), {"drop": None}, "f")
    assert edited == "a:\n  keep: 1 # why\n  last: 3\nb: {drop: 1, keep: 2, end: 3}\n"
    assert with_keys(text, ("b",), {"end": None}, "f").endswith("b: {drop: 1, keep: 2}\n")
    assert with_keys(text, ("b",), {"drop": None}, "f").endswith("b: {keep: 2, end: 3}\n")


@pytest.mark.parametrize("empty", ["regions:\n", "regions: {}\n", "regions: # none yet\n", ""])
def test_an_empty_mapping_is_filled(empty):
    edited = with_keys(empty, ("regions", "us-east"), {"a": "1"}, "f")
    assert yaml.safe_load(edited) == {"regions": {"us-east": {"a": 1}}}


@pytest.mark.parametrize(
    "text",
    ["demand:\n  - {a: 1} # one\n# tail\n", "demand:\n- a: 1\n  b: 2\n", "demand: [{a: 1}]\n", "demand: []\n"],
)
def test_an_item_is_put_at_the_end_of_a_list(text):
    edited = with_item(text, ("demand",), "{new: 1}", "f")
    assert yaml.safe_load(edited)["demand"] == [*yaml.safe_load(text)["demand"], {"new": 1}]
    assert edited.count("#") == text.count("#")


def test_an_item_takes_the_place_of_another():
    text = "demand:\n  - a: 1\n    b: 2\n  # kept\n  - {c: 3}\n"
    assert with_item(text, ("demand",), "{new: 1}", "f", 0) == "demand:\n  - {new: 1}\n  # kept\n  - {c: 3}\n"


NAMES = st.sampled_from(["a", "b", "c-d", "e/f"])
LEAVES = st.one_of(st.integers(), st.text("ab: #-", max_size=6), st.none(), st.lists(st.integers(), max_size=2))
MAPPINGS = st.dictionaries(NAMES, st.dictionaries(NAMES, st.dictionaries(NAMES, LEAVES, max_size=3), max_size=3))


@settings(max_examples=60, derandomize=True, deadline=None)
@given(MAPPINGS, NAMES, NAMES, st.booleans())
def test_any_document_takes_a_mapping_wherever_it_is_put(document, first, second, is_flow):
    text = yaml.safe_dump(document, default_flow_style=is_flow)
    edited = yaml.safe_load(with_keys(text, (first, second), {"new": "5 vCPU"}, "f"))
    before = document.get(first, {}).get(second, {})
    assert edited == document | {first: document.get(first, {}) | {second: before | {"new": "5 vCPU"}}}


def test_an_edit_that_would_change_more_is_refused():
    shared = "one: &same {granted: 1}\ntwo: *same\n"
    with pytest.raises(ConfigError, match="cannot be edited"):
        with_keys(shared, ("one",), {"granted": "2"}, "f")


@pytest.mark.parametrize("text", ["plain words", 'say "no"', "a: b", "40 %", "- x", "yes", "2026", "back\\slash", "#1"])
def test_quoted_text_is_read_back_as_it_was(text):
    assert yaml.safe_load(quoted(text)) == text
    assert yaml.safe_load(f"{{key: {quoted(text)}}}") == {"key": text}
