"""Everything goes away."""

from demo.stage import FLEET, Stage

TITLE = "Tear down: routing first, global last"
WHY = "Protection is released by a knob, then each stack is destroyed; the clouds must hold nothing afterwards."
IS_MAIN = True


def run(stage: Stage) -> None:
    """Destroy all stacks, unless they are to be kept."""
    if stage.keep:
        stage.say("(KEEP=1: the stacks stay up)")
        return
    stage.outlast("sim", "down", FLEET)
    stage.summary.append("torn down: the simulated clouds hold nothing")
