"""Runs the acts: ``python -m demo [--tour] [--keep]``."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path
from types import ModuleType

from demo import acts
from demo.stage import ActFailed, Stage, timed


def main() -> int:
    """Run the main acts, or all of them, and end with a summary."""
    parser = argparse.ArgumentParser(
        prog="make demo", description="Plan, deploy, price, refuse, lose a region: offline."
    )
    parser.add_argument("--tour", action="store_true", help="run every act, not only the main ones")
    parser.add_argument("--keep", action="store_true", help="leave the stacks up at the end")
    arguments = parser.parse_args()
    stage = Stage(Path(__file__).resolve().parent.parent, keep=arguments.keep)
    try:
        with timed() as total:
            stage.prepare()
            for number, act in enumerate(_acts(tour=arguments.tour), start=1):
                stage.say(f"\n━━ {number}. {act.TITLE} {'━' * max(3, 92 - len(act.TITLE))}")
                stage.say(act.WHY)
                with timed() as seconds:
                    act.run(stage)
                stage.say(f"(act {number}: {seconds[0]:.0f} s)")
    except ActFailed as failure:
        print(f"\ndemo failed: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted; 'make demo' starts again from nothing", file=sys.stderr)
        return 130
    stage.say(f"\n━━ What you saw {'━' * 80}")
    for sentence in stage.summary:
        stage.say(f"  • {sentence}")
    stage.say(_next(stage, total[0]))
    return 0


def _acts(*, tour: bool) -> list[ModuleType]:
    found = [importlib.import_module(f"demo.acts.{module.name}") for module in pkgutil.iter_modules(acts.__path__)]
    return [act for act in found if tour or act.IS_MAIN]


def _next(stage: Stage, seconds: float) -> str:
    ran = (
        f"\nThe real engine, program and policy pack ran for {seconds:.0f} s; only the clouds were simulated, "
        "no account was used.\n"
    )
    if stage.keep:
        return f'{ran}The stacks are up. Look around: eval "$(.venv/bin/outlast sim env demo)", then pulumi stack ls.'
    return f"{ran}Everything was torn down. 'make demo KEEP=1' leaves the stacks up to look around in."


if __name__ == "__main__":
    sys.exit(main())
