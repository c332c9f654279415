"""Parts of a card: hardware slices, compute partitions, shares of time; which a card has and what memory each gives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from outlast.errors import Problem, did_you_mean, listed
from outlast.facts import Accelerator

WHOLE = "whole"
MOST_SHARES = 16
"""More engines than this on one card leave none of them memory to speak of."""

_SLICES_OF_A_CARD = 8
"""Memory slices that hardware slices are cut from. Source: NVIDIA Multi-Instance GPU User Guide. As of: 2026-10-13."""
_SLICE_USABLE_RATIO = 0.975
"""Memory that the driver reports of a slice, over its part of the card: 9.75 GiB for 1g.10gb of 80 GiB.

Source: listing of GPU instance profiles on an H100 80 GB, the lowest of its profiles. As of: 2026. Measured.
"""
_COMPUTE_PARTITIONS = 8
"""Devices that a card shows as with CPX and NPS4, with an eighth of the memory each.

Source: AMD GPU operator documentation: 64 devices of 24 GB on a node of 8 cards. As of: 2026-08-06.
"""


@dataclass(frozen=True)
class Part:
    """What one engine gets of a card."""

    kind: Literal["card", "slice", "partition", "share"]
    memory_ratio: float
    """Part of the card's memory."""
    nominal_gb: float
    """Memory as the name says, decimal."""
    usable_ratio: float = 1.0
    """What the driver reports, over ``memory_ratio`` of the card."""


def part_of(card: Accelerator, name: str) -> Part | None:
    """Return the part called ``whole``, ``mig-1g.10gb``, ``cpx-nps4`` or ``slice-4``; None if the card has none."""
    if name == WHOLE:
        return Part("card", 1.0, card.mem_gb_nominal)
    if name in _hardware_slices(card):
        nominal_gb = float(name.removesuffix("gb").rpartition(".")[2])
        eighths = max(1, round(nominal_gb / card.mem_gb_nominal * _SLICES_OF_A_CARD))
        return Part("slice", eighths / _SLICES_OF_A_CARD, nominal_gb, _SLICE_USABLE_RATIO)
    if name in _compute_partitions(card):
        return Part("partition", 1 / _COMPUTE_PARTITIONS, card.mem_gb_nominal / _COMPUTE_PARTITIONS)
    share = re.fullmatch(r"slice-([1-9]\d?)", name)
    if share and 2 <= int(share[1]) <= MOST_SHARES:
        return Part("share", 1 / int(share[1]), card.mem_gb_nominal / int(share[1]))
    return None


def parts_of(card: Accelerator) -> tuple[str, ...]:
    """Return the names of the parts that a card has, one share standing for all."""
    return (WHOLE, *_hardware_slices(card), *_compute_partitions(card), "slice-4")


def no_such_part(where: str, card: Accelerator, name: str) -> Problem:
    """Return the problem that a card has no part of this name; it says why where the card has no slices at all."""
    known = parts_of(card)
    lacks = name.startswith("mig-") and not _hardware_slices(card)
    return Problem(
        where=where,
        what=f"{card.accelerator} has no hardware slices" if lacks else f"{card.accelerator} has no part '{name}'",
        got=name,
        allowed=listed(known),
        do="Share its time (slice-N), or take a card that has them" if lacks else did_you_mean(name, known),
    )


def _hardware_slices(card: Accelerator) -> tuple[str, ...]:
    profiles = (word.rpartition(":")[0] for word in card.mig_profiles_max_count)
    return tuple(f"mig-{profile}" for profile in profiles if "+" not in profile)


def _compute_partitions(card: Accelerator) -> tuple[str, ...]:
    return ("cpx-nps4",) if {"CPX", "NPS4"} <= set(re.findall(r"\w+", card.partition_modes)) else ()
