"""What all of Azure Resource Manager shares: ids and what lies above them, names, zones, fixed properties, roles.

Ids are paths, so what a resource lives in can be read off its own. Ids of built-in roles come from the Azure RBAC
documentation, Azure built-in roles.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Case, Name
from simcloud.state import Clouds, Stored
from simcloud.values import changed_paths, lies_under

GROUP = "azure-native:resources:ResourceGroup"
GROUP_ID = "/subscriptions/{account}/resourceGroups/{resourceGroupName}"
ASSIGNMENT = "azure-native:authorization:RoleAssignment"
IDENTITY = "azure-native:managedidentity:UserAssignedIdentity"

_WATCHER = re.compile(
    r".*/resourceGroups/NetworkWatcherRG/providers/Microsoft\.Network/networkWatchers/NetworkWatcher_\w+"
)
"""What Azure makes by itself in every region that has a network. Source: Network Watcher documentation."""

GUID = r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

ROLES: Mapping[str, str] = {
    "Owner": "8e3af657-a8ff-443c-a75c-2fe8c4bcb635",
    "Contributor": "b24988ac-6180-42a0-ab88-20f7382dd24c",
    "Reader": "acdd72a7-3385-48ef-bd42-f606fba81ae7",
    "Network Contributor": "4d97b98b-1d4f-4787-a291-c67834d212e7",
    "Private DNS Zone Contributor": "b12aa53e-6015-4669-85d0-8515ebb3ae7f",
    "Managed Identity Operator": "f1a07417-d97a-45cb-824c-7a7467783830",
    "AcrPull": "7f951dda-4ed3-4680-a7ca-43fe172d538d",
    "AcrPush": "8311e382-0749-4cb8-b61a-304f252e45ec",
    "Storage Blob Data Reader": "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
    "Storage Blob Data Contributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
    "Storage Blob Data Owner": "b7e6dc6d-f1e8-4753-8033-0f276bb0955b",
    "Key Vault Administrator": "00482a5a-887f-4fb3-b363-3b7fe8e74483",
    "Key Vault Contributor": "f25e0fa2-a7c8-4377-a976-54943a77a395",
    "Key Vault Crypto Officer": "14b46e9e-c2b7-41b4-b07b-48a6ebf60603",
    "Key Vault Crypto User": "12338af0-0e69-4776-bea7-57ae8d297424",
    "Key Vault Crypto Service Encryption User": "e147488a-f6f5-4113-8e2d-b22465e65bf6",
    "Key Vault Secrets User": "4633458b-17de-408a-b874-0445c86b69e6",
    "Azure Kubernetes Service Cluster Admin Role": "0ab0b1a8-8aac-4efd-b8c2-3ee1fb270be8",
    "Azure Kubernetes Service Cluster User Role": "4abbcc35-e782-43d8-92c5-2d3f1bd2253f",
    "Azure Kubernetes Service RBAC Admin": "3498e952-d568-435e-9b2c-8d77e338d7f7",
    "Azure Kubernetes Service RBAC Cluster Admin": "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b",
    "Azure Kubernetes Service RBAC Reader": "7f6c6a51-bcf8-42ba-9220-52d62157d7db",
    "Azure Kubernetes Service RBAC Writer": "a7ffa36f-339b-4b5c-8bdf-e2c188b2c0eb",
}
"""Built-in roles that this platform may use; a simulated tenant has no others."""

FULL = ("Owner", "Contributor")
"""Roles that may do everything but, for the second, give roles."""


def arm_id(kind: str, *names: str) -> str:
    """Return the id template of a type such as `Microsoft.Network/virtualNetworks/subnets`, from its inputs' names."""
    namespace, *types = kind.split("/")
    path = "".join(f"/{step}/{{{name}}}" for step, name in zip(types, names, strict=True))
    return f"{GROUP_ID}/providers/{namespace}{path}"


