"""The Azure provider of a region, and what every role needs of a subscription: groups, identities, grants, addresses.

Each role files what it makes under a resource group of its own, which lives and dies with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import pulumi
import pulumi_azure_native as azure

from components import names
from components.base import Place, PlatformComponent
from components.provider.contract import ProviderArgs

ROLES: Mapping[str, str] = MappingProxyType(
    {
        "AcrPull": "7f951dda-4ed3-4680-a7ca-43fe172d538d",
        "Azure Kubernetes Service RBAC Cluster Admin": "b1ff04bb-8a4e-4dc4-8eb5-8693973ce19b",
        "Azure Kubernetes Service RBAC Reader": "7f6c6a51-bcf8-42ba-9220-52d62157d7db",
        "Azure Kubernetes Service RBAC Writer": "a7ffa36f-339b-4b5c-8bdf-e2c188b2c0eb",
        "Contributor": "b24988ac-6180-42a0-ab88-20f7382dd24c",
        "Key Vault Contributor": "f25e0fa2-a7c8-4377-a976-54943a77a395",
        "Key Vault Crypto Service Encryption User": "e147488a-f6f5-4113-8e2d-b22465e65bf6",
        "Key Vault Crypto User": "12338af0-0e69-4776-bea7-57ae8d297424",
        "Managed Identity Operator": "f1a07417-d97a-45cb-824c-7a7467783830",
        "Network Contributor": "4d97b98b-1d4f-4787-a291-c67834d212e7",
        "Storage Blob Data Contributor": "ba92f5b4-2d11-453d-a403-e96b0029c9fe",
        "Storage Blob Data Reader": "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1",
    }
)
"""Role -> its id, the same everywhere. Source: Azure documentation, Azure built-in roles."""


def declare(name: str, args: ProviderArgs) -> pulumi.ProviderResource:
    """Declare the provider; the subscription is literal. It has no default tags: every resource carries its own."""
    provider: pulumi.ProviderResource = azure.Provider(
        name,
        subscription_id=args.allowed_account,
        location=args.place.provider_region,
        client_id=args.role,
    )
    return provider


def tags(place: Place) -> dict[str, str]:
    """Return the tags of everything that bears cost: people's own, and ours over them."""
    return names.user_tags(place.tags) | names.labels(
        fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction
    )


def group_name(place: Place, role: str) -> str:
    """Return the name of a role's group."""
    return names.resource_group(place.fleet, place.region, role)


def resource_group(component: PlatformComponent, name: str, place: Place, role: str) -> azure.resources.ResourceGroup:
    """Declare the group of a role; what is in it goes with it, so it is protected as they are."""
    return azure.resources.ResourceGroup(
        name,
        resource_group_name=group_name(place, role),
        location=place.provider_region,
        tags=tags(place),
        opts=component.child(protect=place.protect),
    )


def resource_id(place: Place, role: str, kind: str, name: str) -> str:
    """Return the id of what a role makes, perhaps in another stack: all its parts are known beforehand.

    Args:
        place: the region.
        role: the role whose group it is in.
        kind: namespace and type, for example ``Microsoft.KeyVault/vaults``.
        name: the cloud's name of it.
    """
    return f"/subscriptions/{place.account}/resourceGroups/{group_name(place, role)}/providers/{kind}/{name}"


def identity(
    component: PlatformComponent, name: str, place: Place, group: azure.resources.ResourceGroup, role: str
) -> azure.managedidentity.UserAssignedIdentity:
    """Declare the identity that what a role makes acts as; nobody ever holds a credential of it."""
    return azure.managedidentity.UserAssignedIdentity(
        name,
        resource_group_name=group.name,
        resource_name_=names.resource(place.fleet, place.region, role),
        location=place.provider_region,
        tags=tags(place),
        opts=component.child(),
    )


def grant(
    component: PlatformComponent,
    name: str,
    place: Place,
    *,
    role: str,
    scope: pulumi.Input[str],
    principal: pulumi.Input[str],
    principal_type: str = "ServicePrincipal",
    depends_on: Sequence[pulumi.Resource] | None = None,
) -> azure.authorization.RoleAssignment:
    """Grant a role.

    Args:
        component: who declares it.
        name: logical name; the grant's own name is made from it.
        place: the region.
        role: one of ``ROLES``.
        scope: id of what it covers, with all that is inside.
        principal: object id of who gets it.
        principal_type: kind of the principal; said, because the directory may not have heard of a new identity yet,
            and because the SDK says ``User`` otherwise.
        depends_on: what must exist before.
    """
    return azure.authorization.RoleAssignment(
        name,
        role_assignment_name=names.role_assignment(place.account, place.fleet, place.region, name),
        scope=scope,
        role_definition_id=(
            f"/subscriptions/{place.account}/providers/Microsoft.Authorization/roleDefinitions/{ROLES[role]}"
        ),
        principal_id=principal,
        principal_type=principal_type,
        opts=component.child(depends_on=depends_on),
    )


def zone_number(zone: str) -> str:
    """Return what the API calls a zone: ``1`` for ``polandcentral-1``, which is what nodes say."""
    return zone.rpartition("-")[2]


def public_address(
    component: PlatformComponent,
    name: str,
    place: Place,
    group: azure.resources.ResourceGroup,
    zones: tuple[str, ...],
    *,
    purpose: str,
    protect: bool | None = None,
) -> azure.network.PublicIPAddress:
    """Declare a static IPv4 address in some zones; their set can never be changed."""
    return azure.network.PublicIPAddress(
        name,
        resource_group_name=group.name,
        public_ip_address_name=names.resource(place.fleet, place.region, purpose),
        location=place.provider_region,
        sku=azure.network.PublicIPAddressSkuArgs(name="Standard", tier="Regional"),
        public_ip_allocation_method="Static",
        public_ip_address_version="IPv4",
        zones=[zone_number(zone) for zone in zones],
        tags=tags(place),
        opts=component.child(protect=protect),
    )


def lock(
    component: PlatformComponent, name: str, place: Place, locked: str, depends_on: Sequence[pulumi.Resource]
) -> None:
    """Lock a resource against deletion by anybody, while the region is protected.

    A lock also covers what is inside, so a cluster has none: no node pool could be dropped any more. It keeps grants on
    what it covers and private endpoints to it as well, so a store's is declared with the region that reaches the
    store, and lifted with that region's protection.
    https://github.com/MicrosoftDocs/azure-docs/issues/110791 and
    https://github.com/hashicorp/terraform-provider-azurerm/issues/17478

    Args:
        component: who declares it.
        name: logical name.
        place: the region.
        locked: id of what is locked.
        depends_on: what could not be deleted while the lock is there.
    """
    if place.protect:
        azure.authorization.ManagementLockByScope(
            f"{name}-lock",
            lock_name="outlast",
            scope=locked,
            level="CanNotDelete",
            notes="Lift protection in regions.yaml, or set the teardown knob of the region's stack",
            opts=component.child(depends_on=depends_on),
        )
