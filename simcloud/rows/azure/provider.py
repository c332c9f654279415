"""Azure as the stand-in plugin of package `azure-native` knows it: subscriptions, locations, locks, and the rows.

Ids are global. The provider is not bridged: it fills in a location (its own, else the group's) and a name, refuses to
create what exists, and deletes before it makes a successor. Source: pulumi-azure-native, `provider/pkg/provider`.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from outlast.errors import did_you_mean, listed
from simcloud.cloud import Cloud, Session
from simcloud.refusals import Refused, Violation
from simcloud.row import Case, Place, Row, fill, refusal, words_of
from simcloud.rows.azure import cluster, data, existing, identity, logs, network, nodes, outbound, pools, private
from simcloud.rows.azure.arm import GROUP, above, exists, holder
from simcloud.state import Clouds, Link, Stored
from simcloud.values import UNKNOWN, at, has_unknown
from simcloud.world import World

BALANCER = "simcloud:loadBalancer"
"""What a Service of type LoadBalancer makes; it lies in the cluster's node resource group and goes with it."""

_LOCATIONS = "Azure documentation, List of Azure regions; LocationNotAvailableForResourceType"
_LOCKS = "Azure Resource Manager documentation, Lock your resources to protect your infrastructure"
_CONNECTED = "privateLinkServiceConnections.*.privateLinkServiceId"
"""What a private endpoint holds a connection in: it goes with the endpoint, so a lock there keeps the endpoint too.

Source: hashicorp/terraform-provider-azurerm issue 17478, ScopeLocked.
"""
_MISSING = "Azure Resource Manager documentation, Troubleshoot common deployment errors: ResourceGroupNotFound"


@dataclass(frozen=True, kw_only=True)
class Subscription(Session):
    """A configured provider, with the clouds it looks locations up in."""

    clouds: Clouds


def configure(config: Mapping[str, Any], world: World, clouds: Clouds) -> Session:
    """Find the subscription; the simulated credentials reach those of the fleet's regions."""
    region, ambient = _plain(config.get("location")), clouds.setting("account/azure")
    reached = [ambient] if ambient else list(world.accounts("azure"))
    subscription = str(config.get("subscriptionId") or (reached[0] if len(reached) == 1 else ""))
    if region and region not in world.regions("azure"):
        raise Refused(_location("location", region, world))
    if subscription not in reached:
        raise Refused(
            Violation(
                property="subscriptionId",
                what="the credentials do not reach the subscription",
                got=f"'{subscription}'",
                allowed=listed(reached),
                do="Use the credentials of the region's subscription, or correct regions.yaml",
                source="Azure Resource Manager documentation, SubscriptionNotFound",
            )
        )
    return Subscription(account=subscription, region=region, config=config, clouds=clouds)


def _plain(location: object) -> str:
    """`West Europe` and `westeurope` are one location."""
    return str(location or "").replace(" ", "").lower()


def _location(where: str, location: str, world: World) -> Violation:
    known = world.regions("azure")
    return Violation(
        property=where,
        what="is not an Azure location",
        got=f"'{location}'",
        allowed=listed(known),
        do=did_you_mean(location, known) or "Use one of them",
        source=_LOCATIONS,
    )


def place(row: Row, inputs: Mapping[str, Any], session: Session) -> Place:
    """Read the location; of a child, where the resource lies that it is part of."""
    if row.place == "":
        return Place(cloud="azure", account=session.account, region="")
    where = inputs.get("location")
    if isinstance(where, str) and not has_unknown(where):
        return Place(cloud="azure", account=session.account, region=_plain(where))
    here = Place(cloud="azure", account=session.account, region=session.region)
    found = _around(_id(row, inputs, here), session)
    return Place(cloud="azure", account=session.account, region=found.region) if found else here


def _id(row: Row, inputs: Mapping[str, Any], where: Place) -> str:
    return (fill(row.id, words_of(inputs, where)) or "") if isinstance(row.id, str) else ""


def _around(identity: str, session: Session) -> Stored | None:
    """The nearest resource above an id that has a location."""
    found = None
    while isinstance(session, Subscription) and (identity := above(identity)):
        found = holder(session.clouds, identity)
        if found is not None and found.region:
            return found
    return found


def filled(row: Row, inputs: Mapping[str, Any], old: Mapping[str, Any], session: Session) -> Mapping[str, Any]:
    """Fill in a location: the one before, the provider's, or the group's."""
    if row.place is not None and not row.type.startswith("azure-native:privatedns:"):
        return {}
    group = _around(_id(row, {**inputs, "location": ""}, Place(cloud="", account=session.account, region="")), session)
    where = old.get("location") or session.config.get("location") or (group.region if group else "")
    return {"location": where} if where else {}


@refusal(_LOCATIONS)
def _location_unknown(case: Case) -> Iterator[Violation]:
    where = case.get("location")
    is_global = CLOUD.rows[case.type].place == ""
    if where is not None and not is_global and _plain(where) not in case.world.regions("azure"):
        yield _location("location", str(where), case.world)


