"""Checks across files and facts; each yields every problem it finds, in the user's terms."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.errors import Problem, listed
from outlast.intent.checks_capabilities import check_capabilities
from outlast.intent.checks_capacity import check_capacity
from outlast.intent.checks_examples import check_examples
from outlast.intent.checks_existing import check_existing
from outlast.intent.checks_forms import check_forms
from outlast.intent.checks_models import check_demand, check_models
from outlast.intent.checks_regions import check_origins, check_regions
from outlast.intent.checks_versions import check_versions
from outlast.intent.images import check_images
from outlast.intent.intent import Intent
from outlast.intent.known import unknown


def check(intent: Intent) -> Iterator[Problem]:
    """Yield every cross-file problem; checks that lean on others run only once those hold."""
    first = [
        *check_regions(intent),
        *check_forms(intent),
        *check_examples(intent),
        *check_existing(intent),
        *check_capabilities(intent),
        *check_versions(intent),
        *check_models(intent),
        *check_tenants(intent),
        *check_demand(intent),
        *check_capacity(intent),
        *check_releases(intent),
        *check_operations(intent),
        *check_waivers(intent),
        *check_published(intent),
    ]
    yield from first
    if not first:
        origins = list(check_origins(intent))
        yield from origins
        if not origins:
            yield from check_survival_is_possible(intent)


def notices(intent: Intent) -> Iterator[str]:
    """Yield what is allowed but worth knowing, one sentence each."""
    for residency in intent.tenants_file.classes:
        for region in intent.regions:
            missing = sorted(m for m in intent.models_of_class[residency] if not intent.accelerators_for(m, region))
            admitted = residency in intent.tenants_file.admits.get(intent.jurisdiction(region), ())
            if missing and admitted:
                yield f"{region} takes no '{residency}' traffic: it has no accelerator for {listed(missing)}"
    for region in intent.regions:
        if region not in intent.operations.regions:
            yield f"{region} is not in operations.yaml, so routing sends it no traffic"
    unmeasured: dict[tuple[str, str], list[str]] = {}
    for name, model in intent.models.items():
        for accelerator, how in model.accelerators.items():
            if how.goodput.kind != "measured":
                found = unmeasured.setdefault((how.goodput.kind, how.goodput.source), [])
                found.append(f"{name} on {accelerator}")
    for (kind, source), names in unmeasured.items():
        yield f"goodput of {', '.join(names)} is {kind}, not measured ({source})"


def check_tenants(intent: Intent) -> Iterator[Problem]:
    """Classes, jurisdictions, hosts and models of tenants exist and agree."""
    file = intent.tenants_file
    base = f"{intent.name}/tenants.yaml"
    jurisdictions = {row.jurisdiction for row in intent.facts.provider_regions.values()}
    for name, residency in file.classes.items():
        for key in ("serve_in", "fail_over_to"):
            for jurisdiction in getattr(residency, key):
                if jurisdiction not in jurisdictions and jurisdiction != "*":
                    yield unknown(f"{base}, classes.{name}.{key}", "jurisdiction", jurisdiction, jurisdictions)
        lacking = {"region", "zone", "replica"} - set(residency.survive)
        if lacking - ({residency.gap.loss} if residency.gap else set()):
            yield Problem(
                where=f"{base}, classes.{name}.survive",
                what=f"the class does not survive the loss of a {listed(lacking)}",
                do="Add it, or add 'gap' with loss, owner, reason and expires",
            )
    for jurisdiction, admitted in file.admits.items():
        if jurisdiction not in jurisdictions:
            yield unknown(f"{base}, admits", "jurisdiction", jurisdiction, jurisdictions)
        for residency_name in admitted:
            if residency_name not in file.classes:
                yield unknown(f"{base}, admits.{jurisdiction}", "residency class", residency_name, file.classes)
    hosts: dict[str, str] = {}
    for name, tenant in file.tenants.items():
        where = f"{base}, tenants.{name}"
        for key, value in (("residency", tenant.residency), ("was", tenant.was)):
            if value is not None and value not in file.classes:
                yield unknown(f"{where}.{key}", "residency class", value, file.classes)
        for model in tenant.models:
            if model not in intent.base_of:
                yield unknown(f"{where}.models", "model", model, intent.base_of)
        if tenant.host and tenant.host in hosts:
            yield Problem(
                where=f"{where}.host",
                what=f"tenant '{hosts[tenant.host]}' has this host already",
                got=tenant.host,
                do="Give each tenant its own host",
            )
        hosts.setdefault(tenant.host or "", name)
        owner = file.classes.get(tenant.residency)
        if tenant.prompt_logging and owner and owner.prompt_logging == "forbidden":
            yield Problem(
                where=f"{where}.prompt_logging",
                what=f"class '{tenant.residency}' forbids prompt logging",
                got="true",
                do="Set it to false, or change the class by contract",
            )


def check_releases(intent: Intent) -> Iterator[Problem]:
    """Images that nodes need are released; adapters and variants name things that exist."""
    yield from check_images(intent)
    for name, artifact in intent.artifacts.adapters.items():
        tenant = artifact.residency.removeprefix("tenant:")
        if artifact.residency.startswith("tenant:") and tenant not in intent.tenants_file.tenants:
            yield unknown(
                f"{intent.name}/artifacts.yaml, adapters.{name}.residency",
                "tenant",
                tenant,
                intent.tenants_file.tenants,
            )
    files = {"fleet", "regions", "models", "tenants", "demand", "guardrails", "capacity", "artifacts"}
    for name, patch in intent.variants.variants.items():
        for stem in patch:
            if stem not in files:
                yield unknown(f"{intent.name}/variants.yaml, variants.{name}", "file", stem, files)


def check_operations(intent: Intent) -> Iterator[Problem]:
    """Operations name regions and classes of the fleet, and an incident ends in time."""
    operations = f"{intent.name}/operations.yaml"
    for region in intent.operations.regions:
        if region not in intent.regions:
            yield unknown(f"{operations}, regions", "region", region, intent.regions)
    for index, drill in enumerate(intent.operations.drills):
        if drill.region not in intent.regions:
            yield unknown(f"{operations}, drills.{index}", "region", drill.region, intent.regions)
        if drill.residency not in intent.tenants_file.classes:
            yield unknown(
                f"{operations}, drills.{index}", "residency class", drill.residency, intent.tenants_file.classes
            )
    incident = intent.operations.incident
    if incident and incident.lost not in intent.regions:
        yield unknown(f"{operations}, incident.lost", "region", incident.lost, intent.regions)
    if incident and (incident.expires - incident.since).total_seconds() > 72 * 3600:
        yield Problem(
            where=f"{operations}, incident.expires",
            what="an incident lasts at most 72 h",
            got=str(incident.expires),
            do="Set an earlier expiry; renew it if it lasts",
        )
    if incident and incident.expires <= incident.since:
        yield _ends_early(f"{operations}, incident.expires", str(incident.expires), str(incident.since))
    for index, wave in enumerate(intent.operations.rollout.waves):
        for region in wave:
            if region not in intent.regions:
                yield unknown(f"{operations}, rollout.waves.{index}", "region", region, intent.regions)


def check_waivers(intent: Intent) -> Iterator[Problem]:
    """Waivers are short, and approved by another than their owner."""
    for name, waiver in intent.waivers.waivers.items():
        where = f"{intent.name}/waivers.yaml, waivers.{name}"
        if (waiver.expires - waiver.created).days > 30:
            yield Problem(
                where=f"{where}.expires",
                what="a waiver lasts at most 30 days",
                got=str(waiver.expires),
                do="Set an earlier expiry",
            )
        if waiver.expires < waiver.created:
            yield _ends_early(f"{where}.expires", str(waiver.expires), str(waiver.created))
        if waiver.owner == waiver.approver:
            yield Problem(
                where=f"{where}.approver",
                what="the owner cannot approve the waiver",
                got=waiver.approver,
                do="Name another approver",
            )


def check_published(intent: Intent) -> Iterator[Problem]:
    """Published figures are of variants, models and accelerators that exist."""
    file, where = intent.published, f"{intent.name}/compare.yaml"
    variants = intent.variants.variants
    named = {f"plans.{index}": row.variant for index, row in enumerate(file.plans)}
    named |= {f"optima.{index}": row.variant for index, row in enumerate(file.optima)}
    for key, variant in named.items():
        if variant is not None and variant not in variants:
            yield unknown(f"{where}, {key}.variant", "variant", variant, variants)
    for index, memory in enumerate(file.memory):
        if memory.model not in intent.models:
            yield unknown(f"{where}, memory.{index}.model", "model", memory.model, intent.models)
        if memory.accelerator not in intent.facts.accelerators:
            cards = intent.facts.accelerators
            yield unknown(f"{where}, memory.{index}.accelerator", "accelerator", memory.accelerator, cards)


def _ends_early(where: str, got: str, begins: str) -> Problem:
    return Problem(
        where=where, what="ends before it begins", got=got, allowed=f"after {begins}", do="Correct the dates"
    )


def check_survival_is_possible(intent: Intent) -> Iterator[Problem]:
    """A class that must survive a region has at least one region to go to from each of its homes."""
    for residency, origins in intent.homes.items():
        detail = intent.tenants_file.classes[residency]
        if "region" not in detail.survive or not intent.guardrails.losses.region:
            continue
        for home in sorted({region for shares in origins.values() for region in shares}):
            if not intent.survivors(residency, home):
                models = listed(intent.models_of_class[residency])
                places = "any jurisdiction" if "*" in detail.fail_over_to else listed(detail.fail_over_to)
                yield Problem(
                    where=f"{intent.name}/tenants.yaml, classes.{residency}",
                    what=f"losing '{home}' leaves no region that the class may go to",
                    got=f"fail_over_to {listed(detail.fail_over_to)}",
                    allowed=f"a second region in {places} that hosts {models} and admits the class",
                    do=f"Add a region in {places}, admit the class there, or give the class a dated gap",
                )
