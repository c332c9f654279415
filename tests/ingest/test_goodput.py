"""Goodput of other tools: at the model's targets or not at all."""

import json
from collections import Counter
from dataclasses import replace
from datetime import date

import pytest

from outlast.errors import ConfigError
from outlast.facts import load_facts
from outlast.ingest.goodput import Asked, read_goodput
from outlast.intent import load_intent
from outlast.intent.models import Goodput
from tests.builders import H100, demo_intent
from tests.ingest.conftest import FIXTURES

ASKED = Asked(model="chat-large", accelerator=H100, gpus=4, day=date(2026, 11, 20))
VLLM, PERF, AIC = (
    "vllm-0.11-bench-serve.json",
    "inference-perf-2025-11-stage.json",
    "aiconfigurator-2026-best-config-topn.csv",
)
FLAGS = ("--model", "chat-large", "--accelerator", H100, "--gpus", 4)


def read(path, **changes):
    return read_goodput(path, replace(ASKED, **changes), demo_intent())


def perf(**changes):
    """The report of a stage with keys of its latencies, counts or load changed."""
    document = json.loads((FIXTURES / PERF).read_text())
    for path, value in changes.items():
        *parents, last = path.split("__")
        owner = document
        for part in parents:
            owner = owner[part]
        owner.pop(last) if value is None else owner.__setitem__(last, value)
    return document


def test_a_run_of_vllm_gives_a_measured_record():
    record = read(FIXTURES / VLLM).record
    assert record["value"] == "1751 output tok/s"
    assert (record["kind"], record["date"]) == ("measured", "2026-11-12")
    assert (record["prompt_tokens"], record["output_tokens"]) == ("2000 tokens", "300 tokens")
    assert "0.11.2" in record["source"]
    assert record["cache_hit"] is None


def test_a_stage_of_inference_perf_gives_a_measured_record():
    found = read(FIXTURES / PERF)
    assert found.record["value"] == "2673 output tok/s"
    assert found.record["date"] == "2026-11-20"
    assert any("name" in note for note in found.notes)


def test_percentiles_of_the_later_report_are_read(source):
    stats = {"mean": 0.1, "percentiles": {"p50": 0.1, "p95": 0.2}}
    document = perf(successes__latency__time_to_first_token=stats)
    assert any("200.0 ms" in line for line in read(source(document)).met)


def test_a_table_of_aiconfigurator_gives_the_fastest_row_that_meets_the_targets():
    record = read(FIXTURES / AIC).record
    assert (record["value"], record["kind"], record["cache_hit"]) == ("2934 output tok/s", "predicted", '"25 %"')


def test_several_replicas_give_the_record_of_one():
    found = read(FIXTURES / VLLM, gpus=8)
    assert found.record["value"] == "875 output tok/s"
    assert any("2 replicas" in note for note in found.notes)


def test_the_lowest_percentile_that_is_enough_decides(altered):
    found = read(altered(VLLM, p95_ttft_ms=None))
    assert any("p99 1,022.9 ms" in line for line in found.met)


def test_a_record_is_never_rounded_up(altered):
    assert read(altered(VLLM, output_throughput=1751.999)).record["value"] == "1751 output tok/s"


