"""A deployment as rules see it: every resource with its place, and node pools, workloads and records by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import ModuleType

from outlast.facts import CatalogueRow, Facts
from outlast.view.places import Location, Locator
from outlast.view.resource import UNKNOWN, Resource, Unknown, Value, value_at

_BUILT_IN = ("outlast:", "pulumi:pulumi:")
"""Prefixes of types that are no cloud resource: our components, stacks and references to stacks."""
PROVIDER = "pulumi:providers:"
_LABEL = "outlast-"


@dataclass(frozen=True, kw_only=True)
class NodePool:
    """A cloud's node pool; a field is UNKNOWN where the deployment does not say it in plain values."""

    urn: str
    key: Value
    """Label ``outlast-node-pool``: the row of the lock it claims to be; None without the label."""
    cloud: str
    zone: Value
    """The real zone, resolved through subnets where the cloud wants those; several zones are joined by commas."""
    machine_type: Value
    capacity: Value
    """``on_demand``, ``reserved`` or ``spot``."""
    reservation: Value
    partition: Value
    """Division of its cards as in the lock: ``whole``, ``mig-7x1g.10gb``, ``slice-4``; ``mig-1g.10gb`` where the cloud
    fills every card with instances of one profile, ``mig-7x1g`` where it names their slices alone."""
    nodes_min: Value
    nodes_desired: Value
    nodes_max: Value
    count_ignored: bool
    """Whether later changes of the count are ignored."""
    subnets: tuple[str, ...] = ()
    """Subnets in plain words that no stack declares, where the zone follows from them alone."""


@dataclass(frozen=True, kw_only=True)
class Workload:
    """A Deployment that serves, or asks for devices."""

    urn: str
    pool: Value
    """Label ``outlast-pool``: the pool of the lock it claims to be; None without the label."""
    replicas: Value
    gpus: Value
    """Devices a replica asks for: GPUs, or parts of them."""
    node_pools: Value
    """Node pool keys it may run on, sorted."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """A DNS record."""

    urn: str
    name: Value
    set_identifier: Value
    weight: Value
    """None unless weighted."""
    target: Value
    """Name it is an alias of; None for addresses."""


Index = Mapping[str, Resource]


def is_built_in(type_: str) -> bool:
    """Whether a type is a component, a stack or a stack reference rather than a cloud resource."""
    return type_.startswith(_BUILT_IN)


@dataclass(frozen=True)
class View:
    """All resources of one or several stacks."""

    resources: tuple[Resource, ...]
    """Sorted by URN, so that no reader's order shows."""
    facts: Facts

    @cached_property
    def index(self) -> Index:
        """URN -> resource."""
        return {resource.urn: resource for resource in self.resources}

    @cached_property
    def cloud_resources(self) -> tuple[Resource, ...]:
        """Resources that exist in a cloud or cluster, providers included."""
        return tuple(resource for resource in self.resources if not is_built_in(resource.type))

    def row(self, resource: Resource) -> CatalogueRow | None:
        """Return the catalogue's row of a resource's type; None if it is not listed."""
        return self.facts.catalogue.get(resource.type)

    def location(self, resource: Resource) -> Location:
        """Return where a resource lies, or why that cannot be decided."""
        return self._locator.locate(resource)

    def label(self, resource: Resource, key: str) -> Value:
        """Return the label ``outlast-<key>``; UNKNOWN where labels that are not known yet may hold it."""
        for labels in self._labels(resource):
            found = UNKNOWN if labels is UNKNOWN else value_at(labels, f"{_LABEL}{key}")
            if found is not None:
                return found
        return None

    def labels(self, resource: Resource) -> Mapping[str, Value] | Unknown:
        """Return the ``outlast-*`` labels of a resource, without that prefix; UNKNOWN if any may be missing."""
        merged: dict[str, Value] = {}
        for labels in reversed(self._labels(resource)):
            if labels is UNKNOWN:
                return UNKNOWN
            merged.update(labels if isinstance(labels, Mapping) else {})
        return {key.removeprefix(_LABEL): value for key, value in merged.items() if key.startswith(_LABEL)}

    def _labels(self, resource: Resource) -> tuple[Value, ...]:
        """Return what a cloud merges into a resource's labels, the first over the next."""
        reader = readers().get(resource.package)
        found: tuple[Value, ...] = reader.labels(resource) if reader else ()
        return found

    @cached_property
    def node_pools(self) -> tuple[NodePool, ...]:
        """Node pools of all clouds."""
        return tuple(self._read("node_pool"))

    @cached_property
    def workloads(self) -> tuple[Workload, ...]:
        """Deployments that carry a pool's label or ask for devices."""
        return tuple(self._read("workload"))

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """DNS records."""
        return tuple(self._read("record"))

    @cached_property
    def _locator(self) -> Locator:
        regions = {reader.PACKAGE: reader.CLOUD for reader in readers().values()}
        return Locator(self.facts, self.index, regions)

    def _read(self, kind: str) -> Iterable:  # type: ignore[type-arg]
        for resource in self.resources:
            reader = readers().get(resource.package)
            read: Callable[[Resource, Index], object | None] | None = getattr(reader, kind, None) if reader else None
            found = read(resource, self.index) if read and not resource.type.startswith(PROVIDER) else None
            if found is not None:
                yield found


def view_of(resources: Iterable[Resource], facts: Facts) -> View:
    """Build a view from any reader's records."""
    return View(tuple(sorted(resources, key=lambda resource: resource.urn)), facts)


@cache
def readers() -> Mapping[str, ModuleType]:
    """Return package -> the module of this folder that reads its resources; a new cloud is a new file."""
    package = importlib.import_module("outlast.view")
    modules = [
        importlib.import_module(f"outlast.view.{found.name}") for found in pkgutil.iter_modules(package.__path__)
    ]
    return {module.PACKAGE: module for module in modules if hasattr(module, "PACKAGE")}
