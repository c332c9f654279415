"""From the types of the catalogue to policy documents: whose identity, what it needs, and whose module words it.

Which types a stack declares is known to components only, so a document covers every type of the catalogue on that
cloud; types of DNS only where the fleet's zone lies. A cloud's module has ``documents(deployer, granted)``.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from outlast.errors import EnvironmentProblem, FactError, Problem
from outlast.facts import Facts
from outlast.intent import Intent

CLUSTER = "kubernetes"
"""What stands in facts in place of a cloud for objects inside a cluster."""
_ENGINE = "pulumi"
"""Package of the providers themselves; a type of it belongs to a cloud only by a row of its own."""
_DNS_ROLE = "route"
_CALL = "call"
_NEEDED = ("create", "read", "update", "delete", "all", _CALL)


@dataclass(frozen=True, kw_only=True)
class Site:
    """A region that an identity deploys."""

    region: str
    provider_region: str
    permissions_boundary: str | None
    """Policy that bounds every role made there."""


@dataclass(frozen=True, kw_only=True)
class Deployer:
    """The identity that deploys all regions of one account."""

    fleet: str
    cloud: str
    account: str
    role: str | None
    """Role or service account that it assumes, as regions.yaml says."""
    sites: tuple[Site, ...]

    @property
    def name(self) -> str:
        """Name of its documents, usable as part of a file's."""
        last = re.split(r"[/@]", self.role)[-1 if "/" in self.role else 0] if self.role else ""
        return "-".join(filter(None, (self.cloud, self.account, last)))


@dataclass(frozen=True)
class Granted:
    """Words of a cloud's permissions by the verb they are needed for; sorted, each once."""

    by_verb: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, verb: str) -> tuple[str, ...]:
        """Return the words of a verb."""
        return self.by_verb.get(verb, ())

    @property
    def needed(self) -> tuple[str, ...]:
        """All that creating, reading, changing and deleting need, and calls of functions."""
        return tuple(sorted({word for verb in _NEEDED for word in self.of(verb)}))


@dataclass(frozen=True, kw_only=True)
class Document:
    """One document, as the cloud takes it."""

    name: str
    """Name of its file, without the ending."""
    content: Mapping[str, Any]
    commands: tuple[str, ...]
    """Command lines that hand it to the cloud; capitals stand for what only the operator knows."""
    note: str
    """What the document cannot say."""


def documents_for(intent: Intent, regions: Iterable[str]) -> tuple[Document, ...]:
    """Return the documents of all identities that deploy some regions, and the one for their clusters.

    Raises:
        FactError: a type of the catalogue has no permissions; names each.
        EnvironmentProblem: no module writes documents of a cloud.
    """
    chosen = [region for region in intent.regions if region in set(regions)]
    found: list[Document] = []
    for deployer in (*_deployers(intent, chosen), _of_clusters(intent, chosen)):
        has_dns = intent.fleet.dns.region in {site.region for site in deployer.sites}
        granted = granted_on(intent.facts, deployer.cloud, dns=has_dns)
        found.extend(_writer(deployer.cloud).documents(deployer, granted))
    return tuple(found)


def granted_on(facts: Facts, cloud: str, *, dns: bool) -> Granted:
    """Return what deploying all types of the catalogue on a cloud needs.

    Args:
        facts: catalogue and permissions.
        cloud: which one.
        dns: whether the fleet's zone is deployed by the same identity.

    Raises:
        FactError: a type has no permissions; a document that leaves it out would fail half-way.
    """
    rows = [row for row in facts.permissions.values() if row.cloud == cloud]
    known = {row.type for row in rows}
    packages = {_package(name) for name in known} - {_ENGINE}
    types = {
        name
        for name, row in facts.catalogue.items()
        if (name in known or _package(name) in packages) and (dns or row.role != _DNS_ROLE)
    }
    if types - known:
        raise FactError(_unwritten(name) for name in sorted(types - known))
    words: dict[str, set[str]] = {}
    for row in rows:
        if row.type in types or row.verb == _CALL:
            words.setdefault(row.verb, set()).update(row.permissions)
    return Granted({verb: tuple(sorted(found)) for verb, found in sorted(words.items())})


def _unwritten(type_: str) -> Problem:
    return Problem(
        where="facts/permissions.csv",
        what=f"no row says what deploying {type_} needs",
        do="Add rows for it, with their source",
    )


def _package(type_: str) -> str:
    return type_.partition(":")[0]


def _deployers(intent: Intent, regions: Iterable[str]) -> Iterator[Deployer]:
    """Yield one identity for each account and role, in the order of regions.yaml."""
    groups: dict[tuple[str, str, str | None], list[Site]] = {}
    for region in regions:
        row = intent.regions[region]
        groups.setdefault((row.cloud, row.account, row.role), []).append(_site(intent, region))
    for (cloud, account, role), sites in groups.items():
        yield Deployer(fleet=intent.name, cloud=cloud, account=account, role=role, sites=tuple(sites))


def _of_clusters(intent: Intent, regions: Iterable[str]) -> Deployer:
    sites = tuple(_site(intent, region) for region in regions)
    return Deployer(fleet=intent.name, cloud=CLUSTER, account="", role=None, sites=sites)


def _site(intent: Intent, region: str) -> Site:
    row = intent.regions[region]
    return Site(region=region, provider_region=row.provider_region, permissions_boundary=row.permissions_boundary)


def _writer(cloud: str) -> Any:
    name = f"outlast.operations.permissions.{cloud}"
    if importlib.util.find_spec(name) is None:
        what = "no module writes its policy documents"
        do = f"Add outlast/operations/permissions/{cloud}.py"
        raise EnvironmentProblem(Problem(where=f"cloud '{cloud}'", what=what, do=do))
    return importlib.import_module(name)
