"""Seconds from the decision to start a replica until it serves, part by part.

Bandwidth and disks are facts of the machine type; everything else is a constant here with its source. Figures are on
the slow side of what is published, because a cold start is promised inside an allowed outage. Measure your own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from outlast.errors import ConfigError, FactError, Problem
from outlast.facts import Facts, MachineType

Start = Literal["staged", "empty-cache", "new-node"]
"""``staged``: image and weights lie on the node. ``empty-cache``: the node runs, without the weights.
``new-node``: there is no node yet.
"""
STARTS: tuple[Start, ...] = ("staged", "empty-cache", "new-node")

NODE_READY_S = 300.0
"""From asking for a node to a schedulable GPU: machine, driver, device plugin. Assumed; published texts say minutes."""
IMAGE_GB = 10.0
"""Compressed image of the engine. Source: published sizes of 10 to 20 GB unpacked. As of: 2026. Assumed."""
IMAGE_GB_PER_S = 0.1
"""Pull and unpack of one image by a container runtime, bound by one processor core. Assumed."""
STORE_GB_PER_S = 3.1
"""What one node reads from an object store at once: 15 GB in 4.9 s. Source: Run:ai Model Streamer benchmarks,
concurrency 32. As of: 2026. Measured.
"""
DISK_READ_GB_PER_S = 6.2 / 16
"""One local disk among many, the slowest of the clouds. Source: Google Cloud documentation, 16 local disks.
As of: 2026. Measured.
"""
DISK_WRITE_GB_PER_S = 3.1 / 16
"""As above, writing."""
LOADER_GB_PER_S = 7.0
"""Loading into GPUs when disks are no limit: 70 GB in 10 s. Source: vLLM issue 19824, 70B FP8 on 8 GPUs.
As of: 2025-06-19. Measured.
"""
ENGINE_START_S = 145.0
"""Tracing 15 s, compilation 70 s, capture of graphs 60 s, nothing cached. Source and day as above. Measured."""
PEER_CHECK_S = 60.0
"""Check of access between GPUs, where a replica has several. Source and day as above. Measured."""


@dataclass(frozen=True)
class Step:
    """One part of a cold start."""

    name: str
    seconds: float
    how: str
    """The arithmetic."""
    basis: Literal["assumed", "measured", "facts"]
    """What the slowest figure in it rests on."""


@dataclass(frozen=True)
class ColdStart:
    """A cold start of one replica on one machine type."""

    cloud: str
    machine_type: str
    start: Start
    steps: tuple[Step, ...]

    @property
    def total_s(self) -> float:
        """Return the seconds of all parts; they follow one another."""
        return sum(step.seconds for step in self.steps)


def cold_start(facts: Facts, machine: MachineType, weights_bytes: float, gpus: int, start: Start) -> ColdStart:
    """Return the cold start of a replica of ``gpus`` GPUs with weights of this size.

    Raises:
        ConfigError: the size or the GPUs are none.
        FactError: facts lack the network or the disks of the machine type.
    """
    problems = [
        Problem(where=f"cold start, {name}", what="out of range", got=f"{value:g}")
        for name, value in (("weights_bytes", weights_bytes), ("gpus", gpus))
        if not 0 < value < math.inf
    ]
    if start not in STARTS:
        problems.append(Problem(where="cold start", what="unknown start", got=start, allowed=", ".join(STARTS)))
    if problems:
        raise ConfigError(problems)
    weights_gb = weights_bytes / 1e9
    steps: list[Step] = []
    if start == "new-node":
        steps.append(Step("node", NODE_READY_S, "machine, driver, device plugin", "assumed"))
        image = f"{IMAGE_GB:g} GB at {IMAGE_GB_PER_S:g} GB/s"
        steps.append(Step("image", IMAGE_GB / IMAGE_GB_PER_S, image, "assumed"))
    if start != "staged":
        steps.append(_download(facts, machine, weights_gb))
    steps += [_load(machine, weights_gb), _engine(gpus)]
    return ColdStart(machine.cloud, machine.machine_type, start, tuple(steps))


def _download(facts: Facts, machine: MachineType, weights_gb: float) -> Step:
    gbps = facts.sustained_gbps(machine)
    if gbps is None:
        raise FactError(_missing(machine, "network_gbps"))
    limits = {
        gbps / 8: (f"network, {gbps:g} Gbit/s sustained", "facts"),
        STORE_GB_PER_S: ("object store", "measured"),
        _disks(machine) * DISK_WRITE_GB_PER_S: (f"writing {_disks(machine)} disks", "measured"),
    }
    rate = min(limits)
    return _at_rate("download", weights_gb, rate, *limits[rate])


def _load(machine: MachineType, weights_gb: float) -> Step:
    disks_gb_per_s = _disks(machine) * DISK_READ_GB_PER_S
    if disks_gb_per_s < LOADER_GB_PER_S:
        return _at_rate("load", weights_gb, disks_gb_per_s, f"reading {_disks(machine)} disks", "measured")
    return _at_rate("load", weights_gb, LOADER_GB_PER_S, "loader", "measured")


def _at_rate(name: str, weights_gb: float, gb_per_s: float, limit: str, basis: str) -> Step:
    how = f"{weights_gb:.1f} GB at {gb_per_s:.2g} GB/s ({limit})"
    return Step(name, weights_gb / gb_per_s, how, "facts" if basis == "facts" else "measured")


def _engine(gpus: int) -> Step:
    if gpus == 1:
        return Step("engine", ENGINE_START_S, "compile and capture", "measured")
    return Step("engine", ENGINE_START_S + PEER_CHECK_S, "compile, capture, check of peers", "measured")


def _disks(machine: MachineType) -> int:
    if not machine.nvme_count:
        raise FactError(_missing(machine, "nvme_count"))
    return int(machine.nvme_count)


def _missing(machine: MachineType, column: str) -> Problem:
    return Problem(
        where=f"facts/machine_types.csv, {machine.cloud} {machine.machine_type}",
        what="a cold start cannot be computed",
        do=f"Fill in {column} with its source",
    )
