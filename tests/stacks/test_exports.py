"""Values between stacks: pending in a preview, required in an update, or read from a file."""

import json

import pulumi
import pytest

from outlast.errors import EnvironmentProblem
from outlast.view import UNKNOWN
from stacks.exports import EXPORTS_FILE, GlobalExports, read_global, read_region, write
from tests.recording import record

GLOBAL = {"demo.global": {"keys": {"us-east": "key-1"}, "dns": {"zone": "Z1"}}}


def read_and_export():
    read = read_global("demo", ["us-east"], dns=True)
    pulumi.export("read", {**read.keys, **read.dns})


def test_what_is_written_is_read():
    written = record(
        lambda: write(GlobalExports(keys={"us-east": "key-1"}, dns={"zone": "Z1"})), preview=False, stack="demo.global"
    ).exports
    assert written == GLOBAL["demo.global"]
    assert record(read_and_export, preview=False, stacks={"demo.global": written}).exports["read"] == {
        "us-east": "key-1",
        "zone": "Z1",
    }


def test_a_missing_value_is_pending_in_a_preview():
    recording = record(read_and_export, preview=True, stacks={"demo.global": {"dns": {"zone": "Z1"}}})
    assert recording.exports["read"] == {"us-east": UNKNOWN, "zone": "Z1"}
    assert recording.warnings == ["keys.us-east of demo.global: pending demo.global in this pull request"]


def test_a_missing_value_ends_an_update_and_says_what_to_run():
    with pytest.raises(pulumi.RunError, match=r"does not export keys\.us-east\. Run 'pulumi up -s demo\.global' first"):
        record(read_and_export, preview=False, stacks={"demo.global": {"dns": {"zone": "Z1"}}})


def test_a_file_stands_in_for_a_stack_out_of_reach(tmp_path, monkeypatch):
    path = tmp_path / "exports.json"
    path.write_text(json.dumps({"demo.us-east": {"gateway_addresses": {"z1": "192.0.2.7"}}}))
    monkeypatch.setenv(EXPORTS_FILE, str(path))
    recording = record(
        lambda: pulumi.export("read", dict(read_region("demo", "us-east", ["z1"]).gateway_addresses)), preview=False
    )
    assert recording.exports["read"] == {"z1": "192.0.2.7"}


@pytest.mark.parametrize("content", ["not json", "[]", '{"demo.global": 3}'])
def test_a_broken_file_is_named(tmp_path, monkeypatch, content):
    path = tmp_path / "exports.json"
    path.write_text(content)
    monkeypatch.setenv(EXPORTS_FILE, str(path))
    with pytest.raises(EnvironmentProblem, match=r"OUTLAST_EXPORTS=exports\.json: cannot read the exports"):
        record(read_and_export, preview=False)
