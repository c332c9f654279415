"""What the survivors of a region need together, whoever of them takes what.

When shares may differ by hour, moving a lost region's demand is a transport problem; by max-flow and min-cut it has an
answer if and only if every union of survivor sets holds its own demand and that of the classes confined to it.
Capacity does not depend on the hour, so only the worst hour of a union matters.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from outlast.planner.scale.problem import TOLERANCE, Bools, Floats, Ints, ScaleProblem

MOST_SETS = 6
"""Crossing survivor sets of one lost region of which all unions are taken."""


@dataclass(frozen=True)
class Cuts:
    """Needs of sets of regions that the cells' own needs do not satisfy already."""

    lost: Ints
    """Shape: cut."""
    pool: Ints
    """Shape: cut."""
    members: Bools
    """Regions of the set. Shape: cut, region."""
    extra_tok_s: Floats
    """Capacity needed over the sum of what the members need alone. Shape: cut."""
    hour: Ints
    """Hour that needs most. Shape: cut."""


def to_cuts(problem: ScaleProblem) -> Cuts:
    """Return the cuts that can bind."""
    found = list(_cuts(problem))
    regions = problem.shape[1]
    if not found:
        nothing = np.zeros(0, dtype=np.int64)
        return Cuts(nothing, nothing, np.zeros((0, regions), dtype=bool), np.zeros(0), nothing)
    lost, pool, members, extra, hour = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Cuts(lost, pool, members, extra, hour)


def _cuts(problem: ScaleProblem) -> Iterator[tuple[Ints, Ints, Bools, Floats, Ints]]:
    for lost in range(problem.shape[1]):
        classes = np.flatnonzero(problem.moves[:, lost])
        for members in unions([problem.targets[index, lost] for index in classes]):
            bound_here = [index for index in classes if not (problem.targets[index, lost] & ~members).any()]
            moved = problem.moved_tok_s[bound_here, lost].sum(axis=0)
            together = problem.base_tok_s[members].sum(axis=0) + moved
            alone = problem.alone_tok_s[members].sum(axis=0)
            extra = together.max(axis=1) - alone
            pools = np.flatnonzero(extra > TOLERANCE * np.maximum(alone, 1.0))
            yield (
                np.full(len(pools), lost),
                pools,
                np.repeat(members[None], len(pools), axis=0),
                extra[pools],
                together.argmax(axis=1)[pools],
            )


def unions(sets: Sequence[Bools]) -> list[Bools]:
    """Return the unions that can bind: the sets if all are nested or disjoint, else all unions of a few sets.

    Of more than a few, single sets, pairs and the union of all are taken; what they give is a bound, not the optimum.
    """
    distinct = list({members.tobytes(): members for members in sets}.values())
    if all(_are_laminar(one, other) for one, other in itertools.combinations(distinct, 2)):
        return distinct
    sizes = range(1, len(distinct) + 1) if len(distinct) <= MOST_SETS else (1, 2, len(distinct))
    joined = [np.logical_or.reduce(chosen) for size in sizes for chosen in itertools.combinations(distinct, size)]
    return list({members.tobytes(): members for members in joined}.values())


def _are_laminar(one: Bools, other: Bools) -> bool:
    both = one & other
    return not both.any() or bool((both == one).all() or (both == other).all())
