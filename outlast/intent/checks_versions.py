"""Checks of versions: of Kubernetes on every cloud of the fleet, and of the add-ons that go with it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from outlast.errors import Problem, listed
from outlast.intent.intent import Intent
from outlast.intent.known import unknown


def check_versions(intent: Intent) -> Iterator[Problem]:
    """Every cloud creates clusters of the Kubernetes version, and facts pin every add-on for it."""
    facts, version = intent.facts, intent.fleet.kubernetes
    clouds = sorted({region.cloud for region in intent.regions.values()} & set(facts.clouds))
    offered = {cloud: {minor for owner, minor in facts.kubernetes_versions if owner == cloud} for cloud in clouds}
    if not clouds:
        return
    where = f"{intent.name}/fleet.yaml"
    common = set.intersection(*offered.values())
    lacking = [cloud for cloud in clouds if version not in offered[cloud]]
    if lacking:
        yield Problem(
            where=f"{where}, kubernetes",
            what=f"no cluster of this version can be created on {listed(lacking)}" if common else _NOTHING_IN_COMMON,
            got=version,
            allowed=listed(common) if common else "; ".join(f"{c}: {listed(offered[c])}" for c in clouds),
            do="Choose a minor version that every cloud of the fleet offers",
        )
        return
    yield from _check_add_ons(intent, clouds)


_NOTHING_IN_COMMON = "the clouds of the fleet offer no version in common"


def _check_add_ons(intent: Intent, clouds: list[str]) -> Iterator[Problem]:
    pins, version = intent.facts.add_ons, intent.fleet.kubernetes
    known = sorted({(cloud, name) for cloud, name, _ in pins if cloud in clouds})
    for cloud, name in known:
        if (cloud, name, version) not in pins:
            yield Problem(
                where=f"{intent.name}/fleet.yaml, kubernetes",
                what=f"facts pin no version of {cloud}'s add-on {name} for Kubernetes {version}",
                allowed=listed(minor for owner, other, minor in pins if (owner, other) == (cloud, name)),
                do="Add the row to facts/add_ons.csv, or choose another version",
            )
    names = {name for _, name in known}
    for name in intent.fleet.add_ons:
        if name not in names:
            yield unknown(f"{intent.name}/fleet.yaml, add_ons.{name}", f"add-on of {listed(clouds)}", name, names)
    for cloud, name in known:
        pin, wish = pins.get((cloud, name, version)), intent.fleet.add_ons.get(name)
        if pin is not None and wish is not None and _form(wish) != _form(pin.version):
            yield Problem(
                where=f"{intent.name}/fleet.yaml, add_ons.{name}",
                what=f"{cloud} has no such version of {name}",
                got=f"'{wish}'",
                allowed=f"one written like {pin.version}",
                do="Correct it, or remove it to have the one that facts pin",
            )


def _form(version: str) -> str:
    """Return a version without its numbers: how the cloud writes those of an add-on."""
    return re.sub(r"\d+", "0", version)
