"""Draws small fleets of every kind: regions, classes, tiers, accelerators, holdings and guardrails, all valid."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st

from outlast.intent import Intent
from tests.builders import (
    H100,
    P_QUOTA,
    REGION_PLACES,
    RESERVATION,
    intent_of,
    make_artifact,
    make_curve,
    make_documents,
    make_model,
    merged,
)
from tests.tiers import make_adapters

L4 = "l4-24"
MIG = "mig-7x1g.10gb"
LAW = {"us-east": "US", "us-west": "US", "eu-north": "EU", "eu-west": "EU", "ap-south": "IN"}
GAP = {"owner": "ann", "reason": "a second site is being built", "expires": "2027-03-01"}
L4_ZONES = {
    "us-east": ("use1-az1", "use1-az2", "use1-az4"),
    "eu-north": ("eun1-az1", "eun1-az2"),
    "us-west": ("usw2-az1", "usw2-az2", "usw2-az3"),
    "ap-south": ("aps1-az1", "aps1-az3"),
    "eu-west": ("europe-west4-b", "europe-west4-c"),
}
_REGIONS = [name for name in REGION_PLACES if name in L4_ZONES]
QUOTAS = {
    "aws": {P_QUOTA: "192k vCPU", "L-DB2E81BA": "192k vCPU"},
    "gcp": {"GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100": "8000 GPUs", "NVIDIA_L4_GPUS": "8000 GPUs"},
}
"""More than any of these fleets needs."""
SCALE = {"chat": 9000, "base": 4000, "embed": 900, "tail": 300}
"""Model -> most demand of an origin, some replicas' worth."""
TIERS = tuple(SCALE)


def few(examples: int) -> settings:
    """Settings of a test: the same examples in every run; a failing one is shown as drawn, shrinking takes minutes."""
    phases = (Phase.explicit, Phase.generate)
    return settings(max_examples=examples, deadline=None, derandomize=True, database=None, phases=phases)


@dataclass(frozen=True)
class Fleet:
    """The files of a fleet, by stem."""

    documents: Mapping[str, Any]

    def _repr_pretty_(self, printer: Any, _cycle: bool) -> None:
        """Say in few lines what was drawn; hypothesis asks a value of a failing test for it by this name."""
        files = self.documents
        curves = [f"{c['tenants'][0]} {c['model']} {c['origin']} {c['hours'][:3]}" for c in files["demand"]["demand"]]
        classes = {name: row.get("survive", "all") for name, row in files["tenants"]["classes"].items()}
        pools = {name: list(row["node_pools"]) for name, row in files["regions"]["regions"].items()}
        models = {name: list(row["accelerators"]) for name, row in files["models"]["models"].items()}
        lines = [pools, models, classes, *curves, files["guardrails"], files["fleet"].get("router")]
        printer.text("\n".join(map(str, lines)))

    @property
    def intent(self) -> Intent:
        """The fleet, checked."""
        return intent_of(self.documents)

    def but(self, **changes: Any) -> "Fleet":
        """The fleet with changes merged in."""
        return replace(self, documents=merged(self.documents, changes))

    def times(self, factor: int) -> "Fleet":
        """The fleet with so much more demand everywhere."""
        curves = [dict(curve) for curve in self.documents["demand"]["demand"]]
        for curve in curves:
            curve["hours"] = [f"{float(value.split()[0]) * factor} tok/s" for value in curve["hours"]]
        return self.but(demand={"demand": curves})

    def grown(self, index: int, more: int) -> "Fleet":
        """The fleet with every hour of one curve larger."""
        curves = [dict(curve) for curve in self.documents["demand"]["demand"]]
        curve = curves[index % len(curves)]
        curve["hours"] = [f"{float(value.split()[0]) + more} tok/s" for value in curve["hours"]]
        return self.but(demand={"demand": curves})


