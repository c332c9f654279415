"""Where a resource lies: one function for all types, led by the catalogue's rows.

A place path is a dotted input, ``@provider.<input>`` for the provider's, ``@<input>`` for the place of what the input
refers to, or ``@cluster`` for the cluster that the provider talks to. The first path that says anything
decides; the mere name of what no stack declares says nothing where another path does. What is not known, or is no place
in facts, is undecided; it is never taken to be outside a jurisdiction.
A name is only a claim: a provider talks to a cluster if its kubeconfig comes from that cluster, or, where no stack
declares it, if it names an API server that the cloud itself has named by its place; a reference in plain words must
agree with what it was made from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from outlast.errors import listed
from outlast.facts import Facts
from outlast.view.resource import UNKNOWN, Resource, Value

CLUSTER_ROLE = "cluster"
API_SERVER = "api-server"
_SERVER = "kubeconfig.server"
_WRITTEN = re.compile(r"(?:^|/)locations/([^/]+)")
"""How a full name says its place."""
_NAMED = ("name", "resourceName")
"""Inputs that hold a cluster's name, as the clouds call them."""
_DEPTH = 4
"""References followed from one resource; deeper ones are undecided, and a circle ends."""


@dataclass(frozen=True, order=True)
class Place:
    """A provider region of a cloud."""

    cloud: str
    provider_region: str

    def __str__(self) -> str:
        """Return the words of a message."""
        return f"{self.cloud} {self.provider_region}"


@dataclass(frozen=True)
class Location:
    """Places of a resource, or why they are undecided. Neither: the type lies nowhere."""

    places: tuple[Place, ...] = ()
    undecided: str = ""
    path: str = ""
    """Place path that decided, or that could not."""
    is_name: bool = False
    """Whether it is undecided because there is only the name of something that no stack declares."""

    @property
    def is_decided(self) -> bool:
        """Whether the places are known."""
        return not self.undecided


