"""What rules say of single deployments, in words and in what they leave alone."""

from dataclasses import replace

import pytest

from outlast.intent import stack_order
from outlast.rules import RULES, Deployment, run
from outlast.view import view_of
from tests.builders import demo_intent, facts, make_block, make_resource
from tests.rules.conftest import demo, demo_with
from tests.rules.test_rules import BUCKET, FAILING, PASSING, deployment, found, lowered, stray_nodes


def test_a_type_that_hides_its_place_breaks_one_rule_which_says_what_would_show_it():
    case = deployment()
    row = facts().catalogue[BUCKET].model_copy(update={"kind": "opaque"})
    table = replace(facts(), catalogue={**facts().catalogue, row.type: row})
    (violation,) = run(RULES, replace(case, view=view_of(case.view.resources, table)))
    assert (violation.rule, violation.decided) == ("R-00", False)
    assert "hides its place" in violation.title
    assert f"name inputs of {BUCKET} that say where in config/facts/catalogue.csv" in violation.fix
    assert "add a row" not in violation.message()


def said(rule: str, case: Deployment) -> str:
    (violation,) = [row for row in run(RULES, case) if row.rule == rule]
    return violation.message()


def test_a_type_that_is_not_listed_is_told_to_be_listed():
    assert "add a row for aws:dynamodb/table:Table" in said("R-00", FAILING["a type that is not listed"][0]())


def test_a_label_that_is_no_jurisdiction_is_told_which_there_are():
    message = said("R-01", FAILING["a label that is no jurisdiction"][0]())
    assert "correct the label: 'uss' is no jurisdiction. Did you mean 'US'?" in message
    known = {row.jurisdiction for row in facts().provider_regions.values()}
    assert f"allowed={','.join(sorted(known))} " in message


def test_a_label_of_a_jurisdiction_without_a_region_is_told_which_the_fleet_has():
    case = demo_with("demo.global", BUCKET, "us-east-weights", "tags.outlast-jurisdiction", "jp")
    message = said("R-01", case)
    assert "correct the label: the fleet has no region of jurisdiction JP" in message
    assert "allowed=EU,IN,US " in message


@pytest.mark.parametrize("stack", ["demo.nowhere", "demo", "demo.us-east.x", "demo.eu-south"])
def test_nodes_in_a_stack_that_is_none_of_the_fleets_are_refused(stack):
    assert found(demo(stray_nodes(stack))) == {("R-41", stack)}


def test_a_stack_that_is_none_of_the_fleets_is_told_the_nearest():
    message = said("R-41", demo(stray_nodes("demo.us-eats")))
    assert "Did you mean 'demo.us-east'?" in message
    assert f"allowed={','.join(sorted(map(str, stack_order(demo_intent()))))} " in message


@pytest.mark.parametrize("role", ["cluster", "node_pool", "workload", "compute"])
@pytest.mark.parametrize("part", ["global", "routing"])
def test_what_processes_data_is_refused_outside_a_regions_stack(role, part):
    type_ = next(row.type for row in facts().catalogue.values() if row.role == role)
    stray = make_resource(type_, "stray", f"demo.{part}", provider_inputs={"region": "us-east-1"})
    assert ("R-42", "stray") in found(demo(stray))


def test_a_negative_margin_that_is_lowered_breaks_rules():
    small = {"us-east": make_block("us-east", 1)}
    assert {rule for rule, _ in found(deployment(blocks=small, applied=lowered()))} == {"H-01", "H-02", "H-03", "H-26"}


def test_a_stack_of_another_region_is_not_asked_for_this_regions_replicas():
    case = deployment(region="eu-north", blocks={"us-east": make_block("us-east", 9, 9, nodes=[4, 5])})
    assert found(case) == set()


def test_every_rule_has_a_deployment_that_breaks_it_and_one_that_comes_close():
    ids = {rule.id for rule in RULES}
    assert {rule for _, expected in FAILING.values() for rule, _ in expected} == ids
    assert {rule for _, passed in PASSING.values() for rule in passed} == ids
