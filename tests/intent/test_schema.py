"""The JSON schemas that editors use are those of the models."""

import json

import pytest

from outlast.intent import FILES
from outlast.intent.schema import schemas, write_schemas
from tests.builders import CONFIG

SCHEMAS = schemas()
REFRESH = "the models changed: run `make schemas` and commit config/schema"


@pytest.mark.parametrize("name", [f"{stem}.json" for stem in FILES])
def test_the_committed_schema_is_that_of_the_model(name):
    assert (CONFIG / "schema" / name).read_text() == SCHEMAS[name], REFRESH


def test_every_file_has_a_schema_and_no_schema_is_left_over():
    assert {path.name for path in (CONFIG / "schema").iterdir()} == set(SCHEMAS), REFRESH


def test_writing_makes_the_same_files(tmp_path):
    write_schemas(tmp_path / "new")
    assert {path.name: path.read_text() for path in (tmp_path / "new").iterdir()} == SCHEMAS


@pytest.mark.parametrize("name", [f"{stem}.json" for stem in FILES])
def test_an_editor_refuses_unknown_keys(name):
    assert json.loads(SCHEMAS[name])["additionalProperties"] is False


@pytest.mark.parametrize("fleet", sorted(path.name for path in (CONFIG / "fleets").iterdir()))
def test_every_file_of_a_fleet_names_its_schema(fleet):
    for path in (CONFIG / "fleets" / fleet).glob("*.yaml"):
        if path.stem in FILES:
            assert path.read_text().startswith(f"# yaml-language-server: $schema=../../schema/{path.stem}.json\n")


def test_every_key_that_people_write_is_described_or_says_itself():
    described = [
        field
        for schema in map(json.loads, SCHEMAS.values())
        for definition in schema.get("$defs", {}).values()
        for field in definition.get("properties", {}).values()
        if "description" in field
    ]
    assert len(described) > 40
