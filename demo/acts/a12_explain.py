"""The plan in question: what each GPU is there for, what else would cost, and when quota ends."""

from demo.stage import FLEET, Stage

TITLE = "Explain: why each GPU is there, and what else would cost"
WHY = "Nobody signs for hundreds of GPUs without asking; every answer is a plan of its own, none is a guess."
IS_MAIN = False


def run(stage: Stage) -> None:
    """Ask the questions that a review asks."""
    stage.outlast("why", FLEET, "us-east")
    stage.outlast("plan", FLEET, "--what-if", "all")
    stage.outlast("plan", FLEET, "--premiums", "--dry-run", "--brief")
    stage.outlast("quote", FLEET, "--class", "eu-resident", "--origin", "eu", "--peak", "5k tok/s", "--hour", "12")
    stage.outlast("runway", FLEET, "--growth", "3 %/month")
    stage.outlast("quotas", FLEET)
    stage.outlast("preflight", FLEET)
    stage.outlast("replica", "chat-large", "--fleet", FLEET)
    stage.outlast("plan", "seed", "--compare")
    stage.summary.append("explained: each GPU by loss and hour, every rule by its price, quotas by the month they end")
