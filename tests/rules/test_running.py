"""Running rules: none fails open, each says the same in the same form."""

import re
from dataclasses import replace

import pytest

from outlast.rules import CRASHED, LOCK, RULES, Deployment, Rule, Violation, run
from outlast.view import view_of
from tests.builders import facts, make_block, make_intent, make_lock, make_resource

FIELDS = ("rule", "severity", "urn", "path", "found", "allowed", "decided")


def empty() -> Deployment:
    intent = make_intent()
    lock = make_lock(intent, {"us-east": make_block("us-east", 2), "eu-north": make_block("eu-north", 2)})
    return Deployment(intent=intent, lock=lock, applied=None, view=view_of([], facts()))


def rule_of(check, id_: str = "T-01") -> Rule:
    return replace(RULES[0], id=id_, check=check)


def violation(**fields) -> Violation:
    base = {
        "rule": "T-01",
        "urn": "urn:pulumi:test.us-east::outlast::aws:s3/bucket:Bucket::b",
        "path": "region",
        "title": "A title",
        "found": "aws us-east-1",
        "allowed": "aws eu-north-1, gcp europe-west4",
        "why": "the law",
        "fix": "move it",
    }
    return Violation(**{**base, **fields})


def machine_line(found: Violation) -> dict[str, str]:
    last = found.message().splitlines()[-1]
    pairs = [word.split("=", 1) for word in last.split()]
    return dict(pairs)


def test_a_rule_that_raises_is_a_mandatory_violation():
    def crash(_):
        raise RuntimeError("no such thing")

    (found,) = run([rule_of(crash)], empty())
    assert (found.rule, found.decided, found.waivable, found.severity) == (CRASHED, False, False, "critical")
    assert "T-01" in found.title
    assert "RuntimeError: no such thing" in found.message()


def test_a_rule_that_raises_half_way_keeps_what_it_found():
    def crash(_):
        yield violation()
        raise RuntimeError

    assert {found.rule for found in run([rule_of(crash)], empty())} == {"T-01", CRASHED}


def test_a_rule_that_raises_does_not_stop_the_others():
    def crash(_):
        raise RuntimeError

    rules = [rule_of(crash), rule_of(lambda _: [violation(rule="T-02")], "T-02")]
    assert {found.rule for found in run(rules, empty())} == {"T-02", CRASHED}


def test_rules_that_share_a_check_run_it_once():
    calls = []

    def check(_):
        calls.append(1)
        return [violation()]

    assert len(run([rule_of(check, "T-01"), rule_of(check, "T-02")], empty())) == 1
    assert calls == [1]


def test_violations_are_one_per_rule_resource_and_path_and_in_order():
    rows = [violation(path="b"), violation(path="a"), violation(path="b"), violation(urn="a")]
    found = run([rule_of(lambda _: rows)], empty())
    assert [(row.urn[:1], row.path) for row in found] == [("a", "region"), ("u", "a"), ("u", "b")]


def test_the_last_line_of_a_message_is_for_machines():
    assert machine_line(violation()) == {
        "rule": "T-01",
        "severity": "critical",
        "urn": "urn:pulumi:test.us-east::outlast::aws:s3/bucket:Bucket::b",
        "path": "region",
        "found": "aws_us-east-1",
        "allowed": "aws_eu-north-1,gcp_europe-west4",
        "decided": "yes",
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"found": "two\nlines"},
        {"found": ""},
        {"urn": "test.us-east, test.eu-north"},
        {"path": "a b\tc"},
        {"allowed": "x = y"},
    ],
    ids=["lines", "nothing", "two stacks", "blanks", "an equals sign"],
)
def test_the_machine_line_stays_one_line_of_one_word_each(fields):
    last = violation(**fields).message().splitlines()[-1]
    assert [word.split("=", 1)[0] for word in last.split()] == list(FIELDS)


def test_people_read_where_why_and_the_fix():
    text = violation(chain="a -> b").message()
    for word in (
        "[T-01] A title",
        "region: got aws us-east-1; allowed ",
        "the law",
        "a -> b",
        "move it",
    ):
        assert word in text


def test_a_waivable_violation_says_how():
    assert "waivers.yaml" in violation(waivable=True).message()


def test_ids_of_rules_differ_and_are_of_one_form():
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert [rule.id for rule in RULES if not re.fullmatch(r"[A-Z]-\d{2}", rule.id)] == []


def test_every_rule_says_what_it_checks_what_it_misses_why_and_the_fix():
    for rule in RULES:
        assert all((rule.title, rule.why, rule.checks, rule.misses, rule.fix)), rule.id


def test_legal_rules_cannot_be_waived():
    assert [rule.id for rule in RULES if rule.id.startswith("R-") and rule.waivable] == []


def test_stacks_and_regions_of_a_deployment_come_from_urns():
    names = ("test.us-east", "test.global", "other.eu-north")
    view = view_of([make_resource("aws:iam/role:Role", "x", stack) for stack in names], facts())
    case = replace(empty(), view=view)
    assert case.stacks == ("other.eu-north", "test.global", "test.us-east")
    assert case.regions == ("us-east",)


def test_a_deployment_of_one_resource_knows_no_other():
    resources = [make_resource("aws:iam/role:Role", name) for name in "ab"]
    case = replace(empty(), view=view_of(resources, facts()))
    alone = replace(case, view=view_of(resources[:1], facts()))
    assert alone.stacks == (resources[0].stack,)


def test_a_violation_of_the_lock_names_the_lock():
    assert all(found.urn == LOCK for found in run(RULES, empty()))
