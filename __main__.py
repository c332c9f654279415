"""The program that the engine runs: the stack's name says what to declare."""

import pulumi

from stacks import end_quietly_on_interrupt, run

end_quietly_on_interrupt()
run(pulumi.get_stack())
