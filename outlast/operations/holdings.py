"""What a fleet draws on each grant: now, after a failover and during a raise, against what is granted and requested.

A grant belongs to an account and a provider region, or, for caps above them, to an account: regions of ours that share
it are counted together. Grants come from capacity.yaml, needs from the rows of the lock and from what is applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from outlast.facts import QuotaFact
from outlast.intent import Intent, region_stack
from outlast.intent.capacity import Quota
from outlast.lock import AppliedFile, Lock, LockRegion

GrantKey = tuple[str, ...]
"""Cloud, account, provider region (empty for a cap of the account), quota code."""
ROUNDING = 1e-6
"""Amounts closer than this are equal."""
_NOTHING = LockRegion(node_pools={}, pools={})


@dataclass(frozen=True)
class NodeNeed:
    """Nodes of one node pool in one zone."""

    region: str
    key: str
    machine_type: str
    capacity: str
    now: int
    """Nodes that are there at least: what is applied, or without a record what the lock says is there."""
    after_failover: int
    """Most nodes once the lock is settled: what runs, and cold starts of pools scaled to zero."""
    peak: int
    """Most nodes on the way: what is applied and every row of the lock, leaving ones included."""


@dataclass(frozen=True)
class Grant:
    """What capacity.yaml says of a grant."""

    stated: Mapping[str, Quota]
    """Region -> its entry; regions that share the grant should say the same."""

    @property
    def granted(self) -> float:
        """The amount granted, the smallest where entries differ; 0 without an entry."""
        return min((entry.granted for entry in self.stated.values()), default=0.0)

    @property
    def requested(self) -> float:
        """The largest amount asked for; 0 if nothing was."""
        return max((entry.requested or 0.0 for entry in self.stated.values()), default=0.0)

    @property
    def differs(self) -> bool:
        """Whether regions that share the grant state different amounts."""
        return len({entry.granted for entry in self.stated.values()}) > 1


@dataclass(frozen=True)
class QuotaUse:
    """What regions draw on one grant, in the quota's unit."""

    quota: QuotaFact
    regions: tuple[str, ...]
    """Our regions that draw on it, in file order."""
    now: float
    after_failover: float
    peak: float
    grant: Grant

    @property
    def unit(self) -> str:
        """The unit as people write it."""
        return self.quota.written_unit

    @property
    def missing(self) -> float:
        """What the peak needs beyond the grant."""
        short = self.peak - self.grant.granted
        return short if short > ROUNDING else 0.0

    @property
    def missing_after_requests(self) -> float:
        """What the peak needs beyond the larger of grant and request."""
        short = self.peak - max(self.grant.granted, self.grant.requested)
        return short if short > ROUNDING else 0.0

    @property
    def used_ratio(self) -> float | None:
        """Peak in parts of the grant; None where nothing is granted."""
        return self.peak / self.grant.granted if self.grant.granted else None


def quota_uses(intent: Intent, lock: Lock, applied: AppliedFile | None) -> tuple[QuotaUse, ...]:
    """Return every grant that the fleet's nodes draw on, in the order of regions and facts, caps of accounts last."""
    drawn: dict[GrantKey, tuple[QuotaFact, list[tuple[NodeNeed, float]]]] = {}
    for need in node_needs(intent, lock, applied):
        region = intent.regions[need.region]
        machine = intent.facts.machine_types[region.cloud, need.machine_type]
        for quota in _quotas_of(intent, need):
            size = quota.of_node(machine)
            drawn.setdefault(grant_key(intent, need.region, quota), (quota, []))[1].append((need, size))
    uses = [
        QuotaUse(
            quota=quota,
            regions=tuple(dict.fromkeys(need.region for need, _ in parts)),
            now=sum(need.now * size for need, size in parts),
            after_failover=sum(need.after_failover * size for need, size in parts),
            peak=sum(need.peak * size for need, size in parts),
            grant=grant_of(intent, key),
        )
        for key, (quota, parts) in drawn.items()
    ]
    return tuple(sorted(uses, key=lambda use: use.quota.is_account_wide))


def node_needs(intent: Intent, lock: Lock, applied: AppliedFile | None) -> Iterator[NodeNeed]:
    """Yield the nodes of every row that the lock or a deployment holds; those of `uncounted` are left out."""
    for region in intent.regions:
        rows = lock.regions.get(region, _NOTHING).node_pools
        there = _applied_nodes(intent, applied, region)
        for key in dict.fromkeys((*rows, *there)):
            kind = _kind_of(intent, region, rows, key)
            if kind is None:
                continue
            row = rows.get(key)
            least, deployed_most = there.get(key, (0, 0))
            standing = row.nodes.min if row and row.state != "arriving" else 0
            most = row.nodes.max if row else 0
            yield NodeNeed(
                region=region,
                key=key,
                machine_type=kind[0],
                capacity=kind[1],
                now=standing if applied is None else least,
                after_failover=most if row and row.state != "leaving" else 0,
                peak=max(most, deployed_most),
            )


def uncounted(intent: Intent, lock: Lock, applied: AppliedFile | None, region: str) -> tuple[str, ...]:
    """Return deployed node pools of which neither the lock nor regions.yaml says what machines they are."""
    rows = lock.regions.get(region, _NOTHING).node_pools
    return tuple(key for key in _applied_nodes(intent, applied, region) if _kind_of(intent, region, rows, key) is None)


def grant_key(intent: Intent, region: str, quota: QuotaFact) -> GrantKey:
    """Return what identifies the grant that a region draws on."""
    row = intent.regions[region]
    return (row.cloud, row.account, "" if quota.is_account_wide else row.provider_region, quota.quota_code)


def grant_of(intent: Intent, key: GrantKey) -> Grant:
    """Return what capacity.yaml says of a grant, from every region that shares it."""
    cloud, account, place, code = key
    return Grant(
        {
            name: intent.holdings(name).quotas[code]
            for name, row in intent.regions.items()
            if (row.cloud, row.account) == (cloud, account)
            and place in ("", row.provider_region)
            and code in intent.holdings(name).quotas
        }
    )


def _quotas_of(intent: Intent, need: NodeNeed) -> tuple[QuotaFact, ...]:
    cloud = intent.regions[need.region].cloud
    facts = intent.facts
    return (
        *facts.quotas_for(cloud, need.machine_type, need.capacity),
        *facts.caps_for(cloud, need.machine_type, need.capacity),
    )


def _applied_nodes(intent: Intent, applied: AppliedFile | None, region: str) -> dict[str, tuple[int, int]]:
    """Return node pool key -> fewest and most nodes as a region deployed them; of spot nodes the fewest are 0."""
    entry = (applied or {}).get(region_stack(intent.name, region))
    rows = entry.counts.node_pools if entry else {}
    return {key: (row.nodes_min, row.nodes_max) for key, row in rows.items()}


def _kind_of(intent: Intent, region: str, rows: Mapping[str, object], key: str) -> tuple[str, str] | None:
    """Return machine type and capacity type of a row: from the lock, else as its id is declared now."""
    row = rows.get(key)
    declared = intent.regions[region].node_pools.get(key.rsplit("-", 2)[0])
    source = row or declared
    machine_type, capacity = getattr(source, "machine_type", ""), getattr(source, "capacity", "")
    known = (intent.regions[region].cloud, machine_type) in intent.facts.machine_types
    return (machine_type, capacity) if known else None
