"""Loads ``config/facts/*.csv`` into one immutable, indexed value and checks rows against each other."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from pydantic import ValidationError

from outlast.errors import FactError, Problem, listed
from outlast.facts.models import (
    Accelerator,
    AcceleratorType,
    AddOn,
    Capability,
    CatalogueRow,
    ClosedZone,
    EgressPrice,
    Example,
    GoodputFact,
    IdForm,
    Interconnect,
    KubernetesVersion,
    MachineType,
    ModelShape,
    NetworkBaseline,
    NetworkFact,
    Offering,
    Permission,
    Price,
    ProviderRegion,
    QuotaFact,
    Row,
    TagRule,
)


@dataclass(frozen=True)
class Facts:
    """All facts, indexed by the names that other files use."""

    accelerators: Mapping[str, Accelerator]
    machine_types: Mapping[tuple[str, str], MachineType]
    """(cloud, machine type) -> row."""
    network_baselines: Mapping[tuple[str, str], NetworkBaseline]
    """(cloud, machine type) -> row, where it is less than the machine type's figure."""
    interconnects: Mapping[tuple[str, str], Interconnect]
    """(cloud, machine type) -> row, where machines have one."""
    accelerator_types: Mapping[tuple[str, str], AcceleratorType]
    """(cloud, machine type) -> row, of a cloud whose node pools say both."""
    offerings: Mapping[tuple[str, str, str], Offering]
    """(cloud, provider region, machine type) -> row."""
    provider_regions: Mapping[tuple[str, str], ProviderRegion]
    """(cloud, provider region) -> row."""
    closed_zones: Mapping[tuple[str, str], ClosedZone]
    """(cloud, zone) -> row."""
    prices: Mapping[tuple[str, str, str, str], Price]
    """(cloud, provider region, machine type, basis) -> row."""
    quotas: tuple[QuotaFact, ...]
    goodput: tuple[GoodputFact, ...]
    model_shapes: Mapping[str, ModelShape]
    egress: tuple[EgressPrice, ...]
    catalogue: Mapping[str, CatalogueRow]
    """Resource type -> row."""
    capabilities: Mapping[tuple[str, str], Capability]
    """(cloud, capability) -> row."""
    kubernetes_versions: Mapping[tuple[str, str], KubernetesVersion]
    """(cloud, minor version) -> row."""
    add_ons: Mapping[tuple[str, str, str], AddOn]
    """(cloud, add-on, minor version of Kubernetes) -> row."""
    id_forms: Mapping[tuple[str, str], IdForm]
    """(cloud, kind of id) -> row."""
    networks: Mapping[str, NetworkFact]
    """Cloud -> row."""
    tags: Mapping[str, TagRule]
    """Cloud -> row."""
    examples: Mapping[str, Example]
    """Text -> row."""
    permissions: Mapping[tuple[str, str, str], Permission]
    """(cloud, resource type, verb) -> row."""

    def can(self, cloud: str, capability: str) -> bool:
        """Whether a cloud has a capability."""
        return (cloud, capability) in self.capabilities

    def interconnect_cards(self, cloud: str, machine_type: str) -> int:
        """Return how many network cards machines of a type have for each other; 0: none."""
        row = self.interconnects.get((cloud, machine_type))
        return row.cards if row else 0

    def accelerator_type(self, cloud: str, machine_type: str) -> str:
        """Return what a cloud itself calls the accelerator of a machine type; empty where nobody asks for it."""
        row = self.accelerator_types.get((cloud, machine_type))
        return row.accelerator_type if row else ""

    def quotas_for(self, cloud: str, machine_type: str, capacity: str) -> tuple[QuotaFact, ...]:
        """Return the quotas of a region that a node of this type and capacity type counts against."""
        return tuple(quota for quota in self._drawn_on(cloud, machine_type, capacity) if not quota.is_account_wide)

    def caps_for(self, cloud: str, machine_type: str, capacity: str) -> tuple[QuotaFact, ...]:
        """Return the quotas above those of a region: one grant for all regions of an account."""
        return tuple(quota for quota in self._drawn_on(cloud, machine_type, capacity) if quota.is_account_wide)

    def _drawn_on(self, cloud: str, machine_type: str, capacity: str) -> Iterator[QuotaFact]:
        for quota in self.quotas:
            patterns = quota.machine_types if quota.cloud == cloud and capacity in quota.capacity else ()
            if any(fnmatchcase(machine_type, pattern) for pattern in patterns):
                yield quota

    def sustained_gbps(self, machine: MachineType) -> float | None:
        """Return the network bandwidth that a node keeps up, or None if no source gives one."""
        baseline = self.network_baselines.get((machine.cloud, machine.machine_type))
        return baseline.baseline_gbps if baseline else machine.network_gbps

    def jurisdiction_of(self, cloud: str, provider_region: str) -> str | None:
        """Return the jurisdiction of a cloud's region, or None if the region is not in the table."""
        row = self.provider_regions.get((cloud, provider_region))
        return row.jurisdiction if row else None

    @cached_property
    def clouds(self) -> tuple[str, ...]:
        """Clouds that facts know, sorted."""
        return tuple(sorted({cloud for cloud, _ in self.provider_regions}))


