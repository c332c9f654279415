"""A shrinking lock is refused."""

from demo.edits import edited, one_node_fewer
from demo.stage import FLEET, Stage

TITLE = "Refused: one node fewer where a lost region would need it"
WHY = "Somebody edits the lock by hand to save one node in eu-north."
IS_MAIN = True
REGION = "eu-north"


def run(stage: Stage) -> None:
    """Edit the lock, and be refused by verify and by the engine."""
    path = stage.fleet_folder / "plan.lock.yaml"
    text, key = one_node_fewer(path.read_text(encoding="utf-8"), REGION)
    with edited(path, text):
        stage.say(f"(edited plan.lock.yaml: {REGION} {key}, one node fewer)")
        stage.outlast("verify", FLEET, expect=1)
        stage.say(
            "\nThe program proves the same and refuses before the pack sees a resource, so that has nothing to say:"
        )
        output = stage.pulumi("preview", "--stack", f"{FLEET}.{REGION}", "--policy-pack", "policies", expect=1)
        stage.show_refusal(output, "lost=us-east", "need=", "available=")
    stage.summary.append(
        f"refused: one node fewer in {REGION}, with the lost region, the hour, the need and what is available"
    )
