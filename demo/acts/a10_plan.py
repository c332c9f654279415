"""Intent becomes counts."""

from demo.stage import FLEET, Stage

TITLE = "Plan: from intent to replicas, nodes and failover shares"
WHY = (
    "Five regions on three clouds serve tenants in the US, in Asia and in the EU, whose data may not leave it:\n"
    "a large chat model, thirty fine-tunes on one base, small models on parts of cards, and one that runs when asked."
)
IS_MAIN = True
_LINES = 64
"""Down to where each class goes."""


def run(stage: Stage) -> None:
    """Check, plan and prove."""
    stage.outlast("check", FLEET)
    stage.outlast("plan", FLEET, first=_LINES)
    stage.outlast("verify", FLEET, first=_LINES // 3)
    stage.summary.append(
        "planned: the cheapest nodes that survive the loss of any region, zone or replica, with the gap to the optimum"
    )
