"""Lines as the engine printed them on real runs: what is counted, and which complaints are kept."""

import pytest

from outlast.previews import Watched
from outlast.previews.engine import Finished
from outlast.previews.said import causes

NOISE = [
    "Loading policy packs...: done",
    "",
    "@ updating....",
    "    pulumi:pulumi:Stack outlast-demo.us-east running warning: not proven until demo.eu-north is up",
    "Policies:",
    "    ✅ outlast@v0.1.0 (local: policies)",
    "  aws:eks:NodeGroup (us-east-gh100-2-a):",
    "    error: aws:eks/nodeGroup:NodeGroup 'us-east-gh100-2-a': internal error; nothing was made.",
    "            node_pools: {",
    "                gh100-1-a: {",
    '                    zone     : "use1-az1"',
    "            pools     : {}",
    "    }",
    "Resources:",
    "    + 64 created",
    "Duration: 4s",
]


def said(*lines: str) -> str:
    """What is shown after some lines."""
    watched = Watched()
    for line in lines:
        watched.take(line)
    return str(watched)


@pytest.mark.parametrize("line", NOISE)
def test_what_is_not_about_a_resource_is_passed_over(line):
    assert said(line) == ""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (" +  aws:ec2:Vpc us-east-network create ", "previewing Vpc us-east-network"),
        (" +  aws:eks:NodeGroup us-east-gh100-1-a creating (0s) ", "creating NodeGroup us-east-gh100-1-a"),
        (" +  aws:eks:NodeGroup us-east-gh100-1-a created (0.07s) ", "created NodeGroup us-east-gh100-1-a"),
        (
            ' +  aws:eks:NodeGroup us-east-gh100-3-a **creating failed** error: connection error: desc = "refused"',
            "creating NodeGroup us-east-gh100-3-a failed",
        ),
        (
            " +  outlast:node_pool:AwsNodePool us-east-gh100-1-a creating (0s) ",
            "creating AwsNodePool us-east-gh100-1-a",
        ),
        (" -  kubernetes:core/v1:Namespace us-east-serving deleting (0s) ", "deleting Namespace us-east-serving"),
        (
            " ~  gcp:container:NodePool eu-west-system updating (0s) [diff: ~nodeCount]",
            "updating NodePool eu-west-system",
        ),
        ("    aws:ec2:Eip us-east-gateway refreshing (0s) ", "refreshing Eip us-east-gateway"),
        (" =  aws:eks:NodeGroup us-east-system imported (0.01s) ", "imported NodeGroup us-east-system"),
        (" +- aws:ec2:Subnet us-east-entry replacing (0s) ", "replacing Subnet us-east-entry"),
        ("    aws:ec2:Subnet us-east-entry  1 error", "Subnet us-east-entry"),
    ],
)
def test_a_resource_is_shown_in_words(line, words):
    assert said(line) == f"1 resource, {words}"


def test_each_resource_counts_once_and_a_new_phase_counts_anew():
    preview = ["Previewing update (demo.us-east):", " +  aws:ec2:Vpc a create ", " +  aws:ec2:Vpc b create "]
    assert said(*preview) == "2 resources, previewing Vpc b"
    update = ["Updating (demo.us-east):", " +  aws:ec2:Vpc a creating (0s) ", " +  aws:ec2:Vpc a created (0.1s) "]
    assert said(*preview, *update) == "1 resource, created Vpc a"
    assert said(*preview, *update, *NOISE) == "1 resource, created Vpc a"


REFUSED = """\
Diagnostics:
  pulumi:pulumi:Stack (outlast-demo.us-east):
    warning: not proven until demo.routing is up

Diagnostics:
  aws:eks:NodeGroup (us-east-gh100-2-a):
    error: aws:eks/nodeGroup:NodeGroup 'us-east-gh100-2-a': the cloud has none left, or adopt it with
      pulumi import aws:eks/nodeGroup:NodeGroup
    in which PARENT is its parent.

  aws:eks:Addon (us-east-system-eks-node-monitoring-agent):
    error: failed to run remediation: context canceled

  pulumi:pulumi:Stack (outlast-demo.us-east):
    warning: not proven until demo.routing is up
    error: update failed
    error: Resource monitor has terminated, shutting down
    error: Program failed with an unhandled exception:
    Traceback (most recent call last):
      File "main.py", line 3, in <module>
        run()

    grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC that terminated with:
    \tstatus = StatusCode.UNAVAILABLE
    >

    During handling of the above exception, another exception occurred:

    Traceback (most recent call last):
      File "main.py", line 9, in <module>
    RuntimeError: Resource monitor has terminated

Outputs:
    clouds: "simulated"
"""


def test_only_causes_are_kept_of_a_refusal():
    assert Finished("pulumi up", 1, REFUSED).diagnostics.splitlines() == [
        "  aws:eks:NodeGroup (us-east-gh100-2-a):",
        "    error: aws:eks/nodeGroup:NodeGroup 'us-east-gh100-2-a': the cloud has none left, or adopt it with",
        "      pulumi import aws:eks/nodeGroup:NodeGroup",
        "    in which PARENT is its parent.",
        "",
        "  pulumi:pulumi:Stack (outlast-demo.us-east):",
        "    warning: not proven until demo.routing is up",
    ]


def test_a_mistake_of_the_program_is_a_cause_beside_a_refusal():
    text = REFUSED.replace("grpc._channel._InactiveRpcError: <_InactiveRpcError of RPC", "KeyError: 'zone' <")
    text = text.replace("RuntimeError: Resource monitor has terminated", "KeyError: 'zone'")
    shown = Finished("pulumi up", 1, text).diagnostics
    assert "KeyError: 'zone'" in shown
    assert "the cloud has none left" in shown
    assert "context canceled" not in shown


def test_cancellations_are_kept_where_there_is_nothing_else():
    text = "Diagnostics:\n  aws:ec2:Vpc (a):\n    error: failed to run policy: context canceled\n\nResources:\n"
    assert Finished("pulumi up", 1, text).diagnostics.endswith("    error: failed to run policy: context canceled")


def test_a_run_without_diagnostics_has_last_words_without_a_final_stop():
    assert (
        Finished("pulumi up", 255, "error: no stack named 'demo.x' found.\n").diagnostics
        == "no stack named 'demo.x' found"
    )


def test_causes_of_a_preview_go_before_what_follows_from_them():
    assert causes(["preview failed", "error: update canceled", "quota is exceeded"]) == ["quota is exceeded"]
    assert causes(["context canceled"]) == ["context canceled"]
