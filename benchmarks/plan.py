"""The demo's plan over 168 hours, against reading and checking its files."""

from __future__ import annotations

from pathlib import Path

from benchmarks.timing import median_s
from outlast.facts import load_facts
from outlast.intent import load_intent
from outlast.lock import read_lock
from outlast.planner import plan

CONFIG = Path(__file__).parents[1] / "config"


def run() -> None:
    """Print how long planning takes, in readings of the files."""
    facts = load_facts(CONFIG)
    intent = load_intent(CONFIG, "demo", facts)
    lock = read_lock(CONFIG / "fleets" / "demo")
    reading = median_s(lambda: load_intent(CONFIG, "demo", load_facts(CONFIG)))
    planning = median_s(lambda: plan(intent, lock))
    ratio = f"{planning / reading:.1f} × reading its files ({reading:.2f} s)"
    print(f"plan of demo, 168 h: {planning:.2f} s = {ratio}; budget 5 s")
