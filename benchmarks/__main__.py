"""Runs every benchmark and prints its figures: ``make bench``."""

from __future__ import annotations

import os
import platform

from benchmarks import plan, plan_scale, preview, replay


def main() -> None:
    """Print the machine, then each benchmark."""
    print(f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.machine()}")
    plan.run()
    replay.run()
    plan_scale.run()
    preview.run()


if __name__ == "__main__":
    main()
