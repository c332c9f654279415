"""Everything goes away."""

from demo.stage import FLEET, Stage

TITLE = "The end: routing goes first, global last"
WHY = "Protection is lifted by a knob, then each stack is destroyed; the clouds must hold nothing afterwards."
IS_MAIN = True


def run(stage: Stage) -> None:
    """Destroy all stacks, unless they are to be kept."""
    if stage.keep:
        stage.say("KEEP=1: the clouds still hold the raise; emptied, they get the committed configuration and stay up.")
        stage.prepare()
        stage.outlast("sim", "up", FLEET)
        return
    stage.outlast("sim", "down", FLEET)
    stage.summary.append("torn down: the simulated clouds hold nothing")
