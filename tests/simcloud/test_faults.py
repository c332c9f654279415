"""Faults on demand, and clusters with what lives in them."""

import json
import shlex
from collections.abc import Mapping

import pytest
from pulumi.runtime.proto import provider_pb2, status_pb2

from outlast.errors import EnvironmentProblem
from simcloud import faults, judge
from simcloud.values import decode
from tests.simcloud.conftest import (
    NAMESPACE,
    NETWORK,
    NODES,
    SERVICE,
    VPC,
    Made,
    Plugin,
    Refusal,
    Site,
    eks,
    gke,
    pool,
    set_fault,
)


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


def test_a_lost_region_answers_nothing(site: Site) -> None:
    aws = site.plugins["aws"]
    made = aws.create(NODES, "nodes", pool(eks(site)))
    set_fault(site.clouds, "lose-region", {"cloud": "aws", "region": "us-east-1"})
    for ask in (
        lambda: aws.preview(VPC, "other", {"cidrBlock": "10.1.0.0/16"}),
        lambda: aws.read(NODES, "nodes", made.id),
        lambda: aws.delete(made),
    ):
        with pytest.raises(Refusal, match="us-east-1 does not answer"):
            ask()


def test_objects_in_a_cluster_of_a_lost_region_do_not_answer(site: Site) -> None:
    plugin = kubernetes(site).plugins["kubernetes"]
    set_fault(site.clouds, "lose-region", {"cloud": "gcp", "region": "europe-west4"})
    with pytest.raises(Refusal, match="europe-west4 does not answer"):
        plugin.read(NAMESPACE, "namespace", "serving")
    with pytest.raises(Refusal, match="europe-west4 does not answer"):
        plugin.create(NAMESPACE, "another", {"metadata": {"name": "another"}})


def test_nodes_in_a_lost_zone_degrade(site: Site) -> None:
    made = site.plugins["aws"].create(NODES, "nodes", pool(eks(site)))
    set_fault(site.clouds, "lose-zone", {"cloud": "aws", "zone": "use1-az1"})
    assert decode(site.plugins["aws"].read(NODES, "nodes", made.id).properties)["status"] == "DEGRADED"


def test_a_stockout_refuses_added_nodes_and_leaves_those_that_run(site: Site) -> None:
    aws = site.plugins["aws"]
    made = aws.create(NODES, "nodes", pool(eks(site)))
    set_fault(site.clouds, "stockout", {"cloud": "aws", "machine_type": "p5.48xlarge", "zone": "use1-az1"})
    more = pool(site, scalingConfig={"minSize": 3, "desiredSize": 3, "maxSize": 3})
    with pytest.raises(Refusal, match=r"has no p5\.48xlarge left in use1-az1"):
        aws.update(made, more)
    labelled = aws.update(made, pool(site, labels={"team": "serving"}))
    aws.update(labelled, pool(site, scalingConfig={"minSize": 1, "desiredSize": 1, "maxSize": 1}))


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
    fault = set_fault(site.clouds, kind, arguments)
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
    set_fault(plugins["aws"].clouds, kind, arguments, times=1)
    with pytest.raises(Refusal, match=message):
        plugins["aws"].create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"})
    assert not plugins["aws"].clouds.every()
    plugins["aws"].create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"})


def test_a_create_that_fails_half_way_tells_the_engine_what_exists(plugins: Mapping[str, Plugin]) -> None:
    plugin = plugins["aws"]
    set_fault(plugin.clouds, "fail-half-way", {"type": VPC, "name": "*"})
    with pytest.raises(Refusal, match="never became ready"):
        plugin.create(VPC, "vpc", {"cidrBlock": "10.0.0.0/16"})
    ((_, detail),) = plugin.context.metadata
    failed = provider_pb2.ErrorResourceInitFailed()
    status_pb2.Status.FromString(detail).details[0].Unpack(failed)
    assert failed.id == plugin.clouds.every()[0].id


