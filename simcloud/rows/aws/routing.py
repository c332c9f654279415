"""Route 53: hosted zones, records with their routing policies, health checks."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Born, Case, Name, Reference, Row, between, one_of, refusal

ZONE = "aws:route53/zone:Zone"
RECORD = "aws:route53/record:Record"
CHECK = "aws:route53/healthCheck:HealthCheck"

_API = "Amazon Route 53 API Reference"
_GUIDE = "Amazon Route 53 Developer Guide"
_POLICIES = (
    "weightedRoutingPolicies",
    "latencyRoutingPolicies",
    "geolocationRoutingPolicies",
    "geoproximityRoutingPolicy",
    "failoverRoutingPolicies",
    "cidrRoutingPolicy",
    "multivalueAnswerRoutingPolicy",
)


def full_name(name: object, zone: object) -> str:
    """A record's name with its zone, which people may leave out."""
    text, around = str(name).rstrip(".").lower(), str(zone).rstrip(".").lower()
    return text if text == around or text.endswith(f".{around}") else ".".join(part for part in (text, around) if part)


def _policy(inputs: dict[str, Any]) -> str:
    return next((item for item in _POLICIES if inputs.get(item)), "simple")


@refusal(f"{_GUIDE}, Choosing a routing policy")
def _policy_and_identifier(case: Case) -> Iterator[Violation]:
    policies = [item for item in _POLICIES if case.has(item)]
    if len(policies) > 1:
        yield Violation(
            property=policies[1], what=f"conflicts with {policies[0]}", do="Use one routing policy a record"
        )
    if bool(policies) != case.has("setIdentifier"):
        yield Violation(
            property="setIdentifier",
            what="goes with a routing policy, and only with one",
            got=policies[0] if policies else "no routing policy",
            do="Set both or neither",
        )


@refusal(f"{_API}, ResourceRecordSet")
def _alias_or_values(case: Case) -> Iterator[Violation]:
    if case.has("aliases") and (case.has("records") or case.has("ttl")):
        yield Violation(property="aliases", what="conflicts with records and ttl", do="Keep one of them")
    elif not case.has("aliases") and not (case.has("records") and case.has("ttl")):
        key = "ttl" if case.has("records") else "records"
        yield Violation(property=key, what="is missing: a record has values with a ttl, or an alias", do="Set it")


@refusal(f"{_GUIDE}, Supported DNS record types")
def _value_of_another_kind(case: Case) -> Iterator[Violation]:
    version = {"A": 4, "AAAA": 6}.get(str(case.get("type")))
    for where, value in case.each("records.*") if version else ():
        try:
            right = ip_address(str(value)).version == version
        except ValueError:
            right = False
        if not right:
            yield Violation(
                property=where,
                what=f"is not an IPv{version} address",
                got=f"'{value}'",
                do="Pass an address, or another type",
            )


@refusal(f"{_API}, ResourceRecordSet: GeoLocation")
def _geolocation_codes(case: Case) -> Iterator[Violation]:
    yield from one_of("geolocationRoutingPolicies.*.continent", ("AF", "AN", "AS", "EU", "OC", "NA", "SA"))(case)
    for where, value in case.each("geolocationRoutingPolicies.*.country"):
        if value != "*" and not (len(str(value)) == 2 and str(value).isupper()):
            yield Violation(
                property=where,
                what="is not a country code",
                got=f"'{value}'",
                allowed="two capital letters, or *",
                do="Correct it",
            )


@refusal(f"{_API}, ResourceRecordSet: Region")
def _latency_region(case: Case) -> Iterator[Violation]:
    for where, value in case.each("latencyRoutingPolicies.*.region"):
        if value not in case.world.regions("aws"):
            yield Violation(
                property=where,
                what="is not an AWS region",
                got=f"'{value}'",
                do="Use the AWS region nearest to the endpoint",
            )


def _siblings(case: Case) -> list[Any]:
    zone = case.target("zoneId", ZONE)
    if zone is None:
        return []
    wanted = full_name(case.get("name"), zone.inputs.get("name")), case.get("type")
    found = []
    for user in case.clouds.users(zone):
        name = full_name(user.inputs.get("name"), zone.inputs.get("name"))
        if (
            user.type == RECORD
            and (name, user.inputs.get("type")) == wanted
            and (not case.own or user.serial != case.own.serial)
        ):
            found.append(user)
    return found


