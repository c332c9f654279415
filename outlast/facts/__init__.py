"""What is true of the world: accelerators, machine types, offerings, prices, quotas, places; each row with its source.

May hold: the models of ``config/facts/*.csv``, their loader and their cross-checks. Not: what a fleet wants.
"""

from outlast.facts.loader import Facts, load_facts
from outlast.facts.models import (
    LIST_BASIS,
    Accelerator,
    CatalogueRow,
    GoodputFact,
    IdKind,
    MachineType,
    ModelShape,
    NetworkFact,
    Offering,
    Price,
    ProviderRegion,
    QuotaFact,
)

__all__ = [
    "LIST_BASIS",
    "Accelerator",
    "CatalogueRow",
    "Facts",
    "GoodputFact",
    "IdKind",
    "MachineType",
    "ModelShape",
    "NetworkFact",
    "Offering",
    "Price",
    "ProviderRegion",
    "QuotaFact",
    "load_facts",
]
