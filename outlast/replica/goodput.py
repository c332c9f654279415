"""Published goodput of a model on a card: what others measured or modelled, to check one's own figure against."""

from __future__ import annotations

from outlast.facts import Accelerator, Facts, GoodputFact, ModelShape


def records_for(
    facts: Facts, shape: ModelShape, accelerator: Accelerator, gpus: int | None = None
) -> tuple[GoodputFact, ...]:
    """Return published rows, measured before modelled; ``gpus`` keeps those of as many GPUs a replica.

    Rows of different conditions are not comparable: latency target, prompt and output lengths stand in each.
    """
    found = [
        row
        for row in facts.goodput
        if row.model == shape.model
        and row.accelerator == accelerator.accelerator
        and gpus in (None, row.gpus_per_replica)
    ]
    return tuple(sorted(found, key=lambda row: (row.kind, row.gpus_per_replica, row.slo, row.isl)))
