"""The only caller of the engine's command: previews, deployments, outputs and states of stacks, as records.

May hold: running ``pulumi`` (and ``git`` for the base of a change) and reading what they print. Not: judging it.
"""

from outlast.previews.engine import Engine, Finished, Progress
from outlast.previews.fleet import (
    GLOBAL,
    ROUTING,
    StackPreview,
    applied_of,
    ensure_stacks,
    load_previews,
    preview_stack,
    save_preview,
    stack_order,
)
from outlast.previews.git import file_at

__all__ = [
    "GLOBAL",
    "ROUTING",
    "Engine",
    "Finished",
    "Progress",
    "StackPreview",
    "applied_of",
    "ensure_stacks",
    "file_at",
    "load_previews",
    "preview_stack",
    "save_preview",
    "stack_order",
]
