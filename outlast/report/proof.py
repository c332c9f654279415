"""Proofs as rows of text and numbers; rendering is left to the command line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from outlast.proof import NODE, NOTHING, REPLICA, Margin, Proof, hour_text


@dataclass(frozen=True)
class MarginRow:
    """One case as a reader sees it."""

    region: str
    pool: str
    lost: str
    worst_hour: str
    need_tok_s: float
    available_tok_s: float
    unit: str
    replicas: str
    """Replicas that count before the loss, and how many have to."""
    holds: bool

    @property
    def spare_part(self) -> float:
        """Slack as a part of the need."""
        return (self.available_tok_s - self.need_tok_s) / max(self.need_tok_s, 1.0)


def margin_rows(margins: Iterable[Margin]) -> tuple[MarginRow, ...]:
    """Return margins as rows, by region, pool and loss."""
    ordered = sorted(
        margins, key=lambda margin: (margin.case.region, margin.case.pool, _rank(margin.case.lost), margin.case.lost)
    )
    return tuple(
        MarginRow(
            region=margin.case.region,
            pool=margin.case.pool,
            lost={NOTHING: "nothing", REPLICA: "a replica", NODE: "a node"}.get(margin.case.lost, margin.case.lost),
            worst_hour=hour_text(margin.hour),
            need_tok_s=margin.need_tok_s,
            available_tok_s=margin.available_tok_s,
            unit=margin.unit,
            replicas=f"{margin.replicas}, needs {margin.replicas_needed}",
            holds=margin.holds,
        )
        for margin in ordered
    )


def rows_of_loss(proof: Proof, lost: str) -> tuple[MarginRow, ...]:
    """Return what every survivor carries when one region is lost."""
    return margin_rows(margin for margin in proof.margins.values() if margin.case.lost == lost)


def _rank(lost: str) -> int:
    return 0 if lost == NOTHING else 1 if lost == REPLICA else 2 if lost.startswith("zone ") else 3
