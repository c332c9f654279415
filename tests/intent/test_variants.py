"""Variants change intent in memory, and a patch that does not fit is refused by the name of its variant."""

import re

import pytest

from outlast.errors import ConfigError
from outlast.intent import load_intent
from outlast.intent.variants import check_variants, with_variant
from tests.builders import facts, write_demo

MODEL = "models.chat-large"


@pytest.fixture
def varied(tmp_path):
    """Return the demo with one variant ``v``."""

    def load(patch):
        folder = write_demo(tmp_path, "variants", {"variants": {"v": patch}})
        base = load_intent(tmp_path, "demo", facts())
        return with_variant(base, folder, "v")

    return load


def refused(varied, patch) -> str:
    with pytest.raises(ConfigError) as caught:
        varied(patch)
    assert all(problem.where.startswith("demo/variants.yaml, variants.v") for problem in caught.value.problems)
    return str(caught.value)


def test_keys_are_replaced_and_their_neighbours_stay(varied):
    intent = varied({"guardrails": {"losses": {"zone": 0}, "burst_margin": "20 %"}})
    assert (intent.guardrails.losses.zone, intent.guardrails.losses.region) == (0, 1)
    assert intent.guardrails.burst_margin == pytest.approx(0.2)


@pytest.mark.parametrize(
    "patch",
    [
        {f"{MODEL}.kv_precision": "fp8"},
        {"models": {"chat-large": {"kv_precision": "fp8"}}},
        {"models": {"chat-large.kv_precision": "fp8"}},
        {"models.chat-large": {"kv_precision": "fp8"}, f"{MODEL}.precision": "fp8"},
    ],
    ids=["path", "nested", "mixed", "twice"],
)
def test_paths_and_nested_keys_say_the_same(varied, patch):
    assert varied({"models": patch}).models["chat-large"].kv_precision == "fp8"


def test_none_removes_and_lists_replace(varied):
    intent = varied(
        {
            "guardrails": {"budgets": {"total": None}},
            "tenants": {"classes.eu-resident.fail_over_to": ["EU", "US"], "admits.US": ["open", "eu-resident"]},
        }
    )
    assert intent.guardrails.budgets.total is None
    assert intent.tenants_file.classes["eu-resident"].fail_over_to == ("EU", "US")


def test_positions_reach_into_lists(varied):
    intent = varied({"demand": {"demand.0.shape.peak": "10k tok/s", "demand.2": None}})
    assert [curve.shape.peak for curve in intent.demand_file.demand if curve.shape] == [10000, 36000]


def test_the_fleet_itself_is_not_touched(tmp_path):
    folder = write_demo(tmp_path, "variants", {"variants": {"v": {"guardrails": {"burst_margin": "20 %"}}}})
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    base = load_intent(tmp_path, "demo", facts())
    before = dict(base.home_demand)
    changed = with_variant(base, folder, "v")
    assert base.home_demand == before
    assert max(next(iter(changed.home_demand.values()))) > max(next(iter(before.values())))
    assert files == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_mistyped_variant_names_the_nearest(tmp_path):
    folder = write_demo(tmp_path, "variants", {"variants": {"fp8-kv": {}}})
    with pytest.raises(ConfigError, match=r"variants\.yaml: unknown variant 'fp8-vk'.*Did you mean 'fp8-kv'"):
        with_variant(load_intent(tmp_path, "demo", facts()), folder, "fp8-vk")


def test_a_fleet_without_variants_says_so(tmp_path):
    folder = write_demo(tmp_path, "variants", {"variants": None})
    with pytest.raises(ConfigError, match=r"unknown variant 'v'.*Declare it first"):
        with_variant(load_intent(tmp_path, "demo", facts()), folder, "v")


