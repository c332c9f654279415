"""What ``outlast spend`` says of previews that do not tell all."""

from __future__ import annotations

import json

import pytest
import typer

from outlast.cli.spending import spend
from outlast.intent import stack_order
from outlast.previews import StackPreview, save_preview
from tests.builders import demo_intent

EMPTY: dict[str, list[object]] = {"steps": []}


def test_stacks_without_a_preview_are_named_and_fail_a_strict_run(tmp_path, capsys):
    for part in ("global", "us-east", "routing"):
        save_preview(tmp_path, StackPreview(f"demo.{part}", True, (), "", EMPTY))
    with pytest.raises(typer.Exit):
        spend("demo", from_previews=tmp_path, form="json", strict=True)
    verdict = json.loads(capsys.readouterr().out)["verdicts"]["previews"]
    assert not verdict["good"]
    assert "demo.eu-north, demo.eu-west not in the sums" in verdict["detail"]


def test_a_preview_that_did_not_pass_is_named(tmp_path, capsys):
    for stack in map(str, stack_order(demo_intent())):
        save_preview(tmp_path, StackPreview(stack, stack != "demo.eu-west", (), "", EMPTY))
    spend("demo", from_previews=tmp_path, form="json")
    detail = json.loads(capsys.readouterr().out)["verdicts"]["previews"]["detail"]
    assert detail == "demo.eu-west did not pass"
