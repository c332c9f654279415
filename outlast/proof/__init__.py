"""Survival by arithmetic, and whether resources are what the lock says.

May hold: margins of every loss and hour, the comparison with what is applied, and the match of a view with a lock. Not:
a solver, prices, or wording of rules.
"""

from outlast.proof.base import Judgement, judge
from outlast.proof.held import Held, PoolHeld, held_of_applied, held_of_lock
from outlast.proof.places import Misplaced, Unserved, misplaced, unserved
from outlast.proof.prove import NODE, NOTHING, REPLICA, Case, Margin, Proof, Routes, prove
from outlast.proof.realises import Mismatch, realises
from outlast.proof.words import arithmetic, cure, hour_text, loss_text, shortfall

__all__ = [
    "NODE",
    "NOTHING",
    "REPLICA",
    "Case",
    "Held",
    "Judgement",
    "Margin",
    "Mismatch",
    "Misplaced",
    "PoolHeld",
    "Proof",
    "Routes",
    "Unserved",
    "arithmetic",
    "cure",
    "held_of_applied",
    "held_of_lock",
    "hour_text",
    "judge",
    "loss_text",
    "misplaced",
    "prove",
    "realises",
    "shortfall",
    "unserved",
]