def above(identity: str) -> str:
    """Return the id of what a resource lives in: its parent, the scope it applies to, or its group; empty: none."""
    head, found, rest = identity.rpartition("/providers/")
    parts = rest.split("/")
    if not found:
        return ""
    if len(parts) <= 3:
        return head
    parent = f"{head}/providers/{'/'.join(parts[:-2])}"
    return above(parent) if parent.endswith("/blobServices/default") else parent


def exists(clouds: Clouds, identity: str, account: str) -> bool:
    """Tell whether an id leads to something: a resource, or what Azure makes by itself."""
    whole = identity.rstrip("/") == f"/subscriptions/{account}"
    return whole or bool(_WATCHER.fullmatch(identity)) or holder(clouds, identity) is not None


def holder(clouds: Clouds, identity: str) -> Stored | None:
    """Return the resource of an id."""
    return next((item for item in clouds.find(identity) if item.cloud == "azure"), None)


def arm_name(path: str, pattern: str, longest: int, source: str, says: str, **more: Any) -> Name:
    """Name of a resource; one that is omitted is the logical name and eight digits, as the provider makes it."""
    made: Callable[[str, str], str] = more.pop("made", _suffixed)
    return Name(path=path, pattern=pattern, longest=longest, source=source, says=says, made=made, **more)


def _suffixed(logical: str, digits: str) -> str:
    return f"{logical}{digits[:8]}"


def copied(logical: str, _digits: str) -> str:
    """Name an omitted child as the program does."""
    return logical


def guid(_logical: str, digits: str) -> str:
    """Name what is omitted by a GUID."""
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:32]}"


def said(kind: str, name: str, **more: Any) -> dict[str, Any]:
    """Outputs that every resource has, and more."""
    return {"name": f"{{{name}}}", "type": kind, **more}


def zone_names(case: Case, zones: Iterable[object], location: str = "") -> frozenset[str]:
    """Name zones such as `2` as facts do: `swedencentral-2`."""
    return frozenset(f"{location or case.place.region}-{zone}" for zone in zones)


def zones_unknown(case: Case, path: str) -> Iterator[Violation]:
    """Refuse zones that the location does not have."""
    known = case.world.zones("azure", case.place.region)
    for where, zone in case.each(path):
        if f"{case.place.region}-{zone}" not in known:
            yield Violation(
                property=where,
                what=f"is not a zone of {case.place.region}",
                got=f"'{zone}'",
                allowed=", ".join(sorted(name.rpartition("-")[2] for name in known)) or "no zones",
                do="Write the number of a zone that the location has",
            )


def fixed(case: Case, paths: Iterable[str], what: str) -> Iterator[Violation]:
    """Refuse changes that the cloud makes neither in place nor, through the provider, by a replacement."""
    for path in sorted(changed_paths(dict(case.old or {}), dict(case.inputs))) if case.old is not None else ():
        if any(lies_under(path, item) for item in paths):
            yield Violation(
                property=path, what=f"cannot change on {what}", do="Make another one beside it, then drop this"
            )


def role_of(definition: object) -> str:
    """Name of a built-in role behind a definition's id; empty if there is none."""
    wanted = str(definition).rsplit("/", 1)[-1].lower()
    return next((name for name, identity in ROLES.items() if identity == wanted), "")


def allowed(case: Case, principal: str, scope: str, roles: Iterable[str]) -> bool:
    """Tell whether a principal has one of some roles on a scope or on anything above it."""
    wanted = {*FULL, *roles}
    for item in case.clouds.every("azure", ASSIGNMENT, case.place.account):
        given = item.inputs
        over = str(given.get("scope", "")).rstrip("/")
        covers = scope == over or scope.startswith(f"{over}/")
        if covers and given.get("principalId") == principal and role_of(given.get("roleDefinitionId")) in wanted:
            return True
    return False


def principal_of(case: Case, identity: object) -> str:
    """Principal of a user-assigned identity; empty if it is unknown or somebody else's."""
    found = case.resolve(str(identity), IDENTITY)
    return principal(found) if found else ""


def principal(identity: Stored) -> str:
    """Principal of a user-assigned identity."""
    return guid("", identity.hash[::-1])
