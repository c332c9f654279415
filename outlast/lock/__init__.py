"""The committed result of planning: models, file, digests, and what stacks have deployed of it.

May hold: what a lock says and whether it fits its inputs. Not: how it was found (planner), whether it survives (proof).
"""

from outlast.lock.applied import (
    Applied,
    AppliedFile,
    AppliedPool,
    Counts,
    applied_in,
    applied_output,
    applied_path,
    counts_of,
    read_applied,
    write_applied,
)
from outlast.lock.declared import ShortQuota, quota_needs, short_quotas, undeclared
from outlast.lock.digest import Freshness, freshness, input_digests, lock_digest, stale_problem
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
    Slices,
    Solver,
    Window,
)
from outlast.lock.reading import LOCK_FILE, Overfull, check_lock, lock_text, nodes_for, overfull, parse_lock, read_lock

__all__ = [
    "LOCK_FILE",
    "Applied",
    "AppliedFile",
    "AppliedPool",
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
    "ShortQuota",
    "Slices",
    "Solver",
    "Window",
    "applied_in",
    "applied_output",
    "applied_path",
    "check_lock",
    "counts_of",
    "freshness",
    "input_digests",
    "lock_digest",
    "lock_text",
    "nodes_for",
    "overfull",
    "parse_lock",
    "quota_needs",
    "read_applied",
    "read_lock",
    "short_quotas",
    "stale_problem",
    "undeclared",
    "write_applied",
]
