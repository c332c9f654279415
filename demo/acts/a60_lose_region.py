"""A region is lost, on paper."""

from demo.stage import FLEET, Stage

TITLE = "Drill: lose eu-west on paper"
WHY = "DNS already holds the shares and the capacity already runs; nobody has to do anything."
IS_MAIN = True


def run(stage: Stage) -> None:
    """Show where traffic goes and what the survivors carry."""
    stage.outlast("drill", FLEET, "--lost", "eu-west")
    stage.summary.append(
        "drilled: losing eu-west sends EU tenants to eu-north and eu-central only, which carry them at every hour"
    )
