"""Firewall rules of Google Cloud networks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeGuard

from simcloud.refusals import Violation
from simcloud.row import Case, Reference, Row, between, one_of, refusal
from simcloud.rows.gcp.forms import resource_name
from simcloud.rows.gcp.network import NETWORK
from simcloud.values import is_unknown

_RULES = "Google Cloud VPC documentation, VPC firewall rules"
_SDK = "pulumi-gcp, gcp.compute.Firewall"
_PROTOCOLS = ("tcp", "udp", "icmp", "esp", "ah", "sctp", "ipip", "all")
_WITH_PORTS = ("tcp", "udp", "sctp", "6", "17", "132")
_SOURCES = ("sourceRanges", "sourceTags", "sourceServiceAccounts")
_MOST_ACCOUNTS = 10


@refusal(_RULES)
def _allows_and_denies(case: Case) -> Iterator[Violation]:
    if case.has("allows") == case.has("denies"):
        yield Violation(property="allows", what="a rule either allows or denies", do="Set allows or denies, not both")


@refusal(_SDK)
def _source_and_direction(case: Case) -> Iterator[Violation]:
    given = [key for key in _SOURCES if case.has(key)]
    if case.get("direction", "INGRESS") == "INGRESS" and not given:
        yield Violation(property="sourceRanges", what="a rule of what comes in needs a source", do="Set sourceRanges")
    if case.get("direction") == "EGRESS":
        for key in given:
            yield Violation(property=key, what="a rule of what goes out has no source", do="Set destinationRanges")


@refusal(_RULES)
def _tags_with_accounts(case: Case) -> Iterator[Violation]:
    tags = [key for key in ("targetTags", "sourceTags") if case.has(key)]
    accounts = [key for key in ("targetServiceAccounts", "sourceServiceAccounts") if case.has(key)]
    if tags and accounts:
        yield Violation(
            property=accounts[0], what="does not go with tags", got=tags[0], do="Use service accounts or tags, not both"
        )


@refusal(_RULES)
def _account_malformed(case: Case) -> Iterator[Violation]:
    for key in ("targetServiceAccounts", "sourceServiceAccounts"):
        found = case.each(f"{key}.*")
        if len(found) > _MOST_ACCOUNTS:
            yield Violation(
                property=key,
                what="too many service accounts",
                got=str(len(found)),
                allowed=str(_MOST_ACCOUNTS),
                do="Split",
            )
        for where, value in found:
            if not re.fullmatch(r"[^@\s:]+@[^@\s]+\.[^@\s]+", str(value)):
                yield Violation(
                    property=where,
                    what="is not the address of a service account",
                    got=f"'{value}'",
                    do="Write NAME@PROJECT.iam.gserviceaccount.com",
                )


def _word(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and not is_unknown(value)


@refusal(_SDK)
def _protocol_and_ports(case: Case) -> Iterator[Violation]:
    for where, item in (*case.each("allows.*"), *case.each("denies.*")):
        protocol, ports = item.get("protocol"), item.get("ports")
        if _word(protocol) and protocol not in _PROTOCOLS and not protocol.isdigit():
            yield Violation(
                property=f"{where}.protocol",
                what="is not a protocol",
                got=f"'{protocol}'",
                allowed=f"a number, or {', '.join(_PROTOCOLS)}",
                do="Correct it",
            )
        if ports and _word(protocol) and protocol not in _WITH_PORTS:
            yield Violation(property=f"{where}.ports", what=f"{protocol} has no ports", do="Leave them out")


_ID = "projects/{account}/global/firewalls/{name}"

ROWS = (
    Row(
        type="gcp:compute/firewall:Firewall",
        id=_ID,
        name=resource_name(),
        place="",
        outputs={
            "selfLink": f"https://www.googleapis.com/compute/v1/{_ID}",
            "creationTimestamp": "2026-01-01T00:00:00.000-00:00",
        },
        defaults={"direction": "INGRESS", "priority": 1000},
        aliases=("{selfLink}", "{name}"),
        immutable=frozenset({"network", "direction"}),
        references=(Reference(path="network", types=(NETWORK,), holds=True, named=True),),
        unique=("{account}/{name}",),
        refusals=(
            _allows_and_denies,
            _source_and_direction,
            _tags_with_accounts,
            _account_malformed,
            _protocol_and_ports,
            refusal(_RULES)(between("priority", 0, 65535)),
            refusal(_RULES)(one_of("direction", ("INGRESS", "EGRESS"))),
        ),
    ),
)
