"""A small fleet with a region on each cloud, and how the tests of its lives change, deploy and count it."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import yaml

from outlast.lock import read_lock
from simcloud.life import resources, vanish
from simcloud.state import Stored
from tests.builders import ACCOUNTS, REGION_PLACES, make_curve, make_documents, merged
from tests.engine.simulation import Ran, Simulation

REGIONS = {"aws": "us-east", "gcp": "eu-west", "azure": "eu-central"}
ZONES = {cloud: REGION_PLACES[region][2] for cloud, region in REGIONS.items()}
NODE_POOLS = {
    "aws": "aws:eks/nodeGroup:NodeGroup",
    "gcp": "gcp:container/nodePool:NodePool",
    "azure": "azure-native:containerservice:AgentPool",
}
CLUSTERS = {
    "aws": "aws:eks/cluster:Cluster",
    "gcp": "gcp:container/cluster:Cluster",
    "azure": "azure-native:containerservice:ManagedCluster",
}
MACHINES = {"aws": "p5.48xlarge", "gcp": "a3-highgpu-8g", "azure": "Standard_ND96isr_H100_v5"}
_HELD = f"/subscriptions/{ACCOUNTS['azure']}/resourceGroups/held/providers/Microsoft.Compute/capacityReservationGroups"
RESERVATIONS = {
    "aws": ("cr-0a4d2f6e81b3c5a79", "cr-0a4d2f6e81b3c5a80"),
    "gcp": ("held-1", "held-2"),
    "azure": (f"{_HELD}/held-1", f"{_HELD}/held-2"),
}
"""One held now, and a larger one that follows it."""
HELD_NODES = (2, 4)
GIVEN_UP = {"aws": 3, "gcp": 1, "azure": 3}
"""Number of the zone that on-demand nodes leave; the rest, with the reservation, still survive the loss of a zone."""
COUNTS = {"aws": "scalingConfig.minSize", "gcp": "nodeCount", "azure": "count"}
TAGS = {"aws": "tags", "gcp": "resourceLabels", "azure": "tags"}
PEAK_TOK_S, MORE_TOK_S = 3000, 6000
_AT_ONCE = 2
"""Stacks that are deployed at the same time: as many as the smallest machine for tests has processors."""

Counts = Mapping[str, Mapping[str, int]]
"""Cloud -> logical name of a node pool of the lock -> its nodes."""


def documents() -> dict[str, Any]:
    """The files of the fleet: on each cloud on-demand nodes in every zone, and reserved ones in the first."""
    return merged(
        make_documents(*REGIONS.values()),
        {
            "fleet": {"kubernetes": "1.35", "dns": {"region": REGIONS["aws"]}},
            "operations": {"regions": dict.fromkeys(REGIONS.values(), "serving")},
            "demand": _demand(PEAK_TOK_S),
            "regions": {"regions": {REGIONS[cloud]: {"node_pools": {"rh100": _reserved(cloud)}} for cloud in REGIONS}},
            "capacity": {
                "regions": {REGIONS[cloud]: {"reservations": _reservations(cloud)} for cloud in REGIONS},
                "discounts": [
                    {"cloud": cloud, "basis": "reserved", "off": "40 %", "reference": "order 1"} for cloud in REGIONS
                ],
            },
        },
    )


def _demand(tok_s: int) -> dict[str, Any]:
    return {"demand": [make_curve("shop", region, tok_s) for region in REGIONS.values()]}


def _reserved(cloud: str) -> dict[str, Any]:
    row = {"machine_type": MACHINES[cloud], "zones": [ZONES[cloud][0]], "capacity": "reserved"}
    return row | {"reservation": RESERVATIONS[cloud][0]}


def _reservations(cloud: str) -> dict[str, Any]:
    place = {"machine_type": MACHINES[cloud], "zone": ZONES[cloud][0]}
    return {name: place | {"nodes": nodes} for name, nodes in zip(RESERVATIONS[cloud], HELD_NODES, strict=True)}


def demand_becomes(fleet: Simulation, tok_s: int) -> None:
    """Let every region's demand be this much, and plan for it."""
    change(fleet, "demand", lambda document: document.update(_demand(tok_s)))
    right(fleet.outlast("plan", "test"))


