"""Reads a table of aiconfigurator: ``best_config_topn.csv`` or ``pareto.csv`` of aggregated serving.

Columns as in 2026; some versions add more, which are not read: ``model``, ``isl``, ``osl``, ``prefix``, ``ttft`` and
``tpot`` (ms), ``tokens/s``, ``seq/s``, ``num_total_gpus``, ``backend``, ``version`` (of the backend), ``system``.
A row is one worker; its latencies are one prediction, without percentiles.
"""

from __future__ import annotations

from collections.abc import Mapping

from outlast.errors import ConfigError, Problem, listed
from outlast.ingest.goodput.run import Run, number, positive
from outlast.ingest.sources import Table

NAME = "aiconfigurator"
ADVICE = "Search again with the targets of the model"
"""How to get a row that meets the targets."""
_COLUMNS = frozenset({"model", "isl", "osl", "ttft", "tpot", "tokens/s", "num_total_gpus", "system"})
_APART = ("(p)bs", "(d)bs")
"""Columns of serving with prefill and decode on different workers."""


def recognises(table: Table) -> bool:
    """Whether a table is this tool's."""
    return {"ttft", "tpot", "tokens/s/gpu"} <= set(table.headings)


def run_of(table: Table, where: str, gpus: int, ttft_s: float, itl_s: float) -> Run:
    """Return the fastest row on ``gpus`` that meets both targets; if none does, the one that comes nearest.

    Raises:
        ConfigError: the table is of another kind of serving, lacks columns, or has no row on that many GPUs.
    """
    if set(_APART) & set(table.headings):
        do = "Search for aggregated serving: a replica of ours does both"
        raise ConfigError(Problem(where=where, what="predicts prefill and decode on different workers", do=do))
    missing = _COLUMNS - set(table.headings)
    if missing:
        what = "lacks columns"
        raise ConfigError(
            Problem(where=where, what=what, got=listed(missing), do="Name the table as the tool wrote it")
        )
    runs = [_run(row, f"{where}, row {index}") for index, row in enumerate(table.rows, start=1)]
    fitting = [run for run in runs if run.gpus == gpus]
    if not fitting:
        allowed = listed(f"{run.gpus:g}" for run in runs)
        what = "predicts no worker of that many GPUs"
        raise ConfigError(Problem(where=where, what=what, got=str(gpus), allowed=allowed, do="Correct --gpus"))

    def excess(run: Run) -> float:
        return max(run.ttft_s[50] / ttft_s, run.itl_s[50] / itl_s, 1.0)

    return min(fitting, key=lambda run: (excess(run), -run.output_tok_s))


def _run(row: Mapping[str, str], where: str) -> Run:
    prompt, prefix = positive(row, "isl", where), number(row, "prefix", where) if row.get("prefix") else 0.0
    output = positive(row, "osl", where)
    tokens_s = positive({"rate": row["tokens/s"]}, "rate", where)
    sequences = row.get("seq/s")
    requests_s = positive({"rate": sequences}, "rate", where) if sequences else tokens_s / output
    backend = " ".join(part for part in (row.get("backend", ""), row.get("version", "")) if part)
    if prefix > prompt:
        raise ConfigError(Problem(where=where, what="more tokens are cached than there are", got=f"{prefix:g}"))
    return Run(
        tool=f"{NAME} for {backend}" if backend else NAME,
        kind="predicted",
        model=row["model"],
        date=None,
        output_tok_s=tokens_s,
        input_tok_s=requests_s * prompt,
        requests_s=requests_s,
        ttft_s={50: number(row, "ttft", where) / 1000},
        itl_s={50: number(row, "tpot", where) / 1000},
        completed=1,
        failed=0,
        prompt_tokens=prompt,
        output_tokens=output,
        cached_ratio=prefix / prompt,
        gpus=number(row, "num_total_gpus", where),
        accelerator=row["system"],
        notes=("predicted latencies have no percentiles: the targets hold for the typical request only",),
    )
