"""What stands in this process: a plan up to one of its resources, or everything of every plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from simcloud.cloud import packages
from simcloud.shapes import Shapes
from tests.simcloud.conftest import Made, Plugin, Site, inputs_of, open_site
from tests.simcloud.examples import plan

CLUSTER = ("network", "subnetwork", "account", "ring", "key", "cluster_grant", "cluster")


def built(site: Site, package: str, until: str, without: tuple[str, ...] = ()) -> Site:
    """Build everything before one resource of a plan; Kubernetes gets its cluster first."""
    if package == "kubernetes":
        with_cluster(site)
    site.build({name: entry for name, entry in plan(package).items() if name not in without}, until)
    return site


def with_cluster(site: Site) -> None:
    """Make the cluster that Kubernetes objects live in."""
    wanted = plan("gcp")
    site.build({name: wanted[name] for name in CLUSTER})
    site.plugins["kubernetes"].configure(kubeconfig=kubeconfig(f"https://{site.made['cluster'].outputs['endpoint']}"))


def kubeconfig(server: str) -> str:
    """A kubeconfig that leads to a server."""
    return yaml.safe_dump(
        {
            "current-context": "c",
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "c", "user": {}}],
        }
    )


@dataclass
class Standing:
    """Everything of every plan, built once and updated once; tests ask only what changes nothing.

    The update tells that no refusal of a birth strikes later, when others have come to depend on the resource.
    """

    site: Site
    foreseen: dict[tuple[str, str], dict[str, Any]]

    def plugin(self, package: str) -> Plugin:
        return self.site.plugins[package]

    def made(self, package: str, name: str) -> Made:
        return self.site.made[f"{package}-{name}"]

    def of(self, package: str) -> dict[str, Made]:
        """What stands of a package's plan, by name."""
        return {name: self.made(package, name) for name in plan(package)}


def stand(folder: Path, all_shapes: Mapping[str, Shapes]) -> Standing:
    """Build every plan in a new sim directory; the caller closes the site."""
    site = open_site(folder, all_shapes)
    foreseen = {}
    every: dict[str, Made] = {}
    again: dict[str, Made] = {}
    for package in packages():
        built(site, package, next(iter(plan(package))))
        for name, (kind, given) in plan(package).items():
            if name not in site.made:
                foreseen[package, name] = site.plugin(kind).preview(kind, name, site.filled(given))
                site.make(name, kind, given)
        every |= {f"{package}-{name}": made for name, made in site.made.items()}
        site.made = {name: made for name, made in site.made.items() if name in CLUSTER and package == "gcp"}
    for key, made in every.items():
        again[key] = site.plugin(made.type).update(made, inputs_of(made))
    site.made.update(again)
    return Standing(site, foreseen)
