"""Variants change intent in memory, and a patch that does not fit is refused by the name of its variant."""

import re
from typing import Any

import pytest

from outlast.errors import ConfigError
from outlast.intent.variants import check_variants, with_variant
from tests.builders import make_curve
from tests.fleet_files import loaded, write_fleet

MODEL = "models.chat"
EU = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "1 h"}
FLEET: dict[str, dict[str, Any]] = {
    "tenants": {
        "classes": {"eu": EU},
        "admits": {"EU": ["open", "eu"]},
        "tenants": {"bank": {"residency": "eu", "models": ["chat"]}},
    },
    "demand": {"demand": [make_curve("shop", "us-east", 700), make_curve("bank", "eu-north", 700)]},
    "guardrails": {"budgets": {"total": "1M USD/month"}},
}


@pytest.fixture
def fleet(tmp_path):
    """Return the folder of a fleet of three regions and two classes with some variants."""
    return lambda **variants: write_fleet(
        tmp_path, "us-east", "eu-north", "eu-west", **FLEET, variants={"variants": variants}
    )


@pytest.fixture
def varied(fleet):
    """Return the fleet with a patch in place."""

    def load(patch):
        folder = fleet(v=patch)
        return with_variant(loaded(folder), folder, "v")

    return load


def test_keys_are_replaced_and_their_neighbours_stay(varied):
    intent = varied({"guardrails": {"losses": {"zone": 0}, "burst_margin": "20 %"}})
    assert (intent.guardrails.losses.zone, intent.guardrails.losses.region) == (0, 1)
    assert intent.guardrails.burst_margin == pytest.approx(0.2)


@pytest.mark.parametrize(
    "patch",
    [
        {f"{MODEL}.kv_precision": "fp8"},
        {"models": {"chat": {"kv_precision": "fp8"}}},
        {"models": {"chat.kv_precision": "fp8"}},
        {"models.chat": {"kv_precision": "fp8"}, f"{MODEL}.precision": "fp8"},
    ],
    ids=["path", "nested", "mixed", "twice"],
)
def test_paths_and_nested_keys_say_the_same(varied, patch):
    assert varied({"models": patch}).models["chat"].kv_precision == "fp8"


def test_none_removes_and_lists_replace(varied):
    intent = varied(
        {
            "guardrails": {"budgets": {"total": None}},
            "tenants": {"classes.eu.fail_over_to": ["EU", "US"], "admits.US": ["open", "eu"]},
        }
    )
    assert intent.guardrails.budgets.total is None
    assert intent.tenants_file.classes["eu"].fail_over_to == ("EU", "US")


def test_positions_reach_into_lists(varied):
    intent = varied({"demand": {"demand.0.hours": ["9k tok/s"] * 24, "demand.1": None}})
    assert [set(curve.hours or ()) for curve in intent.demand_file.demand] == [{9000}]


def test_positions_behind_the_last_one_add_entries(varied):
    more = [make_curve("shop", name, 100) for name in ("eu-north", "eu-west")]
    intent = varied({"demand": {"demand.2": more[0], "demand.3": more[1], "demand.0": None}})
    assert [curve.origin for curve in intent.demand_file.demand] == ["eu-north", "eu-north", "eu-west"]


def test_the_fleet_itself_is_not_touched(fleet):
    folder = fleet(v={"guardrails": {"burst_margin": "20 %"}})
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    base = loaded(folder)
    before = dict(base.home_demand)
    changed = with_variant(base, folder, "v")
    assert base.home_demand == before
    assert max(next(iter(changed.home_demand.values()))) > max(next(iter(before.values())))
    assert files == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_mistyped_variant_names_the_nearest(fleet):
    folder = fleet(**{"fp8-kv": {"guardrails": {"burst_margin": "1 %"}}})
    with pytest.raises(ConfigError, match=r"variants\.yaml: unknown variant 'fp8-vk'.*Did you mean 'fp8-kv'"):
        with_variant(loaded(folder), folder, "fp8-vk")


