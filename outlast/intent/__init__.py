"""What people want and hold: the models of ``config/fleets/<fleet>/*.yaml``, their loader and cross-file checks.

May hold: file models, loading, allowed sets and demand curves that follow from the files. Not: counts, prices, places
of resources.
"""

from outlast.intent.intent import HOURS, Intent
from outlast.intent.loader import FILES, fleet_folder, load_intent

__all__ = ["FILES", "HOURS", "Intent", "fleet_folder", "load_intent"]
