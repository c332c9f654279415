"""What each pool's capacity pays for at the margin, from the prices of the best plan with fractions.

Every row of that programme has a price: what a unit more of its need would cost. The prices of a cell's rows sum to
what its capacity costs, so that their parts say, completely, for which hours and losses it is bought.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from outlast.intent import Intent
from outlast.planner.arrays import Arrays, CellKey, to_arrays
from outlast.planner.scale import static_bound
from outlast.planner.scaling import to_scale

SMALLEST = 0.005
"""Parts below are rounding."""


@dataclass(frozen=True)
class MarginalPart:
    """A part of what a cell's capacity is bought for."""

    region: str
    pool: str
    lost: str | None
    """Region whose loss asks for it; None for what the pool needs whatever is lost elsewhere."""
    hour: int | None
    """Hour of the week of that loss."""
    part: float


def marginal_prices(intent: Intent) -> tuple[MarginalPart, ...]:
    """Return the parts of every pool and region of a fleet, in file order, largest first.

    Raises:
        PlanError: the fleet cannot be planned.
    """
    return tuple(part for parts in marginal_parts(to_arrays(intent)).values() for part in parts)


def marginal_parts(arrays: Arrays) -> Mapping[CellKey, tuple[MarginalPart, ...]]:
    """Return the parts of every cell that has capacity, largest first; nothing where hosted routes carry a part."""
    if any(cell.hosted is not None for cell in arrays.cells.values()):
        return {}
    regions = list(arrays.intent.regions)
    pools = list(dict.fromkeys(pool for _, pool in arrays.cells))
    bound = static_bound(to_scale(arrays), covers=False)
    prices: dict[CellKey, dict[tuple[str | None, int | None], float]] = {key: {} for key in arrays.cells}
    loads, cuts = bound.loads, bound.cuts
    for lost, region, pool, hour, price in zip(
        loads.lost, loads.region, loads.pool, loads.hour, loads.price, strict=True
    ):
        _add(prices, (regions[region], pools[pool]), (regions[lost], int(hour)), float(price))
    for lost, pool, members, hour, price in zip(
        cuts.lost, cuts.pool, cuts.members, cuts.hour, bound.cut_price, strict=True
    ):
        for region in members.nonzero()[0]:
            _add(prices, (regions[region], pools[pool]), (regions[lost], int(hour)), float(price))
    for key, found in prices.items():
        whole = float(bound.capacity_price[regions.index(key[0]), pools.index(key[1])])
        _add(prices, key, (None, None), max(0.0, whole - sum(found.values())))
    return {key: _parts(key, found) for key, found in prices.items() if found}


def _add(
    prices: dict[CellKey, dict[tuple[str | None, int | None], float]],
    key: CellKey,
    row: tuple[str | None, int | None],
    price: float,
) -> None:
    if key in prices and price > 0:
        prices[key][row] = prices[key].get(row, 0.0) + price


def _parts(key: CellKey, prices: Mapping[tuple[str | None, int | None], float]) -> tuple[MarginalPart, ...]:
    total = sum(prices.values())
    parts = [MarginalPart(*key, lost, hour, price / total) for (lost, hour), price in prices.items()]
    kept = [part for part in parts if part.part >= SMALLEST]
    return tuple(sorted(kept, key=lambda part: (-part.part, part.lost or "", part.hour or 0)))
