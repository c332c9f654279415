"""Names the smallest conflict of an impossible plan: which quota or reservation is short, by how much, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from outlast.errors import InfeasiblePlan, PlanError, Problem
from outlast.lock import LockRegion, short_caps
from outlast.planner.arrays import Arrays, LaneKey
from outlast.planner.needs import Case, Shares, binding_case, placed_of
from outlast.planner.program import Program
from outlast.planner.solve import Limits, minimise
from outlast.planner.variables import HoldingKey, Variables, allow_overflow, drawn_on, to_replicas, to_shares

_ROUNDING = 0.01
"""Of a quota or reservation; both are whole."""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass(frozen=True)
class Short:
    """A quota or reservation that is too small."""

    region: str
    name: str
    unit: str
    held: float
    needed: float
    raise_with: str


def shortages(arrays: Arrays, program: Program, variables: Variables, limits: Limits) -> list[Problem]:
    """Return one problem for each holding that is short in the plan that exceeds what is held by the fewest GPUs."""
    program = program.copy()
    allow_overflow(program, variables)
    weights = {column: _gpus_per_unit(arrays, held) for held, column in variables.overflow.items()}
    smallest = minimise(program, weights, limits)
    if smallest is None:
        raise PlanError(Problem(where="outlast plan", what="no plan exists, whatever is held", do="Report this"))
    program.at_most("hold overflow", weights, smallest.total + 1e-6)
    fewest = minimise(program, dict.fromkeys(variables.replicas.values(), 1.0), limits) or smallest
    over = {held: fewest.values[column] for held, column in variables.overflow.items()}
    replicas, shares = to_replicas(variables, fewest.values), to_shares(variables, fewest.values)
    return [
        to_problem(arrays, _short(arrays, held, beyond), _reasons(arrays, held, replicas, shares))
        for held, beyond in over.items()
        if beyond > _ROUNDING
    ]


def check_held(arrays: Arrays, blocks: Mapping[str, LockRegion]) -> None:
    """Check that the nodes of a lock fit quotas and reservations, old and new generations together.

    Raises:
        InfeasiblePlan: names every one that is short.
    """
    problems = [problem for found in short_of(arrays, blocks).values() for problem in found]
    for cap in short_caps(blocks, arrays.intent):
        short = _short(arrays, (cap.region, cap.code), cap.need - cap.granted)
        problems.append(to_problem(arrays, short, ["all regions of its account together"]))
    if problems:
        raise InfeasiblePlan(problems)


def short_of(arrays: Arrays, blocks: Mapping[str, LockRegion]) -> dict[str, list[Problem]]:
    """Return the regions whose nodes exceed a quota or reservation of theirs, with one problem for each."""
    found: dict[str, list[Problem]] = {}
    for region, block in blocks.items():
        reserved: dict[str, int] = {}
        for row in block.node_pools.values():
            if row.reservation is not None:
                reserved[row.reservation] = reserved.get(row.reservation, 0) + row.nodes.max
        used = {code: quota.peak for code, quota in block.quotas.items()} | reserved
        problems = [
            to_problem(
                arrays, _short(arrays, (region, name), need - held), ["what runs now and what arrives, side by side"]
            )
            for name, need in used.items()
            if need > (held := _held(arrays, (region, name)))
        ]
        if problems:
            found[region] = problems
    return found


def to_problem(arrays: Arrays, short: Short, reasons: Iterable[str]) -> Problem:
    """Return the problem of a holding that is short, with what asks for it and what would lift it."""
    kind = "quotas" if short.raise_with else "reservations"
    needed, held = f"{short.needed:,.0f} {short.unit}", f"{short.held:,.0f} {short.unit}"
    lift = f"Raise the quota to {needed} ({short.raise_with})" if short.raise_with else f"Reserve {needed}"
    return Problem(
        where=f"{arrays.intent.name}/capacity.yaml, regions.{short.region}.{kind}.{short.name}",
        what=f"no plan: {short.region} needs {needed} for {'; '.join(reasons)}",
        got=f"{held} granted" if short.raise_with else f"{held} reserved",
        allowed=f"{needed} or more",
        do=f"{lift}, add a region that the classes may go to, or lower the demand",
    )


def in_words(case: Case, *, need: bool = True) -> str:
    """Return a case as people say it: ``losing eu-west, Mon 12:00 UTC, 60,000 tok/s``."""
    lost = {"none": "nothing lost", "replica": "losing a replica", "node": "losing a node", "zone": "losing a zone"}
    day, hour = divmod(case.hour, 24)
    when = f"{lost.get(case.lost, f'losing {case.lost}')}, {DAYS[day][:3]} {hour:02d}:00 UTC"
    return f"{when}, {case.need_tok_s:,.0f} tok/s" if need else when


def _reasons(arrays: Arrays, held: HoldingKey, replicas: Mapping[LaneKey, int], shares: Shares) -> Iterator[str]:
    region, name = held
    caps = {quota.quota_code for quota in arrays.intent.facts.quotas if quota.is_account_wide}
    for key, cell in arrays.cells.items():
        using = [
            lane
            for lane in cell.lanes
            if region == cell.region
            and replicas.get(lane.key)
            and any(name in (*drawn_on(arrays, region, node_pool), *caps) for node_pool in lane.node_pools)
        ]
        if using:
            case = binding_case(arrays, key, placed_of(cell, replicas), shares)
            yield f"{sum(replicas[lane.key] for lane in using)} replicas of '{cell.pool}' ({in_words(case)})"


def _short(arrays: Arrays, held: HoldingKey, beyond: float) -> Short:
    region, name = held
    granted = _held(arrays, held)
    cloud = arrays.intent.regions[region].cloud
    for quota in arrays.intent.facts.quotas:
        if (quota.cloud, quota.quota_code) == (cloud, name):
            return Short(region, name, quota.written_unit, granted, granted + beyond, quota.raise_with)
    return Short(region, name, "nodes", granted, granted + beyond, "")


def _held(arrays: Arrays, held: HoldingKey) -> float:
    region, name = held
    holdings = arrays.intent.holdings(region)
    if name in holdings.reservations:
        return holdings.reservations[name].nodes
    if any(quota.quota_code == name and quota.is_account_wide for quota in arrays.intent.facts.quotas):
        return arrays.intent.cap_granted(region, name)
    return holdings.quotas[name].granted if name in holdings.quotas else 0.0


def _gpus_per_unit(arrays: Arrays, held: HoldingKey) -> float:
    """Return the most GPUs that one unit of a quota or one reserved node stands for."""
    region, name = held
    row = arrays.intent.regions[region]
    machines = [
        arrays.intent.facts.machine_types[row.cloud, pool.machine_type]
        for node_pool, pool in row.node_pools.items()
        if name in drawn_on(arrays, region, node_pool)
    ] or [machine for machine in arrays.intent.facts.machine_types.values() if machine.cloud == row.cloud]
    if name in arrays.intent.holdings(region).reservations:
        return max(machine.node_gpus for machine in machines)
    units = {quota.quota_code: quota.unit for quota in arrays.intent.facts.quotas if quota.cloud == row.cloud}
    return 1.0 if units[name] == "gpus" else max(machine.node_gpus / machine.vcpu for machine in machines)
