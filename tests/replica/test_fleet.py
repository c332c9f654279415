"""A replica of a fleet's model is what the fleet's files say."""

import pytest

from outlast.errors import ConfigError
from outlast.replica import Adapters, engine_flags, least_gpus, memory_of, replica_of
from tests.builders import H100, demo_intent, make_artifact, make_intent
from tests.tiers import make_adapters

L40S = "l40s-48"


def intent(**model):
    return make_intent(models={"models": {"chat": model}})


def test_it_has_the_gpus_and_precisions_of_the_models_record():
    model, replica = demo_intent().models["chat-large"], replica_of(demo_intent(), "chat-large", H100)
    assert replica.gpus == model.accelerators[H100].gpus_per_replica
    assert (replica.precision, replica.kv_precision) == (model.precision, model.kv_precision)
    assert replica.context_tokens == model.context


def test_on_a_card_that_the_model_has_no_record_for_it_takes_the_fewest():
    replica = replica_of(demo_intent(), "chat-large", L40S)
    assert replica.gpus > 1
    assert replica.gpus == least_gpus(replica)


def test_on_a_part_of_a_card_it_runs_alone():
    replica = replica_of(intent(shape="Qwen3-0.6B"), "chat", H100, partition="mig-1g.10gb")
    assert replica.gpus == 1


def test_variants_share_the_largest_ones_slot():
    # 1 GiB at rank 16 is 2 GiB in a slot of rank 32; 3 GiB at rank 32 are 3
    big = {"owner": "shop", "size": "3 GiB", "rank": 32}
    base = make_adapters(adapters={"max_rank": 32, "slots": 8}, variants={"tuned": {"size": "1 GiB"}, "big": big})
    artifacts = {"adapters": {name: make_artifact() for name in ("tuned", "big")}}
    found = make_intent(models={"models": {"chat": base}}, artifacts=artifacts)
    assert replica_of(found, "chat", H100).adapters == Adapters(2, 3.0, 32)
    assert replica_of(intent(), "chat", H100).adapters is None


def test_a_model_counted_in_input_tokens_is_served_by_the_pooling_runner():
    replica = replica_of(intent(unit="input tok/s", shape="Qwen3-8B"), "chat", H100)
    assert dict(engine_flags(memory_of(replica)))["--runner"] == "pooling"


def test_changes_go_before_the_record():
    replica = replica_of(demo_intent(), "chat-large", H100, gpus=2, kv_precision="fp8", accounting="nominal")
    assert (replica.gpus, replica.kv_precision, replica.accounting) == (2, "fp8", "nominal")


def test_what_the_record_says_wrongly_is_named_by_its_key():
    with pytest.raises(ConfigError, match=r"test/models\.yaml, models\.chat\.kv_precision.*'int8'"):
        replica_of(intent(kv_precision="int8"), "chat", H100)


def test_sequences_at_once_are_those_of_the_goodput_record_and_of_memory_where_the_replica_is_another():
    fleet = intent(accelerators={H100: {"sequences": 9}})
    same, other = (memory_of(replica_of(fleet, "chat", H100, gpus=gpus)) for gpus in (4, 8))
    assert dict(engine_flags(same))["--max-num-seqs"] == "9"
    assert dict(engine_flags(other))["--max-num-seqs"] == str(other.sequences())