def change(fleet: Simulation, file: str, how: Callable[[dict[str, Any]], object]) -> None:
    """Change a document of the fleet in place."""
    path = fleet.fleet / f"{file}.yaml"
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    how(document)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def right(ran: Ran) -> Ran:
    """Return how a command ended that must have gone well."""
    assert ran.code == 0, ran.output
    return ran


def stack_of(cloud: str) -> str:
    """Name of the stack of a cloud's region."""
    return f"test.{REGIONS[cloud]}"


def up(fleet: Simulation, *more: str) -> dict[str, Ran]:
    """Deploy the region of every cloud; return how each ended."""
    fleet.environment()
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        runs = {
            cloud: pool.submit(fleet.pulumi, "up", "--yes", "--skip-preview", "--stack", stack_of(cloud), *more)
            for cloud in REGIONS
        }
    return {cloud: run.result() for cloud, run in runs.items()}


def deploy(fleet: Simulation) -> None:
    """Deploy what the lock says, and write down that it is."""
    for ran in up(fleet).values():
        right(ran)
    right(fleet.pulumi("up", "--yes", "--skip-preview", "--stack", "test.routing"))
    right(fleet.outlast("applied", "test"))


def settle(fleet: Simulation) -> None:
    """Drop what a raise that is deployed keeps beside the plan, and deploy that."""
    right(fleet.outlast("plan", "test", "--settle"))
    deploy(fleet)


def held(fleet: Simulation, cloud: str) -> list[Stored]:
    """What the clouds hold of a cloud's region."""
    return [item for item in resources(fleet.sim) if item.urn.startswith(f"urn:pulumi:{stack_of(cloud)}::")]


def name_of(item: Stored) -> str:
    """Logical name of a resource."""
    return item.urn.rsplit("::", 1)[-1]


def node_pools(fleet: Simulation, cloud: str) -> dict[str, Stored]:
    """The region's node pools of the lock, as the cloud holds them."""
    found = {name_of(item): item for item in held(fleet, cloud) if item.type == NODE_POOLS[cloud]}
    return {name: item for name, item in found.items() if "h100-" in name}


def cluster(fleet: Simulation, cloud: str) -> Stored:
    """The region's cluster."""
    (found,) = [item for item in held(fleet, cloud) if item.type == CLUSTERS[cloud]]
    return found


def nodes_of(item: Stored, cloud: str) -> int:
    """Nodes of a node pool."""
    value: Any = item.inputs
    for step in COUNTS[cloud].split("."):
        value = value[step]
    return int(value)


def counts(fleet: Simulation) -> Counts:
    """Nodes of every node pool that the clouds hold."""
    return {
        cloud: {name: nodes_of(item, cloud) for name, item in node_pools(fleet, cloud).items()} for cloud in REGIONS
    }


def planned(fleet: Simulation) -> Counts:
    """Nodes of every node pool as the lock says."""
    regions = read_lock(fleet.fleet).regions
    return {
        cloud: {f"{region}-{key}": row.nodes.min for key, row in regions[region].node_pools.items()}
        for cloud, region in REGIONS.items()
    }


def adopt(fleet: Simulation, output: str) -> None:
    """Do what refusals of a second birth say: delete a subnet that lies in the way, and import what has our name.

    An import leaves the name of the parent to be looked up.
    """
    for orphan in set(re.findall(r"overlaps (subnet-\w+)", output)):
        vanish(fleet.sim, "aws:ec2/subnet:Subnet", orphan)
    for text in sorted(set(re.findall(r"pulumi (import .+?--protect=false)", " ".join(output.split())))):
        words = [_parent(fleet, text, word) if word.startswith("parent=") else word for word in shlex.split(text)]
        right(fleet.pulumi(*words, "--yes", "--skip-preview"))


def _parent(fleet: Simulation, text: str, word: str) -> str:
    """Fill in the name of the parent: the one component of its type in the stack."""
    stack = shlex.split(text)[shlex.split(text).index("--stack") + 1]
    state = json.loads(fleet.pulumi("stack", "export", "--stack", stack).output)
    pattern = re.escape(word.removeprefix("parent=")).replace("PARENT", "[^:]+")
    (urn,) = [item["urn"] for item in state["deployment"]["resources"] if re.fullmatch(pattern, item["urn"])]
    return f"parent={urn}"
