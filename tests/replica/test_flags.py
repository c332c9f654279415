"""Engine flags come from the same record as the memory."""

import pytest

from outlast.replica import Adapters, command_line, engine_flags, memory_of
from tests.builders import H100
from tests.replica.replicas import make_replica

MI300X = "mi300x-192"


def flags(*where, **changes) -> dict[str, str]:
    return dict(engine_flags(memory_of(make_replica(*where, **changes))))


def test_plan_and_engine_share_their_numbers():
    memory = memory_of(make_replica(gpus=4, utilisation_ratio=0.85))
    found = dict(engine_flags(memory))
    assert found["--tensor-parallel-size"] == "4"
    assert found["--max-model-len"] == "8000"
    assert found["--max-num-seqs"] == str(memory.sequences())
    assert 1 - float(found["--gpu-memory-utilization"]) == pytest.approx(memory.kept_free_bytes / memory.memory_bytes)


@pytest.mark.parametrize(("kv", "flag"), [("bf16", "auto"), ("fp16", "auto"), ("fp8", "fp8")])
@pytest.mark.parametrize("card", [H100, MI300X])
def test_fp8_keys_and_values_are_spelled_alike_on_every_card(card, kv, flag):
    assert flags("Llama-3.1-70B", card, kv_precision=kv)["--kv-cache-dtype"] == flag


@pytest.mark.parametrize(
    ("precision", "kv", "dtype"),
    [
        ("bf16", "bf16", "bfloat16"),
        ("fp16", "fp16", "float16"),
        ("fp16", "fp8", "float16"),
        ("fp8", "fp16", "float16"),
        ("fp8", "fp8", "bfloat16"),
    ],
)
def test_the_type_of_the_model_is_that_of_its_16_bit_part(precision, kv, dtype):
    assert flags(precision=precision, kv_precision=kv)["--dtype"] == dtype


@pytest.mark.parametrize(
    ("model", "precision", "gpus", "quantised"),
    [
        ("Llama-3.1-70B", "fp8", 8, True),
        ("Llama-3.1-70B", "bf16", 8, False),
        ("Llama-3.1-70B", "int4", 8, False),
        ("DeepSeek-V3", "fp8", 16, False),
        ("gpt-oss-120b", "mxfp4", 8, False),
    ],
)
def test_only_16_bit_weights_served_as_fp8_are_quantised_on_loading(model, precision, gpus, quantised):
    assert ("--quantization" in flags(model, precision=precision, gpus=gpus)) is quantised


@pytest.mark.parametrize(("rank", "slot"), [(1, "1"), (9, "16"), (16, "16"), (48, "64"), (300, "320"), (512, "512")])
def test_slots_of_adapters_are_of_a_rank_that_the_engine_knows(rank, slot):
    found = flags(adapters=Adapters(30, 0.01, rank))
    assert found["--enable-lora"] == ""
    assert (found["--max-loras"], found["--max-lora-rank"]) == ("30", slot)
    assert int(found["--max-cpu-loras"]) >= int(found["--max-loras"])


@pytest.mark.parametrize(("gpus", "sharded"), [(1, False), (2, True)])
def test_adapters_are_sharded_where_ranks_would_repeat_them(gpus, sharded):
    found = flags("Llama-3.1-8B", gpus=gpus, adapters=Adapters(4, 0.1))
    assert ("--fully-sharded-loras" in found) is sharded


@pytest.mark.parametrize(
    ("task", "runner", "convert"),
    [
        (None, "pooling", None),
        ("pool", "pooling", None),
        ("embed", "pooling", "embed"),
        ("rerank", "pooling", "classify"),
        ("classify", "pooling", "classify"),
    ],
)
def test_a_model_that_caches_nothing_is_served_by_the_pooling_runner(task, runner, convert):
    found = flags("bge-m3", gpus=1, precision="bf16", task=task)
    assert (found["--runner"], found.get("--convert")) == (runner, convert)
    assert not {"--kv-cache-dtype", "--max-num-seqs"} & set(found)


def test_a_model_that_generates_has_no_pooling_flags():
    assert not {"--runner", "--convert"} & set(flags())


def test_engines_that_share_a_cards_time_keep_to_their_share_of_what_all_of_them_see():
    shares = flags("Qwen3-0.6B", "l4-24", gpus=1, partition="slice-4")["--gpu-memory-utilization"]
    slices = flags("Qwen3-0.6B", gpus=1, partition="mig-1g.10gb")["--gpu-memory-utilization"]
    assert float(shares) == pytest.approx(float(slices) / 4)


def test_a_batch_has_a_limit_however_much_memory_there_is():
    assert flags("Qwen3-0.6B", gpus=1, context_tokens=10)["--max-num-seqs"] == "1024"


def test_flags_as_typed_give_switches_no_value():
    assert command_line((("--enable-lora", ""), ("--max-loras", "3"))) == "--enable-lora --max-loras=3"
