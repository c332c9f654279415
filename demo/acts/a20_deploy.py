"""Counts become infrastructure."""

from demo.stage import FLEET, Stage

TITLE = "Deploy: seven stacks with the policy pack, global first, routing last"
WHY = "Each 'up' previews, is judged by the policies, then creates; a stack that would break a rule never starts."
IS_MAIN = True


def run(stage: Stage) -> None:
    """Bring every stack up."""
    stage.outlast("sim", "up", FLEET)
    stage.summary.append(
        "deployed: networks, clusters, nodes with H100, MI300X, L40S, L4, registries, buckets, keys, DNS; judged first"
    )
