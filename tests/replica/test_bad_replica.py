"""What no replica can be is refused, all of it at once, with what would be right."""

import math
from dataclasses import replace
from typing import Any

import pytest

from outlast.errors import ConfigError
from outlast.replica import Adapters
from tests.builders import H100, facts
from tests.replica.replicas import make_replica

L4, MI300X, NVL = "l4-24", "mi300x-192", "h100-nvl-94"


def said(*where, **changes) -> str:
    with pytest.raises(ConfigError) as caught:
        make_replica(*where, **changes)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"gpus": 0}, ["--gpus", "got 0", "1 to 64"]),
        ({"gpus": -4}, ["--gpus", "got -4"]),
        ({"gpus": 65}, ["--gpus", "got 65"]),
        ({"gpus": 3}, ["--gpus", "64 heads", "1, 2, 4, 8"]),
        ({"gpus": 128}, ["--gpus", "got 128"]),
        ({"gpus": 2, "partition": "mig-1g.10gb"}, ["--gpus", "alone", "whole cards"]),
        ({"context_tokens": 0}, ["--context", "got 0 tokens"]),
        ({"context_tokens": -8000}, ["--context", "got -8,000 tokens"]),
        ({"context_tokens": math.nan}, ["--context", "got nan tokens"]),
        ({"context_tokens": math.inf}, ["--context", "got inf tokens"]),
        ({"context_tokens": 131_073}, ["--context", "got 131,073", "1 to 131,072"]),
        ({"precision": "fp9"}, ["--precision", "'fp9'", "Did you mean 'fp8'"]),
        ({"kv_precision": "int8"}, ["--kv-precision", "'int8'", "bf16, fp16, fp8"]),
        ({"kv_precision": ""}, ["--kv-precision", "''"]),
        ({"precision": "bf16", "kv_precision": "fp16"}, ["--kv-precision", "fp16 beside bf16"]),
        ({"accounting": "guess"}, ["--accounting", "'guess'", "nominal, reported"]),
        ({"task": "embedd"}, ["--task", "Did you mean 'embed'"]),
        ({"utilisation_ratio": 0}, ["--utilisation", "0%"]),
        ({"utilisation_ratio": 1.1}, ["--utilisation", "110%"]),
        ({"utilisation_ratio": math.nan}, ["--utilisation", "nan"]),
        ({"adapters": Adapters(0, 0.3)}, ["--adapters", "got 0"]),
        ({"adapters": Adapters(-1, 0.3)}, ["--adapters", "got -1"]),
        ({"adapters": Adapters(3, 0.0)}, ["--adapter-size", "0 GiB"]),
        ({"adapters": Adapters(3, -1.0)}, ["--adapter-size", "-1 GiB"]),
        ({"adapters": Adapters(3, math.nan)}, ["--adapter-size", "nan GiB"]),
        ({"adapters": Adapters(3, math.inf)}, ["--adapter-size", "inf GiB"]),
        ({"adapters": Adapters(3, 0.3, 0)}, ["--rank", "got 0"]),
        ({"adapters": Adapters(3, 0.3, 513)}, ["--rank", "got 513", "1 to 512"]),
    ],
    ids=str,
)
def test_a_figure_that_cannot_be_is_refused(changes, says):
    text = said(**changes)
    assert all(word in text for word in says), text
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize(
    ("card", "part", "says"),
    [
        (L4, "mig-1g.10gb", ["no hardware slices", "slice-N"]),
        (MI300X, "mig-1g.24gb", ["no hardware slices", "cpx-nps4"]),
        (NVL, "mig-1g.10gb", ["mig-1g.12gb"]),
        (H100, "mig-1g.12gb", ["mig-1g.10gb"]),
        (H100, "mig-1g.10gb+me", ["mig-1g.10gb"]),
        (H100, "cpx-nps4", ["no part 'cpx-nps4'"]),
        (H100, "slice-1", ["slice-1"]),
        (H100, "slice-99", ["slice-99"]),
        (H100, "half", ["half"]),
        (H100, "", ["whole"]),
    ],
)
def test_a_part_that_a_card_lacks_is_refused(card, part, says):
    text = said("Qwen3-0.6B", card, gpus=1, partition=part)
    assert "--partition" in text
    assert all(word in text for word in says), text


@pytest.mark.parametrize("field", ["precision", "kv_precision"])
def test_fp8_is_refused_on_a_card_that_has_none(field):
    older = facts().accelerators[H100].model_copy(update={"fp8_formats": "", "accelerator": "older"})
    good = make_replica(precision="bf16")
    changed: dict[str, Any] = {"accelerator": older, field: "fp8"}
    with pytest.raises(ConfigError, match="older has no FP8 in hardware"):
        replace(good, **changed)


def test_kv_heads_that_can_neither_be_shared_out_nor_repeated_are_refused():
    assert "6 KV heads" in said(shape={"q_heads": 48, "kv_heads": 6}, gpus=4)


def test_all_problems_are_said_at_once():
    assert len(said(gpus=0, precision="fp9", context_tokens=-1, partition="half").splitlines()) == 4


def test_a_replica_of_a_fleet_names_the_key_of_its_file():
    text = said(gpus=0, precision="fp9", where="demo/models.yaml, models.chat")
    assert f"demo/models.yaml, models.chat.accelerators.{H100}.gpus_per_replica" in text
    assert "demo/models.yaml, models.chat.precision" in text
