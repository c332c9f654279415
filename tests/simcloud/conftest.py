"""Drives the stand-in plugins in this process: a small world, one sim directory a test, the servicer's own methods."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any

import grpc
import pytest
from pulumi.runtime.proto import provider_pb2

from simcloud import faults, shapes
from simcloud.cloud import cloud_of, packages
from simcloud.operations import Operations
from simcloud.provider import Provider
from simcloud.row import Row
from simcloud.state import Clouds
from simcloud.values import decode, encode, plain
from simcloud.world import World

DROP = object()
"""As a value in a change: leave the input out."""

AWS, GCP, AZURE = "111122223333", "outlast-test", "0a1b2c3d-0000-4000-8000-000000000001"
VPC, SUBNET, TEMPLATE = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet", "aws:ec2/launchTemplate:LaunchTemplate"
CLUSTER, NODES, ROLE = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup", "aws:iam/role:Role"
BUCKET, RING, KEY = "aws:s3/bucket:Bucket", "gcp:kms/keyRing:KeyRing", "aws:kms/key:Key"
NETWORK, ADDRESS = "gcp:compute/network:Network", "gcp:compute/address:Address"
SERVICE, NAMESPACE = "kubernetes:core/v1:Service", "kubernetes:core/v1:Namespace"
_SERVICES = ["ec2.amazonaws.com", "eks.amazonaws.com", "pods.eks.amazonaws.com"]
_ASSUME = {"Effect": "Allow", "Principal": {"Service": _SERVICES}, "Action": ["sts:AssumeRole", "sts:TagSession"]}
TRUST = json.dumps({"Version": "2012-10-17", "Statement": [_ASSUME]})
"""Lets every service in that takes a role here."""


def _machine(gpus: int, vcpu: int, codes: str, zones: Mapping[str, list[str]], accelerator: str) -> dict[str, Any]:
    counted = {"on_demand": codes.split(), "reserved": [], "spot": codes.split()}
    return {
        "accelerator": accelerator,
        "profiles": ["1g.10gb", "3g.40gb"],
        "disks": 2 * gpus,
        "gpus": gpus,
        "vcpu": vcpu,
        "quotas": counted,
        "zones": zones,
    }


def _held(cloud: str, region: str, zone: str, machine_type: str, nodes: int) -> dict[str, Any]:
    return {"cloud": cloud, "region": region, "zone": zone, "machine_type": machine_type, "nodes": nodes}


_COREDNS = {"1.35": "v1.10.1-eksbuild.1", "1.36": "v1.11.4-eksbuild.2"}
WORLD_DOCUMENT: dict[str, Any] = {
    "fleet": "test",
    "today": "2026-11-30",
    "kubernetes_versions": {
        "aws": ["1.35", "1.36", "1.38"],
        "gcp": ["1.34", "1.35", "1.36", "1.37", "1.38"],
        "azure": ["1.32", "1.33", "1.34", "1.35", "1.36", "1.37"],
    },
    "add_ons": {"aws": {"aws-ebs-csi-driver": {}, "coredns": _COREDNS, "kube-proxy": {}}},
    "fleet_regions": {"us-east": "us-east-1", "eu-west": "europe-west4"},
    "regions": {
        "aws": ["us-east-1", "eu-north-1"],
        "gcp": ["europe-west4", "europe-north1"],
        "azure": ["swedencentral", "polandcentral", "northcentralus"],
    },
    "zones": {
        "aws/us-east-1": ["use1-az1", "use1-az2", "use1-az3", "use1-az4"],
        "aws/eu-north-1": ["eun1-az1"],
        "gcp/europe-west4": ["europe-west4-a", "europe-west4-b", "europe-west4-c"],
        "azure/swedencentral": ["swedencentral-1", "swedencentral-2", "swedencentral-3"],
        "azure/polandcentral": ["polandcentral-1"],
    },
    "closed_zones": {"aws": ["use1-az3"]},
    "machines": {
        "aws/p5.48xlarge": _machine(8, 192, "P", {"us-east-1": ["use1-az1"]}, "h100-sxm-80")
        | {"interconnect_cards": 2},
        "gcp/a3-highgpu-8g": _machine(
            8, 208, "H100 ALL", {"europe-west4": ["europe-west4-b"], "europe-north1": []}, "h100-sxm-80"
        )
        | {"accelerator_type": "nvidia-h100-80gb"},
        "gcp/a3-highgpu-1g": _machine(1, 26, "H100", {"europe-west4": ["europe-west4-b"]}, "h100-sxm-80")
        | {"accelerator_type": "nvidia-h100-80gb"},
        "azure/Standard_ND96isr_H100_v5": _machine(8, 96, "NDH100", {"swedencentral": []}, "h100-sxm-80"),
        "azure/Standard_ND96isr_MI300X_v5": _machine(
            8, 96, "NDMI300X", {"swedencentral": ["swedencentral-2"]}, "mi300x-192"
        )
        | {"profiles": []},
    },
    "quotas": {
        "aws/P": {"code": "P", "name": "P instances", "unit": "vcpu", "raise_with": "Service Quotas"},
        "gcp/H100": {"code": "H100", "name": "H100 GPUs", "unit": "gpus", "raise_with": "Cloud Quotas"},
        "gcp/ALL": {"code": "ALL", "name": "GPUs", "unit": "gpus", "raise_with": "Cloud Quotas", "account_wide": True},
        "azure/NDH100": {"code": "NDH100", "name": "NDSH100v5 vCPUs", "unit": "vcpu", "raise_with": "the portal"},
        "azure/NDMI300X": {"code": "NDMI300X", "name": "MI300X vCPUs", "unit": "vcpu", "raise_with": "the portal"},
    },
    "accounts": {"aws": [AWS], "gcp": [GCP], "azure": [AZURE]},
    "account_numbers": {f"gcp/{GCP}": "222233334444"},
    "granted": {
        f"aws/{AWS}/us-east-1/P": 768,
        f"gcp/{GCP}/europe-west4/H100": 32,
        f"gcp/{GCP}/europe-north1/H100": 32,
        f"gcp/{GCP}//ALL": 48,
        f"azure/{AZURE}/swedencentral/NDH100": 384,
        f"azure/{AZURE}/swedencentral/NDMI300X": 192,
    },
    "reservations": {
        "cr-1": _held("aws", "us-east-1", "use1-az1", "p5.48xlarge", 2),
        "cr-2": _held("aws", "us-east-1", "use1-az2", "p5.48xlarge", 2),
        "cr-ended": _held("aws", "us-east-1", "use1-az1", "p5.48xlarge", 2) | {"ends": "2026-11-29"},
        "cr-block": _held("aws", "us-east-1", "use1-az1", "p5.48xlarge", 2) | {"block": True},
        "cr-later": _held("aws", "us-east-1", "use1-az1", "p5.48xlarge", 2) | {"block": True, "starts": "2026-12-01"},
        "held": _held("gcp", "europe-west4", "europe-west4-b", "a3-highgpu-8g", 2),
        "held-c": _held("gcp", "europe-west4", "europe-west4-c", "a3-highgpu-8g", 2),
        "group-1": _held("azure", "swedencentral", "swedencentral-1", "Standard_ND96isr_H100_v5", 2),
        "group-2": _held("azure", "swedencentral", "swedencentral-2", "Standard_ND96isr_H100_v5", 2),
    },
}

CONFIG = {
    "aws": {"region": "us-east-1", "allowedAccountIds": json.dumps([AWS])},
    "gcp": {"region": "europe-west4", "project": GCP},
    "azure-native": {"location": "swedencentral", "subscriptionId": AZURE},
}


def _step(value: Any, step: str) -> Any:
    return value[int(step)] if isinstance(value, list) else value[step]


class Refusal(Exception):
    """What the plugin told the engine instead of an answer."""


class Context:
    """Stands in for the call's gRPC context."""

    def __init__(self) -> None:
        self.metadata: tuple[Any, ...] = ()

    def abort(self, code: grpc.StatusCode, message: str) -> None:
        raise Refusal(f"{code.name}: {message}")

    def set_trailing_metadata(self, metadata: tuple[Any, ...]) -> None:
        self.metadata = metadata


