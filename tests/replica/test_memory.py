"""Memory of a replica becomes concurrency: the programme's figures, every kind of attention, every part of a card."""

from dataclasses import replace

import pytest

from outlast.errors import FactError, InfeasiblePlan
from outlast.replica import Adapters, arithmetic, least_gpus, lengths, memory_of, notes, parts_of, weights_bytes
from tests.builders import H100, facts
from tests.replica.replicas import make_replica

GIB = 2**30


def nominal(**changes):
    """The programme's replica: 8 cards of 80 GB, 70e9 parameters of one byte."""
    return memory_of(make_replica(accounting="nominal", **changes))


def test_the_programmes_kv_budget_and_tokens():
    memory = nominal()
    assert memory.kv.token_bytes == 327_680  # 2 x 80 x 8 x 128 x 2 bytes
    assert memory.kv_budget_bytes == 506e9  # 640 - 70 - 64
    assert round(memory.tokens / 1e6, 2) == 1.54


@pytest.mark.parametrize(("context", "sequences"), [(8_000, 190), (32_000, 48)])
def test_the_programmes_replica_holds_the_programmes_sequences(context, sequences):
    assert nominal().sequences(context) == pytest.approx(sequences, rel=0.02)


def test_the_programmes_exercise_with_fp8_keys_and_values_at_16_000_tokens():
    memory = nominal(kv_precision="fp8", context_tokens=16_000)
    assert memory.kv.token_bytes == 163_840
    assert round(memory.tokens / 1e6, 3) == 3.088
    assert memory.sequences() == 193


def test_the_programmes_replica_of_four_gpus_holds_less_than_half():
    memory = nominal(gpus=4)
    assert memory.kv_budget_bytes == 218e9  # 320 - 70 - 32
    assert round(memory.tokens / 1e3) == 665
    assert memory.sequences() == 83


def test_the_two_accountings_share_no_term():
    reported, labels = memory_of(make_replica()), nominal()
    assert reported.gpu_bytes == 81_920 * 2**20
    assert reported.weights_bytes == pytest.approx(131.42 * GIB / 2 * 1.02)
    assert labels.kept_free_bytes == 0 < reported.kept_free_bytes
    assert reported.overhead_bytes == pytest.approx(8 * (1.7 + 0.6) * GIB)


def test_the_label_of_a_model_is_its_parameter_count_and_not_its_active_part():
    scout = memory_of(make_replica("Llama-4-Scout-17B-16E", accounting="nominal"))
    assert scout.weights_bytes == 109e9


@pytest.mark.parametrize(
    ("model", "precision", "gib"),
    [
        ("Llama-3.1-8B", "bf16", 14.96),
        ("Llama-3.1-8B", "fp8", 7.48),
        ("Llama-3.1-8B", "int4", 3.74),
        ("DeepSeek-V3", "fp8", 641.3),
        ("DeepSeek-V3", "bf16", 1282.6),
        ("gpt-oss-120b", "mxfp4", 60.8),
        ("bge-m3", "bf16", 1.05),
    ],
)
def test_weights_are_scaled_from_the_precision_they_were_published_at(model, precision, gib):
    assert weights_bytes(make_replica(model, precision=precision)) == pytest.approx(gib * GIB)


def test_latent_attention_is_repeated_on_every_rank():
    latent = facts().model_shapes["DeepSeek-V3"].growing_kv_bytes_per_token_16bit
    assert latent == (512 + 64) * 61 * 2
    assert memory_of(make_replica("DeepSeek-V3", "mi300x-192")).kv.token_bytes == 8 * latent


@pytest.mark.parametrize(("gpus", "copies"), [(4, 1), (8, 2), (16, 4)])
def test_tensor_parallel_wider_than_the_kv_heads_repeats_them(gpus, copies):
    assert memory_of(make_replica("Qwen3-30B-A3B", gpus=gpus)).kv.copies == copies


def test_a_window_is_taken_only_as_far_as_a_sequence_is_long():
    kv = memory_of(make_replica("gpt-oss-120b", precision="mxfp4")).kv
    assert kv.sequence_bytes(64) == 64 * kv.token_bytes + kv.fixed_bytes / 2
    assert kv.sequence_bytes(10_000) == 10_000 * kv.token_bytes + kv.fixed_bytes


def test_a_linear_state_is_there_from_the_first_token_and_keeps_its_type():
    states = [memory_of(make_replica("Qwen3.5-27B", gpus=4, kv_precision=kv)).kv for kv in ("bf16", "fp8")]
    assert states[0].sequence_bytes(1) > states[0].fixed_bytes
    assert states[0].fixed_bytes == states[1].fixed_bytes
    assert states[0].token_bytes == 2 * states[1].token_bytes


@pytest.mark.parametrize("model", ["bge-m3", "Qwen3-Embedding-0.6B"])
def test_a_model_that_caches_nothing_is_not_bound_by_memory(model):
    memory = memory_of(make_replica(model, gpus=1, precision="bf16"))
    assert (memory.tokens, memory.sequences()) == (None, None)
    assert memory.kv_budget_bytes > 0


