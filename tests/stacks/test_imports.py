"""A region's program loads the SDK of its own cloud and no other: three would cost seconds and much memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builders import demo_intent

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import json, sys
from pathlib import Path
from outlast.facts import load_facts
from outlast.intent import load_intent
from outlast.intent.stacks import parse
from outlast.lock import read_lock
from stacks.run import declare
from tests.recording import record

config, stack = Path("config"), sys.argv[1]
intent = load_intent(config, "demo", load_facts(config))
record(lambda: declare(parse(stack), intent, read_lock(config / "fleets" / "demo")), preview=True, stack=stack)
print(json.dumps(sorted(name for name in sys.modules if name.startswith("pulumi_") and "." not in name)))
"""
REGION_OF = {row.cloud: name for name, row in reversed(list(demo_intent().regions.items()))}


def loaded_by(stack):
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OUTLAST_", "PULUMI_"))}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, stack],
        cwd=ROOT,
        env=environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("cloud", REGION_OF)
def test_a_region_loads_its_own_clouds_sdk_only(cloud):
    loaded = [name for name in loaded_by(f"demo.{REGION_OF[cloud]}") if name != "pulumi_kubernetes"]
    assert [name.startswith(f"pulumi_{cloud}") for name in loaded] == [True], loaded
