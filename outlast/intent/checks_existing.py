"""Checks of networks and clusters that were there before us: their ids, and that nothing is asked of them."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.errors import Problem
from outlast.intent.checks_forms import misread, placed_regions
from outlast.intent.intent import Intent
from outlast.intent.known import unknown
from outlast.intent.regions import Region

_NOT_OURS = "Remove it, or remove 'existing' to have it made"


def check_existing(intent: Intent) -> Iterator[Problem]:
    """An existing network has the subnets that are needed, an existing cluster an address in an existing network."""
    for _, where, region in placed_regions(intent):
        if region.network.existing is None:
            yield from _needless(f"{where}.network", region.network.model_fields_set & {"subnets", "api_subnets"})
        else:
            yield from _check_network(intent, f"{where}.network", region)
        if region.cluster.existing is None:
            yield from _needless(f"{where}.cluster", region.cluster.model_fields_set - {"existing"})
        else:
            yield from _check_cluster(intent, where, region)


def _needless(where: str, given: set[str]) -> Iterator[Problem]:
    """Yield what describes a thing that exists, where none is named."""
    for key in sorted(given):
        yield Problem(
            where=f"{where}.{key}",
            what=f"'{key}' goes with 'existing', which is missing",
            do="Name what exists, or remove it",
        )


def _check_network(intent: Intent, where: str, region: Region) -> Iterator[Problem]:
    network, use = region.network, intent.facts.networks[region.cloud]
    yield from misread(intent, f"{where}.existing", region, "network", network.existing or "")
    if network.nat is not None:
        what = "the way out of a network that exists is not ours to choose"
        yield Problem(where=f"{where}.nat", what=what, got=network.nat, do=_NOT_OURS)
    zone_of: dict[str, str] = {}
    for zone in region.zones:
        if zone not in network.subnets:
            what = f"no subnet for the nodes of zone {zone}"
            yield Problem(where=f"{where}.subnets", what=what, do=f"Add '{zone}: ID'")
    for zone, subnet in network.subnets.items():
        if zone not in region.zones:
            yield unknown(f"{where}.subnets", "zone of the region", zone, region.zones)
        yield from misread(intent, f"{where}.subnets.{zone}", region, "subnet", subnet)
        if subnet in zone_of and use.subnet_of == "zone":
            what = f"zone {zone_of[subnet]} has this subnet already, and a subnet of {region.cloud} lies in one zone"
            yield Problem(where=f"{where}.subnets.{zone}", what=what, got=subnet, do="Name a subnet of the zone")
        zone_of[subnet] = zone
    yield from _check_api_subnets(intent, f"{where}.api_subnets", region)


def _check_api_subnets(intent: Intent, where: str, region: Region) -> Iterator[Problem]:
    given, wanted = region.network.api_subnets, intent.facts.networks[region.cloud].api_subnets
    for subnet in given:
        yield from misread(intent, where, region, "subnet", subnet)
    if region.cluster.existing is not None:
        if given:
            yield Problem(where=where, what="the cluster exists and has its own", do="Remove them")
    elif not wanted and given:
        what = f"a control plane of {region.cloud} takes no subnet"
        yield Problem(where=where, what=what, got=str(len(given)), allowed="none", do="Remove them")
    elif len(set(given)) < wanted:
        what = f"a control plane of {region.cloud} reaches nodes from subnets"
        allowed = f"{wanted} or more, each another"
        yield Problem(where=where, what=what, got=str(len(set(given))), allowed=allowed, do="Name them")


def _check_cluster(intent: Intent, where: str, region: Region) -> Iterator[Problem]:
    cluster = region.cluster
    yield from misread(intent, f"{where}.cluster.existing", region, "cluster", cluster.existing or "")
    if region.network.existing is None:
        what = "a cluster that exists lies in a network that exists"
        yield Problem(where=f"{where}.network.existing", what=what, do="Name the cluster's network and its subnets")
    if cluster.server is None:
        what = "the address of the existing cluster's API server is missing"
        yield Problem(where=f"{where}.cluster.server", what=what, do="Add 'server: https://...'")
    else:
        yield from misread(intent, f"{where}.cluster.server", region, "api-server", cluster.server)
    yield from _check_issuer(intent, f"{where}.cluster.issuer", region)
    for key in ("access", "api"):
        if key in region.model_fields_set:
            what = f"the cluster exists, so its '{key}' is not ours to choose"
            yield Problem(where=f"{where}.{key}", what=what, do=_NOT_OURS)


def _check_issuer(intent: Intent, where: str, region: Region) -> Iterator[Problem]:
    """Where facts know the form of an issuer, identities trust a cluster's tokens by it; elsewhere none does."""
    issuer, form = region.cluster.issuer, intent.facts.id_forms.get((region.cloud, "issuer"))
    if form is None and issuer is not None:
        yield Problem(where=where, what=f"no identity of {region.cloud} trusts a cluster by it", do="Remove it")
    elif form is not None and issuer is None:
        what = f"identities of {region.cloud} trust the tokens of a cluster by their issuer, which is missing"
        yield Problem(where=where, what=what, allowed=form.form, do="Set it to the cluster's OIDC issuer")
    elif issuer is not None:
        yield from misread(intent, where, region, "issuer", issuer)
