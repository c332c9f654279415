"""The program that the engine runs: the stack's name says what to declare."""

import pulumi

from stacks import run

run(pulumi.get_stack())
