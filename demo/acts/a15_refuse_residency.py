"""A bucket outside its jurisdiction is refused."""

from demo.pull_request import changed_project
from demo.stage import FLEET, Stage

TITLE = "Refused: an EU bucket in the United States"
WHY = "A pull request changes one line: where buckets of weights are created. The policies are the base branch's."
IS_MAIN = True


def run(stage: Stage) -> None:
    """Preview a changed program under the unchanged policies."""
    with changed_project(stage, "components/weights/aws.py", "region=region,", 'region="us-east-1",') as project:
        stage.shell(["pulumi", "stack", "init", f"{FLEET}.global", "--no-select"], shown="", quiet=True)
        output = stage.pulumi(
            "preview",
            "--stack",
            f"{FLEET}.global",
            "--policy-pack",
            "../../policies",
            folder=project,
            expect=1,
        )
        stage.show_refusal(output, "[R-01]", "jurisdiction EU lies in US")
    stage.summary.append("refused: a bucket labelled EU that would lie in us-east-1, before it exists")
