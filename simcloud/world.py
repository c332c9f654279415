"""What the simulated clouds know before anything is deployed: places, machine types, offerings, grants, accounts.

Compiled once from `config/` (`compile_world`) into plain JSON, because reading the files people write costs a plugin
more than its whole start. Facts come from `config/facts`, grants, reservations and accounts from the fleet's files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
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
    account_wide: bool = False
    """Whether machines of all regions count against one grant."""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A machine type that facts know."""

    accelerator: str
    accelerator_type: str = ""
    """What the cloud itself calls the accelerator, where its node pools say it."""
    profiles: tuple[str, ...]
    """MIG profiles of its cards."""
    disks: int
    """Local disks: how many it has, or may have where they are chosen."""
    gpus: float
    vcpu: int
    interconnect_cards: int = 0
    """Network cards by which machines of the type speak to each other."""
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
    starts: str = ""
    """First day on which it holds its machines, as an ISO date; empty: it holds them already."""
    ends: str = ""
    """Last day on which it holds its machines, as an ISO date; empty: it does not end."""
    block: bool = False
    """Whether it is a block bought for a fixed time."""


@dataclass(frozen=True, kw_only=True)
class Existing:
    """A network that a region of the fleet finds, and perhaps a cluster in it; ids are the cloud's."""

    cloud: str
    account: str
    region: str
    """Provider region."""
    cidr: str
    kubernetes: str
    network: str
    subnets: Mapping[str, str]
    """Zone to subnet of its nodes."""
    api_subnets: tuple[str, ...]
    cluster: str = ""
    """Empty: the region makes its own."""
    server: str = ""
    """Address of the cluster's API server."""


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
    def existing(self) -> tuple[Existing, ...]:
        """What stands in the clouds before any program runs."""
        return tuple(Existing(**entry) for entry in self.document.get("existing", ()))

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

    def closed_zones(self, cloud: str) -> frozenset[str]:
        """Zones of a cloud that take no control plane of a managed cluster."""
        return frozenset(self.document.get("closed_zones", {}).get(cloud, ()))

    def kubernetes_versions(self, cloud: str) -> tuple[str, ...]:
        """Minor versions that a cloud's managed Kubernetes takes; none when facts know none."""
        return tuple(self.document.get("kubernetes_versions", {}).get(cloud, ()))

    def add_ons(self, cloud: str) -> Mapping[str, Mapping[str, str]]:
        """Add-on -> minor version of Kubernetes -> version of the add-on that goes with it."""
        found: Mapping[str, Mapping[str, str]] = self.document.get("add_ons", {}).get(cloud, {})
        return found

    @cached_property
    def today(self) -> str:
        """The fleet's fixed date, or the real one, as an ISO date."""
        return str(self.document.get("today") or date.today().isoformat())

    def granted(self, cloud: str, account: str, region: str, code: str) -> float:
        """Amount granted, in the quota's unit; 0 until granted."""
        where = "" if self.quotas[f"{cloud}/{code}"].account_wide else region
        return float(self.document["granted"].get(f"{cloud}/{account}/{where}/{code}", 0))

    def account_number(self, cloud: str, account: str) -> str:
        """Number by which a cloud's own services know an account; empty if nobody entered it."""
        return str(self.document.get("account_numbers", {}).get(f"{cloud}/{account}", ""))


def load(path: Path) -> World:
    """Read what `compile_world` wrote."""
    return World(document=json.loads(path.read_text(encoding="utf-8")))


def compile_world(intent: Intent) -> dict[str, Any]:
    """Turn facts and one fleet's files into the JSON document that `load` reads."""
    facts = intent.facts
    regions: dict[str, list[str]] = {}
    for cloud, region in facts.provider_regions:
        regions.setdefault(cloud, []).append(region)
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
        "closed_zones": {
            cloud: [zone for owner, zone in facts.closed_zones if owner == cloud] for cloud in facts.clouds
        },
        "machines": _machines(intent),
        "today": intent.fleet.today.isoformat() if intent.fleet.today else "",
        **_versions(intent),
        "quotas": {
            f"{row.cloud}/{row.quota_code}": {
                "code": row.quota_code,
                "name": row.quota_name,
                "unit": row.unit,
                "raise_with": row.raise_with,
                "account_wide": row.is_account_wide,
            }
            for row in facts.quotas
        },
        "existing": list(_existing(intent)),
        **_holdings(intent),
    }


def _existing(intent: Intent) -> Iterator[dict[str, Any]]:
    for row in intent.regions.values():
        if row.network.existing is not None:
            yield {
                "cloud": row.cloud,
                "account": row.account,
                "region": row.provider_region,
                "cidr": row.cidr,
                "kubernetes": intent.fleet.kubernetes,
                "network": row.network.existing,
                "subnets": row.network.subnets,
                "api_subnets": row.network.api_subnets,
                "cluster": row.cluster.existing or "",
                "server": row.cluster.server or "",
            }


def _versions(intent: Intent) -> dict[str, Any]:
    versions: dict[str, list[str]] = {}
    for cloud, version in intent.facts.kubernetes_versions:
        versions.setdefault(cloud, []).append(version)
    add_ons: dict[str, dict[str, dict[str, str]]] = {}
    for (cloud, name, version), row in intent.facts.add_ons.items():
        add_ons.setdefault(cloud, {}).setdefault(name, {})[version] = row.version
    return {"kubernetes_versions": versions, "add_ons": add_ons}


def _machines(intent: Intent) -> dict[str, Any]:
    from outlast.intent.partitions import mig_profiles

    facts = intent.facts
    offered: dict[tuple[str, str], dict[str, tuple[str, ...]]] = {}
    for (cloud, region, machine_type), offering in facts.offerings.items():
        offered.setdefault((cloud, machine_type), {})[region] = offering.zones
    return {
        f"{cloud}/{machine_type}": {
            "accelerator": row.accelerator,
            "accelerator_type": facts.accelerator_type(cloud, machine_type),
            "profiles": mig_profiles(facts.accelerators[row.accelerator]),
            "disks": int(row.nvme_count or 0),
            "gpus": row.node_gpus,
            "vcpu": row.vcpu,
            "interconnect_cards": facts.interconnect_cards(cloud, machine_type),
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
    wide = {(quota.cloud, quota.quota_code) for quota in intent.facts.quotas if quota.is_account_wide}
    numbers: dict[str, str] = {}
    for name, region in intent.regions.items():
        known = accounts.setdefault(region.cloud, [])
        if region.account not in known:
            known.append(region.account)
        if region.account_number is not None:
            numbers[f"{region.cloud}/{region.account}"] = region.account_number
        holdings = intent.holdings(name)
        for code, quota in holdings.quotas.items():
            capped = (region.cloud, code) in wide
            amount = intent.cap_granted(name, code) if capped else float(quota.granted)
            where = "" if capped else region.provider_region
            granted[f"{region.cloud}/{region.account}/{where}/{code}"] = amount
        for key, held in holdings.reservations.items():
            reservations[key] = {
                "cloud": region.cloud,
                "region": region.provider_region,
                "zone": held.zone,
                "machine_type": held.machine_type,
                "nodes": held.nodes,
                "starts": held.starts.isoformat() if held.starts else "",
                "ends": held.ends.isoformat() if held.ends else "",
                "block": held.block,
            }
    return {"accounts": accounts, "account_numbers": numbers, "granted": granted, "reservations": reservations}
