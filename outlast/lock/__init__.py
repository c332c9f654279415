"""The committed result of planning: models, file, digests, and what stacks have deployed of it.

May hold: what a lock says and whether it fits its inputs. Not: how it was found (planner), whether it survives (proof).
"""

from outlast.lock.applied import Applied, AppliedFile, Counts, applied_output, counts_of, read_applied, write_applied
from outlast.lock.declared import undeclared
from outlast.lock.digest import Freshness, freshness, input_digests, lock_digest
from outlast.lock.models import (
    Binding,
    Lock,
    LockNodePool,
    LockPool,
    LockQuota,
    LockRegion,
    Nodes,
    Premium,
    PremiumSize,
    Replicas,
    Solver,
    Window,
)
from outlast.lock.reading import LOCK_FILE, Overfull, check_lock, lock_text, nodes_for, overfull, parse_lock, read_lock

__all__ = [
    "LOCK_FILE",
    "Applied",
    "AppliedFile",
    "Binding",
    "Counts",
    "Freshness",
    "Lock",
    "LockNodePool",
    "LockPool",
    "LockQuota",
    "LockRegion",
    "Nodes",
    "Overfull",
    "Premium",
    "PremiumSize",
    "Replicas",
    "Solver",
    "Window",
    "applied_output",
    "check_lock",
    "counts_of",
    "freshness",
    "input_digests",
    "lock_digest",
    "lock_text",
    "nodes_for",
    "overfull",
    "parse_lock",
    "read_applied",
    "read_lock",
    "undeclared",
    "write_applied",
]
