"""Cloud DNS: zones, private ones above all, and their records."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import AddressValueError, IPv4Address

from simcloud.refusals import Violation
from simcloud.row import Case, Name, Reference, Row, between, one_of, refusal
from simcloud.rows.gcp.forms import labelled
from simcloud.rows.gcp.network import NETWORK

ZONE = "gcp:dns/managedZone:ManagedZone"
RECORD = "gcp:dns/recordSet:RecordSet"

_ZONES = "Cloud DNS documentation, DNS zones overview"
_RECORDS = "Cloud DNS documentation, Records overview"
_NETWORKS = "privateVisibilityConfig.networks.*.networkUrl"
_KINDS = ("A", "AAAA", "CAA", "CNAME", "HTTPS", "MX", "NAPTR", "NS", "PTR", "SOA", "SPF", "SRV", "SVCB", "TXT")


@refusal(_ZONES)
def _without_final_dot(case: Case) -> Iterator[Violation]:
    name = case.get("dnsName")
    if isinstance(name, str) and not name.endswith("."):
        yield Violation(property="dnsName", what="is not a full name", got=f"'{name}'", do="End it with a dot")


@refusal("pulumi-gcp, gcp.dns.ManagedZone: private_visibility_config")
def _seen_by_nobody(case: Case) -> Iterator[Violation]:
    seen = case.has(_NETWORKS) or case.has("privateVisibilityConfig.gkeClusters")
    private = case.get("visibility", "public") == "private"
    if case.has("privateVisibilityConfig") and not private and not case.unsure("visibility"):
        yield Violation(
            property="privateVisibilityConfig", what="goes with a private zone", do="Set visibility: private"
        )
    elif case.has("privateVisibilityConfig") and not seen:
        yield Violation(property="privateVisibilityConfig", what="names no network", do="Name the networks that see it")


@refusal("Cloud DNS documentation, Overlapping zones", phase="apply", watch=("privateVisibilityConfig",))
def _second_in_network(case: Case) -> Iterator[Violation]:
    for where, value in case.each(_NETWORKS):
        for other in case.users_of(case.resolve(str(value), NETWORK), ZONE):
            if other.inputs.get("dnsName") == case.get("dnsName"):
                yield Violation(
                    property=where,
                    what=f"the network sees another zone of {case.get('dnsName')}",
                    got=other.name,
                    do="Use that one, or another network",
                )


@refusal(_RECORDS, phase="plan", watch=("name", "managedZone"))
def _outside_zone(case: Case) -> Iterator[Violation]:
    zone, name = case.target("managedZone", ZONE), case.get("name")
    domain = str(zone.inputs.get("dnsName")) if zone else ""
    if zone and isinstance(name, str) and name != domain and not name.endswith(f".{domain}"):
        yield Violation(
            property="name", what="lies outside the zone", got=f"'{name}'", allowed=f"NAME.{domain}", do="Correct it"
        )


@refusal(_RECORDS)
def _data_malformed(case: Case) -> Iterator[Violation]:
    kind, data = case.get("type"), case.each("rrdatas.*")
    if kind == "CNAME" and len(data) > 1:
        yield Violation(property="rrdatas", what="an alias has one target", got=str(len(data)), do="Keep one")
    for where, value in data:
        if kind == "CNAME" and not str(value).endswith("."):
            yield Violation(property=where, what="is not a full name", got=f"'{value}'", do="End it with a dot")
        if kind == "A" and not _is_address(str(value)):
            yield Violation(property=where, what="is not an IPv4 address", got=f"'{value}'", do="Correct it")


def _is_address(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True


@refusal(_RECORDS, phase="apply", watch=("name", "type"))
def _alias_beside_others(case: Case) -> Iterator[Violation]:
    zone = case.target("managedZone", ZONE)
    if zone and case.get("type") == "CNAME" and case.get("name") == zone.inputs.get("dnsName"):
        yield Violation(property="type", what="the zone's own name takes no alias", do="Use another name, or type A")
    for other in case.users_of(zone, RECORD):
        kinds = {str(other.inputs.get("type")), str(case.get("type"))}
        if other.inputs.get("name") == case.get("name") and "CNAME" in kinds and len(kinds) > 1:
            yield Violation(
                property="type",
                what="an alias stands alone",
                got=f"{other.inputs.get('type')} beside it",
                do="Keep one",
            )


ROWS = (
    Row(
        type=ZONE,
        id="projects/{account}/managedZones/{name}",
        name=Name(
            path="name",
            pattern=r"[a-z]([-a-z0-9]*[a-z0-9])?",
            longest=63,
            source="Cloud DNS API Reference, managedZones",
            says="lower-case letters, digits and hyphens, starting with a letter",
        ),
        place="",
        outputs={
            "managedZoneId": lambda born: str(born.number(10**17, 10**18)),
            "nameServers": [],
            "creationTime": "2026-01-01T00:00:00Z",
        },
        defaults={"visibility": "public", "description": "Managed by Pulumi", "forceDestroy": False},
        aliases=("{name}",),
        immutable=frozenset({"dnsName", "visibility"}),
        references=(Reference(path=_NETWORKS, types=(NETWORK,), named=True, holds=True),),
        unique=("{account}/{name}",),
        refusals=(
            _without_final_dot,
            _seen_by_nobody,
            _second_in_network,
            labelled(),
            refusal(_ZONES)(one_of("visibility", ("public", "private"))),
        ),
    ),
    Row(
        type=RECORD,
        id="projects/{account}/managedZones/{managedZone}/rrsets/{name}/{type}",
        place="",
        immutable=frozenset({"managedZone", "name", "type"}),
        references=(Reference(path="managedZone", types=(ZONE,), named=True, holds=True),),
        unique=("{account}/{managedZone}/{name}/{type}",),
        refusals=(
            _outside_zone,
            _data_malformed,
            _alias_beside_others,
            refusal(_RECORDS)(one_of("type", _KINDS)),
            refusal(_RECORDS)(between("ttl", 0, 2**31 - 1, "seconds")),
        ),
    ),
)
