"""The programme behind all bounds: replicas as fractions, what survivors need together, shares if they are fixed.

    replicas and covers of a cell  =  its need alone + extra               extra >= 0
    extra of a set of regions      >= what the set needs more              (cuts, for hourly shares)
    extra of a cell                >= base + moved × share − need alone    (rows on demand, for static shares)
    GPUs in a region               <= granted + overflow at a high price
    opening of a cell              >= each share that brings it a pool     (a cell without own need pays canaries then)

Covers are columns made on demand: each held cell takes a mixture of whole covers of its own need, and fractions on top.
"""

from __future__ import annotations

import numpy as np

from outlast.planner.scale.cover_columns import CoverColumns
from outlast.planner.scale.cuts import Cuts
from outlast.planner.scale.problem import POINTS, Floats, Ints, ScaleProblem
from outlast.planner.scale.sparse import NOTHING, Answer, SparseProgram


class Relaxation:
    """The programme and the meaning of its columns and rows."""

    points: int
    """What the shares of a class that leaves a region sum to."""
    shares: Ints
    """Columns of static shares; `NOTHING` where a class may not go. Shape: class, lost, region."""
    opening: Ints
    """Columns of cells without own need; `NOTHING` where use costs nothing more. Shape: region, pool."""
    loads: Ints
    """Lost region, region, pool and hour of the rows of static shares so far. Shape: 4, row."""
    load_rows: Ints
    """Where those rows are. Shape: row."""

    def __init__(self, problem: ScaleProblem, cuts: Cuts, *, has_shares: bool, whole_nodes: int = 0) -> None:
        """Define it; search nodes ask for whole replicas and whole per cents."""
        self.problem, self.cuts = problem, cuts
        whole = whole_nodes > 0
        self.program = SparseProgram(nodes=whole_nodes)
        self.fixed_cost = problem.total(problem.held_canaries)
        _, regions, pools, accelerators, _ = problem.shape
        self.cells = np.nonzero(problem.usable)
        self.replica_columns = self.program.add_columns(problem.cost[self.cells], whole=whole)
        self.extra = self.program.add_columns(np.zeros(regions * pools)).reshape(regions, pools)
        price = np.full(regions * accelerators, problem.overflow_cost)
        self.overflow = self.program.add_columns(price).reshape(regions, accelerators)
        self.points = POINTS if whole else 1
        nothing = np.full(problem.targets.shape, NOTHING)
        self.shares = self._share_columns(whole=whole) if has_shares else nothing
        self.capacity_rows = self._hold_alone()
        self.quota_rows = self._hold_quota()
        self.cut_rows = self._hold_together(cuts)
        self.opening = self._pay_for_opening(whole=whole) if has_shares else np.full(problem.held.shape, NOTHING)
        if whole:
            self._hold_least()
        self.covers: CoverColumns | None = None
        self._seen_loads = np.zeros(0, dtype=np.int64)
        self._seen_openings = np.zeros(0, dtype=np.int64)
        self.loads = np.zeros((4, 0), dtype=np.int64)
        self.load_rows = np.zeros(0, dtype=np.int64)

    def columns_of_cells(self) -> Ints:
        """Return the column of each count. Shape: region, pool, accelerator."""
        columns = np.full(self.problem.usable.shape, NOTHING)
        columns[self.cells] = self.replica_columns
        return columns

    def _hold_alone(self) -> Ints:
        problem = self.problem
        _, regions, pools, accelerators, _ = problem.shape
        scale = problem.scale_tok_s.reshape(-1)
        served = np.broadcast_to(problem.replica_tok_s, (regions, pools, accelerators)).reshape(-1, accelerators)
        need = problem.alone_tok_s.reshape(-1) / scale
        columns = np.column_stack([self.columns_of_cells().reshape(-1, accelerators), self.extra.reshape(-1)])
        values = np.column_stack([served / scale[:, None], np.full(len(need), -1.0)])
        return self.program.add_rows(need, np.full(len(need), np.inf), columns, values).reshape(regions, pools)

    def _share_columns(self, *, whole: bool) -> Ints:
        targets = self.problem.targets
        columns = np.full(targets.shape, NOTHING)
        columns[targets] = self.program.add_columns(np.zeros(int(targets.sum())), self.points, whole=whole)
        moving = columns[targets.any(axis=2)]
        sums = np.full(len(moving), float(self.points))
        self.program.add_rows(sums, sums, moving, np.ones(moving.shape))
        return columns

    def _hold_least(self) -> None:
        columns = self.columns_of_cells()[self.problem.held]
        least = self.problem.least_usable[self.problem.held]
        self.program.add_rows(least, np.full(len(least), np.inf), columns, np.ones(columns.shape))

    def _hold_quota(self) -> Ints:
        problem = self.problem
        _, regions, pools, accelerators, _ = problem.shape
        count = regions * accelerators
        columns = self.columns_of_cells().transpose(0, 2, 1).reshape(count, pools)
        gpus = np.broadcast_to(problem.replica_gpus.T, (regions, accelerators, pools)).reshape(count, pools)
        rows = self.program.add_rows(
            np.full(count, -np.inf),
            problem.granted_gpus.reshape(-1),
            np.column_stack([columns, self.overflow.reshape(-1)]),
            np.column_stack([gpus, np.full(count, -1.0)]),
        )
        return rows.reshape(regions, accelerators)

    def _hold_together(self, cuts: Cuts) -> Ints:
        scale = np.where(cuts.members, self.problem.scale_tok_s[:, cuts.pool].T, 0.0)
        size = scale.max(axis=1, initial=1e-300)[:, None]
        self._cut_scale = size[:, 0]
        return self.program.add_rows(
            cuts.extra_tok_s / size[:, 0],
            np.full(len(cuts.pool), np.inf),
            self.extra[:, cuts.pool].T,
            scale / size,
        )

    def _pay_for_opening(self, *, whole: bool) -> Ints:
        problem = self.problem
        opening = np.full(problem.held.shape, NOTHING)
        pays = (problem.canary_replicas > 0) | (problem.least_usable > 0)
        region, pool = np.nonzero(pays & ~problem.held & problem.usable.any(axis=2))
        canaries = problem.canaries[region, pool]
        opening[region, pool] = self.program.add_columns(
            (canaries * problem.cost[region, pool]).sum(axis=1),
            1.0,
            whole=whole,
            rows=self.quota_rows[region],
            values=canaries * problem.replica_gpus[pool],
        )
        counts = self.columns_of_cells()[region, pool]
        self.program.add_rows(
            np.zeros(len(region)),
            np.full(len(region), np.inf),
            np.column_stack([counts, opening[region, pool]]),
            np.column_stack([np.ones(counts.shape), -problem.least_usable[region, pool]]),
        )
        return opening

    def add_openings(self, residency: Ints, lost: Ints, region: Ints, pool: Ints) -> None:
        """Ask cells to open for the share of a class that brings them a pool."""
        _, regions, pools, _, _ = self.problem.shape
        key = ((residency * regions + lost) * regions + region) * pools + pool
        new = ~np.isin(key, self._seen_openings) & (self.opening[region, pool] != NOTHING)
        self._seen_openings = np.concatenate([self._seen_openings, key[new]])
        columns = [self.opening[region, pool][new], self.shares[residency, lost, region][new]]
        count = int(new.sum())
        self.program.add_rows(
            np.zeros(count),
            np.full(count, np.inf),
            np.column_stack(columns),
            np.tile([float(self.points), -1.0], (count, 1)),
        )

    def add_loads(self, lost: Ints, region: Ints, pool: Ints, hour: Ints) -> None:
        """Ask cells to serve what static shares bring in some hours."""
        problem = self.problem
        _, regions, pools, _, hours = problem.shape
        key = ((lost * regions + region) * pools + pool) * hours + hour
        new = ~np.isin(key, self._seen_loads)
        lost, region, pool, hour = (index[new] for index in (lost, region, pool, hour))
        self._seen_loads = np.concatenate([self._seen_loads, key[new]])
        scale = problem.scale_tok_s[region, pool]
        need = problem.base_tok_s[region, pool, hour] - problem.alone_tok_s[region, pool]
        moved = problem.moved_tok_s[:, lost, pool, hour].T
        rows = self.program.add_rows(
            need / scale,
            np.full(len(need), np.inf),
            np.column_stack([self.extra[region, pool], self.shares[:, lost, region].T]),
            np.column_stack([np.ones(len(need)), -moved / (scale[:, None] * self.points)]),
        )
        self.loads = np.concatenate([self.loads, np.stack([lost, region, pool, hour])], axis=1)
        self.load_rows = np.concatenate([self.load_rows, rows])

    def start_covers(self, quota_price: Floats) -> CoverColumns:
        """Make held cells take whole covers of their own need."""
        needs = np.where(self.problem.held, self.problem.alone_tok_s, 0.0)
        self.covers = CoverColumns(self.problem, self.program, needs, self.quota_rows, self.capacity_rows)
        cells = np.arange(len(self.covers.cells))
        self.covers.add(cells, self.covers.cheapest(quota_price).counts)
        return self.covers

    def improve(self, answer: Answer) -> tuple[int, float]:
        """Add covers that improve the answer; return how many, and a bound of the total, canaries included."""
        if self.covers is None:
            return 0, answer.bound + self.fixed_cost
        added, bound = self.covers.improve(answer, self.quota_price(answer), self.capacity_price(answer))
        return added, bound + self.fixed_cost

    def capacity_price(self, answer: Answer) -> Floats:
        """Return what a unit of capacity costs. Shape: region, pool."""
        return np.maximum(answer.duals[self.capacity_rows], 0.0) / self.problem.scale_tok_s

    def cut_price(self, answer: Answer) -> Floats:
        """Return what a unit of the members' capacity costs. Shape: cut."""
        return np.asarray(np.maximum(answer.duals[self.cut_rows], 0.0) / self._cut_scale)

    def quota_price(self, answer: Answer) -> Floats:
        """Return what a GPU of quota would save. Shape: region, accelerator."""
        return np.maximum(-answer.duals[self.quota_rows], 0.0)

    def replicas(self, answer: Answer) -> Floats:
        """Return counts, canaries included. Shape: region, pool, accelerator."""
        found = self.problem.held_canaries.copy()
        found[self.cells] += answer.values[self.replica_columns]
        return found if self.covers is None else found + self.covers.replicas(answer.values)

    def shares_of(self, answer: Answer) -> Floats:
        """Return static shares as fractions. Shape: class, lost, region."""
        return normalised(np.where(self.shares == NOTHING, 0.0, np.maximum(answer.values[self.shares], 0.0)))


def normalised(shares: Floats) -> Floats:
    """Return shares that sum to 1 where some are positive. Shape: class, lost, region."""
    return np.asarray(shares / np.maximum(shares.sum(axis=2, keepdims=True), 1e-300))
