"""The project keeps the rules of its house, and each rule catches a planted offence."""

import re
from functools import cache
from pathlib import Path

import pytest

from tools.checks.house_rules import RULES, Finding, Source

ROOT = Path(__file__).resolve().parents[1]
UNSEEN = re.compile(r"__pycache__|\.(git|venv|sim|build|hypothesis|\w+_cache)")
HERE = "tests/test_house_rules.py"

EXCEPTIONS: dict[str, dict[str, str]] = {
    "nothing_is_undone": {HERE: "plants the offence"},
    "no_place_of_one_machine": {HERE: "plants the offence"},
    "no_registry_host": {HERE: "plants the offence"},
    "tests_always_run": {HERE: "plants the offence"},
    "tests_are_collected": {
        "tests/builders.py": "builds small fleets for tests",
        "tests/changed_locks.py": "changes locks for tests",
        "tests/components/aws_region.py": "declares a region of AWS without a fleet for tests",
        "tests/components/clouds.py": "declares one small fleet on every cloud for tests",
        "tests/components/contract_cluster.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_gateway_address.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_identity.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_images.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_keys.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_network.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_node_pool.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_provider.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_stores.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_system_pool.py": "states a contract that tests of all clouds inherit",
        "tests/components/contract_weights.py": "states a contract that tests of all clouds inherit",
        "tests/components/reading_aws.py": "answers the questions of the contracts on one cloud",
        "tests/components/reading_azure.py": "answers the questions of the contracts on one cloud",
        "tests/components/reading_gcp.py": "answers the questions of the contracts on one cloud",
        "tests/engine/edits.py": "edits locks as a hand slips",
        "tests/engine/simulation.py": "one simulation of the demo in a folder",
        "tests/engine/small_fleet.py": "a fleet with a region on each cloud, deployed and counted",
        "tests/existing.py": "the demo with networks and clusters that exist",
        "tests/fleet_files.py": "writes small fleets for tests",
        "tests/recording.py": "the recording monitor",
        "tests/replica/replicas.py": "builds replicas for tests",
        "tests/simcloud/attempts.py": "attempts refusals in this process",
        "tests/simcloud/batches.py": "many refusals in one run of the engine",
        "tests/simcloud/examples.py": "reads the tables of refusals",
        "tests/simcloud/small_engine.py": "a small program on the real engine",
        "tests/simcloud/standing.py": "builds the plans of the tables",
        "tests/simcloud/used_properties.py": "keeps the shapes of the properties we set; make shapes",
        "tests/stack_records.py": "builds records of small stacks",
        "tests/tiers.py": "builds small fleets of several tiers",
        "tests/random_fleets.py": "draws small fleets for tests",
        "tests/scale_problems.py": "builds small arrays for tests",
    },
}
"""For each rule: file or `file::function`, and why it may break it. One that is not needed fails the test."""

LONG = "def long():\n" + "    x = 1\n" * 60

PLANTED = {
    "functions_are_short": ("outlast/planted.py", LONG),
    "files_are_short": ("__main__.py", "import stacks\n" * 16),
    "packages_only_export": ("outlast/planted/__init__.py", '"""Holds nothing."""\n\ndef helper(): ...\n'),
    "strings_are_used": ("outlast/planted.py", 'def f():\n    message = "one half"\n    "and the other"\n'),
    "stacks_read_configuration": ("components/planted.py", "import pulumi\n\nknob = pulumi.Config().get('knob')\n"),
    "simcloud_speaks_the_wire": ("simcloud/planted.py", "from pulumi.runtime import settings\n"),
    "command_line_is_lazy": ("outlast/cli/planted.py", "if True:\n    import numpy as np\n"),
    "cloud_names_stay_home": ("stacks/planted.py", 'def f(region):\n    return region.cloud == "gcp"\n'),
    "tests_do_not_wait_in_apply": ("tests/test_planted.py", "output.apply(check)\n"),
    "tests_are_collected": ("tests/network.py", "def test_never(): ...\n"),
    "tests_always_run": ("tests/test_planted.py", "@pytest.mark.skip\ndef test_later(): ...\n"),
    "nothing_is_undone": ("docs/planted.md", "TODO: write this\n"),
    "no_place_of_one_machine": ("Makefile", "run:\n\tcd /home/somebody/outlast\n"),
    "no_registry_host": ("requirements.lock", "--index-url https://pypi.org/simple\n"),
}

ALLOWED = {
    "strings_are_used": ("outlast/kept.py", 'class A:\n    x: int = 1\n    """What x is."""\n\nY = 2\n"""Y."""\n'),
    "stacks_read_configuration": ("stacks/kept.py", "import pulumi\n\nknob = pulumi.Config().get('knob')\n"),
    "simcloud_speaks_the_wire": ("simcloud/kept.py", "from pulumi.runtime.proto import provider_pb2\n"),
    "command_line_is_lazy": ("outlast/cli/kept.py", "def plan():\n    import numpy\n"),
    "cloud_names_stay_home": ("components/cluster/gcp.py", 'TYPE = "gcp:container/nodePool:NodePool"\n'),
    "no_place_of_one_machine": ("docs/kept.md", "weights lie below /mnt/cache, the socket in $TMPDIR\n"),
}


@cache
def project() -> tuple[Source, ...]:
    """Every text file of the project."""
    tops = [top for top in ROOT.iterdir() if not UNSEEN.fullmatch(top.name)]
    paths = [path for top in tops for path in (top.rglob("*") if top.is_dir() else [top]) if path.is_file()]
    paths = [path for path in paths if not any(map(UNSEEN.fullmatch, path.parts))]
    return tuple(Source(path.relative_to(ROOT).as_posix(), path.read_text(errors="ignore")) for path in sorted(paths))


def findings(rule: str, *sources: Source) -> list[Finding]:
    """What a rule finds."""
    return sorted(finding for source in sources for finding in RULES[rule](source))


@pytest.mark.parametrize("rule", RULES)
def test_the_project_keeps_every_rule(rule):
    exceptions = EXCEPTIONS.get(rule, {})
    found = findings(rule, *project())
    assert [str(finding) for finding in found if finding.where not in exceptions] == []
    assert set(exceptions) - {finding.where for finding in found} == set(), "exceptions that nothing needs"


@pytest.mark.parametrize("rule", PLANTED)
def test_a_planted_offence_is_caught(rule):
    assert len(findings(rule, Source(*PLANTED[rule]))) == 1


@pytest.mark.parametrize("rule", ALLOWED)
def test_what_is_right_is_left_alone(rule):
    assert findings(rule, Source(*ALLOWED[rule])) == []


def test_every_rule_has_a_planted_offence():
    assert set(PLANTED) == set(RULES)
