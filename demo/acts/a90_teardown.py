"""Everything goes away."""

from demo.stage import FLEET, Stage

TITLE = "The end: routing goes first, global last"
WHY = "Protection is lifted by a knob, then each stack is destroyed; the clouds must hold nothing afterwards."
IS_MAIN = True


def run(stage: Stage) -> None:
    """Destroy all stacks, unless they are to be kept."""
    if stage.keep:
        stage.say("KEEP=1: nothing is destroyed this time; the stacks go back to the committed configuration.")
        stage.restore()
        stage.outlast("sim", "up", FLEET)
        return
    stage.outlast("sim", "down", FLEET)
    stage.summary.append("torn down: the simulated clouds hold nothing")
