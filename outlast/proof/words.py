"""Margins in words and numbers, the same in every message."""

from __future__ import annotations

from outlast.proof.prove import NODE, NOTHING, REPLICA, Margin

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def hour_text(hour: int) -> str:
    """Return an hour of the week in words, UTC."""
    return f"{_DAYS[hour // 24]} {hour % 24:02d}:00 UTC"


def loss_text(lost: str) -> str:
    """Return a case's loss as a noun."""
    nouns = {NOTHING: "its normal demand", REPLICA: "the loss of a replica", NODE: "the loss of a node"}
    return nouns.get(lost, f"the loss of {lost}")


def shortfall(margin: Margin) -> str:
    """Return the sentence that says what is not survived and by how much."""
    case = margin.case
    if case.region == case.lost:
        return (
            f"nothing takes over {case.pool} when {case.lost} is lost: no share sends "
            f"{margin.need_tok_s:,.0f} {margin.unit} anywhere at {hour_text(margin.hour)}"
        )
    return (
        f"{case.region} cannot carry {loss_text(case.lost)}: {case.pool} is short by "
        f"{-margin.slack_tok_s:,.0f} {margin.unit} at {hour_text(margin.hour)}"
    )


def arithmetic(margin: Margin) -> str:
    """Return the numbers of a margin in one line."""
    case = margin.case
    return (
        f"lost={case.lost} hour={margin.hour} ({hour_text(margin.hour)}) need={margin.need_tok_s:,.0f} {margin.unit} "
        f"available={margin.available_tok_s:,.0f} {margin.unit}; "
        f"{margin.replicas} of {margin.replicas_needed} replicas of {case.pool} in {case.region}"
    )


def cure(margin: Margin) -> str:
    """Return what would close the gap, as the start of a sentence."""
    if margin.case.region == margin.case.lost:
        return f"give what {margin.case.lost} serves of {margin.case.pool} a share in a survivor"
    short = max(1, margin.replicas_needed - margin.replicas)
    return f"keep {short} more replica{'s' if short > 1 else ''} of {margin.case.pool} in {margin.case.region}"
