"""Azure ways out of a network: NAT gateways and public addresses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simcloud.addresses import public_address
from simcloud.refusals import Violation
from simcloud.row import Case, Name, Reference, Row, between, one_of, refusal
from simcloud.rows.azure.arm import arm_id, arm_name, said, zones_unknown

NAT = "azure-native:network:NatGateway"
ADDRESS = "azure-native:network:PublicIPAddress"

_NAT_ID = arm_id("Microsoft.Network/natGateways", "natGatewayName")
_ADDRESS_ID = arm_id("Microsoft.Network/publicIPAddresses", "publicIpAddressName")
_NAT_DOCS = "Azure NAT Gateway documentation"
_IP = "Azure public IP addresses documentation"


def network_name(path: str, longest: int = 80, **more: Any) -> Name:
    """The form of name that most of Microsoft.Network takes."""
    return arm_name(
        path,
        r"[A-Za-z0-9]([\w.-]*\w)?",
        longest,
        "Azure Resource Manager documentation, Naming rules and restrictions: Microsoft.Network",
        "letters, digits, underscores, periods and hyphens, starting with a letter or digit, not ending with . or -",
        **more,
    )


@refusal(f"{_NAT_DOCS}, NAT gateway and availability zones: Standard SKU is zonal")
def _several_zones(case: Case) -> Iterator[Violation]:
    zones = case.each("zones.*")
    if len(zones) > 1:
        yield Violation(
            property="zones", what="a Standard NAT gateway lies in one zone", got=str(len(zones)), do="Make one a zone"
        )


@refusal(f"{_NAT_DOCS}, NAT gateway and availability zones")
def _nat_zone_unknown(case: Case) -> Iterator[Violation]:
    yield from zones_unknown(case, "zones.*")


@refusal(f"{_NAT_DOCS}, NAT gateway and availability zones: public IP addresses", phase="apply")
def _address_of_another_zone(case: Case) -> Iterator[Violation]:
    own = {str(zone) for _, zone in case.each("zones.*")}
    for where, value in case.each("publicIpAddresses.*.id"):
        address = case.resolve(str(value), ADDRESS)
        zones = {str(zone) for zone in (address.inputs.get("zones") or ())} if address else set()
        if own and len(zones) == 1 and zones != own:
            yield Violation(
                property=where,
                what=f"address {address.name if address else ''} lies in another zone",
                got=", ".join(sorted(zones)),
                allowed=", ".join(sorted(own)),
                do="Use an address of the gateway's zone, or of all zones",
            )


@refusal(f"{_NAT_DOCS}, Design virtual networks with NAT gateway: Standard SKU addresses", phase="apply")
def _address_of_another_kind(case: Case) -> Iterator[Violation]:
    for where, value in case.each("publicIpAddresses.*.id"):
        address = case.resolve(str(value), ADDRESS)
        if address and (
            (address.inputs.get("sku") or {}).get("name") != "Standard"
            or address.inputs.get("publicIPAddressVersion", "IPv4") != "IPv4"
        ):
            yield Violation(property=where, what="needs a Standard IPv4 address", got=address.name, do="Make one")


@refusal("Azure public IP addresses documentation: an address belongs to one resource", phase="apply")
def _address_in_use(case: Case) -> Iterator[Violation]:
    for where, value in case.each("publicIpAddresses.*.id"):
        for user in case.users_of(case.resolve(str(value), ADDRESS), NAT):
            yield Violation(
                property=where, what="belongs to another gateway", got=user.name, do="Use an address of its own"
            )


@refusal(f"{_NAT_DOCS}, Azure NAT Gateway resource: up to 16 addresses")
def _too_many_addresses(case: Case) -> Iterator[Violation]:
    count = len(case.each("publicIpAddresses.*"))
    if count > 16:
        yield Violation(property="publicIpAddresses", what="are too many", got=str(count), allowed="16", do="Use fewer")


@refusal(f"{_IP}, Standard SKU addresses are static")
def _dynamic(case: Case) -> Iterator[Violation]:
    known = not case.unsure("publicIPAllocationMethod")
    if known and case.get("sku.name") == "Standard" and case.get("publicIPAllocationMethod", "Dynamic") != "Static":
        yield Violation(
            property="publicIPAllocationMethod",
            what="a Standard address is static",
            got=str(case.get("publicIPAllocationMethod", "Dynamic")),
            do="Set it to Static",
        )


@refusal("Azure updates, Basic SKU public IP addresses: no new ones since 31 March 2025")
def _basic_address(case: Case) -> Iterator[Violation]:
    if case.get("sku.name", "Basic") == "Basic" and not case.unsure("sku.name"):
        yield Violation(property="sku", what="Basic addresses are no longer made", got="Basic", do="Set it to Standard")


@refusal(f"{_IP}, Availability zone")
def _address_zone_unknown(case: Case) -> Iterator[Violation]:
    yield from zones_unknown(case, "zones.*")


@refusal(f"{_IP}: ResourceAvailabilityZonesCannotBeModified", phase="plan", watch=("zones",))
def _zones_move(case: Case) -> Iterator[Violation]:
    if case.old is not None and (case.old.get("zones") or []) != case.get("zones", []):
        yield Violation(property="zones", what="cannot change", do="Make another one")


ROWS = (
    Row(
        type=NAT,
        id=_NAT_ID,
        name=network_name("natGatewayName"),
        outputs=said("Microsoft.Network/natGateways", "natGatewayName", provisioningState="Succeeded"),
        references=(Reference(path="publicIpAddresses.*.id", types=(ADDRESS,), holds=True),),
        unique=(_NAT_ID,),
        refusals=(
            _several_zones,
            _nat_zone_unknown,
            _zones_move,
            _address_of_another_zone,
            _address_of_another_kind,
            _address_in_use,
            _too_many_addresses,
            refusal(f"{_NAT_DOCS}, Azure NAT Gateway resource: TCP idle timeout")(
                between("idleTimeoutInMinutes", 4, 120, "minutes")
            ),
            refusal("pulumi-azure-native 3.29.0, network.NatGatewaySkuName")(one_of("sku.name", ("Standard",))),
        ),
    ),
    Row(
        type=ADDRESS,
        id=_ADDRESS_ID,
        name=network_name("publicIpAddressName"),
        outputs=said(
            "Microsoft.Network/publicIPAddresses",
            "publicIpAddressName",
            provisioningState="Succeeded",
            ipAddress=public_address,
        ),
        aliases=(lambda outputs: str(outputs["ipAddress"]),),
        immutable=frozenset({"publicIPAddressVersion", "publicIPPrefix", "sku"}),
        unique=(_ADDRESS_ID,),
        refusals=(
            _dynamic,
            _basic_address,
            _address_zone_unknown,
            _zones_move,
            refusal(f"{_IP}: idle timeout")(between("idleTimeoutInMinutes", 4, 30, "minutes")),
        ),
    ),
)
