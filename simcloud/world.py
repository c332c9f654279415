"""What the simulated clouds know before anything is deployed: places, machine types, offerings, grants, accounts.

Compiled once from `config/` (`compile_world`) into plain JSON, because reading the files people write costs a plugin
more than its whole start. Facts come from `config/facts`, grants, reservations and accounts from the fleet's files.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from outlast.intent import Intent


@dataclass(frozen=True, kw_only=True)
class Quota:
    """A permission a cloud counts nodes against."""

    code: str
    name: str
    unit: str
    """`vcpu` or `gpus`."""
    raise_with: str
    """How an operator asks for more."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine type that facts know."""

    accelerator: str
    profiles: tuple[str, ...]
    """MIG profiles of its cards."""
    disks: int
    """Local disks: how many it has, or may have where they are chosen."""
    gpus: float
    vcpu: int
    quotas: Mapping[str, tuple[str, ...]]
    """Capacity type to quota codes."""
    zones: Mapping[str, tuple[str, ...]]
    """Provider region to zones it is offered in; no zones: the source does not say, the whole region."""


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """Machines held in one zone."""

    id: str
    cloud: str
    region: str
    zone: str
    machine_type: str
    nodes: int


@dataclass(frozen=True, kw_only=True)
class World:
    """Everything the clouds know; one for all plugins of a sim directory."""

    document: Mapping[str, Any]

    @cached_property
    def machines(self) -> Mapping[str, Machine]:
        """`cloud/machine type` to row."""
        return {key: Machine(**entry) for key, entry in self.document["machines"].items()}

    @cached_property
    def reservations(self) -> Mapping[str, Reservation]:
        """Reservation id to row."""
        return {key: Reservation(id=key, **entry) for key, entry in self.document["reservations"].items()}

    @cached_property
    def quotas(self) -> Mapping[str, Quota]:
        """`cloud/code` to row."""
        return {key: Quota(**entry) for key, entry in self.document["quotas"].items()}

    def regions(self, cloud: str) -> frozenset[str]:
        """Provider regions of a cloud."""
        return frozenset(self.document["regions"].get(cloud, ()))

    def clouds(self) -> tuple[str, ...]:
        """Clouds that the fleet has accounts in."""
        return tuple(sorted(self.document["accounts"]))

    def named_by_cloud(self, region: str) -> str:
        """Provider region of one of the fleet's regions; empty if the fleet has none of that name."""
        return str(self.document.get("fleet_regions", {}).get(region, ""))

    def accounts(self, cloud: str) -> tuple[str, ...]:
        """Accounts (projects, subscriptions) that the fleet's credentials reach."""
        return tuple(self.document["accounts"].get(cloud, ()))

    def zones(self, cloud: str, region: str) -> frozenset[str]:
        """Zones of a provider region that facts name; empty when facts name none."""
        return frozenset(self.document["zones"].get(f"{cloud}/{region}", ()))

    def kubernetes(self, cloud: str) -> tuple[str, ...]:
        """Minor versions of Kubernetes that a cloud offers, as facts list them."""
        return tuple(self.document.get("kubernetes", {}).get(cloud, ()))

    def granted(self, cloud: str, account: str, region: str, code: str) -> float:
        """Amount granted, in the quota's unit; 0 until granted."""
        return float(self.document["granted"].get(f"{cloud}/{account}/{region}/{code}", 0))


def load(path: Path) -> World:
    """Read what `compile_world` wrote."""
    return World(document=json.loads(path.read_text(encoding="utf-8")))


def compile_world(intent: Intent) -> dict[str, Any]:
    """Turn facts and one fleet's files into the JSON document that `load` reads."""
    facts = intent.facts
    regions: dict[str, list[str]] = {}
    for cloud, region in facts.provider_regions:
        regions.setdefault(cloud, []).append(region)
    kubernetes: dict[str, list[str]] = {}
    for cloud, version in facts.kubernetes_versions:
        kubernetes.setdefault(cloud, []).append(version)
    zones: dict[str, set[str]] = {}
    for (cloud, region), place in facts.provider_regions.items():
        zones.setdefault(f"{cloud}/{region}", set()).update(place.zone_names)
    for (cloud, region, _), offering in facts.offerings.items():
        zones.setdefault(f"{cloud}/{region}", set()).update(offering.zones)
    for row in intent.regions.values():
        zones.setdefault(f"{row.cloud}/{row.provider_region}", set()).update(row.zones)
    return {
        "fleet": intent.name,
        "regions": regions,
        "fleet_regions": {name: row.provider_region for name, row in intent.regions.items()},
        "zones": {key: sorted(found) for key, found in zones.items()},
        "kubernetes": kubernetes,
        "machines": _machines(intent),
        "quotas": {
            f"{row.cloud}/{row.quota_code}": {
                "code": row.quota_code,
                "name": row.quota_name,
                "unit": row.unit,
                "raise_with": row.raise_with,
            }
            for row in facts.quotas
        },
        **_holdings(intent),
    }


def _machines(intent: Intent) -> dict[str, Any]:
    from outlast.intent.partitions import mig_profiles

    facts = intent.facts
    offered: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for (cloud, region, machine_type), offering in facts.offerings.items():
        offered.setdefault((cloud, machine_type), {})[region] = offering.zones
    return {
        f"{cloud}/{machine_type}": {
            "accelerator": row.accelerator,
            "profiles": mig_profiles(facts.accelerators[row.accelerator]),
            "disks": int(row.nvme_count or 0),
            "gpus": row.node_gpus,
            "vcpu": row.vcpu,
            "quotas": {
                capacity: tuple(quota.quota_code for quota in facts.quotas_for(cloud, machine_type, capacity))
                for capacity in ("on_demand", "reserved", "spot")
            },
            "zones": offered.get((cloud, machine_type), {}),
        }
        for (cloud, machine_type), row in facts.machine_types.items()
    }


def _holdings(intent: Intent) -> dict[str, Any]:
    accounts: dict[str, list[str]] = {}
    granted: dict[str, float] = {}
    reservations: dict[str, Any] = {}
    for name, region in intent.regions.items():
        known = accounts.setdefault(region.cloud, [])
        if region.account not in known:
            known.append(region.account)
        holdings = intent.holdings(name)
        for code, quota in holdings.quotas.items():
            granted[f"{region.cloud}/{region.account}/{region.provider_region}/{code}"] = float(quota.granted)
        for key, held in holdings.reservations.items():
            reservations[key] = {
                "cloud": region.cloud,
                "region": region.provider_region,
                "zone": held.zone,
                "machine_type": held.machine_type,
                "nodes": held.nodes,
            }
    return {"accounts": accounts, "granted": granted, "reservations": reservations}
