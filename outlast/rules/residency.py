"""Residency: what lies where, and whom the lock sends where. Legal rules: never waivable, kept in incidents."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.errors import did_you_mean, listed
from outlast.intent import region_stack
from outlast.proof import misplaced
from outlast.rules.rule import LOCK, Deployment, Rule
from outlast.rules.violation import Violation
from outlast.view import UNKNOWN, Location, Place, Resource, Value

DATA_ROLES = frozenset({"store", "registry", "key", "log"})
"""Catalogue roles of what keeps data, or opens it."""
_LAW = "data of a residency class may be kept, opened and processed only where its contract and law allow"


def check_listed(deployment: Deployment) -> Iterator[Violation]:
    """Yield every resource whose type is not in the catalogue, or hides its place."""
    for resource in deployment.view.cloud_resources:
        row = deployment.view.row(resource)
        if row is None:
            yield _untyped(
                resource,
                title=f"Resource type {resource.type} is not in the catalogue",
                allowed="a type with a row in facts/catalogue.csv",
                why="where a resource of an unlisted type keeps data is not known, so it cannot be allowed",
                fix=f"add a row for {resource.type} to config/facts/catalogue.csv: kind, role, inputs that say where",
            )
        elif row.kind == "opaque":
            yield _untyped(
                resource,
                title=f"Resource type {resource.type} hides its place",
                allowed="a type whose inputs say where it lies",
                why="the catalogue lists the type as opaque: no input of it says where it keeps data",
                fix=f"use another type, or name inputs of {resource.type} that say where in config/facts/catalogue.csv",
            )


def _untyped(resource: Resource, *, title: str, allowed: str, why: str, fix: str) -> Violation:
    return Violation(
        rule="R-00",
        urn=resource.urn,
        path="type",
        title=title,
        found=resource.type,
        allowed=allowed,
        why=why,
        fix=fix,
        decided=False,
    )


def check_decided(deployment: Deployment) -> Iterator[Violation]:
    """Yield every located resource whose place cannot be decided."""
    for resource in deployment.view.cloud_resources:
        row = deployment.view.row(resource)
        if row is None or row.kind == "opaque":
            continue
        location = deployment.view.location(resource)
        if not location.is_decided:
            yield Violation(
                rule="R-27",
                urn=resource.urn,
                path=location.path or "place",
                title=f"The place of {resource.type} '{resource.name}' cannot be decided",
                found=location.undecided,
                allowed="one region of the cloud, as a plain value",
                why="a place that is unknown before the deployment could be outside every allowed jurisdiction",
                fix="give the resource or its provider a literal region; a multi-region name is no place",
                decided=False,
            )


def check_in_own_region(deployment: Deployment) -> Iterator[Violation]:
    """Yield every resource of a region stack that lies outside that region."""
    regions = {region_stack(deployment.intent.name, name): name for name in deployment.intent.regions}
    for resource, location in _located(deployment):
        region = regions.get(resource.stack)
        if region is None:
            continue
        row = deployment.intent.regions[region]
        strays = [
            place
            for place in location.places
            if (place.cloud, place.provider_region) != (row.cloud, row.provider_region)
        ]
        for place in strays:
            yield Violation(
                rule="R-28",
                urn=resource.urn,
                path=location.path,
                title=f"{resource.type} '{resource.name}' lies outside its region {region}",
                found=str(place),
                allowed=f"{row.cloud} {row.provider_region}",
                why=f"stack {resource.stack} is region {region}; elsewhere its data would be under another law",
                chain=f"stack {resource.stack} -> region {region} -> {row.cloud} {row.provider_region}",
                fix=f"place it in {row.provider_region}, or declare it in the stack of the region where it belongs",
            )


def check_stores(deployment: Deployment) -> Iterator[Violation]:
    """Yield every store, registry, key and log that lies outside the jurisdiction it is labelled with."""
    for resource, location in _located(deployment):
        row = deployment.view.row(resource)
        if row is None or row.role not in DATA_ROLES:
            continue
        claim = _jurisdiction_claim(deployment, resource)
        if claim is None or claim is UNKNOWN:
            yield _unlabelled(resource, claim)
            continue
        for place in location.places:
            actual = deployment.intent.facts.jurisdiction_of(place.cloud, place.provider_region)
            if str(claim).upper() != actual:
                yield _displaced(deployment, resource, row.role, str(claim), location.path, place)


def _displaced(deployment: Deployment, resource: Resource, role: str, claim: str, path: str, place: Place) -> Violation:
    intent, law = deployment.intent, claim.upper()
    actual = intent.facts.jurisdiction_of(place.cloud, place.provider_region)
    known = sorted({row.jurisdiction for row in intent.facts.provider_regions.values()})
    ours = [intent.regions[region] for region in intent.jurisdictions.get(law, ())]
    names = listed(f"{row.cloud} {row.provider_region}" for row in ours)
    if law not in known:
        allowed = listed(known, len(known))
        meant = did_you_mean(law, known)
        fix = f"correct the label: '{claim}' is no jurisdiction" + (f". {meant}?" if meant else "")
    elif not ours:
        allowed = listed(intent.jurisdictions)
        fix = f"correct the label: the fleet has no region of jurisdiction {law}"
    else:
        allowed, fix = names, f"place it in one of: {names}"
    return Violation(
        rule="R-01",
        urn=resource.urn,
        path=path,
        title=f"{role} '{resource.name}' of jurisdiction {law} lies in {actual}",
        found=str(place),
        allowed=allowed,
        why=f"{_LAW}; {place.provider_region} is under the law of {actual}",
        chain=f"label outlast-jurisdiction={claim} -> {place.provider_region} -> {actual}",
        fix=fix,
    )


def check_homes_and_shares(deployment: Deployment) -> Iterator[Violation]:
    """Yield every home and failover share of the lock that sends a class where it may not be."""
    intent = deployment.intent
    for sent in misplaced(deployment.lock, intent):
        law = intent.jurisdiction(sent.region) if sent.region in intent.regions else "no such region"
        yield Violation(
            rule="R-15",
            urn=LOCK,
            path=sent.path,
            title=f"The lock sends class '{sent.residency}' to {sent.region}, where it may not be",
            found=f"{sent.share} % to {sent.region} ({law})",
            allowed=listed(sent.allowed),
            why=f"{_LAW}; this holds during a failover too",
            fix="plan again with 'outlast plan', and do not edit the lock by hand",
        )


def _located(deployment: Deployment) -> Iterator[tuple[Resource, Location]]:
    for resource in deployment.view.cloud_resources:
        location = deployment.view.location(resource)
        if location.places:
            yield resource, location


def _jurisdiction_claim(deployment: Deployment, resource: Resource) -> Value:
    """Return the label; inside a region stack the region's jurisdiction stands for a missing one."""
    claim = deployment.view.label(resource, "jurisdiction")
    if claim is not None:
        return claim
    intent = deployment.intent
    owner = next((region for region in intent.regions if region_stack(intent.name, region) == resource.stack), None)
    return intent.jurisdiction(owner) if owner else None