def test_a_fleet_without_variants_says_so(fleet):
    folder = fleet()
    with pytest.raises(ConfigError, match=r"unknown variant 'v'.*Declare it first"):
        with_variant(loaded(folder), folder, "v")


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ({}, r"variants\.v: changes nothing"),
        ({"guardrails": {}}, r"variants\.v\.guardrails: changes nothing"),
        ({"guardrails": 3}, r"variants\.v\.guardrails: holds keys"),
        ({"capacity": {"regions.us-east.quotas": {}}}, r"regions\.us-east\.quotas: changes nothing"),
        ({"guardrails": {"losses": {"zone": 0}, "losses.zone": 1}}, "is changed twice"),
        ({"guardrails": {"brst_margin": "20 %"}}, "unknown key 'brst_margin'.*Did you mean 'burst_margin'"),
        ({"guardrails": {"burst_margin": 0.2}}, "write the unit"),
        ({"guardrails": {"losses.zone": 3}}, r"giving guardrails\.yaml, losses\.zone: .*allowed 1 or less"),
        ({"guardrails": {"losses.zone.more": 3}}, r"giving guardrails\.yaml, losses\.zone"),
        ({"guardrails": {"budgets.totl": None}}, "nothing to remove.*Did you mean 'total'"),
        ({"guardrails": {"occupancy.failure": "60 %"}}, "failure must be at least normal"),
        ({"guardrails": {"prefill_surge": {"q": "30 %"}}}, "give either factor, or all of q, c and c_f"),
        ({"guardrails": {"losses": None}, "fleet": {"router": "hourly"}}, "not an allowed value"),
        ({"models": {f"{MODEL}x.precision": "fp8"}}, r"models\.chatx\.artifact: this key is missing"),
        ({"models": {f"{MODEL}.shape": "Llama-9"}}, r"giving models\.yaml.*unknown model shape 'Llama-9'"),
        ({"models": {f"{MODEL}.accelerators.h100-sxm-80.goodput": None}}, "goodput: this key is missing"),
        ({"tenants": {"tenants.shop.residency": "opne"}}, r"giving tenants\.yaml.*Did you mean 'open'"),
        ({"tenants": {"classes.eu": None}}, "unknown residency class 'eu'"),
        ({"tenants": {"admits.EU": ["open"]}}, r"giving regions\.yaml.*no region listed there may serve class 'eu'"),
        ({"tenants": {"admits.EU": ["eu"]}}, "leaves no region that the class may go to"),
        ({"regions": {"regions.eu-west": None}}, r"giving capacity\.yaml, regions\.eu-west: unknown region"),
        ({"demand": {"demand.3.model": "chat"}}, r"demand\.3: is no position in the list.*0 to 2"),
        ({"demand": {"demand.2": None}}, "nothing to remove.*0 to 1"),
        ({"demand": {"demand.first": None}}, "is no position in the list"),
        ({"demand": {"demand": []}}, "demand: .*1 or more"),
        ({"demand": {"demand.0.hours": ["-1k tok/s"] * 24}}, "out of range"),
        ({"demand": {"demand.0.hours": ["1 tok/s"]}}, "hours must hold 24 or 168"),
        ({"capacity": {"regions.us-east.quotas.L-417A185B.granted": "lots"}}, "not a quantity"),
        ({"fleet": {"dns.region": "eu-west"}}, "the region is not on the DNS cloud"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value) or "empty",
)
def test_a_patch_that_does_not_fit_is_refused(varied, patch, told):
    with pytest.raises(ConfigError) as caught:
        varied(patch)
    assert all(problem.where.startswith("test/variants.yaml, variants.v") for problem in caught.value.problems)
    assert re.search(told, str(caught.value), re.DOTALL)


def test_an_unknown_file_is_refused_when_the_fleet_is_loaded(fleet):
    with pytest.raises(ConfigError, match=r"variants\.v: unknown file 'guardrail'.*Did you mean 'guardrails'"):
        loaded(fleet(v={"guardrail": {"burst_margin": "20 %"}}))


def test_every_variant_of_a_fleet_is_checked(fleet):
    bad = {"guardrails": {"burst": 1}}
    folder = fleet(a=bad, b={"guardrails": {"burst_margin": "1 %"}}, c=bad)
    problems = list(check_variants(loaded(folder), folder))
    assert [problem.where.split(",")[1].strip() for problem in problems] == ["variants.a", "variants.c"]
