"""Demand grows by a fifth: what it costs, raised before it is settled."""

from demo.edits import more_demand
from demo.stage import FLEET, Stage

TITLE = "Spend: demand grows by 20 %, raised first, then settled"
WHY = "The pull request edits demand.yaml and commits the raise; reviewers see money, survival and quotas in one line."
IS_MAIN = True


def run(stage: Stage) -> None:
    """Edit demand, plan the raise, price it from two locks and from previews, deploy it, settle."""
    demand = stage.fleet_folder / "demand.yaml"
    lock = stage.fleet_folder / "plan.lock.yaml"
    base = stage.sim / "base.lock.yaml"
    shown = str(base.relative_to(stage.root))
    base.write_text(lock.read_text(encoding="utf-8"), encoding="utf-8")
    demand.write_text(more_demand(demand.read_text(encoding="utf-8"), 1.2), encoding="utf-8")
    stage.say("(edited demand.yaml: every peak +20 %)")
    stage.outlast("plan", FLEET, "--check", expect=1)
    stage.outlast("plan", FLEET)
    stage.outlast("spend", FLEET, "--base-lock", shown)
    stage.outlast(
        "sim", "up", FLEET, *(f"--stack={FLEET}.{part}" for part in ("us-east", "eu-west", "eu-north", "routing"))
    )
    base.write_text(lock.read_text(encoding="utf-8"), encoding="utf-8")
    stage.outlast("plan", FLEET, "--settle")
    stage.outlast("spend", FLEET, "--base-lock", shown)
    stage.summary.append(
        "priced: 20 % more demand as nodes, GPUs and dollars; deployed as a raise that only adds, then settled"
    )
