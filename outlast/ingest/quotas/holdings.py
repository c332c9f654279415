"""Compares a cloud's listing with ``capacity.yaml`` and writes what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from outlast.errors import ConfigError, Problem
from outlast.ingest.quotas.amounts import Wanted, readers
from outlast.ingest.sources import json_of, text_of
from outlast.ingest.writing import checked
from outlast.ingest.yaml_edit import with_keys
from outlast.intent import Intent
from outlast.intent.known import unknown

FILE = "capacity.yaml"


@dataclass(frozen=True, kw_only=True)
class QuotaChange:
    """One quota of a region, as it stands and as the cloud says."""

    code: str
    unit: str
    before: float | None
    """Granted in capacity.yaml; None if the quota is not there, which counts as 0."""
    after: float
    needed: bool
    """Whether a node pool of the region counts against it."""

    @property
    def changed(self) -> bool:
        """Whether the amount differs."""
        return self.before != self.after


@dataclass(frozen=True, kw_only=True)
class QuotaImport:
    """What a listing says of a region."""

    region: str
    tool: str
    quotas: tuple[QuotaChange, ...]
    missing: tuple[str, ...]
    """Codes that node pools of the region need and the listing does not have."""
    notes: tuple[str, ...]
    as_of: date

    def entries(self) -> Mapping[str, Mapping[str, str]]:
        """Return code -> the keys of capacity.yaml, as YAML."""
        return {
            quota.code: {"granted": f"{quota.after:g} {quota.unit}", "as_of": self.as_of.isoformat()}
            for quota in self.quotas
        }


def read_quotas(path: Path, region: str, intent: Intent, as_of: date) -> QuotaImport:
    """Return what a listing says of one of our regions.

    Quotas that are 0, not in capacity.yaml and of no node pool are left out.

    Raises:
        ConfigError: the region is unknown, or the file is no listing of its cloud, place and account.
    """
    if region not in intent.regions:
        raise ConfigError(unknown("--region", "region", region, intent.regions))
    row, where = intent.regions[region], path.name
    reader = readers().get(row.cloud)
    if reader is None:
        raise ConfigError(unknown("--region", "cloud whose listings can be read", row.cloud, readers()))
    document = json_of(text_of(path), where)
    if not reader.recognises(document):
        other = next((cloud for cloud, found in readers().items() if found.recognises(document)), None)
        what = f"is no listing of {row.cloud}" + (f" but of {other}" if other else "")
        raise ConfigError(Problem(where=where, what=what, do=f"Save what this prints: {reader.COMMAND}"))
    units = {quota.quota_code: quota.written_unit for quota in intent.facts.quotas if quota.cloud == row.cloud}
    wanted = Wanted(provider_region=row.provider_region, account=row.account, codes=frozenset(units))
    amounts = reader.amounts(document, wanted, where)
    needed = {
        quota.quota_code
        for pool in row.node_pools.values()
        for quota in intent.facts.quotas_for(row.cloud, pool.machine_type, pool.capacity)
    }
    if not amounts.granted:
        do = f"Save what this prints: {reader.COMMAND}"
        raise ConfigError(Problem(where=where, what="holds no quota of GPU machines that facts know", do=do))
    held = intent.holdings(region).quotas
    quotas = tuple(
        QuotaChange(
            code=code,
            unit=units[code],
            before=float(held[code].granted) if code in held else None,
            after=granted,
            needed=code in needed,
        )
        for code, granted in sorted(amounts.granted.items())
        if granted or code in needed or code in held
    )
    missing = tuple(sorted(needed - set(amounts.granted)))
    return QuotaImport(
        region=region, tool=amounts.tool, quotas=quotas, missing=missing, notes=amounts.notes, as_of=as_of
    )


def changed_file(found: QuotaImport, config_root: Path, intent: Intent) -> Mapping[Path, str]:
    """Return what capacity.yaml would hold; keys other than the amount and its day stay.

    Raises:
        ConfigError: the file cannot be edited in place, or the fleet would be wrong.
    """
    path = config_root / "fleets" / intent.name / FILE
    text = text_of(path)
    for code, keys in found.entries().items():
        place = ("regions", found.region, "quotas", code)
        text = with_keys(text, place, keys, f"{intent.name}/{FILE}")
    checked(config_root, intent.name, intent.facts, {FILE: text})
    return {path: text}