def load_facts(config_root: Path) -> Facts:
    """Read every file of facts below ``config_root`` and check them against each other.

    Raises:
        FactError: holds every problem of every file.
    """
    folder = config_root / "facts"
    problems: list[Problem] = []
    rows = {name: list(_read(folder / f"{name}.csv", model, problems)) for name, model in _FILES.items()}
    if problems:
        raise FactError(problems)
    facts = Facts(
        accelerators=_index(rows["accelerators"], "accelerator"),
        machine_types=_index(rows["machine_types"], "cloud", "machine_type"),
        network_baselines=_index(rows["network_baselines"], "cloud", "machine_type"),
        interconnects=_index(rows["interconnects"], "cloud", "machine_type"),
        accelerator_types=_index(rows["accelerator_types"], "cloud", "machine_type"),
        offerings=_index(rows["offerings"], "cloud", "provider_region", "machine_type"),
        provider_regions=_index(rows["provider_regions"], "cloud", "provider_region"),
        closed_zones=_index(rows["closed_zones"], "cloud", "zone"),
        prices=_index(rows["prices"], "cloud", "provider_region", "machine_type", "basis"),
        quotas=tuple(rows["quotas"]),  # type: ignore[arg-type]
        goodput=tuple(rows["goodput"]),  # type: ignore[arg-type]
        model_shapes=_index(rows["model_shapes"], "model"),
        egress=tuple(rows["egress"]),  # type: ignore[arg-type]
        catalogue=_index(rows["catalogue"], "type"),
        capabilities=_index(rows["capabilities"], "cloud", "capability"),
        kubernetes_versions=_index(rows["kubernetes_versions"], "cloud", "kubernetes"),
        add_ons=_index(rows["add_ons"], "cloud", "add_on", "kubernetes"),
        id_forms=_index(rows["id_forms"], "cloud", "kind"),
        networks=_index(rows["networks"], "cloud"),
        tags=_index(rows["tags"], "cloud"),
        examples=_index(rows["examples"], "text"),
        permissions=_index(rows["permissions"], "cloud", "type", "verb"),
    )
    problems.extend(_check(facts, rows))
    if problems:
        raise FactError(problems)
    return facts


_FILES: Mapping[str, type[Row]] = MappingProxyType(
    {
        "accelerators": Accelerator,
        "machine_types": MachineType,
        "network_baselines": NetworkBaseline,
        "interconnects": Interconnect,
        "accelerator_types": AcceleratorType,
        "offerings": Offering,
        "provider_regions": ProviderRegion,
        "closed_zones": ClosedZone,
        "prices": Price,
        "quotas": QuotaFact,
        "goodput": GoodputFact,
        "model_shapes": ModelShape,
        "egress": EgressPrice,
        "catalogue": CatalogueRow,
        "capabilities": Capability,
        "kubernetes_versions": KubernetesVersion,
        "add_ons": AddOn,
        "id_forms": IdForm,
        "networks": NetworkFact,
        "tags": TagRule,
        "examples": Example,
        "permissions": Permission,
    }
)
_KEYS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "accelerators": ("accelerator",),
        "machine_types": ("cloud", "machine_type"),
        "network_baselines": ("cloud", "machine_type"),
        "interconnects": ("cloud", "machine_type"),
        "accelerator_types": ("cloud", "machine_type"),
        "offerings": ("cloud", "provider_region", "machine_type"),
        "provider_regions": ("cloud", "provider_region"),
        "closed_zones": ("cloud", "zone"),
        "prices": ("cloud", "provider_region", "machine_type", "basis"),
        "model_shapes": ("model",),
        "catalogue": ("type",),
        "capabilities": ("cloud", "capability"),
        "kubernetes_versions": ("cloud", "kubernetes"),
        "add_ons": ("cloud", "add_on", "kubernetes"),
        "id_forms": ("cloud", "kind"),
        "networks": ("cloud",),
        "tags": ("cloud",),
        "examples": ("text",),
        "permissions": ("cloud", "type", "verb"),
        "quotas": ("cloud", "quota_code"),
    }
)


