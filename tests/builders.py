"""Builds small fleets that are valid but for what a test says.

``make_intent`` starts from the files of a fleet of two regions and one model and merges a test's changes into them, by
file stem: ``make_intent(guardrails={"canary_replicas": 1})``. A value of None removes a key; lists replace lists.
``make_lock`` states the counts of such a fleet by hand, ``make_resource`` one resource of a deployment.
"""

import copy
import shutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import yaml

from outlast.errors import ConfigError, OutlastError, Problem
from outlast.facts import Facts, load_facts
from outlast.intent import FILES, Intent, load_intent
from outlast.intent.checks import check
from outlast.intent.reading import parse_yaml, validate
from outlast.lock import Lock, input_digests
from outlast.view import Resource

CONFIG = Path(__file__).resolve().parents[1] / "config"
H100 = "h100-sxm-80"
P_QUOTA = "L-417A185B"
"""Quota of the AWS machine types with H100."""
GCP_CAP, GCP_H100 = "GPUS-ALL-REGIONS-per-project", "GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100"
RESERVATION = "cr-0123456789abcdef0"
"""Id of a reservation on AWS."""
REGION_PLACES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "us-east": ("aws", "us-east-1", ("use1-az1", "use1-az2", "use1-az4")),
    "eu-north": ("aws", "eu-north-1", ("eun1-az1", "eun1-az2", "eun1-az3")),
    "eu-west": ("gcp", "europe-west4", ("europe-west4-b", "europe-west4-c")),
    "us-west": ("aws", "us-west-2", ("usw2-az1", "usw2-az2", "usw2-az3")),
    "ap-south": ("aws", "ap-south-1", ("aps1-az1", "aps1-az2", "aps1-az3")),
    "eu-central": ("azure", "polandcentral", ("polandcentral-1", "polandcentral-2", "polandcentral-3")),
}
"""Our region -> cloud, provider region and zones that facts offer H100 nodes in."""
_MACHINES = {"aws": "p5.48xlarge", "gcp": "a3-highgpu-8g", "azure": "Standard_ND96isr_H100_v5"}
ACCOUNTS: Mapping[str, str] = {
    "aws": "111122223333",
    "gcp": "outlast-test",
    "azure": "11111111-2222-3333-4444-555555555555",
}
ADMINS: Mapping[str, str] = {
    "aws": "arn:aws:iam::111122223333:role/admin",
    "gcp": "group:admin@example.org",
    "azure": "66666666-7777-8888-9999-000000000000",
}
_QUOTAS = {"aws": [P_QUOTA], "gcp": [GCP_H100, GCP_CAP], "azure": ["standardNDSH100v5Family", "cores"]}
_ORDER = list(REGION_PLACES)
_UGLY = ("Traceback", "pydantic", "nput should", "validation error", "NoneType", "<class", "Errno", " None")


@cache
def facts() -> Facts:
    """The facts of the repository, read once."""
    return load_facts(CONFIG)


@cache
def demo_intent() -> Intent:
    """The demo fleet, read once."""
    return load_intent(CONFIG, "demo", facts())


def make_region(name: str, **changes: Any) -> dict[str, Any]:
    """A region of ``REGION_PLACES`` with one on-demand node pool ``gh100`` of 8-GPU nodes in all its zones."""
    cloud, provider_region, zones = REGION_PLACES[name]
    pool = {"machine_type": _MACHINES[cloud], "zones": list(zones)}
    region = {
        "cloud": cloud,
        "provider_region": provider_region,
        "zones": list(zones),
        "account": ACCOUNTS[cloud],
        "access": {"admin": [ADMINS[cloud]]},
        "account_number": "222233334444",
        "cidr": f"10.{16 * (1 + _ORDER.index(name))}.0.0/16",
        "dns_region": "us-east-1",
        "node_pools": {"gh100": pool},
    }
    return merged(region, changes)


def make_holdings(name: str) -> dict[str, Any]:
    """Quotas of a region that no small fleet reaches."""
    granted = "8000 GPUs" if REGION_PLACES[name][0] == "gcp" else "192k vCPU"
    codes = _QUOTAS[REGION_PLACES[name][0]]
    return {"quotas": {code: {"granted": granted, "as_of": "2026-11-01"} for code in codes}}