@st.composite
def fleets(
    draw: st.DrawFn,
    *,
    regions: tuple[int, int] = (2, 3),
    tiers: tuple[int, int] = (1, 2),
    reserved: bool = True,
) -> Fleet:
    """A fleet of so many regions and models; ``reserved`` gives some a reservation in one zone."""
    names = sorted(draw(st.sets(st.sampled_from(_REGIONS), min_size=regions[0], max_size=regions[1])))
    names.sort(key=_REGIONS.index)
    models = draw(st.lists(st.sampled_from(TIERS), min_size=tiers[0], max_size=tiers[1], unique=True))
    documents = _places(names, set(models), reserved=reserved and draw(st.booleans()))
    two_cards = "chat" in models and draw(st.booleans())
    documents = merged(documents, {"models": {"models": {"chat": None} | _models(models, two_cards=two_cards)}})
    documents = merged(documents, _classes(draw, names, models))
    documents = merged(documents, _guardrails(draw))
    if draw(st.booleans()) and "chat" in models:
        route = {"model": "chat", "classes": ["open"], "quota": f"{draw(st.integers(0, 200))}k tok/min"}
        documents = merged(documents, {"capacity": {"regions": {names[-1]: {"hosted_routes": {"route": route}}}}})
    return Fleet(documents)


def _places(names: list[str], models: set[str], *, reserved: bool) -> dict[str, Any]:
    """Node pools for what the models need, with quotas, and a reservation of a few nodes if asked for."""
    documents = make_documents(*names)
    for name in names:
        cloud, _, zones = REGION_PLACES[name]
        pools: dict[str, Any] = {}
        machine = "p5.48xlarge" if cloud == "aws" else "a3-highgpu-8g"
        small = "g6.xlarge" if cloud == "aws" else "g2-standard-4"
        if "embed" in models:
            divided = "p5.4xlarge" if cloud == "aws" else machine
            pools["mig"] = {"machine_type": divided, "zones": list(zones), "partition": MIG}
        if "tail" in models:
            pools["cold"] = {"machine_type": small, "zones": list(L4_ZONES[name]), "scaling": "elastic"}
        if "chat" in models:
            pools["warm"] = {"machine_type": small, "zones": list(L4_ZONES[name])}
        quotas = {code: {"granted": granted, "as_of": "2026-11-01"} for code, granted in QUOTAS[cloud].items()}
        changes: dict[str, Any] = {"capacity": {"regions": {name: {"quotas": quotas}}}}
        if reserved and cloud == "aws" and name == names[0]:
            row = {
                "machine_type": machine,
                "zones": [zones[0]],
                "capacity": "reserved",
                "reservation": RESERVATION,
            }
            pools["gh100r"] = row
            held = {RESERVATION: {"machine_type": machine, "zone": zones[0], "nodes": 2}}
            discount = {"cloud": "aws", "basis": "reserved", "off": "40 %", "reference": "order 1"}
            changes["capacity"] |= {"discounts": [discount]}
            changes["capacity"]["regions"][name]["reservations"] = held
        changes["regions"] = {"regions": {name: {"node_pools": pools}}}
        documents = merged(documents, changes)
    return documents


def _goodput(tok_s: float) -> dict[str, Any]:
    return {"value": f"{tok_s} tok/s", "kind": "measured", "date": "2026-11-01", "source": "a test"}


def _models(names: list[str], *, two_cards: bool) -> dict[str, Any]:
    small = {"shape": "Llama-3.1-8B"}
    part = {"partition": MIG, "goodput": _goodput(110)}
    on_l4 = {L4: {"gpus_per_replica": 1, "goodput": _goodput(70)}}
    chat = make_model(**({"accelerators": {L4: {"goodput": _goodput(170)}}} if two_cards else {}))
    known = {
        "chat": chat,
        "base": make_adapters(accelerators={H100: {"gpus_per_replica": 2, "goodput": _goodput(800)}}),
        "embed": make_model(tier="packed", **small) | {"accelerators": {H100: part}},
        "tail": make_model(tier="scale-to-zero", **small) | {"accelerators": on_l4},
    }
    return {name: known[name] for name in names}


