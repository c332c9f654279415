"""What every cloud's node pool promises: the node contract, and one row of the lock as it stands."""

from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from components import names
from components.node_pool.contract import CACHE, DISKS
from components.serving.devices import device, overlay, spot_tolerations
from outlast.intent.images import JOINED
from outlast.lock import cache_gib
from outlast.proof import realises
from tests.builders import facts
from tests.components.clouds import KEY, REGIONS, TAGS, intent, lock_with, reading, recorded, seen

ROWS: dict[str, dict[str, Any]] = {
    "fixed": {},
    "reserved": {"capacity": "reserved", "reservation": "held-1"},
    "spot": {"capacity": "spot"},
    "elastic": {"scaling": "elastic", "nodes": (2, 5)},
    "instances": {"partition": "mig-7x1g.10gb"},
    "slices": {"partition": "slice-4"},
}
"""Kind of row -> what differs from a fixed, whole, on-demand one."""


@dataclass(frozen=True)
class NodePoolSeen:
    """A node pool as the contract asks about it."""

    labels: dict[str, str]
    """Of its nodes, in Kubernetes."""
    tags: dict[str, str]
    """Of its machines, which are what is paid for."""
    taints: list[str]
    """As `key=value:effect`: ours first, whoever adds it, then those that the cloud adds to spot nodes by itself."""
    only_reserved: bool
    """Whether nodes come from the reservation or not at all."""
    surge: bool
    """Whether an upgrade wants a node more."""
    raw_disks: int
    """Local disks that come up raw."""
    joined_at: str | None
    """Folder below which the node joins its own disks."""


@cache
def pool_seen(cloud, kind):
    return reading(cloud).node_pool(recorded(cloud, **ROWS[kind]), KEY)


def spot_taints(cloud):
    """Taints of spot nodes that replicas tolerate."""
    return [f"{row['key']}={row['value']}:{row['effect']}" for row in spot_tolerations(cloud)]


def row_of(cloud, kind):
    return lock_with(cloud, **ROWS[kind]).regions[REGIONS[cloud]].node_pools[KEY]


class NodePoolContract:
    """Invariants, on every cloud; `kind` is a fixture of who inherits."""

    ROLE = "node_pool"

    @pytest.mark.parametrize("preview", [True, False], ids=["preview", "known"])
    def test_lock_and_view_say_the_same(self, cloud, kind, preview):
        row, region = row_of(cloud, kind), REGIONS[cloud]
        view = seen(cloud, preview=preview, **ROWS[kind])
        (pool,) = [pool for pool in view.node_pools if pool.key == KEY]
        assert (pool.cloud, pool.zone, pool.machine_type) == (cloud, row.zone, row.machine_type)
        assert (pool.capacity, pool.reservation) == (row.capacity, row.reservation)
        assert (pool.nodes_min, pool.nodes_desired, pool.nodes_max) == (row.nodes.min, row.nodes.min, row.nodes.max)
        assert (pool.partition == "whole") is (row.partition == "whole")
        places = {(p.cloud, p.provider_region) for p in view.location(view.index[pool.urn]).places}
        assert {facts().jurisdiction_of(*place) for place in places} == {intent().jurisdiction(region)}
        wrong = [found for found in realises(view, lock_with(cloud, **ROWS[kind]), region) if "node_pools" in found.row]
        assert wrong == []

    def test_a_preview_and_an_update_declare_the_same(self, cloud, kind):
        preview, known = (recorded(cloud, preview=preview, **ROWS[kind]) for preview in (True, False))
        assert [row.urn for row in preview.resources] == [row.urn for row in known.resources]

    def test_only_an_elastic_count_is_ignored(self, cloud, kind):
        (pool,) = [pool for pool in seen(cloud, **ROWS[kind]).node_pools if pool.key == KEY]
        assert pool.count_ignored is (kind == "elastic")

    def test_nodes_say_what_they_are(self, cloud, kind):
        row, region = row_of(cloud, kind), REGIONS[cloud]
        claims = names.labels(
            fleet="test",
            region=region,
            jurisdiction=intent().jurisdiction(region),
            node_pool=KEY,
            accelerator=row.accelerator,
            partition=row.partition,
        )
        found = {key: value for key, value in pool_seen(cloud, kind).labels.items() if key.startswith("outlast-")}
        assert found == claims | {"outlast-cache-gib": str(cache_gib(row.disk_gib))}
        assert claims.items() <= pool_seen(cloud, kind).tags.items()

    def test_peoples_tags_reach_what_is_paid_for(self, cloud, kind):
        assert TAGS.items() <= pool_seen(cloud, kind).tags.items()

    def test_others_are_kept_off_once(self, cloud, kind):
        resource = facts().accelerators[row_of(cloud, kind).accelerator].resource
        own, *others = pool_seen(cloud, kind).taints
        assert own == f"{resource}=present:NoSchedule"
        assert others == (spot_taints(cloud) if kind == "spot" else []), "replicas tolerate what else there is"

    def test_a_reservation_never_falls_through(self, cloud, kind):
        assert pool_seen(cloud, kind).only_reserved is (kind == "reserved")
        assert not (kind == "reserved" and pool_seen(cloud, kind).surge), "there is no node beyond a reservation"

    def test_local_disks_are_joined_once(self, cloud, kind):
        row, found = row_of(cloud, kind), pool_seen(cloud, kind)
        disks = facts().machine_types[cloud, row.machine_type].nvme_count
        itself = facts().can(cloud, JOINED)
        assert (found.joined_at, found.raw_disks) == ((DISKS, 0) if itself else (None, disks))
        assert bool(overlay(cloud).RAW_DISKS) is not itself
        assert CACHE.startswith(f"{DISKS}/0/")

    def test_devices_have_a_name_that_counts_as_one(self, cloud, kind):
        row = row_of(cloud, kind)
        resource = facts().accelerators[row.accelerator].resource
        name = device(cloud, resource, row.partition)
        assert name == resource or row.partition != "whole"
        assert name.partition("/")[0] == resource.partition("/")[0]
