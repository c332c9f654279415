"""The ``outlast`` command: thin, one module a group of commands, everything heavy imported when it is needed.

May hold: arguments, order of calls, printing. Not: decisions or arithmetic.
"""

from outlast.cli.app import main

__all__ = ["main"]
