"""Google Cloud networks: networks, subnetworks, routers with NAT, addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from simcloud.addresses import malformed, network_of, overlapping, private_address, public_address
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Computed, Reference, Row, between, one_of, refusal
from simcloud.rows.gcp.forms import labelled, resource_name

NETWORK = "gcp:compute/network:Network"
SUBNETWORK = "gcp:compute/subnetwork:Subnetwork"
ROUTER = "gcp:compute/router:Router"
NAT = "gcp:compute/routerNat:RouterNat"
ADDRESS = "gcp:compute/address:Address"

_API = "Compute Engine API Reference"
_LINK = "https://www.googleapis.com/compute/v1/"
_VPC = "Google Cloud VPC documentation, Subnets"
_NAT = "Cloud NAT documentation; pulumi-gcp, gcp.compute.RouterNat"


@refusal(f"{_API}, networks: mtu")
def _mtu(case: Case) -> Iterator[Violation]:
    yield from between("mtu", 1300, 8896, "bytes")(case)


@refusal(_VPC)
def _range_malformed(case: Case) -> Iterator[Violation]:
    yield from malformed(case, "ipCidrRange", longest=29, shortest=4)
    yield from malformed(case, "secondaryIpRanges.*.ipCidrRange", longest=29, shortest=4)


_PROHIBITED = (
    "0.0.0.0/8",
    "127.0.0.0/8",
    "169.254.0.0/16",
    "199.36.153.4/30",
    "199.36.153.8/30",
    "224.0.0.0/4",
    "255.255.255.255/32",
)


@refusal("Google Cloud VPC documentation, Subnets: prohibited IPv4 ranges")
def _range_prohibited(case: Case) -> Iterator[Violation]:
    for path in ("ipCidrRange", "secondaryIpRanges.*.ipCidrRange"):
        for where, value in case.each(path):
            yield from overlapping(where, value, [("what the cloud keeps for itself", kept) for kept in _PROHIBITED])


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
    if purpose.endswith("MANAGED_PROXY") != case.has("role") and not case.unsure("purpose"):
        yield Violation(
            property="role",
            what="goes with a proxy-only subnetwork, and only with one",
            got=purpose,
            do="Set both or neither",
        )


_PROXY = "Google Cloud documentation, Proxy-only subnets"


def _is_for_proxies(inputs: Mapping[str, object]) -> bool:
    return inputs.get("purpose") == "REGIONAL_MANAGED_PROXY"


@refusal(_PROXY)
def _not_for_proxies(case: Case) -> Iterator[Violation]:
    if not _is_for_proxies(case.inputs):
        return
    for key in ("secondaryIpRanges", "logConfig"):
        if case.has(key):
            yield Violation(property=key, what="a proxy-only subnetwork has none", do="Leave it out")
    size = network_of(case.get("ipCidrRange"))
    if size and size.prefixlen > 26:
        yield Violation(
            property="ipCidrRange",
            what="is too small for proxies",
            got=str(size),
            allowed="/26 or larger",
            do="Widen it",
        )


@refusal(_PROXY, phase="apply", watch=("role", "purpose"))
def _second_for_proxies(case: Case) -> Iterator[Violation]:
    if not _is_for_proxies(case.inputs) or case.get("role") != "ACTIVE":
        return
    for user in case.users_of(case.target("network", NETWORK), SUBNETWORK):
        if user.region == case.place.region and _is_for_proxies(user.inputs) and user.inputs.get("role") == "ACTIVE":
            yield Violation(
                property="role",
                what=f"the network has an active proxy-only subnetwork in {user.region}",
                got=user.name,
                do="Make this one BACKUP",
            )


@refusal(_NAT, phase="apply", watch=("sourceSubnetworkIpRangesToNat",))
def _second_for_all(case: Case) -> Iterator[Violation]:
    router = case.target("router", ROUTER)
    if router is None or not _takes_all(case.inputs):
        return
    for other in case.clouds.every("gcp", NAT, case.place.account):
        beside = case.resolve(str(other.inputs.get("router")), ROUTER)
        same = beside is not None and beside.inputs.get("network") == router.inputs.get("network")
        is_self = case.own is not None and case.own.serial == other.serial
        if same and not is_self and other.region == case.place.region and _takes_all(other.inputs):
            yield Violation(
                property="sourceSubnetworkIpRangesToNat",
                what="another NAT serves all subnetworks of the network in this region",
                got=other.name,
                do="List the subnetworks of each",
            )


def _takes_all(inputs: Mapping[str, object]) -> bool:
    return str(inputs.get("sourceSubnetworkIpRangesToNat")).startswith("ALL_SUBNETWORKS")


@refusal(_NAT)
def _ports_no_power_of_two(case: Case) -> Iterator[Violation]:
    for key in ("minPortsPerVm", "maxPortsPerVm") if case.get("enableDynamicPortAllocation") is True else ():
        value = case.get(key)
        if isinstance(value, int) and (value < 32 or value & (value - 1)):
            yield Violation(
                property=key,
                what="is no power of two from 32",
                got=str(value),
                do="Use 64, 128, ... with dynamic ports",
            )


@refusal(_NAT, phase="apply", watch=("natIps",))
def _address_inside(case: Case) -> Iterator[Violation]:
    for where, value in case.each("natIps.*"):
        address = case.resolve(str(value), ADDRESS)
        if address and address.inputs.get("addressType") == "INTERNAL":
            yield Violation(property=where, what="is an internal address", got=address.name, do="Use an external one")


@refusal(f"{_API}, addresses; pulumi-gcp, gcp.compute.Address")
def _tier_of_internal(case: Case) -> Iterator[Violation]:
    internal = case.get("addressType") == "INTERNAL"
    if internal and case.has("networkTier"):
        yield Violation(property="networkTier", what="an internal address has no tier", do="Leave it out")
    if not internal and case.has("subnetwork"):
        yield Violation(property="subnetwork", what="an external address lies in no subnetwork", do="Leave it out")


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


_INTERVALS = tuple(f"INTERVAL_{time}" for time in ("5_SEC", "30_SEC", "1_MIN", "5_MIN", "10_MIN", "15_MIN"))
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
        refusals=(
            _range_malformed,
            _range_prohibited,
            _overlaps_in_network,
            _shrinks,
            _purpose_and_role,
            _not_for_proxies,
            _second_for_proxies,
            refusal(f"{_API}, subnetworks: logConfig")(between("logConfig.flowSampling", 0, 1)),
            refusal(f"{_API}, subnetworks: logConfig")(one_of("logConfig.aggregationInterval", _INTERVALS)),
        ),
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
        type=NAT,
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
            _ports_no_power_of_two,
            _address_inside,
            _second_for_all,
            refusal(_NAT)(one_of("logConfig.filter", ("ERRORS_ONLY", "TRANSLATIONS_ONLY", "ALL"))),
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
            _tier_of_internal,
            labelled(),
            refusal(f"{_API}, addresses: networkTier")(one_of("networkTier", ("PREMIUM", "STANDARD"))),
            refusal(f"{_API}, addresses: addressType")(one_of("addressType", ("EXTERNAL", "INTERNAL"))),
        ),
    ),
)
