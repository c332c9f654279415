"""``outlast replica`` says what a replica holds, or in plain words why there is none."""

import json
import sys
from types import SimpleNamespace

import pytest

from outlast.cli.app import main
from outlast.replica import cold_start, memory_of
from tests.builders import CONFIG, H100, demo_intent, facts, make_artifact, make_intent
from tests.replica.replicas import make_replica
from tests.tiers import make_adapters

SEED = ("Llama-3.1-70B", "--accelerator", H100, "--gpus", "8", "--precision", "fp8", "--accounting", "nominal")


@pytest.fixture
def run(monkeypatch, capsys):
    """Run the command; return its exit code, what it printed and what it complained of."""
    monkeypatch.setenv("OUTLAST_CONFIG", str(CONFIG))

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["outlast", "replica", *words])
        with pytest.raises(SystemExit) as end:
            main()
        told = capsys.readouterr()
        return int(end.value.code or 0), told.out, told.err

    return call


def document(run, *words: str) -> dict:
    code, out, err = run(*words, "--format", "json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_the_programmes_arithmetic_is_printed_line_by_line(run):
    code, out, _ = run(*SEED)
    assert code == 0
    for words in ("640 GB", "70 GB", "64 GB", "506 GB", "327,680 bytes", "1,544,189", "at 32,000 tokens"):
        assert words in out


def test_the_programmes_exercise_with_fp8_keys_and_values(run):
    found = document(run, *SEED, "--kv-precision", "fp8", "--context", "16,000 tokens")
    assert found["sequences"]["16000"] == 193


def test_the_document_holds_what_the_package_computes(run):
    found = document(run, "Llama-3.1-70B", "--accelerator", H100, "--gpus", "4", "--precision", "fp8")
    memory = memory_of(make_replica(gpus=4))
    assert found["sequences"]["8000"] == memory.sequences()
    assert found["kv_budget_bytes"] == pytest.approx(memory.kv_budget_bytes)
    assert ["--max-num-seqs", str(memory.sequences())] in found["engine_flags"]


def test_published_goodput_is_shown_with_its_conditions(run):
    _, out, _ = run("Llama-3.1-8B", "--accelerator", "l40s-48")
    assert all(word in out for word in ("measured", "modelled", "1,207", "CNN/DailyMail", "2025-09-09"))


def test_a_model_that_nobody_measured_says_so(run):
    assert "measure it" in run("Kimi-K2", "--accelerator", "mi300x-192")[1]


def test_without_a_count_the_fewest_gpus_that_hold_it_are_taken(run):
    assert document(run, "Llama-3.1-70B", "--accelerator", H100)["gpus"] == 2


@pytest.mark.parametrize(
    ("model", "precision"), [("DeepSeek-V3", "fp8"), ("gpt-oss-120b", "mxfp4"), ("bge-m3", "bf16")]
)
def test_without_a_precision_the_published_one_is_taken(run, model, precision):
    assert document(run, model, "--accelerator", "mi300x-192")["precision"] == precision


def test_a_model_of_a_fleet_brings_its_own_record_and_its_cold_starts(run):
    found, model = document(run, "chat-large", "--fleet", "demo"), demo_intent().models["chat-large"]
    assert (found["model"], found["precision"], found["context_tokens"]) == (
        model.shape,
        model.precision,
        model.context,
    )
    assert found["gpus"] == model.accelerators[H100].gpus_per_replica
    size = demo_intent().artifacts.models[model.artifact].size * 2**30
    machine = facts().machine_types["aws", "p5.48xlarge"]
    known = {
        start: cold_start(facts(), machine, size, found["gpus"], start).total_s for start in ("staged", "new-node")
    }
    told = {row["start"]: row["total_s"] for row in found["cold_starts"] if row["machine_type"] == "p5.48xlarge"}
    assert {start: told[start] for start in known} == known


def test_options_go_before_the_record_of_a_fleet(run):
    found = document(
        run, "chat-large", "--fleet", "demo", "--gpus", "8", "--context", "16k tokens", "--kv-precision", "fp8"
    )
    assert (found["gpus"], found["context_tokens"], found["kv_precision"]) == (8, 16_000, "fp8")


def test_variants_of_a_fleets_model_take_their_memory(run, monkeypatch):
    variants = {f"tune-{number}": {"owner": "shop", "size": f"{number} GiB", "rank": 64} for number in (1, 2)}
    base = make_adapters(variants=variants | {"tuned": None})
    artifacts = {"adapters": {name: make_artifact() for name in variants}}
    intent = make_intent(models={"models": {"chat": base}}, artifacts=artifacts)
    monkeypatch.setattr("outlast.cli.context.load", lambda _: SimpleNamespace(intent=intent))
    found = document(run, "chat", "--fleet", "test")
    assert found["adapter_bytes"] == 2 * 2 * 2**30
    assert ["--max-loras", "2"] in found["engine_flags"]


def test_the_text_of_a_fleets_model_shows_every_part_of_a_cold_start(run):
    _, out, _ = run("chat-large", "--fleet", "demo")
    assert all(part in out for part in ("node", "image", "download", "load", "engine", "total", "new-node", "staged"))


FACTS = ("Llama-3.1-70B", "--accelerator", H100)
FLEET = ("chat-large", "--fleet", "demo")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("Lama-3.1-70B", "--accelerator", H100), ["MODEL", "Did you mean 'Llama-3.1-70B'"]),
        (("", "--accelerator", H100), ["MODEL", "unknown model ''"]),
        (("Llama-3.1-70B",), ["--accelerator", "--fleet"]),
        (("Llama-3.1-70B", "--accelerator", "h100"), ["--accelerator", "h100-sxm-80"]),
        (("Llama-3.1-70B", "--accelerator", ""), ["--accelerator", "unknown accelerator ''"]),
        ((*FACTS, "--gpus", "0"), ["--gpus", "got 0"]),
        ((*FACTS, "--gpus", "3"), ["--gpus", "heads"]),
        ((*FACTS, "--gpus", "1"), ["--gpus", "do not fit", "Use 2 GPUs"]),
        ((*FACTS, "--context", "8000"), ["--context", "tokens", "8000"]),
        ((*FACTS, "--context", "nan tokens"), ["--context", "not a quantity"]),
        ((*FACTS, "--context", "-1 tokens"), ["--context", "-1 tokens"]),
        ((*FACTS, "--context", "200k tokens"), ["--context", "131,072"]),
        ((*FACTS, "--context", ""), ["--context", "not a quantity"]),
        ((*FACTS, "--precision", "fp7"), ["--precision", "Did you mean 'fp8'"]),
        ((*FACTS, "--precision", ""), ["--precision", "''"]),
        ((*FACTS, "--kv-precision", "int4"), ["--kv-precision", "bf16, fp16, fp8"]),
        ((*FACTS, "--partition", "mig-9g.90gb"), ["--partition", "mig-7g.80gb"]),
        (("Llama-3.1-8B", "--accelerator", "l4-24", "--partition", "mig-1g.10gb"), ["no hardware slices"]),
        ((*FACTS, "--adapters", "3"), ["--adapter-size", "0.3 GiB"]),
        ((*FACTS, "--adapters", "-3", "--adapter-size", "1 GiB"), ["--adapters", "got -3"]),
        ((*FACTS, "--adapters", "3", "--adapter-size", "1 GB"), ["--adapter-size", "GiB"]),
        ((*FACTS, "--adapters", "3", "--adapter-size", "-1 GiB"), ["--adapter-size", "-1 GiB"]),
        ((*FACTS, "--adapters", "3", "--adapter-size", "1 GiB", "--rank", "4096"), ["--rank", "512"]),
        ((*FACTS, "--adapter-size", "1 GiB"), ["--adapters", "got 0"]),
        ((*FACTS, "--task", "rank"), ["--task", "rerank"]),
        ((*FACTS, "--accounting", "real"), ["--accounting", "reported"]),
        ((*FACTS, "--format", "yaml"), ["--format", "json"]),
        (("DeepSeek-V4-Flash", "--accelerator", H100), ["model_shapes.csv", "growing_kv_bytes_per_token_16bit"]),
        (("chat-lage", "--fleet", "demo"), ["demo/models.yaml", "Did you mean 'chat-large'"]),
        (("chat-large", "--fleet", "dmeo"), ["dmeo"]),
        ((*FLEET, "--accelerator", "h100-sxm"), ["--accelerator", "Did you mean 'h100-sxm-80'"]),
        ((*FLEET, "--context", "1M tokens"), ["demo/models.yaml, models.chat-large.context", "131,072"]),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_a_mistake_is_said_in_plain_words(run, words, says):
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    assert all(word in err for word in says), err
    assert not any(word in err for word in ("Traceback", "pydantic", "None", "<class"))


def test_all_mistakes_are_said_at_once(run):
    _, _, err = run("Lama", "--accelerator", "h200", "--context", "x", "--adapters", "1")
    assert len(err.splitlines()) == 4
