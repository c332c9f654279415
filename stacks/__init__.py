"""Wiring: which components a stack consists of and what they hand each other; declares no resource itself.

May hold: names of stacks, their typed exports, one function a kind of stack, knobs of the engine. Not: resources,
sizes, rules.
"""

from stacks.run import end_quietly_on_interrupt, run

__all__ = ["end_quietly_on_interrupt", "run"]