@refusal(
    "terraform-provider-aws issues 1668 and 7998: records of one name share one routing policy",
    phase="apply",
    watch=_POLICIES,
)
def _policy_unlike_siblings(case: Case) -> Iterator[Violation]:
    mine = _policy(dict(case.inputs))
    for sibling in _siblings(case):
        theirs = _policy(dict(sibling.inputs))
        if theirs != mine:
            yield Violation(
                property="name",
                what="has records of another routing policy",
                got=f"{mine} beside {theirs} of {sibling.id}",
                do="Use a new name for the new policy and repoint, or delete the old records first",
            )
            return


@refusal(
    f"{_API}, ResourceRecordSet: GeoLocation and Region",
    phase="apply",
    watch=("geolocationRoutingPolicies", "latencyRoutingPolicies"),
)
def _place_taken_by_sibling(case: Case) -> Iterator[Violation]:
    for key in ("geolocationRoutingPolicies", "latencyRoutingPolicies"):
        for sibling in _siblings(case) if case.has(key) else ():
            if sibling.inputs.get(key) == case.inputs.get(key):
                yield Violation(
                    property=key,
                    what="is the same as another record's",
                    got=sibling.id,
                    do="Give each record its own place",
                )


@refusal(f"{_API}, AliasTarget", phase="apply", watch=("aliases",))
def _alias_leads_nowhere(case: Case) -> Iterator[Violation]:
    zone = case.target("zoneId", ZONE)
    for where, alias in case.each("aliases.*"):
        if zone is None or not isinstance(alias, dict) or alias.get("zoneId") not in (zone.id, zone.inputs.get("name")):
            continue
        wanted = full_name(alias.get("name"), zone.inputs.get("name")), case.get("type")
        known = {
            (full_name(user.inputs.get("name"), zone.inputs.get("name")), user.inputs.get("type"))
            for user in case.clouds.users(zone)
            if user.type == RECORD
        }
        if wanted not in known:
            yield Violation(
                property=f"{where}.name",
                what="leads to no record of the same type in the zone",
                got=f"{wanted[1]} {wanted[0]}",
                do="Create the target first (depends_on)",
            )


@refusal(f"{_API}, DeleteHostedZone: HostedZoneNotEmpty", phase="delete")
def _zone_holds_records(case: Case) -> Iterator[Violation]:
    records = [user.id for user in case.clouds.users(case.own) if user.type == RECORD] if case.own else []
    if records and case.get("forceDestroy") is not True:
        yield Violation(
            what="holds records", got=", ".join(sorted(records)[:5]), do="Delete them first, or set forceDestroy"
        )


_TYPES = (
    "HTTP",
    "HTTPS",
    "HTTP_STR_MATCH",
    "HTTPS_STR_MATCH",
    "TCP",
    "CALCULATED",
    "CLOUDWATCH_METRIC",
    "RECOVERY_CONTROL",
)


@refusal(f"{_API}, HealthCheckConfig")
def _endpoint_missing(case: Case) -> Iterator[Violation]:
    endpoint = str(case.get("type")) in ("HTTP", "HTTPS", "HTTP_STR_MATCH", "HTTPS_STR_MATCH", "TCP")
    if endpoint and not case.has("fqdn") and not case.has("ipAddress"):
        yield Violation(property="fqdn", what="is missing: the check has nothing to ask", do="Set fqdn or ipAddress")
    if case.get("type") == "CALCULATED" and not case.has("childHealthchecks"):
        yield Violation(property="childHealthchecks", what="is missing", do="List the health checks to calculate from")


@refusal(f"{_API}, HealthCheckConfig: RequestInterval, FailureThreshold")
def _pace(case: Case) -> Iterator[Violation]:
    yield from one_of("requestInterval", (10, 30))(case)
    yield from between("failureThreshold", 1, 10)(case)


@refusal(f"{_API}, HealthCheckConfig: Regions")
def _too_few_regions(case: Case) -> Iterator[Violation]:
    if case.has("regions") and not case.unsure("regions.*") and len(case.each("regions.*")) < 3:
        yield Violation(property="regions", what="needs at least three regions", do="Add some, or leave it out for all")