def make_model(**changes: Any) -> dict[str, Any]:
    """A dedicated model: 4 H100 a replica, 1000 tok/s of goodput."""
    goodput = {"value": "1000 tok/s", "kind": "measured", "date": "2026-11-01", "source": "a test"}
    model = {
        "artifact": "weights",
        "shape": "Llama-3.1-70B",
        "precision": "fp8",
        "kv_precision": "bf16",
        "context": "8000 tokens",
        "tier": "dedicated",
        "accelerators": {H100: {"gpus_per_replica": 4, "goodput": goodput}},
        "slo": {"ttft_p95": "2 s", "itl_p95": "50 ms"},
    }
    return merged(model, changes)


def make_curve(tenant: str, origin: str, *tok_s: float, model: str = "chat", unit: str = "tok/s") -> dict[str, Any]:
    """A demand curve that repeats ``tok_s`` over the day; the number of values must divide 24."""
    hours = [f"{value:.6f} {unit}" for value in tok_s] * (24 // len(tok_s))
    return {"tenants": [tenant], "origin": origin, "model": model, "hours": hours}


def make_artifact() -> dict[str, Any]:
    """A released artifact of 66 GiB that may lie anywhere."""
    released = {"digest": "sha256:" + "0" * 64, "size": "66 GiB"}
    return released | {"residency": "public-base", "signer": "release@example.org"}


def make_documents(*regions: str) -> dict[str, dict[str, Any]]:
    """The files of a fleet over ``regions`` (default us-east and eu-north), as YAML would give them.

    One class ``open`` that may go anywhere, one tenant ``shop``, one model ``chat``; each region is the nearest of an
    origin of its own name, with 700 tok/s every hour. Occupancy 70 % and 90 %, surge 1.6, every loss survived.
    """
    names = list(regions or ("us-east", "eu-north"))
    jurisdictions = {facts().jurisdiction_of(*REGION_PLACES[name][:2]): ["open"] for name in names}
    made = make_artifact()
    codes = ["country:US", "country:SE", "country:NL", "country:CA", "country:IN", "country:PL"]
    return {
        "fleet": {
            "clouds": "simulated",
            "dns": {
                "cloud": "aws",
                "zone": "api.example.org",
                "region": next(n for n in names if REGION_PLACES[n][0] == "aws"),
            },
            "kubernetes": "1.36",
            "today": "2026-11-30",
        },
        "regions": {
            "regions": {name: make_region(name) for name in names},
            "origins": {
                name: {"geolocation": [codes[_ORDER.index(name)]], "nearest": [name, *(n for n in names if n != name)]}
                for name in names
            },
        },
        "models": {"models": {"chat": make_model()}},
        "tenants": {
            "classes": {
                "open": {"serve_in": ["*"], "fail_over_to": ["*"], "legal_basis": "terms", "allowed_outage": "15 min"}
            },
            "admits": jurisdictions,
            "tenants": {"shop": {"residency": "open", "models": ["chat"]}},
        },
        "demand": {"demand": [make_curve("shop", name, 700) for name in names]},
        "guardrails": {
            "occupancy": {"normal": "70 %", "failure": "90 %"},
            "prefill_surge": {"factor": 1.6},
            "losses": {"region": 1, "zone": 1, "replica": 1},
        },
        "capacity": {"regions": {name: make_holdings(name) for name in names}},
        "artifacts": {"models": {"weights": made}, "images": {"engine": made, "disks": made}},
        "operations": {},
        "waivers": {},
        "variants": {},
        "compare": {},
    }


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """``base`` with ``changes`` merged in, mapping by mapping; None removes a key."""
    result = copy.deepcopy(dict(base))
    for key, value in changes.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        else:
            result[key] = copy.deepcopy(value)
    return result


def write_demo(root: Path, stem: str = "fleet", changes: Mapping[str, Any] = MappingProxyType({})) -> Path:
    """Copy the demo fleet below ``root`` and change one of its files; return its folder.

    Args:
        root: configuration root to make.
        stem: the file.
        changes: path with slashes, such as ``regions/us-east/cloud`` -> value; None removes the key.
    """
    folder = root / "fleets" / "demo"
    shutil.copytree(CONFIG / "fleets" / "demo", folder)
    path = folder / f"{stem}.yaml"
    document: Any = parse_yaml(path.read_text(), stem, []) if path.is_file() else {}
    for where, value in changes.items():
        *parents, last = [int(part) if part.isdigit() else part for part in where.split("/")]
        owner = document
        for part in parents:
            owner = owner.setdefault(part, {}) if isinstance(owner, dict) else owner[part]
        if value is None:
            del owner[last]
        else:
            owner[last] = copy.deepcopy(value)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return folder


def messages_of(root: Path, fleet: str = "demo") -> list[str]:
    """The messages with which loading a fleet below ``root`` fails, none of them in the words of a library."""
    with pytest.raises(ConfigError) as caught:
        load_intent(root, fleet, facts())
    return plain_lines(caught.value)


def plain_lines(error: OutlastError) -> list[str]:
    """The lines of an error: one a problem, none in the words of a library, each with what to do."""
    lines = str(error).splitlines()
    plain = [line for line in lines if not any(word in line for word in _UGLY)]
    assert plain == lines == [str(problem) for problem in error.problems if problem.do]
    return lines


def make_intent(*regions: str, name: str = "test", **changes: Mapping[str, Any]) -> Intent:
    """The intent of ``make_documents(*regions)`` with ``changes`` (file stem -> keys) merged in, checked."""
    return intent_of(merged(make_documents(*regions), changes), name)


def intent_of(documents: Mapping[str, Any], name: str = "test") -> Intent:
    """The intent of plain documents, file stem -> content, validated and checked as the loader does."""
    problems: list[Problem] = []
    files = [validate(documents.get(stem, {}), f"{name}/{stem}.yaml", model, problems) for stem, model in FILES.items()]
    if problems:
        raise ConfigError(problems)
    intent = Intent(name, facts(), *files)  # type: ignore[arg-type]
    problems.extend(check(intent))
    if problems:
        raise ConfigError(problems)
    return intent


def make_block(region: str, *replicas: int, **changes: Any) -> dict[str, Any]:
    """A region of a lock: pool ``chat``, ``replicas`` of 4 H100 in its zones, on as few 8-GPU nodes as hold them.

    ``changes`` are merged into the pool's row; ``nodes`` gives the nodes kept a zone instead.
    """
    cloud, _, zones = REGION_PLACES[region]
    nodes = changes.pop("nodes", [-(-count // 2) for count in replicas])
    keys = [f"gh100-{number}-a" for number in range(1, len(replicas) + 1)]
    total = sum(replicas)
    row = {
        "id": "gh100",
        "generation": "a",
        "state": "serving",
        "machine_type": _MACHINES[cloud],
        "accelerator": H100,
        "node_gpus": 8,
        "capacity": "on_demand",
        "scaling": "fixed",
        "stage": ["weights"],
        "stage_gib": 66,
        "disk_gib": 6000,
    }
    pool = {
        "pool": "chat",
        "model": "weights",
        "tier": "dedicated",
        "accelerator": H100,
        "replica_gpus": 4,
        "places": dict(zip(keys, replicas, strict=True)),
        "replicas": {"floor": total, "planned": total, "max": total},
        "binding": {"lost": "none", "hour": 0, "need_tok_s": 0},
    }
    return {
        "node_pools": {
            key: row | {"zone": zone, "nodes": {"min": count, "expected": count, "max": count}}
            for key, zone, count in zip(keys, zones, nodes, strict=False)
        },
        "pools": {"chat-h100": merged(pool, changes)},
    }


def make_lock_document(intent: Intent, blocks: Mapping[str, Any], shares: Mapping[str, Any]) -> dict[str, Any]:
    """A lock of ``blocks``, by region, as its file holds it; shares are of class ``open`` unless they name theirs."""
    tables = shares if set(shares) <= set(intent.tenants_file.classes) else {"open": shares}
    return {
        "lock": "outlast/1",
        "fleet": intent.name,
        "inputs": input_digests(intent),
        "step": "settle",
        "solver": {"name": "hand", "version": "1", "router": "static", "usd_h": 1, "bound_usd_h": 1, "gap_pct": 0},
        "regions": dict(blocks),
        "homes": {
            residency: {origin: dict(homes) for origin, homes in origins.items()}
            for residency, origins in intent.homes.items()
        },
        "shares": copy.deepcopy(dict(tables)),
    }


def make_lock(intent: Intent, blocks: Mapping[str, Any], shares: Mapping[str, Any] = MappingProxyType({})) -> Lock:
    """The lock of ``make_lock_document``."""
    return Lock.model_validate(make_lock_document(intent, blocks, shares))


def make_resource(type_: str, name: str, stack: str = "test.us-east", **fields: Any) -> Resource:
    """A resource record; ``inputs`` and the other fields as the engine would give them."""
    urn = f"urn:pulumi:{stack}::outlast::{type_}::{name}"
    return Resource(urn=urn, type=type_, name=name, **{"inputs": {}, **fields})


def with_input(resource: Resource, path: str, value: Any) -> Resource:
    """A copy of a record with one input, at a dotted path, set or, with None, removed."""
    change: Any = {path.split(".")[-1]: value}
    for part in reversed(path.split(".")[:-1]):
        change = {part: change}
    return replace(resource, inputs=merged(resource.inputs, change))