def _read(path: Path, model: type[Row], problems: list[Problem]) -> Iterator[Row]:
    where = f"facts/{path.name}"
    if not path.is_file():
        problems.append(Problem(where=where, what="the file is missing", do="Restore it from version control"))
        return
    with path.open(newline="", encoding="utf-8") as stream:
        for line, cells in enumerate(csv.DictReader(stream), start=2):
            try:
                yield model.model_validate(cells)
            except ValidationError as error:
                for detail in error.errors():
                    key = ".".join(str(part) for part in detail["loc"])
                    problems.append(
                        Problem(where=f"{where}, line {line}, {key}", what=detail["msg"], got=repr(detail["input"]))
                    )


def _index(rows: list[Row], *keys: str) -> Mapping:  # type: ignore[type-arg]
    def key_of(row: Row) -> object:
        values = tuple(getattr(row, key) for key in keys)
        return values if len(values) > 1 else values[0]

    return MappingProxyType({key_of(row): row for row in rows})


def _check(facts: Facts, rows: Mapping[str, list[Row]]) -> Iterator[Problem]:
    for name, keys in _KEYS.items():
        seen: set[tuple[object, ...]] = set()
        for row in rows[name]:
            key = tuple(getattr(row, part) for part in keys)
            if key in seen:
                yield Problem(where=f"facts/{name}.csv", what=f"two rows for {' '.join(map(str, key))}", do="Keep one")
            seen.add(key)
    for machine in facts.machine_types.values():
        if machine.accelerator not in facts.accelerators:
            yield Problem(
                where=f"facts/machine_types.csv, {machine.machine_type}",
                what="unknown accelerator",
                got=machine.accelerator,
                allowed=listed(facts.accelerators),
            )
    for offering in facts.offerings.values():
        where = f"facts/offerings.csv, {offering.machine_type} in {offering.provider_region}"
        if (offering.cloud, offering.machine_type) not in facts.machine_types:
            yield Problem(where=where, what="machine type is not in machine_types.csv")
        if (offering.cloud, offering.provider_region) not in facts.provider_regions:
            yield Problem(where=where, what="provider region is not in provider_regions.csv")
    for cloud in facts.clouds:
        if cloud not in facts.networks:
            yield Problem(where="facts/networks.csv", what=f"no row for {cloud}", do="Add how it cuts networks")
        if cloud not in facts.tags:
            yield Problem(where="facts/tags.csv", what=f"no row for {cloud}", do="Add what tags it takes")
    for name in ("network_baselines", "interconnects", "accelerator_types"):
        for key in getattr(facts, name):
            if key not in facts.machine_types:
                yield Problem(where=f"facts/{name}.csv, {key[1]}", what="machine type is not in machine_types.csv")
    for cloud in {cloud for cloud, _ in facts.accelerator_types}:
        for lacking in sorted(kind for owner, kind in facts.machine_types if owner == cloud):
            if (cloud, lacking) not in facts.accelerator_types:
                what = f"no row for a machine type of {cloud}, whose node pools name accelerators"
                yield Problem(
                    where=f"facts/accelerator_types.csv, {lacking}", what=what, do="Add what it calls its own"
                )
    for price in facts.prices.values():
        if (price.cloud, price.machine_type) not in facts.machine_types:
            yield Problem(
                where=f"facts/prices.csv, {price.machine_type}", what="machine type is not in machine_types.csv"
            )