@dataclass(frozen=True)
class Locator:
    """Resolves places among the resources of a view."""

    facts: Facts
    index: Mapping[str, Resource]
    clouds: Mapping[str, str]
    """Package -> cloud."""

    def locate(self, resource: Resource, depth: int = 0) -> Location:
        """Return where a resource lies."""
        row = self.facts.catalogue.get(resource.type)
        if row is None:
            return Location(undecided=f"type {resource.type} is not in the catalogue")
        if row.kind == "global":
            return Location()
        if row.kind == "opaque":
            return Location(undecided=f"type {resource.type} hides its place")
        named: Location | None = None
        for path in row.place:
            found = self._follow(resource, path, depth)
            if found is not None and not found.is_name:
                return found
            named = named or found
        return named or Location(undecided="the resource says no place", path=row.place[0] if row.place else "")

    def _follow(self, resource: Resource, path: str, depth: int) -> Location | None:
        if path == "@cluster":
            return self._cluster(resource, depth)
        if path.startswith("@provider."):
            return self._parse(resource, path, resource.provider_get(path.removeprefix("@provider.")))
        if path.startswith("@"):
            return self._referenced(resource, path, depth)
        return self._parse(resource, path, resource.get(path))

    def _parse(self, resource: Resource, path: str, value: Value) -> Location | None:
        if value is None:
            return None
        cloud = self.clouds.get(resource.package, resource.package)
        places: list[Place] = []
        for word in value if isinstance(value, tuple) else (value,):
            if word is UNKNOWN:
                return Location(undecided=f"{path} is not known before the deployment", path=path)
            place = self._place(cloud, str(word))
            if place is None:
                return Location(undecided=f"{path} = '{word}' is no single region of {cloud} in facts", path=path)
            places.append(place)
        return Location(places=tuple(sorted(set(places))), path=path) if places else None

    def _place(self, cloud: str, word: str) -> Place | None:
        name = word.lower().replace(" ", "")
        if (cloud, name) in self.facts.provider_regions:
            return Place(cloud, name)
        region = self._zones.get((cloud, name))
        return Place(cloud, region) if region else None

    @cached_property
    def _zones(self) -> Mapping[tuple[str, str], str]:
        return {
            (cloud, zone): provider_region
            for (cloud, provider_region, _), offering in self.facts.offerings.items()
            for zone in offering.zones
        } | {
            (cloud, zone): provider_region
            for (cloud, provider_region), row in self.facts.provider_regions.items()
            for zone in row.zone_names
        }

    def _referenced(self, resource: Resource, path: str, depth: int) -> Location | None:
        prop = path.removeprefix("@")
        value = resource.get(prop)
        urns = resource.property_dependencies.get(prop.split(".")[0], ())
        targets = [self.index[urn] for urn in urns if urn in self.index]
        written = _WRITTEN.search(value) if isinstance(value, str) else None
        literal = self._parse(resource, path, written.group(1)) if written else None
        if not targets:
            why, is_name = f"{prop} refers to nothing whose place is known here", isinstance(value, str) and not urns
            unknown = Location(undecided=why, path=path, is_name=is_name)
            return literal or (None if value is None else unknown)
        located = [self.locate(target, depth + 1) for target in targets] if depth < _DEPTH else []
        places = tuple(sorted({place for found in located for place in found.places}))
        if not places or not all(found.is_decided for found in located):
            return Location(undecided=f"{prop} refers to something whose place is not known here", path=path)
        if literal and literal.places != places:
            why = f"{prop} = '{value}' was made from what lies in {listed(map(str, places))}"
            return Location(undecided=why, path=path)
        return Location(places=places, path=path)

    def _cluster(self, resource: Resource, depth: int) -> Location:
        served = resource if resource.type.startswith("pulumi:providers:") else self.index.get(resource.provider)
        if served is None:
            return Location(undecided="no declared provider says which cluster it lies in", path="provider")
        name = served.inputs.get("clusterIdentifier")
        sources = served.property_dependencies.get("kubeconfig", ())
        if not sources and isinstance(kubeconfig := served.inputs.get("kubeconfig"), str):
            return self._behind(served.name, server_of(kubeconfig))
        clusters = [self.index[urn] for urn in sources if urn in self.index and self._is_cluster(self.index[urn])]
        if len(clusters) != 1 or clusters[0].stack != resource.stack or depth >= _DEPTH:
            why = f"the kubeconfig of provider '{served.name}' comes from no single cluster of the stack"
            return Location(undecided=why, path="kubeconfig")
        (cluster,) = clusters
        found = next((value for key in _NAMED if (value := cluster.inputs.get(key)) is not None), None)
        if not isinstance(name, str) or found != name:
            why = f"provider '{served.name}' is of cluster '{name}', its kubeconfig comes from '{found}'"
            return Location(undecided=why, path="clusterIdentifier")
        return self.locate(cluster, depth + 1)

    def _behind(self, provider: str, server: str) -> Location:
        """Return where the API server of a cluster lies that no stack declares: clouds name them by their place."""
        for form in self.facts.id_forms.values():
            said = form.read(server) if form.kind == API_SERVER else None
            if said is None:
                continue
            place = self._place(form.cloud, said["provider_region"])
            if place is not None:
                return Location(places=(place,), path=_SERVER)
        why = f"the API server of provider '{provider}', '{server or 'unreadable'}', is of no cloud and region in facts"
        return Location(undecided=why, path=_SERVER)

    def _is_cluster(self, resource: Resource) -> bool:
        row = self.facts.catalogue.get(resource.type)
        return row is not None and row.role == CLUSTER_ROLE


def server_of(kubeconfig: str) -> str:
    """Return the address that a kubeconfig leads to, as our clusters write it; nothing if it has another form."""
    try:
        document = json.loads(kubeconfig)
        (cluster,) = document["clusters"]
        return str(cluster["cluster"]["server"])
    except (ValueError, KeyError, TypeError):
        return ""
