"""How cards are divided: MIG instances with memory of their own, or time-slices that share one card."""

from __future__ import annotations

from outlast.errors import Problem, listed
from outlast.facts.models import Accelerator
from outlast.intent.models import WHOLE

MIG, SLICED = "mig-", "slice-"
SLICEABLE = "nvidia.com/gpu"
"""Resource of the cards whose time can be shared. Source: NVIDIA device plugin, time-slicing; AMD's plugin has none."""


def parts_of_card(partition: str) -> int:
    """Return the parts of one card: 7 for ``mig-7x1g.10gb``, 4 for ``slice-4``, 1 for ``whole``."""
    if partition.startswith(MIG):
        return int(partition.removeprefix(MIG).split("x", 1)[0])
    return int(partition.removeprefix(SLICED)) if partition.startswith(SLICED) else 1


def profile_of(partition: str) -> str:
    """Return the name of one part: ``1g.10gb`` for ``mig-7x1g.10gb``, ``slice`` for a time-slice."""
    return partition.split("x", 1)[1] if partition.startswith(MIG) else SLICED.rstrip("-")


def is_sliced(partition: str) -> bool:
    """Whether parts share memory and time: neither isolation nor headroom."""
    return partition.startswith(SLICED)


def fills_card(card: Accelerator, partition: str) -> bool:
    """Whether a division makes as many instances of its profile as the card holds; true of what makes none."""
    if not partition.startswith(MIG):
        return True
    return parts_of_card(partition) == mig_profiles(card).get(profile_of(partition))


def mig_profiles(card: Accelerator) -> dict[str, int]:
    """Return MIG profile -> most instances of it on a card."""
    return {name: int(number) for name, _, number in (entry.partition(":") for entry in card.mig_profiles_max_count)}


def why_not_divided(card: Accelerator, partition: str) -> Problem | None:
    """Return why a card cannot be divided so, without a place; None if it can."""
    if partition == WHOLE:
        return None
    parts = parts_of_card(partition)
    if is_sliced(partition) and card.resource != SLICEABLE:
        what, do = f"{card.accelerator} has no time-slices: its device plugin gives whole cards only", "Write 'whole'"
        return Problem(where="", what=what, got=partition, do=do)
    if is_sliced(partition):
        what, do = "a card is sliced into two parts or more", "Write 'whole', or 'slice-2' and up"
        return None if parts > 1 else Problem(where="", what=what, got=partition, do=do)
    most = mig_profiles(card)
    profile = profile_of(partition)
    if profile not in most:
        return Problem(
            where="",
            what=f"{card.accelerator} has no MIG profile '{profile}'",
            allowed=listed(most) if most else "none: the card has no MIG",
            do="Choose a profile of the card, or time-slicing for small models",
        )
    if not 1 <= parts <= most[profile]:
        return Problem(
            where="",
            what=f"{card.accelerator} does not hold that many instances of '{profile}'",
            got=str(parts),
            allowed=f"1 to {most[profile]}",
            do="Correct the count",
        )
    return None
