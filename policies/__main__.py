"""Starts the pack. Its own root comes first, so that a pack from the base branch never runs the pull request's code."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import outlast  # noqa: E402  (only importable once the root is first)

if Path(outlast.__file__).resolve().parent.parent != ROOT:
    stray = Path(outlast.__file__).parent
    sys.exit(f"policies: outlast comes from {stray}, not from the pack's own root {ROOT}. Unset PYTHONPATH.")

from pulumi_policy import PolicyPack  # noqa: E402

from policies.pack import policies  # noqa: E402

PolicyPack("outlast", policies(ROOT))
