"""Demand grows by a fifth: what that costs, and why nothing is given back before it is safe."""

from demo.edits import more_demand
from demo.stage import FLEET, Stage

TITLE = "Spend: demand grows by 20 %"
WHY = "A pull request edits demand.yaml and commits the lock; reviewers see money, survival and quotas in one line."
IS_MAIN = True


def run(stage: Stage) -> None:
    """Edit demand, plan the raise and price it; settling it is refused while it is not deployed."""
    demand = stage.fleet_folder / "demand.yaml"
    before = demand.read_text(encoding="utf-8")
    base = stage.keep_lock()
    demand.write_text(more_demand(before, 1.2), encoding="utf-8")
    stage.say("(edited demand.yaml: the peak of every daily curve +20 %)")
    stage.outlast("plan", FLEET, "--check", expect=1)
    stage.outlast("plan", FLEET, "--brief")
    stage.outlast("spend", FLEET, "--base-lock", base)
    stage.say("\nA raise only adds. What it adds is given back by a settle, which waits until the raise is deployed:")
    demand.write_text(before, encoding="utf-8")
    stage.say("(edited demand.yaml: back to where it was)")
    stage.outlast("plan", FLEET, "--brief")
    stage.outlast("plan", FLEET, "--settle", expect=1)
    stage.restore()
    stage.say("\n(took the change back: lock and demand are those of the repository)")
    stage.summary.append("priced: 20 % more demand in nodes, GPUs and dollars; nothing is given back before it is safe")
