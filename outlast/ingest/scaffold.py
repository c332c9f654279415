"""Writes the files of a new fleet: small, commented, and plannable at once.

``fleet_files`` and ``stack_files`` are pure: names and texts from the templates of ``outlast/ingest/templates`` and the
facts. ``create`` writes them, all or none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from importlib import resources
from pathlib import Path
from string import Template

from outlast.errors import ConfigError, EnvironmentProblem, Problem
from outlast.facts import Facts
from outlast.facts.models import QuotaFact
from outlast.ingest.sites import ACCELERATOR, Site, nearest_dns_region, origins, sites, starters
from outlast.ingest.writing import checked, create_folder, exists
from outlast.intent import stack_order
from outlast.intent.reading import validate
from outlast.intent.tenants import Tenant
from outlast.intent.writing import write_all

_STEMS = (
    "fleet",
    "regions",
    "models",
    "demand",
    "tenants",
    "guardrails",
    "capacity",
    "artifacts",
    "operations",
)
_GRANTED_NODES = 12
"""Nodes that the example quota of a region holds; the first plan needs fewer."""
_REGIONS_OF_AN_ACCOUNT = 4
"""Regions that an example cap of an account holds."""
_EU = "EU"
SIM_SALT = "v1:esOebU1FBBk=:v1:0kVSvKQ6HE3UdEpf:zqFCeJ00TYl6qGHAC23qsK3eLj9uTA=="
"""Salt of stacks on simulated clouds, made with the public passphrase of `simcloud.environment`; bound to no stack."""


def create(config_root: Path, fleet: str, regions: Sequence[str], facts: Facts, today: date) -> tuple[Path, ...]:
    """Write a new fleet and its stack files; return the paths, the folder first.

    Raises:
        ConfigError: the name or a region is wrong, or a file or folder is there already; nothing is written then.
    """
    _check_name(fleet)
    folder = config_root / "fleets" / fleet
    if folder.exists() or folder.is_symlink():
        raise ConfigError(exists(folder))
    texts = fleet_files(fleet, sites(regions, facts), facts, today)
    intent = checked(config_root, fleet, facts, texts)
    stacks = {config_root / "stacks" / name: text for name, text in stack_files(fleet, stack_order(intent)).items()}
    taken = [exists(path) for path in stacks if path.exists()]
    if taken:
        raise ConfigError(taken)
    if not (config_root / "stacks").is_dir():
        what, do = "there is no such folder", "Make it, or run the command inside the project"
        raise EnvironmentProblem(Problem(where=str(config_root / "stacks"), what=what, do=do))
    write_all(stacks)
    try:
        create_folder(folder, texts)
    except BaseException:
        for path in stacks:
            path.unlink(missing_ok=True)
        raise
    return folder, *stacks


def _check_name(fleet: str) -> None:
    """Refuse what cannot be a name; a fleet's is part of every stack's and host's name, as a tenant's model is."""
    problems: list[Problem] = []
    validate({"residency": fleet, "models": ["chat"]}, "", Tenant, problems)
    if problems:
        allowed = problems[0].allowed or "at most 32 letters"
        raise ConfigError(
            Problem(where="init", what="not a name for a fleet", got=f"'{fleet}'", allowed=allowed, do="Choose another")
        )


def fleet_files(fleet: str, chosen: Sequence[Site], facts: Facts, today: date) -> Mapping[str, str]:
    """Return the files of a fleet, name -> text."""
    dns = next(site for site in chosen if starters()[site.cloud].ANSWERS_DNS)
    values = {
        "fleet": fleet,
        "dns_cloud": dns.cloud,
        "dns_region": dns.name,
        "accelerator": ACCELERATOR,
        "today": today.isoformat(),
        "nodes": str(_GRANTED_NODES),
        "first_origin": next(iter(origins(chosen))).lower(),
        "regions": "".join(_region(fleet, site, dns, facts) for site in chosen),
        "origins": "".join(_origins(chosen)),
        "serving": "{" + ", ".join(f"{site.name}: serving" for site in chosen) + "}",
        "commands": "\n".join(_commands(fleet, chosen)),
        **_people(chosen),
    }
    held = "".join(_holdings(site, today) for site in chosen)
    return {
        f"{stem}.yaml": _filled(stem, values | ({"regions": held} if stem == "capacity" else {})) for stem in _STEMS
    }


def stack_files(fleet: str, stacks: Sequence[str]) -> Mapping[str, str]:
    """Return the files of a fleet's stacks, name -> text."""
    return {
        f"Pulumi.{stack}.yaml": _filled("stack", {"fleet": fleet, "stack": stack, "salt": SIM_SALT}) for stack in stacks
    }


