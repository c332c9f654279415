"""The only caller of the engine's command: previews, deployments, outputs and states of stacks, as records.

May hold: running ``pulumi`` (and ``git`` for the base of a change) and reading what they print. Not: judging it.
"""

from outlast.previews.engine import Engine, Finished, Progress
from outlast.previews.fleet import (
    StackPreview,
    applied_of,
    check_previews,
    ensure_stacks,
    load_previews,
    preview_in_order,
    preview_stack,
    save_preview,
)
from outlast.previews.git import file_at
from outlast.previews.process import interrupt_running, started
from outlast.previews.said import Watched

__all__ = [
    "Engine",
    "Finished",
    "Progress",
    "StackPreview",
    "Watched",
    "applied_of",
    "check_previews",
    "ensure_stacks",
    "file_at",
    "interrupt_running",
    "load_previews",
    "preview_in_order",
    "preview_stack",
    "save_preview",
    "started",
]
