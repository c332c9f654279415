"""A region whose network and cluster are there before it, on the real engine: used as they are, and left behind."""

from __future__ import annotations

import pytest
import yaml

from outlast.intent.reading import parse_yaml
from simcloud.life import resources, vanish
from tests.engine.simulation import FLEET, Simulation
from tests.existing import CLUSTERS, NETWORKS

pytestmark = pytest.mark.engine
CLUSTER = {
    "us-east": "aws:eks/cluster:Cluster",
    "eu-west": "gcp:container/cluster:Cluster",
    "eu-central": "azure-native:containerservice:ManagedCluster",
}


def with_existing(simulation: Simulation, region: str) -> None:
    """Let a region find its network and its cluster."""
    path = simulation.fleet / "regions.yaml"
    document = parse_yaml(path.read_text(encoding="utf-8"), path.name, [])
    assert isinstance(document, dict)
    row = document["regions"][region]
    row |= {"network": dict(NETWORKS[region]), "cluster": dict(CLUSTERS[region])}
    row.pop("access", None)
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


@pytest.mark.parametrize("region", NETWORKS)
def test_a_region_goes_up_in_what_exists_and_down_without_it(empty: Simulation, region: str) -> None:
    with_existing(empty, region)
    stacks = ("--stack", f"{FLEET}.global", "--stack", f"{FLEET}.{region}")
    ran = empty.outlast("sim", "up", FLEET, *stacks)
    assert ran.code == 0, ran.output
    assert CLUSTER[region] not in {item.type for item in resources(empty.sim)}
    again = empty.pulumi("preview", "--stack", f"{FLEET}.{region}", "--expect-no-changes")
    assert again.code == 0, again.output
    down = empty.outlast("sim", "down", FLEET, *stacks)
    assert down.code == 0, down.output
    assert "the simulated clouds still hold 0 resources" in down.output


def test_a_cluster_that_is_not_there_is_refused(empty: Simulation) -> None:
    with_existing(empty, "us-east")
    empty.environment()
    vanish(empty.sim, CLUSTER["us-east"], "ml-east")
    ran = empty.outlast("sim", "up", FLEET, "--stack", f"{FLEET}.global", "--stack", f"{FLEET}.us-east")
    assert ran.code == 1
    assert "the cluster does not answer" in ran.refusal, ran.output