def _record_key(case: Case) -> str | None:
    zone = case.target("zoneId", ZONE)
    name, kind = case.get("name"), case.get("type")
    if zone is None or name is None:
        return None
    return "/".join([zone.id, full_name(name, zone.inputs.get("name")), str(kind), str(case.get("setIdentifier", ""))])


def _record_id(born: Born) -> str:
    words = (born.inputs.get(key) for key in ("zoneId", "name", "type", "setIdentifier"))
    return "_".join(str(word) for word in words if word)


def _fqdn(born: Born) -> str:
    zones = born.clouds.find(str(born.inputs.get("zoneId")), [ZONE])
    return full_name(born.inputs.get("name", ""), zones[0].inputs.get("name", "") if zones else "")


ROWS = (
    Row(
        type=ZONE,
        id=lambda born: f"Z{born.hash[:20].upper()}",
        name=Name(
            path="name",
            pattern=r"([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]*\.?",
            longest=255,
            auto=False,
            source=f"{_GUIDE}, DNS domain name format",
            says="a domain name in lower case",
        ),
        place="",
        outputs={
            "arn": lambda born: f"arn:aws:route53:::hostedzone/Z{born.hash[:20].upper()}",
            "zoneId": "{id}",
            "nameServers": [
                "ns-{hash:.3}.awsdns-1.org",
                "ns-{hash:.4}.awsdns-2.com",
                "ns-{hash:.5}.awsdns-3.net",
                "ns-{hash:.6}.awsdns-4.co.uk",
            ],
            "primaryNameServer": "ns-{hash:.3}.awsdns-1.org",
        },
        defaults={"comment": "Managed by Pulumi", "forceDestroy": False},
        aliases=("{arn}",),
        immutable=frozenset({"delegationSetId"}),
        refusals=(_zone_holds_records,),
    ),
    Row(
        type=RECORD,
        id=_record_id,
        name=Name(path="name", longest=255, auto=False, source=f"{_GUIDE}, DNS domain name format"),
        place="",
        outputs={"fqdn": _fqdn},
        immutable=frozenset({"zoneId", "type", "setIdentifier"}),
        references=(
            Reference(path="zoneId", types=(ZONE,), cascades=True),
            Reference(path="healthCheckId", types=(CHECK,)),
            Reference(path="aliases.*.zoneId", types=(ZONE,), outside="Z[A-Z0-9]{10,18}"),
        ),
        unique=(_record_key,),
        refusals=(
            refusal(f"{_GUIDE}, Supported DNS record types")(
                one_of(
                    "type",
                    (
                        "A",
                        "AAAA",
                        "CAA",
                        "CNAME",
                        "DS",
                        "HTTPS",
                        "MX",
                        "NAPTR",
                        "NS",
                        "PTR",
                        "SOA",
                        "SPF",
                        "SRV",
                        "SSHFP",
                        "SVCB",
                        "TLSA",
                        "TXT",
                    ),
                )
            ),
            refusal(f"{_API}, ResourceRecordSet: Weight")(between("weightedRoutingPolicies.*.weight", 0, 255)),
            _policy_and_identifier,
            _alias_or_values,
            _value_of_another_kind,
            _geolocation_codes,
            _latency_region,
            _policy_unlike_siblings,
            _place_taken_by_sibling,
            _alias_leads_nowhere,
        ),
    ),
    Row(
        type=CHECK,
        id=lambda born: f"{born.hash[:8]}-{born.hash[8:12]}-{born.hash[12:16]}-{born.hash[16:20]}-{born.hash[20:32]}",
        place="",
        outputs={"arn": "arn:aws:route53:::healthcheck/{id}"},
        aliases=("{arn}",),
        immutable=frozenset({"type", "requestInterval", "measureLatency", "referenceName", "routingControlArn"}),
        references=(Reference(path="childHealthchecks.*", types=(CHECK,)),),
        refusals=(
            refusal(f"{_API}, HealthCheckConfig: Type")(one_of("type", _TYPES)),
            _endpoint_missing,
            _pace,
            _too_few_regions,
        ),
    ),
)