def _filled(stem: str, values: Mapping[str, str]) -> str:
    text = resources.files("outlast.ingest").joinpath("templates", f"{stem}.yaml").read_text(encoding="utf-8")
    return Template(text).substitute({name: value.rstrip("\n") for name, value in values.items()})


def _region(fleet: str, site: Site, dns: Site, facts: Facts) -> str:
    starter = starters()[site.cloud]
    zones = ", ".join(site.zones)
    country = facts.provider_regions[site.cloud, site.provider_region].country
    number = ""
    if facts.can(site.cloud, "numbered-service-agents"):
        number = f"    account_number: {starter.ACCOUNT_NUMBER} # EXAMPLE, put yours\n"
    return (
        f"  {site.name}: # {country}, jurisdiction {site.jurisdiction}\n"
        f"    cloud: {site.cloud}\n"
        f"    provider_region: {site.provider_region}\n"
        f"    zones: [{zones}]\n"
        f"    account: {starter.ACCOUNT.format(fleet=fleet)} # EXAMPLE, put yours\n"
        f"{number}"
        f"    cidr: {site.cidr}\n"
        f"    dns_region: {nearest_dns_region(site, dns, facts)}\n"
        f"    node_pools:\n"
        f"      gh100: {{machine_type: {site.machine.machine_type}, zones: [{zones}], capacity: on_demand}}\n"
        f'    access: {{admin: ["{starter.ADMIN}"]}} # EXAMPLE, put yours\n'
        f"    tags: {{cost-centre: inference}}\n"
    )


def _origins(chosen: Sequence[Site]) -> list[str]:
    entries = []
    for jurisdiction, codes in origins(chosen).items():
        near = sorted(chosen, key=lambda site: site.jurisdiction != jurisdiction)
        names = ", ".join(site.name for site in near)
        places = ", ".join(f'"{code}"' for code in codes)
        entries.append(f"  {jurisdiction.lower()}:\n    geolocation: [{places}]\n    nearest: [{names}]\n")
    return entries


def _people(chosen: Sequence[Site]) -> Mapping[str, str]:
    """Return classes, admissions, tenants and demand; EU residents only where two regions can hold them."""
    jurisdictions = list(origins(chosen))
    has_residents = sum(site.jurisdiction == _EU for site in chosen) > 1
    first = jurisdictions[0].lower()
    classes = (
        '  open: {serve_in: ["*"], fail_over_to: ["*"], legal_basis: standard terms, allowed_outage: 15 min, '
        "prompt_logging: permitted}\n"
    )
    tenants = "  shop: {residency: open, models: [chat], limits: {tokens: 2M tok/min}}\n"
    curve = (
        "  - {{tenants: [{0}], origin: {1}, model: chat, shape: {{peak: {2}, peak_utc_hour: {3}, trough: 25 %, "
        "weekend: 60 %}}}}\n"
    )
    curves = curve.format("shop", first, "12k tok/s", 18)
    if has_residents:
        classes += (
            f"  eu-resident: {{serve_in: [{_EU}], fail_over_to: [{_EU}], legal_basis: data processing agreement, "
            "allowed_outage: 15 min}\n"
        )
        tenants += "  clinic: {residency: eu-resident, models: [chat], limits: {tokens: 1M tok/min}}\n"
        curves += curve.format("clinic", _EU.lower(), "6k tok/s", 12)
    admits = "".join(
        f"  {place}: [open{', eu-resident' if has_residents and place == _EU else ''}]\n" for place in jurisdictions
    )
    return {"classes": classes, "admits": admits, "tenants": tenants, "curves": curves}


def _holdings(site: Site, today: date) -> str:
    return f"  {site.name}:\n    quotas:\n" + "".join(_quota(site, quota, today) for quota in site.quotas)


def _quota(site: Site, quota: QuotaFact, today: date) -> str:
    nodes = _GRANTED_NODES * (_REGIONS_OF_AN_ACCOUNT if quota.is_account_wide else 1)
    each = quota.of_node(site.machine)
    return f"      {quota.quota_code}: {{granted: {each * nodes:g} {quota.written_unit}, as_of: {today}}}\n"


def _commands(fleet: str, chosen: Sequence[Site]) -> list[str]:
    lines = []
    for site in chosen:
        starter = starters()[site.cloud]
        account = starter.ACCOUNT.format(fleet=fleet).strip('"')
        read = starter.READ_QUOTAS.format(region=site.provider_region, account=account)
        lines += [f"#   {read} > quotas.json", f"#   outlast import quotas {fleet} quotas.json --region {site.name}"]
    return lines
