"""Demand grows by a fifth and falls back, deployed: raise, then routing, then settle."""

from demo.edits import more_demand
from demo.stage import FLEET, Stage

TITLE = "Raise and settle, deployed"
WHY = "Every state on the way survives what it must: capacity grows before traffic moves, and shrinks after."
IS_MAIN = False
REGIONS = ("us-east", "eu-west", "eu-north", "eu-central", "ap-south")


def run(stage: Stage) -> None:
    """Deploy the raise, take demand back, move traffic, settle and deploy that."""
    demand = stage.fleet_folder / "demand.yaml"
    before = demand.read_text(encoding="utf-8")
    demand.write_text(more_demand(before, 1.2), encoding="utf-8")
    stage.say("(edited demand.yaml: the peak of every daily curve +20 %)")
    stage.outlast("plan", FLEET, "--brief")
    stage.outlast("sim", "up", FLEET, *_stacks(*REGIONS, "routing"))

    base = stage.keep_lock()
    demand.write_text(before, encoding="utf-8")
    stage.say("\n(edited demand.yaml: back to where it was)")
    stage.outlast("plan", FLEET, "--brief")
    stage.say("\nTraffic returns to its shares first; only then may anything shrink.")
    stage.outlast("sim", "up", FLEET, *_stacks("routing"))
    stage.outlast("plan", FLEET, "--settle", "--brief")
    stage.outlast("spend", FLEET, "--base-lock", base)
    stage.outlast("sim", "up", FLEET, *_stacks(*REGIONS, "routing"))
    stage.summary.append("raised and settled: what 20 % more demand asked for came, and went once it was safe")


def _stacks(*parts: str) -> tuple[str, ...]:
    return tuple(f"--stack={FLEET}.{part}" for part in parts)