def _unlabelled(resource: Resource, claim: Value) -> Violation:
    return Violation(
        rule="R-36",
        urn=resource.urn,
        path="outlast-jurisdiction",
        title=f"{resource.type} '{resource.name}' does not say which jurisdiction its data belongs to",
        found="labels that are not known before the deployment" if claim is UNKNOWN else "no such label",
        allowed="a jurisdiction of facts/provider_regions.csv",
        why="data without a class is treated as the strictest class, which may be nowhere by default",
        fix="label it with names.labels(...), as the components do",
        decided=False,
    )


RULES = (
    Rule(
        id="R-00",
        title="Every resource type is in the catalogue and says where it lies",
        severity="critical",
        why="where an unlisted type keeps data is not known",
        checks="the type token of every resource and provider; types that hide their place",
        misses="resources that controllers create outside the engine",
        fix="add a row to config/facts/catalogue.csv that names the inputs which say where, or use another type",
        is_local=True,
        check=check_listed,
    ),
    Rule(
        id="R-01",
        title="Stores, registries, keys and logs lie in the jurisdiction they are labelled with",
        severity="critical",
        why=_LAW,
        checks="the real place of every resource with role store, registry, key or log against its jurisdiction label",
        misses="second places such as replication targets",
        fix="move the resource, or correct the label",
        is_local=True,
        check=check_stores,
    ),
    Rule(
        id="R-15",
        title="Homes and failover shares keep every class where it may be",
        severity="critical",
        why=_LAW,
        checks="homes and shares of the lock against classes and admissions",
        misses="what clients do with addresses they already know; the gateway refuses those",
        fix="plan again",
        is_local=False,
        check=check_homes_and_shares,
    ),
    Rule(
        id="R-27",
        title="Every place is known before the deployment",
        severity="critical",
        why="an unknown place could be anywhere",
        checks="the place paths of the catalogue, through references and providers",
        misses="types that are not listed or hide their place: R-00 refuses those",
        fix="use literal regions",
        is_local=False,
        check=check_decided,
    ),
    Rule(
        id="R-28",
        title="Resources of a region stack lie in that region",
        severity="critical",
        why="a stray resource puts data under another law and outside the region's failure domain",
        checks="the place of every located resource of a region stack",
        misses="global types",
        fix="place it in the region of its stack",
        is_local=True,
        check=check_in_own_region,
    ),
    Rule(
        id="R-36",
        title="What keeps data says which jurisdiction it belongs to",
        severity="high",
        why="data without a class is treated as the strictest",
        checks="label outlast-jurisdiction on stores, registries, keys and logs outside region stacks",
        misses="whether the label is right: R-01 compares it with the place",
        fix="label it",
        is_local=True,
        check=check_stores,
    ),
)
"""R-36 shares the check of R-01: it is what that check says of a resource without a label."""