STOCKOUT = {"cloud": "aws", "machine_type": "p5.48xlarge", "zone": "use1-az1"}
QUOTA = {"cloud": "aws", "region": "us-east-1", "code": "P", "granted": "0"}


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("stock-out", {}, "Did you mean 'stockout'"),
        ("stockout", {"cloud": "aws"}, "needs cloud, machine_type, zone .got cloud"),
        (
            "stockout",
            STOCKOUT | {"cloud": "awz"},
            "unknown cloud .got 'awz'; allowed aws, azure, gcp.*Did you mean 'aws'",
        ),
        ("stockout", STOCKOUT | {"machine_type": "p5.48xl"}, "unknown machine type.*Did you mean 'p5.48xlarge'"),
        ("stockout", STOCKOUT | {"zone": "us-east-1a"}, "unknown zone.*allowed eun1-az1, use1-az1, use1-az2"),
        ("lose-region", {"cloud": "aws", "region": "us-east"}, "unknown region.*The cloud calls it 'us-east-1'"),
        ("lose-region", {"cloud": "gcp", "region": "us-east"}, "allowed europe-north1, europe-west4"),
        ("revoke-quota", QUOTA | {"code": "Q"}, "unknown code.*allowed P"),
        ("revoke-quota", QUOTA | {"granted": "none"}, "granted is not an amount .got 'none'"),
        ("revoke-quota", QUOTA | {"granted": "nan"}, "granted is not an amount"),
        ("kill", {"type": "aws:ec2:Vpc", "name": "*"}, "Did you mean 'aws:ec2/vpc:Vpc'"),
    ],
)
def test_a_fault_that_could_never_strike_is_refused(
    plugins: Mapping[str, Plugin], kind: str, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(EnvironmentProblem, match=message):
        set_fault(plugins["aws"].clouds, kind, arguments)
    assert faults.in_force(plugins["aws"].clouds) == []


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("stockout", {"cloud": "*", "machine_type": "*", "zone": "*"}),
        ("lose-zone", {"cloud": "gcp", "zone": "europe-west4-b"}),
        ("kill", {"type": SERVICE, "name": "gateway"}),
        ("fail-before", {"type": "kubernetes:gateway.networking.k8s.io/v1:Gateway", "name": "*"}),
        ("revoke-quota", QUOTA | {"granted": 1.5}),
    ],
)
def test_a_fault_that_can_strike_is_set(plugins: Mapping[str, Plugin], kind: str, arguments: dict[str, str]) -> None:
    assert set_fault(plugins["aws"].clouds, kind, arguments).kind == kind


@pytest.mark.parametrize("times", [0, -1])
def test_a_fault_strikes_at_least_once(plugins: Mapping[str, Plugin], times: int) -> None:
    with pytest.raises(EnvironmentProblem, match="strikes at least once"):
        set_fault(plugins["aws"].clouds, "throttle", {"cloud": "aws"}, times)


def test_a_lasting_fault_takes_no_number_of_times(plugins: Mapping[str, Plugin]) -> None:
    with pytest.raises(EnvironmentProblem, match="lasts until it is lifted"):
        set_fault(plugins["aws"].clouds, "stockout", STOCKOUT, 2)


def test_a_taken_name_comes_with_the_command_that_adopts_it(site: Site) -> None:
    site.make("network", NETWORK, {"name": "net"})
    with pytest.raises(Refusal) as refused:
        site.plugins["gcp"].create(NETWORK, "other", {"name": "net"})
    command = next(line for line in str(refused.value).splitlines() if "pulumi import" in line)
    provider = "provider=urn:pulumi:s::p::pulumi:providers:gcp::gcp"
    assert shlex.split(command)[2:9] == [
        NETWORK,
        "other",
        site.made["network"].id,
        "--stack",
        "s",
        "--provider",
        provider,
    ]


def test_the_command_for_a_part_of_a_component_says_what_to_fill_in(site: Site) -> None:
    site.make("network", NETWORK, {"name": "net"})
    (owner,) = site.clouds.every(kind=NETWORK)
    urn = f"urn:pulumi:demo.eu::outlast::outlast:network:Network${NETWORK}::eu-network"
    before, command, after = judge.adoption(owner, judge.Named(urn=urn, provider="urn:p")).split("\n")
    assert before == "with"
    assert "parent=urn:pulumi:demo.eu::outlast::outlast:network:Network::PARENT" in shlex.split(command)
    assert "PARENT is the name of its outlast:network:Network" in after
