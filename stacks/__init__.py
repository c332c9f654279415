"""Wiring: which components a stack consists of and what they hand each other; declares no resource itself.

May hold: names of stacks, their typed exports, one function a kind of stack, knobs of the engine. Not: resources,
sizes, rules.
"""

from stacks.run import run

__all__ = ["run"]
