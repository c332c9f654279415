"""Kubernetes as the stand-in plugin of package `kubernetes` knows it: which cluster, what lives in it, what it makes.

The API server is whatever simulated cluster answers at the kubeconfig's URL. Objects die with their namespace and with
their cluster; the load balancer that a Service made in the cloud does not, and then blocks its network.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from simcloud.cloud import Cloud, Session
from simcloud.refusals import Refused, Violation
from simcloud.row import Case, Place, Row
from simcloud.rows.kubernetes import custom, metadata, objects, pods, security
from simcloud.state import Clouds, Link, Links, Stored
from simcloud.values import AUTONAMED
from simcloud.world import World

LOAD_BALANCER = "simcloud:loadBalancer"
"""What a Service of type LoadBalancer makes in the cluster's cloud; no program declares it."""

_UNREACHABLE = "pulumi-kubernetes, Provider argument deleteUnreachable"


def configure(config: Mapping[str, Any], _world: World, clouds: Clouds) -> Session:
    """Find the simulated cluster behind the kubeconfig; an unreachable one is reported when it is used."""
    server = _server(config)
    found = clouds.find(server) if server else []
    return Session(account=cluster_key(found[0]) if found else "", region=server, config=config)


def _server(config: Mapping[str, Any]) -> str:
    text = config.get("kubeconfig")
    if not isinstance(text, str):
        return ""
    try:
        document = json.loads(text)
    except ValueError:
        import yaml

        document = yaml.safe_load(text)
    try:
        wanted = config.get("context") or document.get("current-context")
        contexts = {item["name"]: item["context"]["cluster"] for item in document["contexts"]}
        clusters = {item["name"]: item["cluster"]["server"] for item in document["clusters"]}
        return str(clusters[contexts[wanted]])
    except (AttributeError, KeyError, TypeError) as problem:
        raise Refused(
            Violation(
                property="kubeconfig",
                what="is not a kubeconfig with a current context",
                got=f"no {problem}",
                do="Give clusters, contexts, users and current-context",
                source="Kubernetes documentation, kubeconfig",
            )
        ) from None


def cluster_key(cluster: Stored) -> str:
    """Name a cluster among all clouds."""
    return f"{cluster.cloud}/{cluster.account}/{cluster.region}/{cluster.id}"


def _cluster(case: Case, clouds: Clouds) -> Stored | None:
    """The cluster an object lives in, looked up again: it may be gone since the provider was configured."""
    return next((item for item in clouds.every() if cluster_key(item) == case.place.account), None)


def place(_row: Row, _inputs: Mapping[str, Any], session: Session) -> Place:
    """Every object lies in the provider's cluster."""
    return Place(cloud="kubernetes", account=session.account or f"unreachable {session.region}", region="")


def host(where: Place) -> Place:
    """Where the cluster lies."""
    cloud, account, region, *_ = [*where.account.split("/"), "", "", ""]
    return Place(cloud=cloud, account=account, region=region)


def echo(row: Row, _where: Place, inputs: Mapping[str, Any], session: Session) -> Mapping[str, Any]:
    """The namespace is known before the API server is asked."""
    if row.place == "cluster":
        return {}
    return {"metadata": {"namespace": namespace_of(inputs, session)}}


def namespace_of(inputs: Mapping[str, Any], session: Session | None = None) -> str:
    """Namespace of an object: its own, the provider's, or `default`."""
    own = (inputs.get("metadata") or {}).get("namespace")
    return str(own or (session.config.get("namespace") if session else "") or "default")


def inside(case: Case, clouds: Clouds) -> tuple[Link, ...]:
    """Tie an object to its cluster and its namespace: it goes when they go."""
    cluster = _cluster(case, clouds)
    if cluster is None:
        raise Refused(
            Violation(
                what="the cluster does not answer",
                got=case.place.account,
                do="Create the cluster first, or correct the kubeconfig",
                source=_UNREACHABLE,
            )
        )
    links = [Link(property="", target=cluster, holds=False, cascades=True)]
    if case.type != objects.NAMESPACE and case.has("metadata.namespace"):
        found = clouds.find(str(case.get("metadata.namespace")), [objects.NAMESPACE])
        links += [
            Link(property="metadata.namespace", target=item, holds=False, cascades=True)
            for item in found
            if item.account == case.place.account
        ]
    return tuple(links)


def also_fixed(row: Row, session: Session) -> frozenset[str]:
    """ConfigMaps are replaced unless the provider says otherwise. Source: pulumi-kubernetes, enableConfigMapMutable."""
    if row.type == objects.CONFIG_MAP and session.config.get("enableConfigMapMutable") is not True:
        return frozenset({"data", "binaryData"})
    return frozenset()


def settled(stored: Stored, _outputs: Mapping[str, Any], clouds: Clouds) -> None:
    """Make, or remove, the load balancer of a Service in the cloud of its cluster."""
    if stored.type != objects.SERVICE:
        return
    balancer = _balancer(stored, clouds)
    wanted = (stored.inputs.get("spec") or {}).get("type") == "LoadBalancer"
    cluster = next((item for item in clouds.every() if cluster_key(item) == stored.account), None)
    if balancer is not None and not wanted:
        clouds.remove(balancer)
    elif balancer is None and wanted and cluster is not None:
        new = Stored(
            cloud=cluster.cloud,
            account=cluster.account,
            region=cluster.region,
            type=LOAD_BALANCER,
            id=f"lb-{stored.hash[:16]}",
            urn=stored.urn,
            name=stored.name,
            checked={},
            outputs={},
            hash=stored.hash,
        )
        network = [Link(property="", target=item, holds=True, cascades=False) for item in clouds.held_by(cluster)]
        clouds.add(new, Links(references=tuple(network)))


def removing(stored: Stored, clouds: Clouds) -> None:
    """Remove the load balancers of a Service, or of all Services of a namespace, as the cloud's controller does."""
    gone = [stored] if stored.type == objects.SERVICE else []
    if stored.type == objects.NAMESPACE:
        gone = [user for user in clouds.users(stored) if user.type == objects.SERVICE]
    for service in gone:
        balancer = _balancer(service, clouds)
        if balancer is not None:
            clouds.remove(balancer)


def _balancer(service: Stored, clouds: Clouds) -> Stored | None:
    found = clouds.every(kind=LOAD_BALANCER)
    return next((item for item in found if item.hash == service.hash), None)


CLOUD = Cloud(
    package="kubernetes",
    name="kubernetes",
    rows={row.type: row for row in (*objects.ROWS, *custom.ROWS)},
    configure=configure,
    place=place,
    echo=echo,
    host=host,
    provider_fixed=frozenset({"clusterIdentifier"}),
    bridged=False,
    autonamed={"metadata": {"annotations": {AUTONAMED: "true"}}},
    global_ids=True,
    any_row=custom.row_of,
    refusals=(
        metadata.kind_of_another,
        metadata.label_malformed,
        metadata.annotation_malformed,
        *pods.REFUSALS,
        security.pod_security,
    ),
    inside=inside,
    also_fixed=also_fixed,
    settled=settled,
    removing=removing,
)