@refusal(_MISSING, phase="apply")
def _lives_in_nothing(case: Case) -> Iterator[Violation]:
    parent = above(_id(CLOUD.rows[case.type], case.inputs, case.place))
    held = any(key.startswith(parent) for key in case.world.reservations)
    held = held or pools.reserved(case.world, parent) is not None
    if parent and not held and not exists(case.clouds, parent, case.place.account):
        yield Violation(what=f"there is no '{parent}'", do="Create it first, or correct the name")


def inside(case: Case, clouds: Clouds) -> tuple[Link, ...]:
    """Tie a resource to what it lives in: it goes when that goes, a group included."""
    parent = holder(clouds, above(_id(CLOUD.rows[case.type], case.inputs, case.place)))
    return (Link(property="", target=parent, holds=False, cascades=True),) if parent else ()


def removing(stored: Stored, clouds: Clouds) -> None:
    """Refuse a deletion that a lock forbids; remove what a cluster made in its node resource group."""
    reached = [str(value) for _, value in at(stored.inputs, _CONNECTED)] if stored.type == private.ENDPOINT else []
    for lock in clouds.every("azure", identity.LOCK, stored.account):
        scope = str(lock.inputs.get("scope", "")).rstrip("/")
        inside = any(f"{item}/".startswith(f"{scope}/") for item in (stored.id, *reached))
        if lock.serial != stored.serial and (inside or scope.startswith(f"{stored.id}/")):
            raise Refused(
                Violation(what=f"lock '{lock.name}' on {scope} forbids it", do="Remove the lock first", source=_LOCKS)
            )
    for item in [stored, *(clouds.users(stored) if stored.type == GROUP else ())]:
        _soften(item, clouds)
    doomed = (
        [stored] if stored.type != GROUP else [item for item in clouds.users(stored) if item.type == cluster.CLUSTER]
    )
    for item in doomed if stored.type in (GROUP, cluster.CLUSTER) else ():
        born_here = {user.hash for user in clouds.users(item)}
        for balancer in clouds.every(kind=BALANCER):
            if balancer.hash in born_here:
                clouds.remove(balancer)


def _soften(item: Stored, clouds: Clouds) -> None:
    """Keep the name of a vault or key that goes, since it can be recovered for a while; what is inside goes with it."""
    if item.type not in (private.VAULT, data.KEY):
        return
    for user in clouds.users(item):
        if user.type == data.KEY:
            _soften(user, clouds)
        elif above(user.id) == item.id:
            clouds.remove(user)
    clouds.keep(item)


def invoke(function: str, given: Mapping[str, Any], session: Session, clouds: Clouds) -> Mapping[str, Any] | None:
    """Answer the one function that a simulated cluster has: its kubeconfig, without anything secret."""
    if function != "azure-native:containerservice:listManagedClusterUserCredentials":
        return None
    words = {"account": session.account, **{key: str(value) for key, value in given.items()}}
    wanted = fill(str(CLOUD.rows[cluster.CLUSTER].id), words)
    found = clouds.get("azure", cluster.CLUSTER, wanted or "", session.account)
    if found is None or found.kept:
        raise Refused(
            Violation(
                what=f"there is no cluster '{wanted or given}' in subscription {session.account}",
                do="Create it first, or correct its name and group",
                source="AKS REST API, Managed Clusters - List Cluster User Credentials",
            )
        )
    document = base64.b64encode(cluster.kubeconfig(found).encode()).decode()
    return {"kubeconfigs": [{"name": "clusterUser", "value": document}]}


def echo(_row: Row, _where: Place, _inputs: Mapping[str, Any], _session: Session) -> Mapping[str, Any]:
    """The provider knows nothing that is not among the inputs."""
    return {}


def shown(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return inputs as the API repeats them: the identities of a resource are given as a list and come as a table.

    Source: azure-native SDK, ``user_assigned_identities`` of arguments and of responses.
    """
    return {key: _table(value) if key == "userAssignedIdentities" else _shown(value) for key, value in inputs.items()}


def _shown(value: Any) -> Any:
    if isinstance(value, Mapping):
        return shown(value)
    return [_shown(item) for item in value] if isinstance(value, list) else value


def _table(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return UNKNOWN if has_unknown(value) else {item: {} for item in value}


CLOUD = Cloud(
    package="azure-native",
    name="azure",
    rows={
        row.type: row
        for module in (identity, outbound, network, private, data, cluster, nodes, logs)
        for row in module.ROWS
    },
    configure=configure,
    place=place,
    echo=echo,
    filled=filled,
    fixed=frozenset({"resourceGroupName", "location"}),
    bridged=False,
    autonamed={"__createBeforeDelete": True},
    replaces_in_place=True,
    degraded={"provisioningState": "Failed"},
    global_ids=True,
    refusals=(_location_unknown, _lives_in_nothing),
    inside=inside,
    existing=existing.seeds,
    removing=removing,
    invoke=invoke,
    shown=shown,
)
