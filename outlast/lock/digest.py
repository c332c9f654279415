"""Digests of planner inputs and of a lock, and whether a lock still fits its inputs.

Digests are taken over *parsed* values of the fields marked as planner inputs, and only over the rows of facts that the
fleet uses; comments, order of keys, tags, access, budgets and ages do not count. Prices have a digest of their own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pydantic import BaseModel

from outlast.errors import Problem, listed
from outlast.facts import LIST_BASIS, Facts, Price
from outlast.intent import Intent
from outlast.lock.models import Lock

PRICES = "prices"
FACTS = "facts"


@dataclass(frozen=True)
class Freshness:
    """How a lock relates to the files as they are now."""

    stale: tuple[str, ...]
    """Inputs that changed, without prices."""
    repriced: bool
    """A price changed; the counts may stand, the money does not."""

    @property
    def is_fresh(self) -> bool:
        """Whether nothing changed."""
        return not self.stale and not self.repriced


def lock_digest(lock: Lock) -> str:
    """Return the digest of a lock's content."""
    return _digest(lock.model_dump(mode="json"))


def input_digests(intent: Intent) -> dict[str, str]:
    """Return input name -> digest, for the lock's ``inputs``."""
    files: Mapping[str, BaseModel] = {
        "fleet": intent.fleet,
        "regions": intent.regions_file,
        "models": intent.models_file,
        "tenants": intent.tenants_file,
        "demand": intent.demand_file,
        "guardrails": intent.guardrails,
        "capacity": intent.capacity,
    }
    digests = {name: _digest(planner_values(model)) for name, model in files.items()}
    digests[FACTS] = _digest(_facts_used(intent))
    digests[PRICES] = _digest([row.model_dump(mode="json", exclude={"source", "as_of"}) for row in prices_used(intent)])
    return digests


def freshness(lock: Lock, intent: Intent) -> Freshness:
    """Compare a lock with the files as they are now."""
    now = input_digests(intent)
    changed = [name for name in now if lock.inputs.get(name) != now[name]]
    return Freshness(stale=tuple(name for name in changed if name != PRICES), repriced=PRICES in changed)


def stale_problem(intent: Intent, fresh: Freshness) -> Problem:
    """Return the problem of a stale lock: what changed, and the command that renews it."""
    return Problem(
        where=f"{intent.name}/plan.lock.yaml",
        what=f"the lock was made from other inputs (changed: {listed(fresh.stale)})",
        do=f"Run 'outlast plan {intent.name}' and commit the result",
    )


def planner_values(value: object) -> Any:
    """Return the planner inputs inside a parsed file as plain JSON values.

    Fields at their default are left out, so that a new optional field makes no lock stale.
    """
    if isinstance(value, BaseModel):
        fields = type(value).model_fields
        marked = {name: field for name, field in fields.items() if _is_input(field.json_schema_extra)}
        # A model whose fields carry no marks is a value as a whole, such as a demand shape.
        chosen = marked or fields
        default = {name: field.get_default() for name, field in chosen.items()}
        given = (name for name in sorted(chosen) if getattr(value, name) != default[name])
        return {name: planner_values(getattr(value, name)) for name in given}
    if isinstance(value, Mapping):
        return {str(key): planner_values(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [planner_values(entry) for entry in value]
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)


def prices_used(intent: Intent) -> list[Price]:
    """Return the price rows of the fleet's node pools, sorted."""
    keys = {
        (region.cloud, region.provider_region, pool.machine_type, LIST_BASIS[pool.capacity])
        for region in intent.regions.values()
        for pool in region.node_pools.values()
    }
    return [intent.facts.prices[key] for key in sorted(keys) if key in intent.facts.prices]


def _facts_used(intent: Intent) -> list[str]:
    facts: Facts = intent.facts
    used: list[BaseModel] = []
    for region in intent.regions.values():
        used.append(facts.provider_regions[region.cloud, region.provider_region])
        for pool in region.node_pools.values():
            machine = facts.machine_types[region.cloud, pool.machine_type]
            used += [machine, facts.accelerators[machine.accelerator]]
            used.append(facts.offerings[region.cloud, region.provider_region, pool.machine_type])
            used += facts.quotas_for(region.cloud, pool.machine_type, pool.capacity)
            used += facts.caps_for(region.cloud, pool.machine_type, pool.capacity)
    # As of files that people write: a column that a row leaves at its default makes no lock stale.
    values = (row.model_dump(mode="json", exclude={"source", "as_of"}, exclude_defaults=True) for row in used)
    return sorted({json.dumps(value, sort_keys=True) for value in values})


def _is_input(extra: object) -> bool:
    return isinstance(extra, dict) and bool(extra.get("planner_input"))


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16]
