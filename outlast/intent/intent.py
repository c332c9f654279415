"""What a fleet wants and holds, as one immutable value, with the sets and curves that follow from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from outlast.facts import Facts
from outlast.intent.capacity import CapacityFile, Holdings
from outlast.intent.comparison import ComparisonFile
from outlast.intent.demand import DemandFile
from outlast.intent.fleet import FleetFile
from outlast.intent.guardrails import GuardrailsFile
from outlast.intent.models import WHOLE, Model, ModelAccelerator, ModelsFile
from outlast.intent.regions import Nat, NodePool, Region, RegionsFile
from outlast.intent.releases import ArtifactsFile, OperationsFile, VariantsFile, WaiversFile
from outlast.intent.tenants import TenantsFile

ANY = "*"
REDUNDANT_NAT = "zone-redundant-nat"
"""Capability of a cloud whose one way out of a region outlives every zone."""
HOURS = 168
"""Hours of a planned week; hour 0 is Monday 00:00 UTC."""


@dataclass(frozen=True)
class Hosted:
    """A model served by the cloud itself in a region, for demand that moves in."""

    tok_s: float
    """Quota, in the model's unit per second."""
    classes: frozenset[str]
    """Classes that it may serve."""


@dataclass(frozen=True)
class Intent:
    """All files of one fleet, checked, with the facts they were checked against."""

    name: str
    """The fleet."""
    facts: Facts
    fleet: FleetFile
    regions_file: RegionsFile
    models_file: ModelsFile
    tenants_file: TenantsFile
    demand_file: DemandFile
    guardrails: GuardrailsFile
    capacity: CapacityFile
    artifacts: ArtifactsFile
    operations: OperationsFile
    waivers: WaiversFile
    variants: VariantsFile
    published: ComparisonFile
    given_up: frozenset[tuple[str, str]] = frozenset()
    """(class, lost region) that a plan may leave unserved; never from files, only while looking for what fits."""

    @property
    def regions(self) -> Mapping[str, Region]:
        """Our regions, in the order of the file."""
        return self.regions_file.regions

    @property
    def models(self) -> Mapping[str, Model]:
        """Models; each one's replicas in a region are a pool of the same name."""
        return self.models_file.models

    @property
    def today(self) -> date:
        """The fleet's fixed date, or the real one."""
        return self.fleet.today or date.today()

    def jurisdiction(self, region: str) -> str:
        """Return the law that applies in our region; facts decide, not the files people write."""
        row = self.regions[region]
        found = self.facts.jurisdiction_of(row.cloud, row.provider_region)
        if found is None:
            raise LookupError(row.cloud, row.provider_region)  # the loader refuses such a region
        return found

    def add_ons(self, region: str) -> Mapping[str, str]:
        """Return managed add-on -> pinned version for a region's cluster; the fleet's own choice goes first."""
        minor = ".".join(self.fleet.kubernetes.split(".")[:2])
        pinned = {
            name: row.version
            for (cloud, name, version), row in self.facts.add_ons.items()
            if (cloud, version) == (self.regions[region].cloud, minor)
        }
        return pinned | {name: version for name, version in self.fleet.add_ons.items() if name in pinned}

    def nat(self, region: str) -> Nat:
        """Return how nodes of a region's own network reach the world, where regions.yaml may leave it open."""
        row = self.regions[region]
        return row.network.nat or ("regional" if self.facts.can(row.cloud, REDUNDANT_NAT) else "zonal")

    @cached_property
    def jurisdictions(self) -> Mapping[str, tuple[str, ...]]:
        """Jurisdiction -> our regions in it."""
        found: dict[str, list[str]] = {}
        for region in self.regions:
            found.setdefault(self.jurisdiction(region), []).append(region)
        return {jurisdiction: tuple(regions) for jurisdiction, regions in found.items()}

    def holdings(self, region: str) -> Holdings:
        """Return quotas and reservations of a region; nothing declared means nothing granted."""
        return self.capacity.regions.get(region, Holdings())

    def is_block(self, region: str, reservation: str | None) -> bool:
        """Whether a region's reservation is a block bought for a fixed time."""
        held = self.holdings(region).reservations.get(reservation or "")
        return held is not None and held.block

    def regions_of_account(self, region: str) -> tuple[str, ...]:
        """Return the regions that share a region's account, itself included, in file order."""
        place = self.regions[region]
        return tuple(name for name, r in self.regions.items() if (r.cloud, r.account) == (place.cloud, place.account))

    def cap_holder(self, region: str, code: str) -> str:
        """Return the region under which capacity.yaml holds a cap of a region's account; without one, the first."""
        account = self.regions_of_account(region)
        return next((name for name in account if code in self.holdings(name).quotas), account[0])

    def cap_granted(self, region: str, code: str) -> float:
        """Return a cap of a region's account: the smallest where entries differ, 0 without any."""
        held = [self.holdings(name).quotas.get(code) for name in self.regions_of_account(region)]
        return min((cap.granted for cap in held if cap), default=0.0)

    def hosted(self, region: str, model: str) -> Hosted | None:
        """Return what a hosted route takes of a model's moved demand in a region, if there is one."""
        for route in self.holdings(region).hosted_routes.values():
            if route.model == model:
                return Hosted(route.quota / 60, frozenset(route.classes))
        return None

    def must_survive(self, residency: str, loss: str) -> bool:
        """Whether a class's demand at home is held against a kind of loss there.

        A zone's excess that spills goes where the whole region's demand would go, and for that the survivors have room;
        classes that survive no region, or where one is given up, hold it at home.
        """
        survive = self.tenants_file.classes[residency].survive
        if loss == "zone" and self.guardrails.zone_excess == "spills" and self.guardrails.losses.region:
            is_held_elsewhere = "region" in survive and all(name != residency for name, _ in self.given_up)
            return "zone" in survive and not is_held_elsewhere
        return loss in survive

    def class_of(self, tenant: str) -> str:
        """Return a tenant's residency class."""
        return self.tenants_file.tenants[tenant].residency

    @cached_property
    def base_of(self) -> Mapping[str, str]:
        """Name in demand -> model whose replicas serve it: itself, or the base of a variant."""
        return {name: name for name in self.models} | {
            variant: name for name, model in self.models.items() for variant in model.variants
        }

    @cached_property
    def models_of_class(self) -> Mapping[str, frozenset[str]]:
        """Residency class -> models its tenants use; for a variant, its base."""
        used: dict[str, set[str]] = {name: set() for name in self.tenants_file.classes}
        for tenant in self.tenants_file.tenants.values():
            bases = (self.base_of.get(model, model) for model in tenant.models)
            used.setdefault(tenant.residency, set()).update(bases)
        return {name: frozenset(models) for name, models in used.items()}

    def node_pools_for(self, region: str, accelerator: str, partition: str = WHOLE) -> Mapping[str, NodePool]:
        """Return the region's node pools that carry an accelerator, divided as asked."""
        row = self.regions[region]
        return {
            pool_id: pool
            for pool_id, pool in row.node_pools.items()
            if (machine := self.facts.machine_types.get((row.cloud, pool.machine_type)))
            and machine.accelerator == accelerator
            and pool.partition == partition
        }

    def accelerators_for(self, model: str, region: str) -> Mapping[str, ModelAccelerator]:
        """Return what a model can run on in a region, in the model's order; nothing if the region cannot host it."""
        return {
            accelerator: how
            for accelerator, how in self.models[model].accelerators.items()
            if self.node_pools_for(region, accelerator, how.partition)
        }

    @cached_property
    def _hosts(self) -> Mapping[str, frozenset[str]]:
        """Region -> classes whose every model it can host."""
        return {
            region: frozenset(
                name
                for name, models in self.models_of_class.items()
                if all(self.accelerators_for(model, region) for model in models)
            )
            for region in self.regions
        }

    def may_serve(self, residency: str, region: str) -> bool:
        """Whether a class may be at home in a region: law of both sides, and every model hosted."""
        return self._allowed(residency, region, self.tenants_file.classes[residency].serve_in)

    def may_fail_over(self, residency: str, region: str) -> bool:
        """Whether a class may move into a region after a loss."""
        return self._allowed(residency, region, self.tenants_file.classes[residency].fail_over_to)

    def may_hold(self, residency: str, region: str) -> bool:
        """Whether data of a class may be in a region at all, normally or after a loss."""
        return self.may_serve(residency, region) or self.may_fail_over(residency, region)

    def _allowed(self, residency: str, region: str, jurisdictions: tuple[str, ...]) -> bool:
        return self._lawful(residency, region, jurisdictions) and residency in self._hosts[region]

    def law_allows(self, residency: str, region: str) -> bool:
        """Whether the law of both sides lets a class be in a region after a loss, whatever the region hosts."""
        return self._lawful(residency, region, self.tenants_file.classes[residency].fail_over_to)

    def _lawful(self, residency: str, region: str, jurisdictions: tuple[str, ...]) -> bool:
        jurisdiction = self.jurisdiction(region)
        admitted = self.tenants_file.admits.get(jurisdiction, ())
        return (ANY in jurisdictions or jurisdiction in jurisdictions) and residency in admitted

    def survivors(self, residency: str, lost: str) -> tuple[str, ...]:
        """Return the regions that may take a class when ``lost`` is lost, in file order."""
        return tuple(region for region in self.regions if region != lost and self.may_fail_over(residency, region))

    @cached_property
    def origins_of_class(self) -> Mapping[str, tuple[str, ...]]:
        """Residency class -> origins it has demand from, in file order."""
        used: dict[str, set[str]] = {name: set() for name in self.tenants_file.classes}
        for curve in self.demand_file.demand:
            used[self.class_of(curve.tenants[0])].add(curve.origin)
        return {name: tuple(o for o in self.regions_file.origins if o in origins) for name, origins in used.items()}

    @cached_property
    def homes(self) -> Mapping[str, Mapping[str, Mapping[str, int]]]:
        """Class -> origin -> region -> per cent of the origin's demand at home there; each sums to 100."""
        return {
            residency: {origin: self._home(residency, origin) for origin in origins}
            for residency, origins in self.origins_of_class.items()
        }

    def _home(self, residency: str, origin: str) -> Mapping[str, int]:
        row = self.regions_file.origins[origin]
        declared = row.home.get(residency)
        if declared is not None:
            return {region: share for region, share in declared.items() if share > 0}
        allowed = [region for region in row.nearest if region in self.regions and self.may_serve(residency, region)]
        return {allowed[0]: 100} if allowed else {}

    @cached_property
    def home_demand(self) -> Mapping[tuple[str, str, str], tuple[float, ...]]:
        """(pool, class, home region) -> demand with burst margin, 168 hours, in the model's unit per second."""
        return self.demand_at(self.homes)

    def demand_at(
        self, homes: Mapping[str, Mapping[str, Mapping[str, int]]]
    ) -> Mapping[tuple[str, str, str], tuple[float, ...]]:
        """Return demand by home as ``home_demand`` does, for other homes: class -> origin -> region -> per cent.

        A class or origin without a home there has no demand anywhere, and a region the fleet no longer has takes none.
        """
        found: dict[tuple[str, str, str], list[float]] = {}
        margin = 1 + self.guardrails.burst_margin
        for curve in self.demand_file.demand:
            residency = self.class_of(curve.tenants[0])
            pool = self.base_of[curve.model]
            hours = curve.hours_in(self.models[pool].unit)
            for region, share in homes.get(residency, {}).get(curve.origin, {}).items():
                if region not in self.regions or not share:
                    continue
                total = found.setdefault((pool, residency, region), [0.0] * HOURS)
                for hour, value in enumerate(hours):
                    total[hour] += value * margin * share / 100
        return {key: tuple(values) for key, values in found.items()}
