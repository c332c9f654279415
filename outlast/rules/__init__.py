"""Rules over a deployment: functions of view, lock and intent; one concern a file.

May hold: rules and how they are run. Not: how a deployment is read (view), or who enforces (policies, stacks, verify).
"""

from outlast.rules.registry import RULES
from outlast.rules.rule import CRASHED, LOCK, Deployment, Rule, run
from outlast.rules.violation import Violation

__all__ = ["CRASHED", "LOCK", "RULES", "Deployment", "Rule", "Violation", "run"]
