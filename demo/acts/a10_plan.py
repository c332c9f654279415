"""Intent becomes counts."""

from demo.stage import FLEET, Stage

TITLE = "Plan: from intent to replicas, nodes and failover shares"
WHY = "Three regions on two clouds serve a US tenant and two EU tenants whose data may not leave the EU."
IS_MAIN = True


def run(stage: Stage) -> None:
    """Check, plan and prove."""
    stage.outlast("check", FLEET)
    stage.outlast("plan", FLEET)
    stage.outlast("verify", FLEET)
    stage.summary.append(
        "planned: the cheapest nodes that survive the loss of any region, zone or replica, with the gap to the optimum"
    )
