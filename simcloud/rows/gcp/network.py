"""Google Cloud networks: networks, subnetworks, routers with NAT, addresses."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.addresses import malformed, network_of, overlapping, private_address, public_address
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Computed, Name, Reference, Row, between, one_of, refusal

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
ADDRESS = "gcp:compute/address:Address"

_API = "Compute Engine API Reference"
_LINK = "https://www.googleapis.com/compute/v1/"
_VPC = "Google Cloud VPC documentation, Subnets"
_NAT = "Cloud NAT documentation; pulumi-gcp, gcp.compute.RouterNat"


def resource_name(longest: int = 63, source: str = f"{_API}, resource names (RFC 1035)") -> Name:
    """The form of name that most of Compute Engine takes."""
    return Name(
        path="name",
        pattern=r"[a-z]([-a-z0-9]*[a-z0-9])?",
        longest=longest,
        source=source,
        says="lower-case letters, digits and hyphens, starting with a letter",
    )


@refusal(f"{_API}, networks: mtu")
def _mtu(case: Case) -> Iterator[Violation]:
    yield from between("mtu", 1300, 8896, "bytes")(case)


@refusal(_VPC)
def _range_malformed(case: Case) -> Iterator[Violation]:
    yield from malformed(case, "ipCidrRange", longest=29, shortest=4)
    yield from malformed(case, "secondaryIpRanges.*.ipCidrRange", longest=29, shortest=4)


def _ranges(inputs: object, name: str) -> list[tuple[str, object]]:
    if not isinstance(inputs, dict):
        return []
    found: list[tuple[str, object]] = [(name, inputs.get("ipCidrRange"))]
    for item in inputs.get("secondaryIpRanges") or ():
        found.append((f"{name}, {item.get('rangeName')}", item.get("ipCidrRange")))
    return found


@refusal(_VPC, phase="apply", watch=("ipCidrRange", "secondaryIpRanges", "network"))
def _overlaps_in_network(case: Case) -> Iterator[Violation]:
    network = case.target("network", NETWORK)
    others: list[tuple[str, object]] = []
    for user in case.clouds.users(network) if network else ():
        if user.type == SUBNETWORK and (case.own is None or user.serial != case.own.serial):
            others += _ranges(dict(user.inputs), f"subnetwork {user.name}")
    mine = _ranges(dict(case.inputs), "the subnetwork itself")
    for index, (_name, value) in enumerate(mine):
        where = "ipCidrRange" if index == 0 else f"secondaryIpRanges[{index - 1}].ipCidrRange"
        yield from overlapping(where, value, others + mine[:index])


@refusal(f"{_API}, subnetworks.expandIpCidrRange", phase="plan", watch=("ipCidrRange",))
def _shrinks(case: Case) -> Iterator[Violation]:
    old, new = network_of((case.old or {}).get("ipCidrRange")), network_of(case.get("ipCidrRange"))
    if old and new and not old.subnet_of(new):
        yield Violation(
            property="ipCidrRange", what="can only grow", got=f"{old} to {new}", do="Choose a range around the old one"
        )


@refusal("Google Cloud documentation, Proxy-only subnets")
def _purpose_and_role(case: Case) -> Iterator[Violation]:
    purpose = str(case.get("purpose", "PRIVATE"))
    if purpose.endswith("MANAGED_PROXY") != case.has("role"):
        yield Violation(
            property="role",
            what="goes with a proxy-only subnetwork, and only with one",
            got=purpose,
            do="Set both or neither",
        )


@refusal(_NAT)
def _addresses_and_option(case: Case) -> Iterator[Violation]:
    manual = case.get("natIpAllocateOption") == "MANUAL_ONLY"
    if case.unsure("natIpAllocateOption"):
        return
    if case.has("natIpAllocateOption") and manual != bool(case.inputs.get("natIps")):
        yield Violation(
            property="natIps",
            what="goes with MANUAL_ONLY, and only with it",
            got=str(case.get("natIpAllocateOption")),
            do="Pass addresses with MANUAL_ONLY",
        )


@refusal(_NAT)
def _subnetworks_and_option(case: Case) -> Iterator[Violation]:
    listed = case.get("sourceSubnetworkIpRangesToNat") == "LIST_OF_SUBNETWORKS"
    if listed != case.has("subnetworks") and not case.unsure("sourceSubnetworkIpRangesToNat"):
        yield Violation(
            property="subnetworks", what="goes with LIST_OF_SUBNETWORKS, and only with it", do="Set both or neither"
        )


@refusal(_NAT)
def _ports(case: Case) -> Iterator[Violation]:
    low, high = case.get("minPortsPerVm", 64), case.get("maxPortsPerVm")
    if isinstance(high, int) and isinstance(low, int) and high < low:
        yield Violation(
            property="maxPortsPerVm", what="is below minPortsPerVm", got=f"{high} below {low}", do="Raise it"
        )
    dynamic = case.get("enableDynamicPortAllocation") is True
    if dynamic and case.get("enableEndpointIndependentMapping") is True:
        yield Violation(
            property="enableEndpointIndependentMapping",
            what="conflicts with dynamic port allocation",
            do="Set it to false",
        )


def _address(born: Born) -> str:
    return private_address(born) if born.inputs.get("addressType") == "INTERNAL" else public_address(born)


_REGIONAL: dict[str, Computed] = {"creationTimestamp": "2026-01-01T00:00:00.000-00:00"}


def regional(kind: str) -> tuple[str, dict[str, Computed]]:
    """Id and self link of a regional Compute Engine resource."""
    path = f"projects/{{account}}/regions/{{region}}/{kind}/{{name}}"
    return path, {"selfLink": _LINK + path, **_REGIONAL}


_SUBNETWORK_ID, _SUBNETWORK_OUTPUTS = regional("subnetworks")
_ROUTER_ID, _ROUTER_OUTPUTS = regional("routers")
_ADDRESS_ID, _ADDRESS_OUTPUTS = regional("addresses")

ROWS = (
    Row(
        type=NETWORK,
        id="projects/{account}/global/networks/{name}",
        name=resource_name(),
        place="",
        outputs={
            "selfLink": _LINK + "projects/{account}/global/networks/{name}",
            "gatewayIpv4": "",
            "networkId": lambda born: str(born.number(10**15, 10**16)),
            "numericId": lambda born: str(born.number(10**15, 10**16)),
        },
        defaults={
            "autoCreateSubnetworks": True,
            "deleteDefaultRoutesOnCreate": False,
            "networkFirewallPolicyEnforcementOrder": "AFTER_CLASSIC_FIREWALL",
        },
        aliases=("{selfLink}", "{name}"),
        immutable=frozenset({"autoCreateSubnetworks", "description", "enableUlaInternalIpv6"}),
        unique=("{account}/{name}",),
        refusals=(_mtu, refusal(f"{_API}, networks: routingConfig")(one_of("routingMode", ("REGIONAL", "GLOBAL")))),
    ),
    Row(
        type=SUBNETWORK,
        id=_SUBNETWORK_ID,
        name=resource_name(),
        place="region",
        outputs=_SUBNETWORK_OUTPUTS
        | {
            "gatewayAddress": lambda born: (
                str(born.inputs.get("ipCidrRange", "")).split("/")[0].rsplit(".", 1)[0] + ".1"
            ),
        },
        aliases=("{selfLink}", "{name}"),
        immutable=frozenset({"network", "purpose", "description"}),
        references=(Reference(path="network", types=(NETWORK,), holds=True, named=True),),
        unique=("{account}/{region}/{name}",),
        refusals=(_range_malformed, _overlaps_in_network, _shrinks, _purpose_and_role),
    ),
    Row(
        type=ROUTER,
        id=_ROUTER_ID,
        name=resource_name(),
        place="region",
        outputs=_ROUTER_OUTPUTS,
        aliases=("{selfLink}", "{name}"),
        immutable=frozenset({"network"}),
        references=(Reference(path="network", types=(NETWORK,), holds=True, named=True),),
        unique=("{account}/{region}/{name}",),
    ),
    Row(
        type="gcp:compute/routerNat:RouterNat",
        id="{account}/{region}/{router}/{name}",
        name=resource_name(),
        place="region",
        outputs={},
        immutable=frozenset({"router", "type"}),
        references=(
            Reference(path="router", types=(ROUTER,), named=True, cascades=True),
            Reference(path="natIps.*", types=(ADDRESS,), holds=True, named=True),
            Reference(path="subnetworks.*.name", types=(SUBNETWORK,), named=True, holds=True),
        ),
        unique=("{account}/{region}/{router}/{name}",),
        refusals=(
            _addresses_and_option,
            _subnetworks_and_option,
            _ports,
            refusal(_NAT)(one_of("natIpAllocateOption", ("MANUAL_ONLY", "AUTO_ONLY"))),
            refusal(_NAT)(
                one_of(
                    "sourceSubnetworkIpRangesToNat",
                    (
                        "ALL_SUBNETWORKS_ALL_IP_RANGES",
                        "ALL_SUBNETWORKS_ALL_PRIMARY_IP_RANGES",
                        "LIST_OF_SUBNETWORKS",
                    ),
                )
            ),
        ),
    ),
    Row(
        type=ADDRESS,
        id=_ADDRESS_ID,
        name=resource_name(),
        place="region",
        outputs=_ADDRESS_OUTPUTS | {"address": _address, "users": [], "labelFingerprint": "{hash:.11}"},
        defaults={"addressType": "EXTERNAL"},
        aliases=("{selfLink}", "{address}", "{name}"),
        immutable=frozenset({"addressType", "address", "networkTier", "network", "subnetwork", "purpose", "ipVersion"}),
        references=(Reference(path="subnetwork", types=(SUBNETWORK,), holds=True, named=True),),
        unique=("{account}/{region}/{name}",),
        refusals=(
            refusal(f"{_API}, addresses: networkTier")(one_of("networkTier", ("PREMIUM", "STANDARD"))),
            refusal(f"{_API}, addresses: addressType")(one_of("addressType", ("EXTERNAL", "INTERNAL"))),
        ),
    ),
)