@pytest.mark.parametrize(
    ("patch", "told"),
    [
        ({"guardrails": {"brst_margin": "20 %"}}, "unknown key 'brst_margin'.*Did you mean 'burst_margin'"),
        ({"guardrails": {"burst_margin": 0.2}}, "write the unit"),
        ({"guardrails": {"losses.zone": 3}}, r"giving guardrails\.yaml, losses\.zone: .*allowed 1 or less"),
        ({"guardrails": {"losses.zone.more": 3}}, r"giving guardrails\.yaml, losses\.zone"),
        ({"guardrails": {"budgets.totl": None}}, "nothing to remove.*Did you mean 'total'"),
        ({"guardrails": {"occupancy.failure": "60 %"}}, "failure must be at least normal"),
        ({"guardrails": {"prefill_surge": {"q": "30 %"}}}, "give either factor, or all of q, c and c_f"),
        ({}, r"variants\.v: changes nothing"),
        ({"guardrails": {}}, r"variants\.v\.guardrails: changes nothing"),
        ({"capacity": {"regions.us-east.quotas": {}}}, r"regions\.us-east\.quotas: changes nothing"),
        ({"guardrails": 3}, r"variants\.v\.guardrails: holds keys"),
        ({"guardrails": {"losses": {"zone": 0}, "losses.zone": 1}}, "is changed twice"),
        ({"guardrails": {"losses": None}, "fleet": {"router": "hourly"}}, "not an allowed value"),
        ({"models": {f"{MODEL}x.precision": "fp8"}}, r"models\.chat-largex\.artifact: this key is missing"),
        ({"models": {f"{MODEL}.shape": "Llama-9"}}, r"giving models\.yaml.*unknown model shape 'Llama-9'"),
        ({"models": {f"{MODEL}.accelerators.h100-sxm-80.goodput": None}}, "goodput: this key is missing"),
        ({"tenants": {"tenants.shop-us.residency": "opne"}}, r"giving tenants\.yaml.*Did you mean 'open'"),
        ({"tenants": {"classes.eu-resident": None}}, "unknown residency class 'eu-resident'"),
        ({"tenants": {"admits.EU": ["open"]}}, r"giving regions\.yaml.*does not admit class 'eu-resident'"),
        ({"tenants": {"admits.EU": ["eu-resident"]}}, "leaves no region that the class may go to"),
        ({"regions": {"regions.eu-west": None}}, r"giving capacity\.yaml, regions\.eu-west: unknown region"),
        ({"demand": {"demand.3.shape.peak": "1 tok/s"}}, r"demand\.3: is no position in the list.*0 to 2"),
        ({"demand": {"demand.first": None}}, "is no position in the list"),
        ({"demand": {"demand": []}}, "demand: .*1 or more"),
        ({"demand": {"demand.0.shape.peak": "-1k tok/s"}}, "out of range"),
        ({"demand": {"demand.0.hours": ["1 tok/s"]}}, "exactly one of shape, hours, trace"),
        ({"capacity": {"regions.us-east.quotas.L-417A185B.granted": "lots"}}, "not a quantity"),
        ({"fleet": {"dns.region": "eu-west"}}, "the region is not on the DNS cloud"),
    ],
    ids=lambda value: None if isinstance(value, str) else " ".join(value),
)
def test_a_patch_that_does_not_fit_is_refused(varied, patch, told):
    assert re.search(told, refused(varied, patch), re.DOTALL)


def test_an_unknown_file_is_refused_when_the_fleet_is_loaded(tmp_path):
    write_demo(tmp_path, "variants", {"variants": {"v": {"guardrail": {"burst_margin": "20 %"}}}})
    with pytest.raises(ConfigError, match=r"variants\.v: unknown file 'guardrail'.*Did you mean 'guardrails'"):
        load_intent(tmp_path, "demo", facts())


def test_every_variant_of_a_fleet_is_checked(tmp_path):
    bad = {"guardrails": {"burst": 1}}
    folder = write_demo(
        tmp_path, "variants", {"variants": {"a": bad, "b": {"guardrails": {"burst_margin": "1 %"}}, "c": bad}}
    )
    problems = list(check_variants(load_intent(tmp_path, "demo", facts()), folder))
    assert [problem.where.split(",")[1].strip() for problem in problems] == ["variants.a", "variants.c"]