def test_adapters_come_out_of_the_kv_budget_in_slots_of_the_engines_ranks():
    without = memory_of(make_replica())
    memory = memory_of(make_replica(adapters=Adapters(30, 0.3, 24)))
    assert memory.adapter_bytes == pytest.approx(30 * 0.3 * GIB * 32 / 24)
    assert without.kv_budget_bytes - memory.kv_budget_bytes == pytest.approx(memory.adapter_bytes)


@pytest.mark.parametrize(
    ("card", "part", "gib"),
    [
        (H100, "mig-1g.10gb", 9.75),
        (H100, "mig-3g.40gb", 39.0),
        (H100, "slice-4", 20.0),
        ("mi300x-192", "cpx-nps4", 24.0),
        ("h100-nvl-94", "mig-1g.12gb", 11.4),
    ],
)
def test_a_part_of_a_card_has_its_part_of_the_memory(card, part, gib):
    replica = make_replica("Qwen3-0.6B", card, gpus=1, partition=part, precision="bf16")
    assert memory_of(replica).memory_bytes / GIB == pytest.approx(gib, rel=0.005)


@pytest.mark.parametrize("card", sorted(facts().accelerators))
def test_every_part_that_a_card_has_holds_a_small_model(card):
    for part in parts_of(facts().accelerators[card]):
        replica = make_replica("Qwen3-0.6B", card, gpus=1, partition=part, precision="bf16", context_tokens=100)
        if replica.part.nominal_gb > 5:
            assert memory_of(replica).sequences(), part


def test_the_error_of_weights_too_large_says_how_many_gpus_would_do():
    with pytest.raises(InfeasiblePlan, match="Use 16 GPUs a replica"):
        memory_of(make_replica("DeepSeek-V3"))
    assert memory_of(make_replica("DeepSeek-V3", gpus=16)).sequences()


def test_fewer_gpus_than_the_least_never_fit():
    replica = make_replica(precision="bf16")
    assert least_gpus(replica) == 2
    with pytest.raises(InfeasiblePlan):
        memory_of(replace(replica, gpus=1))


def test_a_context_of_which_not_one_fits_is_an_error_too():
    with pytest.raises(InfeasiblePlan, match="not one sequence"):
        memory_of(make_replica("Llama-3.1-8B", "l4-24", gpus=1, context_tokens=131_072))


def test_what_fits_nowhere_says_so():
    with pytest.raises(InfeasiblePlan, match="larger card"):
        memory_of(make_replica("Kimi-K2", "l4-24", precision="bf16"))


@pytest.mark.parametrize(
    "column", ["growing_kv_bytes_per_token_16bit", "fixed_kv_bytes_per_sequence_16bit"], ids=["growing", "fixed"]
)
def test_a_model_whose_cache_facts_lack_is_refused_with_the_column_to_fill_in(column):
    with pytest.raises(FactError, match=rf"model_shapes\.csv, Llama-3\.1-70B.*{column}"):
        memory_of(make_replica(shape={column: None}))


def test_a_card_whose_reported_memory_facts_lack_is_refused_with_the_column_to_fill_in():
    blank = facts().accelerators[H100].model_copy(update={"mem_mib_reported": None})
    with pytest.raises(FactError, match=r"accelerators\.csv, h100-sxm-80.*mem_mib_reported"):
        memory_of(replace(make_replica(), accelerator=blank))
    assert memory_of(replace(make_replica(accounting="nominal"), accelerator=blank)).tokens


def test_the_arithmetic_in_lines_ends_in_concurrency_at_the_context_and_its_multiples():
    memory = memory_of(make_replica())
    lines = {line.term: line.result for line in arithmetic(memory)}
    for length in (8_000, 16_000, 32_000):
        assert lines[f"at {length:,} tokens"] == f"{memory.sequences(length):,} sequences"
    assert lines["KV per token"] == "327,680 bytes"


def test_multiples_of_the_context_stop_at_what_the_model_can_hold():
    assert lengths(memory_of(make_replica(context_tokens=40_000))) == (40_000, 80_000)


@pytest.mark.parametrize(("gpus", "cramped"), [(1, True), (2, False), (8, False)])
def test_a_replica_whose_weights_leave_little_room_says_what_twice_the_cards_hold(gpus, cramped):
    told = notes(memory_of(make_replica(gpus=gpus)), facts())
    twice = memory_of(make_replica(gpus=2 * gpus)).sequences()
    assert any(f"{twice} sequences" in note for note in told) is cramped


def test_cards_without_a_fast_link_are_warned_of_beyond_two():
    warned = [bool(notes(memory_of(make_replica("Llama-3.1-8B", "l40s-48", gpus=gpus)), facts())) for gpus in (2, 4)]
    assert warned == [False, True]


def test_a_replica_larger_than_any_node_is_warned_of():
    warned = [any("machine type" in note for note in notes(memory_of(make_replica(gpus=n)), facts())) for n in (8, 16)]
    assert warned == [False, True]
