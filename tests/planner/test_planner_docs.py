"""docs/planner.md names every constraint of the plan, by its function and by the names of its rows."""

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

from outlast.intent import Intent
from outlast.planner import beside, constraints, settled_lock
from outlast.planner.arrays import to_arrays
from outlast.planner.counts import define_model
from outlast.planner.objective import change_stage, shift_stage
from tests.builders import RESERVATION, make_curve, make_holdings, make_intent, make_model
from tests.random_fleets import L4, L4_ZONES

PAGE = (Path(__file__).parents[2] / "docs/planner.md").read_text()
ROWS = re.findall(r"^\| .+? \| .+? \| `(\w+)` \| (`.+?`) \| .+? \|$", PAGE, re.MULTILINE)
"""(function, names of rows) of the table of constraints."""
NAMES = ("us-east", "eu-north", "us-west", "eu-west")
MEASURED = {"kind": "measured", "date": "2026-11-01", "source": "a test"}


def everything() -> Intent:
    """Four regions with two accelerators, one time-sliced, a reservation beside bought nodes, a route and a cap.

    2,000 tok/s with a surge of 3 are held by 6 replicas and by 8, not by 7: the fullest of three zones then has 3.
    """
    sliced = {L4: {"partition": "slice-4", "goodput": MEASURED | {"value": "50 tok/s"}}}
    reserved = {
        "machine_type": "p5.48xlarge",
        "zones": ["use1-az1"],
        "capacity": "reserved",
        "reservation": RESERVATION,
    }
    machines = {name: ("g2-standard-4" if name == "eu-west" else "g6.xlarge") for name in NAMES}
    granted = {
        "g2-standard-4": {"NVIDIA_L4_GPUS": {"granted": "900 GPUs", "as_of": "2026-11-01"}},
        "g6.xlarge": {"L-DB2E81BA": {"granted": "9k vCPU", "as_of": "2026-11-01"}},
    }
    pools = {
        n: {"l4": {"machine_type": machines[n], "zones": list(L4_ZONES[n]), "partition": "slice-4"}} for n in NAMES
    }
    quotas = {n: granted[machines[n]] | make_holdings(n)["quotas"] for n in NAMES}
    held = {RESERVATION: {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 2}}
    route = {"model": "chat", "classes": ["open"], "quota": "60k tok/min"}
    pools["us-east"]["gh100r"] = reserved
    return make_intent(
        *NAMES,
        regions={"regions": {name: {"node_pools": pools[name]} for name in NAMES}},
        models={"models": {"chat": make_model(), "small": make_model(tier="packed", accelerators=sliced)}},
        tenants={"tenants": {"shop": {"models": ["chat", "small"]}}},
        capacity={
            "regions": {n: {"quotas": quotas[n]} for n in NAMES}
            | {"us-east": {"quotas": quotas["us-east"], "reservations": held, "hosted_routes": {"route": route}}},
            "discounts": [{"cloud": "aws", "basis": "reserved", "off": "40 %", "reference": "order 1"}],
        },
        demand={
            "demand": [
                make_curve("shop", "us-east", 2800, 900),
                make_curve("shop", "eu-north", 2000),
                make_curve("shop", "eu-north", 2800, model="small"),
            ]
        },
        guardrails={"prefill_surge": {"factor": 3.0}},
    )


def registered() -> Iterator[str]:
    intent = everything()
    arrays = to_arrays(intent)
    model = define_model(arrays, tuple(intent.regions), None, {})
    settled = settled_lock(intent)
    beside.define_fit_beside(model.program, arrays, model.variables, "us-east", settled.regions["us-east"])
    shift_stage(model.program, model.variables, {})
    change_stage(model.program, arrays, model.variables, settled)
    return (row.name.split()[0] for row in model.program.rows)


def test_the_table_has_every_name_of_a_row_and_no_other():
    documented = {name for _, names in ROWS for name in re.findall(r"`(\w+)`", names)}
    assert documented == set(registered())


def test_the_table_has_every_function_that_defines_a_constraint_and_no_other():
    modules = (constraints, beside)
    defined = {name for module in modules for name in vars(module) if name.startswith("define_")}
    objective = {"shift_stage", "change_stage"}
    assert {name for name, _ in ROWS} == defined - {"define_constraints"} | objective


def test_the_names_of_a_row_are_those_its_function_says():
    for function, names in ROWS:
        if function.startswith("define_"):
            said = re.findall(
                r"``(\w+)``",
                (inspect.getdoc(getattr(constraints, function, None) or getattr(beside, function)) or "").split("Name")[
                    -1
                ],
            )
            assert set(re.findall(r"`(\w+)`", names)) <= set(said), function