def _classes(draw: st.DrawFn, names: list[str], models: list[str]) -> dict[str, Any]:
    """Class open; one bound to a law with two regions or more; one that knowingly lacks a survival; their demand."""
    laws = [law for law in dict.fromkeys(LAW[name] for name in names) if [LAW[n] for n in names].count(law) > 1]
    tenants: dict[str, Any] = {"shop": {"residency": "open", "models": models}}
    classes: dict[str, Any] = {"open": {"allowed_outage": "1 h"}}
    places = {"shop": names}
    if draw(st.booleans()) and laws:
        law = draw(st.sampled_from(laws))
        bound = {"serve_in": [law], "fail_over_to": [law], "legal_basis": "contract", "allowed_outage": "1 h"}
        classes["bound"], tenants["bank"] = bound, {"residency": "bound", "models": models[:1]}
        places["bank"] = [name for name in names if LAW[name] == law]
    if draw(st.booleans()):
        loss = draw(st.sampled_from(["region", "zone", "replica"]))
        survive = [kind for kind in ("region", "zone", "replica") if kind != loss]
        classes["gap"] = {
            "serve_in": ["*"],
            "fail_over_to": ["*"],
            "legal_basis": "terms",
            "survive": survive,
            "gap": GAP | {"loss": loss},
            "allowed_outage": "1 h",
        }
        tenants["lab"], places["lab"] = {"residency": "gap", "models": models[-1:]}, names
    curves = [
        make_curve(tenant, origin, *_hours(draw, model), model=_asked(tenant, model))
        for tenant, detail in tenants.items()
        for model in detail["models"]
        for origin in sorted(draw(st.sets(st.sampled_from(places[tenant]), min_size=1, max_size=2)))
    ]
    tuned = [tenant for tenant, detail in tenants.items() if "base" in detail["models"]]
    for tenant, detail in tenants.items():
        tenants[tenant] = detail | {"models": [_asked(tenant, model) for model in detail["models"]]}
    variants = {_asked(tenant, "base"): {"owner": tenant, "size": "0.3 GiB", "rank": 16} for tenant in tuned}
    adapters = {
        name: make_artifact() | {"size": "0.3 GiB", "residency": f"tenant:{row['owner']}"}
        for name, row in variants.items()
    }
    return {
        "models": {"models": {"base": {"variants": {"tuned": None} | variants}} if tuned else {}},
        "tenants": {
            "classes": classes,
            "admits": {law: list(classes) for law in {LAW[name] for name in names}},
            "tenants": tenants,
        },
        "demand": {"demand": curves},
        "artifacts": {"adapters": adapters},
    }


def _asked(tenant: str, model: str) -> str:
    """What a tenant asks for: of a base, its own fine-tune."""
    return f"tuned-{tenant}" if model == "base" else model


def _hours(draw: st.DrawFn, model: str) -> list[int]:
    """Demand of a day in three parts, at times none at all."""
    most = SCALE.get(model, SCALE["base"])
    return draw(st.lists(st.integers(0, most), min_size=3, max_size=3))


def _guardrails(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "guardrails": {
            "canary_replicas": draw(st.sampled_from([0, 0, 1, 2])),
            "prefill_surge": {"factor": draw(st.sampled_from([1.2, 1.6, 2.5]))},
            "burst_margin": draw(st.sampled_from(["0 %", "15 %"])),
            "losses": {kind: draw(st.sampled_from([1, 1, 0])) for kind in ("region", "zone", "replica")},
        },
        "fleet": {"router": draw(st.sampled_from(["static", "static", "even"]))},
    }


@st.composite
def changes(draw: st.DrawFn) -> Callable[[Fleet], dict[str, Any]]:
    """A change of demand, canaries and surge: what a fleet becomes, as `Fleet.but` takes it."""
    factors = draw(st.lists(st.sampled_from([0.0, 0.3, 0.8, 1.0, 1.7, 3.0]), min_size=24, max_size=24))
    canaries, surge = draw(st.integers(0, 2)), draw(st.sampled_from([1.2, 1.6, 2.5]))

    def change(fleet: Fleet) -> dict[str, Any]:
        curves = [
            curve | {"hours": [f"{float(v.split()[0]) * factors[(i + n) % 24]:.3f} tok/s" for i, v in enumerate(hours)]}
            for n, curve in enumerate(fleet.documents["demand"]["demand"])
            if (hours := curve["hours"])
        ]
        guardrails = {"canary_replicas": canaries, "prefill_surge": {"factor": surge}}
        return {"demand": {"demand": curves}, "guardrails": guardrails}

    return change
