"""Faults on demand, and clusters with what lives in them."""

import json
from collections.abc import Mapping

import pytest
from pulumi.runtime.proto import provider_pb2, status_pb2

from simcloud import faults
from simcloud.values import decode
from tests.simcloud.conftest import NAMESPACE, NETWORK, NODES, SERVICE, VPC, Made, Plugin, Refusal, Site, eks, gke, pool

# ---------------------------------------------------------------- clusters


def kubernetes(site: Site) -> Site:
    """A cluster with a gateway that has a load balancer."""
    site.make("network", NETWORK, {"name": "net"})
    site.make("cluster", "gcp:container/cluster:Cluster", gke())
    site.plugins["kubernetes"].configure(kubeconfig=kubeconfig(site.made["cluster"]))
    site.make("namespace", NAMESPACE, {"metadata": {"name": "serving"}})
    spec = {"type": "LoadBalancer", "ports": [{"port": 443}]}
    site.make("gateway", SERVICE, {"metadata": {"name": "gateway", "namespace": "serving"}, "spec": spec})
    return site


def kubeconfig(cluster: Made) -> str:
    return json.dumps(
        {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": f"https://{cluster.outputs['endpoint']}"}}],
        }
    )


def test_an_object_needs_a_cluster_that_answers(plugins: Mapping[str, Plugin]) -> None:
    nowhere = Made("", "", "", {}, {"endpoint": "192.0.2.1"})
    plugins["kubernetes"].configure(kubeconfig=kubeconfig(nowhere))
    with pytest.raises(Refusal, match="the cluster does not answer"):
        plugins["kubernetes"].create(NAMESPACE, "namespace", {"metadata": {"name": "serving"}})


def test_a_malformed_kubeconfig_is_refused(plugins: Mapping[str, Plugin]) -> None:
    with pytest.raises(Refusal, match="is not a kubeconfig"):
        plugins["kubernetes"].configure(kubeconfig="{}")


def test_a_load_balancer_gets_an_address(site: Site) -> None:
    assert kubernetes(site).made["gateway"].outputs["status"]["loadBalancer"]["ingress"][0]["ip"]


def test_objects_go_with_their_namespace(site: Site) -> None:
    kubernetes(site).plugins["kubernetes"].delete(site.made["namespace"])
    assert {item.type for item in site.clouds.every()} == {NETWORK, "gcp:container/cluster:Cluster"}


def test_objects_go_with_their_cluster_and_its_load_balancer_stays_and_blocks_the_network(site: Site) -> None:
    kubernetes(site).plugins["gcp"].delete(site.made["cluster"])
    assert not site.clouds.every("kubernetes")
    with pytest.raises(Refusal, match="used by loadBalancer gateway"):
        site.plugins["gcp"].delete(site.made["network"])


# ---------------------------------------------------------------- faults


def test_a_lost_region_refuses_and_its_nodes_degrade(site: Site) -> None:
    made = site.plugins["aws"].create(NODES, "nodes", pool(eks(site)))
    faults.set_fault(site.clouds, "lose-region", {"cloud": "aws", "region": "us-east-1"})
    with pytest.raises(Refusal, match="us-east-1 does not answer"):
        site.plugins["aws"].preview(VPC, "other", {"cidrBlock": "10.1.0.0/16"})
    assert decode(site.plugins["aws"].read(NODES, "nodes", made.id).properties)["status"] == "DEGRADED"


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("lose-zone", {"cloud": "aws", "zone": "use1-az1"}, "zone use1-az1 does not answer"),
        ("stockout", {"cloud": "aws", "machine_type": "p5.48xlarge", "zone": "*"}, "has no p5.48xlarge left"),
        ("revoke-quota", {"cloud": "aws", "region": "us-east-1", "code": "P", "granted": "0"}, "allowed 0 vCPU"),
    ],
)
def test_a_lost_zone_a_stockout_and_a_revoked_quota_refuse_new_nodes(
    site: Site, kind: str, arguments: dict[str, str], message: str
) -> None:
    eks(site)
    fault = faults.set_fault(site.clouds, kind, arguments)
    with pytest.raises(Refusal, match=message):
        site.plugins["aws"].create(NODES, "nodes", pool(site))
    site.clouds.lift_faults(fault.number)
    site.plugins["aws"].create(NODES, "nodes", pool(site))


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("throttle", {"cloud": "aws"}, "RESOURCE_EXHAUSTED.*rate exceeded"),
        ("fail-before", {"type": "*", "name": "vpc"}, "nothing was made"),
    ],
)
def test_a_fault_with_a_number_of_times_is_used_up(
    plugins: Mapping[str, Plugin], kind: str, arguments: dict[str, str], message: str
) -> None:
    faults.set_fault(plugins["aws"].clouds, kind, arguments, times=1)
    with pytest.raises(Refusal, match=message):
        plugins["aws"].create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"})
    assert not plugins["aws"].clouds.every()
    plugins["aws"].create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"})


def test_a_create_that_fails_half_way_tells_the_engine_what_exists(plugins: Mapping[str, Plugin]) -> None:
    plugin = plugins["aws"]
    faults.set_fault(plugin.clouds, "fail-half-way", {"type": VPC, "name": "*"})
    with pytest.raises(Refusal, match="never became ready"):
        plugin.create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"})
    ((_, detail),) = plugin.context.metadata
    failed = provider_pb2.ErrorResourceInitFailed()
    status_pb2.Status.FromString(detail).details[0].Unpack(failed)
    assert failed.id == plugin.clouds.every()[0].id


def test_an_unknown_fault_is_refused(plugins: Mapping[str, Plugin]) -> None:
    with pytest.raises(Exception, match="Did you mean 'stockout'"):
        faults.set_fault(plugins["aws"].clouds, "stock-out", {})
    with pytest.raises(Exception, match="needs other arguments"):
        faults.set_fault(plugins["aws"].clouds, "stockout", {})
