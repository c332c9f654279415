"""What the simulated Google Cloud does beyond single resources: caps over regions, nodes that follow, kept things."""

from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from simcloud.values import decode, encode
from tests.simcloud.conftest import GCP, NETWORK, Context, Made, Refusal, Site, changed, gke, inputs_of

CLUSTER, POOL = "gcp:container/cluster:Cluster", "gcp:container/nodePool:NodePool"
BUCKET, MEMBER = "gcp:storage/bucket:Bucket", "gcp:projects/iAMMember:IAMMember"


def clusters(site: Site) -> Site:
    """A cluster in each of two regions."""
    site.make("network", NETWORK, {"name": "net"})
    site.make("west", CLUSTER, gke(minMasterVersion="1.36"))
    site.make("north", CLUSTER, gke(name="eu-north", location="europe-north1"))
    return site


def nodes(cluster: str, count: int, **change: Any) -> dict[str, Any]:
    """Inputs of a node pool of one zone."""
    location, zone = ("europe-west4", "b") if cluster == "west" else ("europe-north1", "a")
    inputs = {
        "name": f"h100-{cluster}",
        "cluster": f"@{cluster}.id",
        "location": location,
        "nodeLocations": [f"{location}-{zone}"],
        "nodeCount": count,
        "nodeConfig": {"machineType": "a3-highgpu-8g"},
    }
    return changed(inputs, change)


def test_a_cap_counts_the_machines_of_every_region(site: Site) -> None:
    clusters(site).make("first", POOL, nodes("west", 4))
    with pytest.raises(Refusal, match=f"quota ALL .* all regions of {GCP} .*got 56 GPUs, of which 24 here"):
        site.make("second", POOL, nodes("north", 3))


def test_a_family_of_gpus_is_counted_in_each_region(site: Site) -> None:
    clusters(site).make("first", POOL, nodes("west", 4))
    site.make("second", POOL, nodes("north", 2))


def test_a_reservation_that_nobody_holds_is_refused(site: Site) -> None:
    taken = {"consumeReservationType": "SPECIFIC_RESERVATION", "values": ["lost"]}
    affinity = taken | {"key": "compute.googleapis.com/reservation-name"}
    with pytest.raises(Refusal, match="reservation 'lost' is missing"):
        clusters(site).make("pool", POOL, nodes("west", 1, **{"nodeConfig.reservationAffinity": affinity}))


def test_a_reservation_is_refused_beyond_what_it_holds(site: Site) -> None:
    taken = {"consumeReservationType": "SPECIFIC_RESERVATION", "values": ["held"]}
    affinity = taken | {"key": "compute.googleapis.com/reservation-name"}
    with pytest.raises(Refusal, match="reservation 'held' is too small"):
        clusters(site).make("pool", POOL, nodes("west", 3, **{"nodeConfig.reservationAffinity": affinity}))


def test_nodes_follow_a_control_plane_that_moves(site: Site) -> None:
    plugin = clusters(site).plugins["gcp"]
    pool = site.make("pool", POOL, nodes("west", 1))
    plugin.update(site.made["west"], inputs_of(site.made["west"]) | {"minMasterVersion": "1.37"})
    now = decode(plugin.read(POOL, "pool", pool.id).properties)
    assert (pool.outputs["version"].split("-")[0], now["version"].split("-")[0]) == ("1.36", "1.37")


def test_another_driver_is_another_node_pool(site: Site) -> None:
    card = {"type": "nvidia-h100-80gb", "count": 8, "gpuDriverInstallationConfig": {"gpuDriverVersion": "DEFAULT"}}
    pool = clusters(site).make("pool", POOL, nodes("west", 1, **{"nodeConfig.guestAccelerators": [card]}))
    path = "nodeConfig.guestAccelerators.0.gpuDriverInstallationConfig.gpuDriverVersion"
    assert site.plugins["gcp"].diff(pool, changed(inputs_of(pool), {path: "LATEST"})).replaces


def test_nodes_that_follow_their_cluster_are_no_drift_of_inputs(site: Site) -> None:
    pool = clusters(site).make("pool", POOL, nodes("west", 1))
    west = site.made["west"]
    site.plugins["gcp"].update(west, changed(inputs_of(west), {"minMasterVersion": "1.37"}))
    read = site.plugins["gcp"].read(POOL, "pool", pool.id)
    assert decode(read.inputs) == pool.inputs
    assert (pool.outputs["version"], decode(read.properties)["version"]) == ("1.36-gke.1", "1.37-gke.1")


def test_node_pools_go_with_their_cluster(site: Site) -> None:
    clusters(site).make("pool", POOL, nodes("west", 1))
    site.plugins["gcp"].delete(site.made["west"])
    assert POOL not in {item.type for item in site.clouds.every("gcp")}


def granted(site: Site, name: str, cluster: str) -> Made:
    """Let a group into a cluster."""
    condition = {"title": "one cluster", "expression": f'resource.name == "{cluster}"'}
    inputs = {"project": GCP, "role": "roles/container.admin", "member": "group:a@b.example", "condition": condition}
    return site.make(name, MEMBER, inputs)


@pytest.mark.parametrize(("other", "left"), [("north", 1), ("west", 0)], ids=["another-condition", "the-same"])
def test_a_grant_is_there_once_for_each_condition(site: Site, other: str, left: int) -> None:
    first = granted(site, "first", "west")
    granted(site, "second", other)
    site.plugins["gcp"].delete(first)
    assert len(site.clouds.every("gcp", MEMBER)) == left


def test_a_bucket_that_is_to_stay_is_not_deleted(site: Site) -> None:
    bucket = site.make("bucket", BUCKET, {"name": "weights", "location": "EU", "deletionPolicy": "PREVENT"})
    with pytest.raises(Refusal, match="PREVENT"):
        site.plugins["gcp"].delete(bucket)


@pytest.mark.parametrize(
    ("config", "message"),
    [({"project": "another"}, "do not reach the project"), ({"region": "europe-west44"}, "not a Google Cloud region")],
)
def test_a_provider_of_no_place_of_the_fleet_is_refused(site: Site, config: dict[str, str], message: str) -> None:
    wanted = {"region": "europe-west4", "project": GCP} | config
    urn = "urn:pulumi:s::p::pulumi:providers:gcp::gcp"
    request = provider_pb2.ConfigureRequest(urn=urn, args=encode(wanted))
    with pytest.raises(Refusal, match=message):
        site.plugins["gcp"].provider.Configure(request, Context())
