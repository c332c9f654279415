"""Checks of ids and tags against the forms that clouds give them: accounts, principals, what exists already."""

from __future__ import annotations

import re
from collections.abc import Iterator

from outlast.errors import Problem, listed
from outlast.facts import IdKind
from outlast.intent.intent import Intent
from outlast.intent.regions import Region

_TAG = re.compile(r"[a-z][a-z0-9_-]{0,62}")
_TAG_VALUE = re.compile(r"[a-z0-9_-]{1,63}")
"""What a label of Google Cloud takes, the strictest of the clouds, so that a tag is the same on all of them.

Source: Google Cloud, Requirements for labels; AWS, Tag naming limits; Azure, Limitations of tags.
"""
_OURS = "outlast-"
_MOST_OF_OURS = 10
"""Tags of a resource that are ours, at most."""


def placed_regions(intent: Intent) -> Iterator[tuple[str, str, Region]]:
    """Yield region, its key for messages, and what is declared, where facts know its cloud and provider region."""
    for name, region in intent.regions.items():
        if (region.cloud, region.provider_region) in intent.facts.provider_regions:
            yield name, f"{intent.name}/regions.yaml, regions.{name}", region


def check_forms(intent: Intent) -> Iterator[Problem]:
    """Accounts, principals and policies are written as their cloud writes them; every cloud takes the tags."""
    for _, where, region in placed_regions(intent):
        yield from misread(intent, f"{where}.account", region, "account", region.account)
        if region.role is not None:
            yield from misread(intent, f"{where}.role", region, "role", region.role)
        for rank, principals in region.access.model_dump().items():
            for principal in principals:
                yield from misread(intent, f"{where}.access.{rank}", region, "principal", principal)
        if region.permissions_boundary is not None:
            key = f"{where}.permissions_boundary"
            yield from misread(intent, key, region, "permissions-boundary", region.permissions_boundary)
        yield from _check_tags(intent, f"{where}.tags", region)
    dns = intent.fleet.dns
    owner = intent.regions.get(dns.region)
    if dns.existing_zone_id is not None and owner is not None and owner.cloud == dns.cloud:
        where = f"{intent.name}/fleet.yaml, dns.existing_zone_id"
        yield from misread(intent, where, owner, "dns-zone", dns.existing_zone_id)


def misread(intent: Intent, where: str, region: Region, kind: IdKind, text: str) -> Iterator[Problem]:
    """Yield what is wrong with an id: its form, or that it says another place than the region's.

    Args:
        intent: the fleet.
        where: the key that holds the id.
        region: where the thing must lie.
        kind: what is named.
        text: the id.
    """
    form = intent.facts.id_forms.get((region.cloud, kind))
    if form is None:
        return
    said = form.read(text)
    if said is None:
        yield Problem(
            where=where,
            what=f"is not how {region.cloud} writes {_WORDS[kind]}",
            got=f"'{text}'",
            allowed=form.form,
            do="Correct it",
        )
        return
    for group, right in (("provider_region", region.provider_region), ("account", region.account)):
        if said.get(group, right).lower() != right.lower():
            yield Problem(
                where=where,
                what=f"lies in another {group.replace('_', ' ')} than the region",
                got=said[group],
                allowed=right,
                do="Name one of the region's own place, or correct the region",
            )


_WORDS: dict[IdKind, str] = {
    "account": "an account",
    "principal": "a principal",
    "role": "what a deployment acts as",
    "permissions-boundary": "a policy",
    "reservation": "a reservation's id",
    "network": "a network's id",
    "subnet": "a subnet's id",
    "cluster": "a cluster's id",
    "api-server": "the address of an API server",
    "issuer": "the issuer of a cluster's tokens",
    "dns-zone": "a DNS zone's id",
}


def without_admin(intent: Intent, region: str) -> Iterator[Problem]:
    """Yield that nobody may administer the cluster that a region's deployment makes.

    Not a problem of the files, because a fleet that is only planned has no cluster.
    """
    row = intent.regions[region]
    if row.cluster.existing is None and not row.access.admin:
        yield Problem(
            where=f"{intent.name}/regions.yaml, regions.{region}.access.admin",
            what="nobody may administer the cluster: who creates it gets no right in it by that",
            got="no principal",
            do="Name at least the one that deploys",
        )


def _check_tags(intent: Intent, where: str, region: Region) -> Iterator[Problem]:
    rule = intent.facts.tags[region.cloud]
    most = rule.most - _MOST_OF_OURS
    for key, value in region.tags.items():
        if key.startswith(_OURS):
            yield Problem(
                where=f"{where}.{key}", what=f"tags that start with '{_OURS}' are ours", do="Choose another key"
            )
        elif not _TAG.fullmatch(key):
            yield Problem(
                where=f"{where}.{key}",
                what="not every cloud takes this key",
                allowed="1 to 63 lower-case letters, digits, hyphens and underscores, starting with a letter",
                do="Rename it",
            )
        elif key.startswith(rule.reserved_prefixes):
            yield Problem(
                where=f"{where}.{key}",
                what=f"{region.cloud} keeps such keys for itself",
                allowed=f"a key that does not start with {listed(rule.reserved_prefixes)}",
                do="Rename it",
            )
        if not _TAG_VALUE.fullmatch(value):
            yield Problem(
                where=f"{where}.{key}",
                what="not every cloud takes this value",
                got=f"'{value}'",
                allowed="1 to 63 lower-case letters, digits, hyphens and underscores",
                do="Rewrite it",
            )
    if len(region.tags) > most:
        yield Problem(
            where=where,
            what="too many tags for one resource",
            got=str(len(region.tags)),
            allowed=f"at most {most} on {region.cloud}",
            do=f"Keep the most important; the last are {listed(list(region.tags)[most:])}",
        )