REFUSED: dict[str, dict] = {
    "misses-ttft": {"p95_ttft_ms": 2000.1},
    "misses-itl": {"p95_itl_ms": 50.1},
    "no-percentile": {"p95_ttft_ms": None, "p99_ttft_ms": None},
    "another-model": {"model_id": "Qwen/Qwen3-32B"},
    "nothing-served": {"completed": 0},
    "no-throughput": {"output_throughput": 0},
    "negative": {"output_throughput": -5},
    "words": {"output_throughput": "fast"},
    "no-duration": {"duration": None},
    "a-bool": {"duration": True},
    "a-huge-number": {"duration": 10**400},
    "many-failed": {"failed": 40},
    "no-date": {"date": "last week"},
    "almost-nothing": {"output_throughput": 0.001},
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_of_vllm_is_refused_if_it(altered, name):
    with pytest.raises(ConfigError) as caught:
        read(altered(VLLM, **REFUSED[name]))
    assert len(caught.value.problems) == 1
    assert caught.value.problems[0].do


def test_a_run_that_misses_its_target_is_told_with_both_numbers(altered):
    with pytest.raises(ConfigError, match=r"p95 2,500.0 ms.*2,000 ms at p95"):
        read(altered(VLLM, p95_ttft_ms=2500))


def test_all_that_is_wrong_with_a_run_is_told_at_once(altered):
    with pytest.raises(ConfigError) as caught:
        read(altered(VLLM, p95_ttft_ms=2500, p95_itl_ms=99, model_id="Qwen/Qwen3-32B"), gpus=3)
    assert len(caught.value.problems) == 4


def test_a_file_of_another_model_is_taken_by_force(altered):
    path = altered(VLLM, model_id="in-house-name")
    assert read(path, force_model=True).record["value"] == "1751 output tok/s"


@pytest.mark.parametrize(
    "document",
    [
        perf(load_summary__requested_rate=None),
        perf(successes__latency=None),
        perf(successes__latency__time_to_first_token=None),
        perf(successes__latency__inter_token_latency=3),
        perf(successes__throughput={}),
        perf(successes__count=0),
        perf(successes={}),
        perf(failures__count=100),
        {"request_throughput": 1},
        [],
    ],
    ids=["summary", "no-latency", "no-ttft", "ttft-a-number", "no-rate", "none", "empty", "failed", "another", "list"],
)
def test_a_report_that_says_too_little_is_refused(source, document):
    with pytest.raises(ConfigError):
        read(source(document))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("h100_sxm", "h200_sxm"),
        ("Llama-3.1-70B", "Qwen3-32B"),
        (",tokens/s,", ",rate,"),
        ("2934.0", "nan"),
        ("611.4", "-1"),
        ("2000,500,500", "2000,500,3000"),
        (",bs,global_bs", ",(p)bs,(d)bs"),
        ("611.4,48.7", "2611.4,48.7"),
    ],
)
def test_a_prediction_that_does_not_fit_is_refused(source, before, after):
    text = (FIXTURES / AIC).read_text()
    assert before in text
    with pytest.raises(ConfigError):
        read(source(text.replace(before, after), AIC))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"model": "chat-larg"}, "chat-large"),
        ({"accelerator": "h100-sxm"}, H100),
        ({"gpus": 0}, "1 or more"),
        ({"gpus": -4}, "1 or more"),
        ({"gpus": 6}, "4 or a multiple"),
    ],
)
def test_a_wrong_option_is_refused_with_what_is_right(changes, word):
    with pytest.raises(ConfigError, match=word):
        read(FIXTURES / VLLM, **changes)


def test_a_run_on_a_part_of_a_card_is_taken_as_one_part():
    model = demo_intent().models["chat-large"]
    part = model.accelerators[H100].model_copy(update={"gpus_per_replica": 1, "partition": "slice-4"})
    divided = {"chat": model.model_copy(update={"accelerators": {H100: part}})}
    intent = replace(demo_intent(), models_file=demo_intent().models_file.model_copy(update={"models": divided}))
    found = read_goodput(FIXTURES / VLLM, replace(ASKED, model="chat", gpus=1), intent)
    assert found.record["value"] == "1751 output tok/s"
    assert any("slice-4" in note for note in found.notes)
    with pytest.raises(ConfigError, match="one part"):
        read_goodput(FIXTURES / VLLM, replace(ASKED, model="chat", gpus=2), intent)


def test_a_report_without_its_day_asks_for_it():
    with pytest.raises(ConfigError, match="--date"):
        read(FIXTURES / PERF, day=None)


@pytest.mark.parametrize("content", [b"\x00\xff\x00", "a,b\n1,2\n", "one line\n", "{"])
def test_a_file_of_no_known_tool_is_refused(source, content):
    with pytest.raises(ConfigError):
        read(source(content))


@pytest.mark.usefixtures("unchanged")
def test_without_write_nothing_is_written(outlast):
    code, out, _ = outlast("import", "goodput", "demo", FIXTURES / VLLM, *FLAGS)
    assert code == 0
    assert "1751 output tok/s" in out


def test_write_replaces_the_record_and_nothing_else(outlast, config):
    path = config / "fleets" / "demo" / "models.yaml"
    before = path.read_text().splitlines()
    code, _, err = outlast("import", "goodput", "demo", FIXTURES / VLLM, *FLAGS, "--cache-hit", "40 %", "--write")
    assert (code, err) == (0, "")
    lost = Counter(before) - Counter(path.read_text().splitlines())
    assert {line.strip().split(":")[0] for line in lost if line.strip()} <= set(Goodput.model_fields)
    assert lost.total() <= len(Goodput.model_fields)
    goodput = load_intent(config, "demo", load_facts(config)).models["chat-large"].accelerators[H100].goodput
    assert (goodput.kind, goodput.prompt_tokens, goodput.cache_hit) == ("measured", 2000, "40 %")


@pytest.mark.usefixtures("unchanged")
def test_a_wrong_day_is_refused(outlast):
    code, _, err = outlast("import", "goodput", "demo", FIXTURES / PERF, *FLAGS, "--date", "12.11.2026", "--write")
    assert code == 1
    assert "--date" in err
