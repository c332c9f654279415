"""Loads ``config/fleets/<fleet>/*.yaml`` and reports every problem of every file at once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType

from outlast.errors import ConfigError, Problem, did_you_mean, listed
from outlast.facts import Facts
from outlast.intent.base import Strict
from outlast.intent.capacity import CapacityFile
from outlast.intent.checks import check
from outlast.intent.comparison import ComparisonFile
from outlast.intent.demand import DAY_HOURS, WEEK_HOURS, Demand, DemandFile
from outlast.intent.fleet import FleetFile
from outlast.intent.guardrails import GuardrailsFile
from outlast.intent.intent import Intent
from outlast.intent.models import ModelsFile
from outlast.intent.reading import read_file
from outlast.intent.regions import RegionsFile
from outlast.intent.releases import ArtifactsFile, OperationsFile, VariantsFile, WaiversFile
from outlast.intent.tenants import TenantsFile
from outlast.units import Quantity

FILES: Mapping[str, type[Strict]] = MappingProxyType(
    {
        "fleet": FleetFile,
        "regions": RegionsFile,
        "models": ModelsFile,
        "tenants": TenantsFile,
        "demand": DemandFile,
        "guardrails": GuardrailsFile,
        "capacity": CapacityFile,
        "artifacts": ArtifactsFile,
        "operations": OperationsFile,
        "waivers": WaiversFile,
        "variants": VariantsFile,
        "compare": ComparisonFile,
    }
)
"""File stem -> model."""
_OPTIONAL = frozenset({"operations", "waivers", "variants", "compare"})


CONFIG_VARIABLE = "OUTLAST_CONFIG"
"""Names the root of configuration."""


def config_in(environment: Mapping[str, str], project: Path) -> Path:
    """Return the root of configuration: ``OUTLAST_CONFIG``, or ``config`` of the project.

    Raises:
        ConfigError: the variable holds a relative path, which the policy pack would read from another folder.
    """
    named = environment.get(CONFIG_VARIABLE)
    if named and not Path(named).is_absolute():
        what, do = "must be an absolute path", "Write the whole path"
        raise ConfigError(Problem(where=CONFIG_VARIABLE, what=what, got=named, do=do))
    return Path(named) if named else project / "config"


def fleet_folder(config_root: Path, fleet: str) -> Path:
    """Return the folder of a fleet.

    Raises:
        ConfigError: there is no such fleet.
    """
    folder = config_root / "fleets" / fleet
    fleets = sorted(path.name for path in (config_root / "fleets").glob("*") if path.is_dir())
    if fleet not in fleets:
        do = did_you_mean(fleet, fleets) or f"Create config/fleets/{fleet}"
        raise ConfigError(Problem(where=f"fleet '{fleet}'", what="no such fleet", allowed=listed(fleets), do=do))
    return folder


def load_intent(config_root: Path, fleet: str, facts: Facts) -> Intent:
    """Load and check all files of a fleet.

    Raises:
        ConfigError: holds every problem of every file.
    """
    folder = fleet_folder(config_root, fleet)
    problems: list[Problem] = []
    read: dict[str, Strict | None] = {
        stem: read_file(folder / f"{stem}.yaml", f"{fleet}/{stem}.yaml", model, problems, optional=stem in _OPTIONAL)
        for stem, model in FILES.items()
    }
    problems.extend(_unknown_files(folder, fleet))
    if problems:
        what, do = "checks across files wait until these are mended", f"Mend them, then run 'outlast check {fleet}'"
        problems.append(Problem(where=fleet, what=what, do=do))
    return intent_of(read, folder, facts, problems)


def intent_of(files: Mapping[str, Strict | None], folder: Path, facts: Facts, problems: list[Problem]) -> Intent:
    """Return the checked intent of files that were read from a fleet's folder.

    Args:
        files: what each of ``FILES`` holds, in their order; None where it holds mistakes.
        folder: the fleet's folder; it names the fleet and holds the traces.
        facts: what the files are checked against.
        problems: those found so far; receives the others.

    Raises:
        ConfigError: there are problems.
    """
    read, fleet = dict(files), folder.name
    if isinstance(read["demand"], DemandFile):
        read["demand"] = _with_traces(read["demand"], folder, fleet, problems)
    if problems:
        raise ConfigError(problems)
    intent = Intent(fleet, facts, *read.values())  # type: ignore[arg-type]
    problems.extend(check(intent))
    if problems:
        raise ConfigError(problems)
    return intent


def _unknown_files(folder: Path, fleet: str) -> list[Problem]:
    known = {f"{stem}.yaml" for stem in FILES} | {"plan.lock.yaml"}
    return [
        Problem(
            where=f"{fleet}/{path.name}",
            what="nothing reads this file",
            allowed=listed(known, 20),
            do=did_you_mean(path.name, known) or "Remove it",
        )
        for path in sorted(folder.glob("*.y*ml"))
        if path.name not in known
    ]


def _with_traces(file: DemandFile, folder: Path, fleet: str, problems: list[Problem]) -> DemandFile:
    """Replace each trace by the numbers of its file, so that what follows knows only shapes and hours."""
    curves: list[Demand] = []
    for index, curve in enumerate(file.demand):
        if curve.trace is None:
            curves.append(curve)
            continue
        where = f"{fleet}/demand.yaml, demand.{index}.trace"
        path = folder / curve.trace.file
        if not path.is_file():
            problems.append(
                Problem(where=where, what="no such file", got=curve.trace.file, do="Put the trace beside demand.yaml")
            )
            continue
        content = path.read_bytes()
        digest = f"sha256:{sha256(content).hexdigest()}"
        if digest != curve.trace.digest:
            problems.append(
                Problem(
                    where=where,
                    what="the trace is not the one declared",
                    got=digest,
                    allowed=curve.trace.digest,
                    do="Correct the digest after looking at the change",
                )
            )
            continue
        hours = _trace_hours(content.decode(errors="replace"), curve.trace.reading, where, problems)
        if hours:
            rates = tuple(Quantity(hour, curve.trace.unit) for hour in hours)
            curves.append(curve.model_copy(update={"trace": None, "hours": rates}))
    return file.model_copy(update={"demand": tuple(curves)})


def _trace_hours(text: str, reading: str, where: str, problems: list[Problem]) -> tuple[float, ...]:
    """Return the 168 hours of a week as they are, or the mean or largest day of a day or week."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    try:
        hours = tuple(float(line) for line in lines)
    except ValueError:
        hours = ()
    lengths = (WEEK_HOURS,) if reading == "week" else (DAY_HOURS, WEEK_HOURS)
    if len(hours) not in lengths or not all(0 <= value < math.inf for value in hours):
        problems.append(
            Problem(
                where=where,
                what=f"a trace read as '{reading}' holds one number a line",
                got=f"{len(lines)} lines",
                allowed=f"{' or '.join(map(str, lengths))} numbers, none negative",
                do="Export the curve by the hour",
            )
        )
        return ()
    days = [hours[start : start + DAY_HOURS] for start in range(0, len(hours), DAY_HOURS)]
    if reading == "mean day":
        return tuple(sum(values) / len(days) for values in zip(*days, strict=True))
    return max(days, key=sum) if reading == "largest day" else hours