@dataclass(frozen=True)
class Made:
    """A resource as the engine would keep it."""

    type: str
    name: str
    id: str
    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]


@dataclass
class Plugin:
    """One configured plugin, asked as the engine asks."""

    package: str
    sim: Path
    provider: Provider
    context: Context = field(default_factory=Context)

    @property
    def operations(self) -> Operations:
        return self.provider._operations

    @property
    def clouds(self) -> Clouds:
        return self.operations.clouds

    def configure(self, **config: str) -> None:
        urn = f"urn:pulumi:s::p::pulumi:providers:{self.package}::{self.package}"
        self.provider.Configure(provider_pb2.ConfigureRequest(urn=urn, args=encode(config)), self.context)

    def check(self, kind: str, name: str, news: Mapping[str, Any], olds: Mapping[str, Any] | None = None) -> Any:
        request = provider_pb2.CheckRequest(urn=urn_of(kind, name), olds=encode(olds or {}), news=encode(news))
        return self.provider.Check(request, self.context)

    def checked(
        self, kind: str, name: str, news: Mapping[str, Any], olds: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        answer = self.check(kind, name, news, olds)
        if answer.failures:
            raise Refusal("\n".join(f"{failure.property}: {failure.reason}" for failure in answer.failures))
        return decode(answer.inputs)

    def preview(self, kind: str, name: str, news: Mapping[str, Any]) -> dict[str, Any]:
        properties = encode(self.checked(kind, name, news))
        request = provider_pb2.CreateRequest(urn=urn_of(kind, name), properties=properties, preview=True)
        return decode(self.provider.Create(request, self.context).properties)

    def create(self, kind: str, name: str, news: Mapping[str, Any]) -> Made:
        inputs = self.checked(kind, name, news)
        request = provider_pb2.CreateRequest(urn=urn_of(kind, name), properties=encode(inputs))
        answer = self.provider.Create(request, self.context)
        return Made(kind, name, answer.id, inputs, decode(answer.properties))

    def diff(self, made: Made, news: Mapping[str, Any]) -> Any:
        inputs = self.checked(made.type, made.name, news, made.inputs)
        request = provider_pb2.DiffRequest(
            id=made.id,
            urn=urn_of(made.type, made.name),
            olds=encode(made.outputs),
            old_inputs=encode(made.inputs),
            news=encode(inputs),
        )
        return self.provider.Diff(request, self.context)

    def update(self, made: Made, news: Mapping[str, Any], *, preview: bool = False) -> Made:
        inputs = self.checked(made.type, made.name, news, made.inputs)
        request = provider_pb2.UpdateRequest(
            id=made.id,
            urn=urn_of(made.type, made.name),
            olds=encode(made.outputs),
            old_inputs=encode(made.inputs),
            news=encode(inputs),
            preview=preview,
        )
        answer = self.provider.Update(request, self.context)
        return Made(made.type, made.name, made.id, inputs, decode(answer.properties))

    def delete(self, made: Made) -> None:
        request = provider_pb2.DeleteRequest(
            id=made.id,
            urn=urn_of(made.type, made.name),
            properties=encode(made.outputs),
            old_inputs=encode(made.inputs),
        )
        self.provider.Delete(request, self.context)

    def read(self, kind: str, name: str, identity: str, state: Mapping[str, Any] | None = None) -> Any:
        request = provider_pb2.ReadRequest(id=identity, urn=urn_of(kind, name), properties=encode(state or {}))
        return self.provider.Read(request, self.context)


def urn_of(kind: str, name: str) -> str:
    """URN of a resource of the test stack."""
    return f"urn:pulumi:s::p::{kind}::{name}"


def changed(inputs: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Copy inputs with values at dotted paths set, or dropped."""
    result = copy.deepcopy(dict(inputs))
    for path, value in change.items():
        *parents, last = path.split(".")
        target: Any = result
        for step in parents:
            target = target[int(step)] if isinstance(target, list) else target.setdefault(step, {})
        if value is DROP:
            target.pop(last, None)
        elif isinstance(target, list):
            target[int(last)] = value
        else:
            target[last] = value
    return result


@dataclass
class Site:
    """A cloud under construction: resources are made in the order of a plan, with `@name.output` for references."""

    plugins: Mapping[str, Plugin]
    made: dict[str, Made] = field(default_factory=dict)

    def plugin(self, kind: str) -> Plugin:
        return self.plugins[kind.split(":")[0]]

    @property
    def clouds(self) -> Clouds:
        return next(iter(self.plugins.values())).clouds

    def filled(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {key: self.filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self.filled(item) for item in value]
        match = re.fullmatch(r"@(\w+)\.([\w.]+)", value) if isinstance(value, str) else None
        if match is None:
            return value
        found = self.made[match[1]]
        return found.id if match[2] == "id" else reduce(_step, match[2].split("."), found.outputs)

    def make(self, name: str, kind: str, inputs: Mapping[str, Any]) -> Made:
        self.made[name] = self.plugin(kind).create(kind, name, self.filled(inputs))
        return self.made[name]

    def build(self, plan: Mapping[str, tuple[str, dict[str, Any]]], until: str = "") -> None:
        """Make everything of a plan that comes before one name, or all."""
        for name, (kind, inputs) in plan.items():
            if name == until:
                return
            if name not in self.made:
                self.make(name, kind, inputs)


@pytest.fixture(scope="session")
def all_shapes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, shapes.Shapes]:
    """Shapes of every package, read from the SDKs once."""
    found = {}
    for package in packages():
        path = tmp_path_factory.mktemp("shapes") / "shapes.json"
        path.write_text(json.dumps(shapes.generate(package, [row.type for row in rows_of(package)])))
        found[package] = shapes.load(path)
    return found


def open_site(sim: Path, all_shapes: Mapping[str, shapes.Shapes]) -> Site:
    """Open every package's plugin on a sim directory; those of the clouds are configured."""
    (sim / "state").mkdir()
    environment = {"OUTLAST_SIM": str(sim), "PULUMI_BACKEND_URL": f"file://{sim}/state"}
    plugins = {}
    for package in packages():
        clouds = Clouds(sim / "clouds.sqlite")
        operations = Operations(cloud_of(package), all_shapes[package], World(document=WORLD_DOCUMENT), clouds)
        plugins[package] = Plugin(package, sim, Provider(operations, environment))
        if package in CONFIG:
            plugins[package].configure(**CONFIG[package])
    return Site(plugins)


def close_site(site: Site) -> None:
    """Close the state files."""
    for plugin in site.plugins.values():
        plugin.clouds.close()


@pytest.fixture
def site(tmp_path: Path, all_shapes: Mapping[str, shapes.Shapes]) -> Iterator[Site]:
    """An empty simulated cloud with every plugin at hand."""
    opened = open_site(tmp_path, all_shapes)
    yield opened
    close_site(opened)


@pytest.fixture
def plugins(site: Site) -> Mapping[str, Plugin]:
    """The plugins of an empty simulated cloud."""
    return site.plugins


def set_fault(clouds: Clouds, kind: str, arguments: Mapping[str, Any], times: int | None = None) -> faults.Fault:
    """Put a fault into force in the small world."""
    return faults.set_fault(clouds, World(document=WORLD_DOCUMENT), kind, arguments, times)


def rows_of(package: str) -> list[Row]:
    """Rows of a package's table."""
    return list(cloud_of(package).rows.values())


def inputs_of(made: Made) -> dict[str, Any]:
    """A resource's inputs without the marks of the bridge."""
    return dict(plain(dict(made.inputs)))


def eks(site: Site) -> Site:
    """A cluster in us-east-1 that waits for nodes."""
    site.make("vpc", VPC, {"cidrBlock": "10.0.0.0/16"})
    for number in (1, 2):
        zone = {"availabilityZoneId": f"use1-az{number}", "cidrBlock": f"10.0.{number}.0/24"}
        site.make(f"subnet{number}", SUBNET, {"vpcId": "@vpc.id", **zone})
    site.make("role", ROLE, {"assumeRolePolicy": TRUST})
    subnets = {"subnetIds": ["@subnet1.id", "@subnet2.id"]}
    site.make("cluster", CLUSTER, {"name": "demo", "roleArn": "@role.arn", "vpcConfig": subnets})
    return site


def pool(site: Site, **change: Any) -> dict[str, Any]:
    """Inputs of a node group of two H100 machines."""
    size = {"minSize": 2, "desiredSize": 2, "maxSize": 2}
    group = {"clusterName": "demo", "nodeRoleArn": "@role.arn", "subnetIds": ["@subnet1.id"]}
    inputs = group | {"instanceTypes": ["p5.48xlarge"], "scalingConfig": size}
    return dict(site.filled(changed(inputs, change)))


def gke(**change: Any) -> dict[str, Any]:
    """Inputs of a cluster in europe-west4."""
    return {
        "name": "eu-west",
        "location": "europe-west4",
        "network": "@network.id",
        "initialNodeCount": 1,
        "deletionProtection": False,
        **change,
    }
