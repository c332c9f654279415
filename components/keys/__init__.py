"""A region's encryption key; keys are never shared between places."""

from components.keys.contract import Keys, KeysArgs, declare

__all__ = ["Keys", "KeysArgs", "declare"]
