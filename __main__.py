"""The program that the engine runs: the stack's name says what to declare."""

import gc

gc.disable()  # it lives for seconds, and collecting while the SDKs load takes a tenth of them

import pulumi  # noqa: E402

from stacks import end_quietly_on_interrupt, run  # noqa: E402

end_quietly_on_interrupt()
run(pulumi.get_stack())
