"""What people want and hold: the models of ``config/fleets/<fleet>/*.yaml``, their loader and cross-file checks.

May hold: file models, loading, allowed sets and demand curves that follow from the files. Not: counts, prices, places
of resources.
"""

from outlast.intent.intent import HOURS, Intent
from outlast.intent.loader import FILES, config_in, fleet_folder, load_intent
from outlast.intent.stacks import deployed_together, global_stack, region_stack, routing_stack, stack_order

__all__ = [
    "FILES",
    "HOURS",
    "Intent",
    "config_in",
    "deployed_together",
    "fleet_folder",
    "global_stack",
    "load_intent",
    "region_stack",
    "routing_stack",
    "stack_order",
]
