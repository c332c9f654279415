"""What a region's cluster promises."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, cast

import pulumi

from components.base import Place, PlatformComponent, class_of, module_of
from components.identity.contract import Identity
from components.network.contract import Network


@dataclass(frozen=True, kw_only=True)
class ClusterArgs:
    """A cluster; without nodes, but where the cloud has none without."""

    place: Place
    kubernetes: str
    """Kubernetes version."""
    network: Network
    identity: Identity
    """Who its nodes are."""
    system_zone_nodes: int
    """Nodes for its own needs in each zone, where they are born with it."""
    key: pulumi.Input[str]
    """Id of the region's key; it encrypts the cluster's secrets."""
    private: bool
    """The API server answers only inside the network, or only to identities the cloud has checked."""
    allow: tuple[str, ...]
    """Public ranges that may reach it when it is not private."""
    access: Mapping[str, tuple[str, ...]]
    """``admin``, ``operator``, ``viewer`` -> principals, as the cloud spells them."""
    add_ons: Mapping[str, str]
    """Add-on -> pinned version."""
    pod_range: str | None = None
    """Range of pods, where they lie outside the network."""
    service_range: str | None = None
    """Range of services, where that of pods is given."""
    reservations: tuple[str, ...] = ()
    """Ids of the reservations of its nodes, for a cloud whose control plane must be allowed to use them."""
    permissions_boundary: str | None = None


class Cluster(PlatformComponent):
    """A region's cluster."""

    cluster_name: pulumi.Output[str]
    kubeconfig: pulumi.Output[str]
    """Reaches the API server with a token fetched at use; holds no secret."""

    _resource: pulumi.Resource | None
    _group: str
    _ids: Mapping[str, pulumi.Output[str]] = MappingProxyType({})

    @property
    def resource(self) -> pulumi.Resource | None:
        """The cloud's cluster, with which all that is inside it goes; None if it was there before us."""
        return self._resource

    @property
    def group(self) -> str:
        """Account, project or group of the cloud that the cluster is filed under; plain."""
        return self._group

    @property
    def ids(self) -> Mapping[str, pulumi.Output[str]]:
        """Further ids, where they are known: ``issuer`` of its tokens, ``principal`` that its control plane is."""
        return self._ids


@dataclass(frozen=True, kw_only=True)
class ExistingClusterArgs:
    """A cluster that somebody else made, as regions.yaml names it."""

    place: Place
    cluster_id: str
    """The cloud's id: a name, or a path that ends in it."""
    server: str
    """Address of its API server."""
    certificate_authority: str | None
    """Base64; absent where the server's certificate is publicly trusted."""
    issuer: str | None = None
    """Issuer of its service accounts' tokens, where identities of the cloud trust one by its address."""


class ExistingCluster(Cluster):
    """A cluster that is used as it is; nothing is declared."""

    token: ClassVar[str] = "outlast:cluster:ExistingCluster"

    def __init__(self, name: str, args: ExistingClusterArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        physical = args.cluster_id.rsplit("/", 1)[-1]
        module = module_of("cluster", args.place.cloud)
        command = cast("list[str]", module.token_command(args.place, physical))
        self._resource = None
        self._group = cast("str", module.group_of(args.place, args.cluster_id))
        self._ids = {"issuer": pulumi.Output.from_input(args.issuer)} if args.issuer else {}
        self.cluster_name = pulumi.Output.from_input(physical)
        self.kubeconfig = pulumi.Output.from_input(
            kubeconfig(physical, args.server, args.certificate_authority, command)
        )
        self.register()


def kubeconfig(name: str, server: str, ca: str | None, command: list[str]) -> str:
    """Return a kubeconfig, byte-stable, that runs a command of the cloud for a token.

    Args:
        name: name of the cluster.
        server: URL of the API server.
        ca: certificate authority, base64; absent where the server's certificate is publicly trusted.
        command: program and arguments that print an ExecCredential.
    """
    exec_ = {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "command": command[0],
        "args": command[1:],
        "interactiveMode": "Never",
        "provideClusterInfo": True,
    }
    cluster = {"server": server} | ({"certificate-authority-data": ca} if ca else {})
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "clusters": [{"name": name, "cluster": cluster}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "users": [{"name": name, "user": {"exec": exec_}}],
    }
    return json.dumps(document, sort_keys=True)


def declare(name: str, args: ClusterArgs, opts: pulumi.ResourceOptions | None = None) -> Cluster:
    """Declare the cluster on the region's cloud."""
    return class_of(Cluster, args.place.cloud)(name, args, opts)
