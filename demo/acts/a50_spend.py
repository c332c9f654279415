"""Demand grows by a fifth and falls back: what it costs, raised before it is settled."""

from demo.edits import more_demand
from demo.stage import FLEET, Stage

TITLE = "Spend: demand grows by 20 %, then falls back; raised first, then settled"
WHY = "A pull request edits demand.yaml and commits the lock; reviewers see money, survival and quotas in one line."
IS_MAIN = True
REGIONS = ("us-east", "eu-west", "eu-north")


def run(stage: Stage) -> None:
    """Edit demand, raise, price and deploy; then take it back, settle and price."""
    demand = stage.fleet_folder / "demand.yaml"
    before = demand.read_text(encoding="utf-8")
    base = _keep_lock(stage)
    demand.write_text(more_demand(before, 1.2), encoding="utf-8")
    stage.say("(edited demand.yaml: the peak of every daily curve +20 %)")
    stage.outlast("plan", FLEET, "--check", expect=1)
    stage.outlast("plan", FLEET, "--brief")
    stage.outlast("spend", FLEET, "--base-lock", base)
    stage.outlast("sim", "up", FLEET, *_stacks(*REGIONS, "routing"))

    stage.say("\nThe rise is over. A raise never lowers; once it is deployed, a settle gives back the rest.")
    base = _keep_lock(stage)
    demand.write_text(before, encoding="utf-8")
    stage.say("(edited demand.yaml: back to where it was)")
    stage.outlast("plan", FLEET, "--brief")
    stage.say("\nTraffic returns to its shares first; only then may anything shrink.")
    stage.outlast("sim", "up", FLEET, *_stacks("routing"))
    stage.outlast("plan", FLEET, "--settle", "--brief")
    stage.outlast("spend", FLEET, "--base-lock", base)
    stage.summary.append(
        "priced: 20 % more demand in nodes, GPUs and dollars; a raise adds first, a settle gives back last"
    )


def _keep_lock(stage: Stage) -> str:
    """Keep the lock as the base of a change; return its path as a user would type it."""
    base = stage.sim / "base.lock.yaml"
    base.write_text((stage.fleet_folder / "plan.lock.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    return str(base.relative_to(stage.root))


def _stacks(*parts: str) -> tuple[str, ...]:
    return tuple(f"--stack={FLEET}.{part}" for part in parts)
