"""What holds of the memory of every replica: random published models, cards, precisions, contexts and GPUs."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from outlast.errors import OutlastError
from outlast.replica import KV_PRECISIONS, PRECISIONS, Adapters, Replica, memory_of
from tests.builders import facts

KNOWN = [
    shape
    for shape in facts().model_shapes.values()
    if shape.growing_kv_bytes_per_token_16bit is not None and shape.fixed_kv_bytes_per_sequence_16bit is not None
]
CARDS = list(facts().accelerators.values())
EASY = settings(derandomize=True, max_examples=80, suppress_health_check=[HealthCheck.filter_too_much])


@st.composite
def memories(draw, accounting=("reported", "nominal")):
    """The memory of a random replica that fits."""
    record = {
        "shape": draw(st.sampled_from(KNOWN)),
        "accelerator": draw(st.sampled_from(CARDS)),
        "precision": draw(st.sampled_from(PRECISIONS)),
        "kv_precision": draw(st.sampled_from(KV_PRECISIONS)),
        "context_tokens": draw(st.integers(100, 8000)),
        "gpus": draw(st.sampled_from([1, 2, 4, 8, 16, 32])),
        "adapters": draw(st.none() | st.builds(Adapters, st.integers(1, 20), st.floats(0.01, 0.5), st.integers(1, 64))),
        "accounting": draw(st.sampled_from(accounting)),
    }
    return fitting(lambda: Replica(**record))


def fitting(make):
    """The memory of a replica, or another example if there is no such replica."""
    try:
        return memory_of(make())
    except OutlastError:
        assume(False)


@given(memories())
@EASY
def test_the_parts_of_the_memory_are_the_whole(memory):
    parts = (memory.kept_free_bytes, memory.weights_bytes, memory.overhead_bytes, memory.adapter_bytes)
    assert min(*parts, memory.kv_budget_bytes) >= 0
    assert sum(parts) + memory.kv_budget_bytes == pytest.approx(memory.memory_bytes)


@given(memories())
@EASY
def test_what_is_counted_fits_the_budget(memory):
    if memory.tokens is not None and memory.kv.token_bytes:
        assert memory.tokens * memory.kv.token_bytes <= memory.kv_budget_bytes * (1 + 1e-6)
        context = memory.replica.context_tokens
        assert memory.sequences() * memory.kv.sequence_bytes(context) <= memory.kv_budget_bytes * (1 + 1e-6)


@given(memories())
@EASY
def test_twice_the_context_about_halves_the_sequences(memory):
    assume(memory.sequences() is not None and memory.kv.fixed_bytes == 0)
    context = memory.replica.context_tokens
    assert abs(memory.sequences(context) / 2 - memory.sequences(2 * context)) <= 1


@given(memories())
@EASY
def test_a_longer_context_never_holds_more_sequences(memory):
    assume(memory.sequences() is not None)
    context = memory.replica.context_tokens
    assert memory.sequences(2 * context) <= memory.sequences(context)


@given(memories())
@EASY
def test_fp8_keys_and_values_never_hold_fewer_sequences(memory):
    assume(memory.sequences() is not None)
    small = fitting(lambda: replace(memory.replica, kv_precision="fp8"))
    assert small.sequences() >= memory.sequences()
    assert small.tokens >= memory.tokens


@given(memories())
@EASY
def test_more_gpus_never_hold_fewer_tokens(memory):
    assume(memory.tokens is not None and memory.replica.gpus < 32)
    more = fitting(lambda: replace(memory.replica, gpus=2 * memory.replica.gpus))
    assert more.tokens >= memory.tokens - 1


@given(memories())
@EASY
def test_adapters_never_leave_more_tokens(memory):
    assume(memory.tokens is not None)
    without = memory_of(replace(memory.replica, adapters=None))
    assert without.tokens >= memory.tokens
