"""Records from what the engine writes: a preview's JSON and a state export, each by hand and small."""

import pytest

from outlast.view import UNKNOWN, after_preview, before_preview, from_export
from outlast.view.readers import GONE

STACK = "urn:pulumi:test.us-east::outlast::pulumi:pulumi:Stack::outlast-test.us-east"
PROVIDER = "urn:pulumi:test.us-east::outlast::pulumi:providers:aws::main"
BUCKET = "urn:pulumi:test.us-east::outlast::outlast:weights:Aws$aws:s3/bucket:Bucket::weights"
ROLE = "urn:pulumi:test.us-east::outlast::aws:iam/role:Role::node"
UNKNOWN_ID = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def state(urn: str, type_: str, **fields) -> dict:
    return {"urn": urn, "type": type_, "inputs": {}, "outputs": {"arn": "never read"}, **fields}


def provider() -> dict:
    return state(PROVIDER, "pulumi:providers:aws", inputs={"region": "us-east-1"}, parent=STACK)


def bucket(**fields) -> dict:
    return state(BUCKET, "aws:s3/bucket:Bucket", provider=f"{PROVIDER}::{UNKNOWN_ID}", parent=STACK, **fields)


def step(op: str, old: dict | None = None, new: dict | None = None) -> dict:
    found = {"op": op, "urn": (new or old or {})["urn"]}
    return found | ({"oldState": old} if old else {}) | ({"newState": new} if new else {})


def test_a_record_holds_inputs_provider_parent_and_dependencies():
    new = bucket(
        inputs={"bucket": "b", "kmsKeyId": UNKNOWN_ID, "days": 7.0},
        dependencies=[ROLE, PROVIDER],
        propertyDependencies={"kmsKeyId": [ROLE], "bucket": []},
        protect=True,
        ignoreChanges=["tags"],
    )
    document = {"steps": [step("create", new=new), step("create", new=provider())]}
    found, provided = sorted(after_preview(document), key=lambda resource: resource.type)
    assert provided.inputs == {"region": "us-east-1"}
    assert found.inputs == {"bucket": "b", "kmsKeyId": UNKNOWN, "days": 7}
    assert (found.provider, found.provider_inputs) == (PROVIDER, {"region": "us-east-1"})
    assert found.dependencies == tuple(sorted((ROLE, PROVIDER)))
    assert found.property_dependencies == {"kmsKeyId": (ROLE,)}
    assert (found.protect, found.ignore_changes, found.name, found.stack) == (
        True,
        ("tags",),
        "weights",
        "test.us-east",
    )


def test_the_stack_is_no_parent():
    assert after_preview({"steps": [step("same", bucket(), bucket())]})[0].parent == ""


def test_outputs_are_never_read():
    assert "never read" not in repr(after_preview({"steps": [step("same", bucket(), bucket())]}))


@pytest.mark.parametrize("op", sorted(GONE))
def test_what_a_preview_removes_does_not_exist_after(op):
    assert after_preview({"steps": [step(op, bucket(), bucket())]}) == ()


def test_what_a_preview_creates_does_not_exist_before():
    document = {"steps": [step("create", new=bucket()), step("delete", old=provider())]}
    assert [resource.name for resource in before_preview(document)] == ["main"]
    assert [resource.name for resource in after_preview(document)] == ["weights"]


def test_an_update_shows_each_side_its_inputs():
    document = {"steps": [step("update", bucket(inputs={"bucket": "a"}), bucket(inputs={"bucket": "b"}))]}
    assert before_preview(document)[0].inputs == {"bucket": "a"}
    assert after_preview(document)[0].inputs == {"bucket": "b"}


def test_a_replacement_is_one_resource():
    old, new = bucket(inputs={"bucket": "a"}), bucket(inputs={"bucket": "b"})
    ops = [("create-replacement", old, new), ("replace", old, new), ("delete-replaced", old, None)]
    document = {"steps": [step(*row) for row in ops]}
    assert [resource.inputs["bucket"] for resource in after_preview(document)] == ["b"]
    assert [resource.inputs["bucket"] for resource in before_preview(document)] == ["a"]


def test_an_export_leaves_out_what_waits_for_deletion():
    resources = [provider(), bucket(inputs={"bucket": "new"}), bucket(delete=True, inputs={"bucket": "old"})]
    found = from_export({"deployment": {"resources": resources}})
    assert {resource.name: resource.inputs for resource in found}["weights"] == {"bucket": "new"}
    assert len(found) == 2


@pytest.mark.parametrize("document", [{}, {"deployment": None}, {"deployment": {}}])
def test_an_empty_state_has_no_resources(document):
    assert from_export(document) == ()


def test_a_preview_without_steps_has_no_resources():
    assert after_preview({}) == before_preview({}) == ()


def test_a_preview_and_an_export_of_one_deployment_are_equal():
    rows = [provider(), bucket(inputs={"bucket": "b"}, dependencies=[PROVIDER])]
    export = from_export({"deployment": {"resources": rows}})
    assert after_preview({"steps": [step("same", row, row) for row in rows]}) == export
    assert before_preview({"steps": [step("same", row, row) for row in rows]}) == export


def test_a_provider_that_is_not_in_the_document_says_nothing():
    found = after_preview({"steps": [step("same", bucket(), bucket())]})[0]
    assert (found.provider, found.provider_inputs) == (PROVIDER, {})


@pytest.mark.parametrize("name", ["default", "default_7_51_1"])
def test_a_default_provider_is_no_provider_of_ours(name):
    urn = PROVIDER.replace("::main", f"::{name}")
    given = bucket() | {"provider": f"{urn}::{UNKNOWN_ID}"}
    rows = [given, state(urn, "pulumi:providers:aws", inputs={"region": "us-east-1"})]
    found = from_export({"deployment": {"resources": rows}})
    assert {row.name: (row.provider, row.provider_inputs) for row in found}["weights"] == ("", {"region": "us-east-1"})


def test_what_no_provider_serves_has_none():
    assert from_export({"deployment": {"resources": [provider()]}})[0].provider == ""
