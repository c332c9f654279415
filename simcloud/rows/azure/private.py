"""Azure private access and its watch: private endpoints, private zones, flow logs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simcloud.refusals import Violation
from simcloud.row import Case, Reference, Row, between, one_of, refusal
from simcloud.rows.azure.arm import arm_id, arm_name, copied, holder, said
from simcloud.rows.azure.network import SUBNET, VNET
from simcloud.rows.azure.outbound import network_name

ENDPOINT = "azure-native:network:PrivateEndpoint"
ZONE = "azure-native:privatedns:PrivateZone"
LINK = "azure-native:privatedns:VirtualNetworkLink"
REGISTRY = "azure-native:containerregistry:Registry"
VAULT = "azure-native:keyvault:Vault"
ACCOUNT = "azure-native:storage:StorageAccount"

_ENDPOINT_ID = arm_id("Microsoft.Network/privateEndpoints", "privateEndpointName")
_GROUP_KIND = "Microsoft.Network/privateEndpoints/privateDnsZoneGroups"
_ZONE_ID = arm_id("Microsoft.Network/privateDnsZones", "privateZoneName")
_LINK_KIND = "Microsoft.Network/privateDnsZones/virtualNetworkLinks"
_LINK_ID = arm_id(_LINK_KIND, "privateZoneName", "virtualNetworkLinkName")
_LOG_KIND = "Microsoft.Network/networkWatchers/flowLogs"

_LINKS = "Azure Private Link documentation"
_DNS = "Azure Private DNS documentation"
_FLOWS = "Network Watcher documentation, Virtual network flow logs"

_PARTS: Mapping[str, tuple[str, ...]] = {
    REGISTRY: ("registry",),
    VAULT: ("vault",),
    ACCOUNT: ("blob", "blob_secondary", "table", "queue", "file", "web", "dfs"),
}
"""What an endpoint may lead to. Source: Azure Private Link documentation, Private-link resource: subresources."""


def _connections(case: Case, key: str) -> list[tuple[str, object]]:
    kinds = ("privateLinkServiceConnections", "manualPrivateLinkServiceConnections")
    return [pair for kind in kinds for pair in case.each(f"{kind}.*.{key}")]


@refusal(f"{_LINKS}, Private endpoint properties: private-link resource")
def _one_connection(case: Case) -> Iterator[Violation]:
    given = _connections(case, "privateLinkServiceId")
    if len(given) > 1:
        yield Violation(
            property="privateLinkServiceConnections",
            what="an endpoint has one",
            got=str(len(given)),
            do="Make one each",
        )


@refusal(f"{_LINKS}, Private-link resource: subresources", phase="apply")
def _part_unknown(case: Case) -> Iterator[Violation]:
    for where, service in _connections(case, "privateLinkServiceId"):
        target = holder(case.clouds, str(service))
        known = _PARTS.get(target.type, ()) if target else ()
        for place, part in _connections(case, "groupIds.*"):
            if known and part not in known and place.startswith(where.rpartition(".")[0]):
                yield Violation(
                    property=place,
                    what=f"is no part of {target.name if target else ''}",
                    got=f"'{part}'",
                    allowed=", ".join(known),
                    do="Correct it",
                )


@refusal("Azure Container Registry documentation, Private Link: Premium tier", phase="apply")
def _registry_below_premium(case: Case) -> Iterator[Violation]:
    for where, service in _connections(case, "privateLinkServiceId"):
        target = holder(case.clouds, str(service))
        if target and target.type == REGISTRY and (target.inputs.get("sku") or {}).get("name") != "Premium":
            what = "the registry is not Premium"
            yield Violation(property=where, what=what, got=target.name, do="Set its sku to Premium")


@refusal(f"{_LINKS}, Network security: subnets delegated to a service", phase="apply")
def _delegated_subnet(case: Case) -> Iterator[Violation]:
    subnet = case.target("subnet.id", SUBNET)
    if subnet and subnet.inputs.get("delegations"):
        yield Violation(property="subnet", what=f"subnet {subnet.name} belongs to a service", do="Use another subnet")


@refusal(f"{_DNS}, Private DNS zone: location is global")
def _not_global(case: Case) -> Iterator[Violation]:
    if str(case.get("location", "global")).lower() != "global":
        yield Violation(
            property="location", what="a private zone lies nowhere", got=str(case.get("location")), do="Write global"
        )


@refusal(f"{_DNS}, Private DNS zone: nested resources, CannotDeleteResource", phase="delete")
def _linked(case: Case) -> Iterator[Violation]:
    users = [user for user in case.clouds.users(case.own) if user.type == LINK] if case.own else []
    if users:
        yield Violation(
            what="is linked to networks", got=", ".join(user.name for user in users), do="Delete the links first"
        )


@refusal(f"{_DNS}, Virtual network link: a network is linked to one zone of a name", phase="birth")
def _name_linked_already(case: Case) -> Iterator[Violation]:
    network, zone = case.target("virtualNetwork.id", VNET), case.get("privateZoneName")
    for user in case.users_of(network, LINK):
        if user.inputs.get("privateZoneName") == zone:
            yield Violation(
                property="virtualNetwork", what=f"is linked to a zone {zone} already", got=user.id, do="Use that link"
            )


@refusal(f"{_LINKS}, Private endpoint DNS integration: number of zones in a group")
def _too_many_zones(case: Case) -> Iterator[Violation]:
    count = len(case.each("privateDnsZoneConfigs.*"))
    if count > 5:
        yield Violation(
            property="privateDnsZoneConfigs", what="are too many", got=str(count), allowed="5", do="Use fewer"
        )


@refusal(f"{_LINKS}, Private endpoint DNS integration: a group for an endpoint", phase="birth")
def _second_group(case: Case) -> Iterator[Violation]:
    owner = (case.get("resourceGroupName"), case.get("privateEndpointName"))
    for item in case.clouds.every("azure", case.type, case.place.account):
        if (item.inputs.get("resourceGroupName"), item.inputs.get("privateEndpointName")) == owner:
            yield Violation(
                property="privateEndpointName", what="has a zone group already", got=item.id, do="Use that one"
            )


@refusal("Network Watcher documentation: Azure makes NetworkWatcher_<location> in group NetworkWatcherRG")
def _watcher_of_another_place(case: Case) -> Iterator[Violation]:
    name, region = str(case.get("networkWatcherName", "")), case.place.region
    if case.get("resourceGroupName") == "NetworkWatcherRG" and name not in ("", f"NetworkWatcher_{region}"):
        yield Violation(
            property="networkWatcherName",
            what="does not watch the location",
            got=f"'{name}'",
            allowed=f"NetworkWatcher_{region}",
            do="Correct it",
        )


@refusal("Azure updates, NSG flow logs: no new ones since 30 June 2025", phase="apply")
def _group_watched(case: Case) -> Iterator[Violation]:
    target = holder(case.clouds, str(case.get("targetResourceId")))
    if target and target.type not in (VNET, SUBNET):
        yield Violation(
            property="targetResourceId", what="only networks are watched", got=target.id, do="Use the network's id"
        )


@refusal(f"{_FLOWS}: a network has one flow log", phase="birth")
def _watched_already(case: Case) -> Iterator[Violation]:
    for user in case.users_of(case.target("targetResourceId", VNET), case.type):
        yield Violation(property="targetResourceId", what="has a flow log already", got=user.name, do="Use that one")


ROWS = (
    Row(
        type=ENDPOINT,
        id=_ENDPOINT_ID,
        name=network_name("privateEndpointName", 64, shortest=2),
        outputs=said("Microsoft.Network/privateEndpoints", "privateEndpointName", provisioningState="Succeeded"),
        immutable=frozenset({"subnet"}),
        references=(
            Reference(path="subnet.id", types=(SUBNET,), holds=True),
            Reference(
                path="privateLinkServiceConnections.*.privateLinkServiceId",
                types=tuple(_PARTS),
                anywhere=True,
                named=True,
            ),
        ),
        unique=(_ENDPOINT_ID,),
        refusals=(_one_connection, _part_unknown, _registry_below_premium, _delegated_subnet),
    ),
    Row(
        type="azure-native:network:PrivateDnsZoneGroup",
        id=arm_id(_GROUP_KIND, "privateEndpointName", "privateDnsZoneGroupName"),
        name=network_name("privateDnsZoneGroupName", made=copied),
        place="privateEndpointName",
        outputs={"name": "{privateDnsZoneGroupName}", "provisioningState": "Succeeded"},
        immutable=frozenset({"privateEndpointName"}),
        references=(Reference(path="privateDnsZoneConfigs.*.privateDnsZoneId", types=(ZONE,), anywhere=True),),
        unique=(arm_id(_GROUP_KIND, "privateEndpointName", "privateDnsZoneGroupName"),),
        refusals=(_too_many_zones, _second_group),
    ),
    Row(
        type=ZONE,
        id=_ZONE_ID,
        name=arm_name(
            "privateZoneName",
            r"([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
            253,
            f"{_DNS}, Private DNS zone: restrictions of names",
            "two or more labels of lower-case letters, digits, underscores and hyphens",
        ),
        place="",
        outputs=said("Microsoft.Network/privateDnsZones", "privateZoneName", provisioningState="Succeeded"),
        unique=(_ZONE_ID,),
        refusals=(_not_global, _linked),
    ),
    Row(
        type=LINK,
        id=_LINK_ID,
        name=network_name("virtualNetworkLinkName"),
        place="",
        outputs=said(_LINK_KIND, "virtualNetworkLinkName", provisioningState="Succeeded"),
        immutable=frozenset({"privateZoneName"}),
        references=(Reference(path="virtualNetwork.id", types=(VNET,), anywhere=True),),
        unique=(_LINK_ID,),
        refusals=(_not_global, _name_linked_already),
    ),
    Row(
        type="azure-native:network:FlowLog",
        id=arm_id(_LOG_KIND, "networkWatcherName", "flowLogName"),
        name=network_name("flowLogName"),
        outputs=said(_LOG_KIND, "flowLogName", provisioningState="Succeeded"),
        immutable=frozenset({"networkWatcherName"}),
        references=(
            Reference(path="targetResourceId", types=(VNET, SUBNET, "azure-native:network:NetworkSecurityGroup")),
            Reference(path="storageId", types=(ACCOUNT,)),
        ),
        unique=(arm_id(_LOG_KIND, "networkWatcherName", "flowLogName"),),
        refusals=(
            _watcher_of_another_place,
            _group_watched,
            _watched_already,
            refusal(f"{_FLOWS}: retention")(between("retentionPolicy.days", 0, 365, "days")),
            refusal(f"{_FLOWS}: format")(one_of("format.version", (1, 2))),
        ),
    ),
)
