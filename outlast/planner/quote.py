"""Quotes a new tenant: what the fleet needs with it, less what it needs without."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from outlast.errors import ConfigError, Problem, listed
from outlast.intent import Intent
from outlast.intent.checks import check
from outlast.intent.demand import Demand, Shape
from outlast.intent.known import unknown
from outlast.intent.models import in_unit
from outlast.intent.reading import validate
from outlast.intent.tenants import Tenant
from outlast.lock import Lock
from outlast.planner.explain import explain
from outlast.planner.holdings import Ask, smallest_asks
from outlast.planner.plan import Planned
from outlast.planner.trials import Size, Trials, size_of, unproven_usd_h
from outlast.units import HOURS_PER_MONTH

COMMAND = "outlast quote"
_TENANT = "quoted-tenant"
_OPTIONS = {"peak": "--peak", "peak_utc_hour": "--hour", "trough": "--trough", "weekend": "--weekend"}


@dataclass(frozen=True)
class Wanted:
    """What a tenant would ask for."""

    residency: str
    model: str
    origin: str
    shape: Shape


@dataclass(frozen=True)
class RegionMore:
    """What a region needs more."""

    region: str
    replicas: int
    nodes: int
    gpus: float
    set_by: str
    """The case that sets the count of each pool there, with the tenant."""


@dataclass(frozen=True)
class Quote:
    """The marginal price of a tenant."""

    wanted: Wanted
    more: Size
    regions: tuple[RegionMore, ...]
    """Regions whose counts differ, in file order."""
    asks: tuple[Ask, ...]
    """Quotas and reservations that are too small; empty if the tenant fits what is held."""
    unproven_usd_h: float
    """How far the price may be off, because a search ended before its gap was closed."""

    @property
    def usd_month(self) -> float:
        """Price of a month of 730 hours."""
        return self.more.usd_h * HOURS_PER_MONTH


def to_wanted(
    intent: Intent, residency: str, model: str | None, origin: str | None, shape: Mapping[str, object]
) -> Wanted:
    """Return what is asked for, with the only model and origin of the class where none is named.

    Args:
        intent: the fleet.
        residency: the class.
        model: the model, or None.
        origin: the origin, or None.
        shape: keys of a demand's ``shape`` as people write them.

    Raises:
        ConfigError: a word is unknown, a choice is needed, or the shape is malformed.
    """
    problems: list[Problem] = []
    classes, origins = intent.tenants_file.classes, intent.regions_file.origins
    if residency not in classes:
        problems.append(unknown("--class", "residency class", residency, classes))
    else:
        used = [name for name in intent.models if name in intent.models_of_class[residency]]
        model = _chosen("--model", "model", model, used, intent.models, problems)
        origin = _chosen("--origin", "origin", origin, intent.origins_of_class[residency], origins, problems)
    mistakes: list[Problem] = []
    parsed = validate(dict(shape), COMMAND, Shape, mistakes)
    problems += [_of_option(problem) for problem in mistakes]
    if parsed is not None and model is not None and model in intent.models:
        problems += _of_other_unit(parsed, intent.models[model].unit)
    if problems or parsed is None or model is None or origin is None:
        raise ConfigError(problems)
    return Wanted(residency, model, origin, parsed)


def _of_other_unit(shape: Shape, unit: str) -> Iterable[Problem]:
    if not in_unit(shape.peak, unit):
        got, do = str(shape.peak.unit), f"Write it in {unit}"
        yield Problem(where="--peak", what="the model is planned in another unit", got=got, allowed=unit, do=do)


def with_tenant(intent: Intent, wanted: Wanted) -> Intent:
    """Return the fleet with the tenant; one that asks for nothing changes nothing.

    Raises:
        ConfigError: the files do not hold with it.
    """
    if not any(wanted.shape.hours()):
        return intent
    tenants = intent.tenants_file.tenants
    name = next(n for n in (_TENANT, *(f"{_TENANT}-{i}" for i in range(len(tenants)))) if n not in tenants)
    tenant = Tenant(residency=wanted.residency, models=(wanted.model,))
    curve = Demand(tenants=(name,), origin=wanted.origin, model=wanted.model, shape=wanted.shape)
    demand = intent.demand_file.model_copy(update={"demand": (*intent.demand_file.demand, curve)})
    file = intent.tenants_file.model_copy(update={"tenants": {**tenants, name: tenant}})
    found = replace(intent, tenants_file=file, demand_file=demand)
    if problems := [replace(problem, where=f"{COMMAND}, giving {problem.where}") for problem in check(found)]:
        raise ConfigError(problems)
    return found


def quote(intent: Intent, wanted: Wanted, trials: Trials) -> Quote:
    """Return what a tenant adds to the optimum of a fleet.

    If it does not fit what is held, it is priced as if the smallest enlargement that does were granted.

    Raises:
        PlanError: the fleet has no plan without the tenant, or none with it that a quota or reservation would give.
    """
    grown = with_tenant(intent, wanted)
    without = trials(intent).must()
    short, with_it = smallest_asks(grown, trials)
    return Quote(
        wanted=wanted,
        more=size_of(with_it) - size_of(without),
        regions=tuple(_regions(without, with_it, grown)),
        asks=short,
        unproven_usd_h=unproven_usd_h(without, with_it),
    )


def _regions(without: Lock, with_it: Lock, grown: Intent) -> Iterable[RegionMore]:
    lines = explain(grown, Planned(with_it, changed=True, target=with_it)).pools
    for region in with_it.regions:
        before, after = (size_of(_only(lock, region)) for lock in (without, with_it))
        more = after - before
        if more.replicas or more.nodes or more.gpus:
            moved = _moved(without, with_it, region)
            found = (line for line in lines if line.region == region and line.pool in moved)
            words = dict.fromkeys(f"{line.pool}: {line.binding}" for line in found)
            yield RegionMore(region, more.replicas, more.nodes, more.gpus, "; ".join(words))


def _moved(without: Lock, with_it: Lock, region: str) -> set[str]:
    """Return the pools whose replicas differ between two plans."""
    before, after = (lock.regions[region].pools for lock in (without, with_it))
    return {pool.pool for key, pool in after.items() if key not in before or before[key].places != pool.places}


def _only(lock: Lock, region: str) -> Lock:
    return lock.model_copy(update={"regions": {region: lock.regions[region]}})


def _chosen(
    option: str, kind: str, given: str | None, usual: Iterable[str], known: Iterable[str], problems: list[Problem]
) -> str:
    """Return the word that is given, or the only usual one; add a problem where neither will do."""
    words, usual = list(known), list(usual)
    if given is not None:
        if given not in words:
            problems.append(unknown(option, kind, given, words))
        return given
    choices = usual or words
    if len(choices) != 1:
        do = f"Name one with {option}"
        problems.append(Problem(where=option, what=f"the class has no single {kind}", allowed=listed(choices), do=do))
    return choices[0] if choices else ""


def _of_option(problem: Problem) -> Problem:
    key = problem.where.removeprefix(f"{COMMAND}, ")
    return replace(problem, where=_OPTIONS.get(key, problem.where))
