"""What follows from the files: who may be where, where demand lives, and how much it is."""

import math
from typing import Any

import pytest

from outlast.intent.checks import notices
from outlast.intent.demand import Shape
from tests.builders import H100, make_curve, make_intent, make_model

EU_ONLY = {"serve_in": ["EU"], "fail_over_to": ["EU"], "legal_basis": "contract", "allowed_outage": "15 min"}

FAR: dict[str, Any] = {
    "regions": {"origins": {"us-east": {"nearest": ["eu-north"]}}},
    "demand": {"demand": [make_curve("shop", "eu-north", 700)]},
}
ZONES = {"us-east": ["use1-az1"], "eu-north": ["eun1-az1"]}


def with_eu_class(*regions: str, **changes):
    tenants = {
        "classes": {"eu": EU_ONLY},
        "admits": {"EU": ["open", "eu"]},
        "tenants": {"bank": {"residency": "eu", "models": ["chat"]}},
    }
    return make_intent(*regions, tenants=tenants, **changes)


def test_the_law_of_a_region_comes_from_facts():
    intent = make_intent("us-east", "eu-north", "ap-south")
    assert {region: intent.jurisdiction(region) for region in intent.regions} == {
        "us-east": "US",
        "eu-north": "EU",
        "ap-south": "IN",
    }


def test_a_class_may_be_where_its_law_and_the_jurisdiction_agree():
    intent = with_eu_class("us-east", "eu-north", "eu-west")
    assert [region for region in intent.regions if intent.may_serve("eu", region)] == ["eu-north", "eu-west"]
    assert intent.survivors("eu", "eu-north") == ("eu-west",)
    assert intent.survivors("eu", "us-east") == ("eu-north", "eu-west")


def test_a_jurisdiction_that_does_not_admit_a_class_never_takes_it():
    intent = make_intent("us-east", "eu-north", "eu-west", tenants={"admits": {"US": None}, "classes": {}}, **FAR)
    assert intent.survivors("open", "eu-north") == ("eu-west",)


def test_a_region_without_a_model_of_the_class_never_takes_it():
    models = {"models": {"small": make_model(accelerators={H100: None, "l4-24": make_model()["accelerators"][H100]})}}
    small = {"machine_type": "g6.12xlarge", "zones": ["use1-az1"]}
    pools = {name: {"node_pools": {"small": small | {"zones": zones}}} for name, zones in ZONES.items()}
    tenants = {"tenants": {"shop": {"models": ["chat", "small"]}}}
    origins = {"eu-west": {"nearest": ["us-east"]}}
    intent = make_intent(
        "us-east", "eu-north", "eu-west", models=models, tenants=tenants, regions={"regions": pools, "origins": origins}
    )
    assert not intent.may_serve("open", "eu-west")
    assert any("eu-west takes no 'open' traffic" in text and "small" in text for text in notices(intent))


def test_a_class_lives_in_the_nearest_region_it_may_use():
    origins = {"us-east": {"nearest": ["us-east", "eu-west", "eu-north"]}}
    intent = with_eu_class(
        "us-east",
        "eu-north",
        "eu-west",
        regions={"origins": origins},
        demand={"demand": [make_curve("bank", "us-east", 700), make_curve("shop", "us-east", 700)]},
    )
    assert intent.homes == {"open": {"us-east": {"us-east": 100}}, "eu": {"us-east": {"eu-west": 100}}}


def test_declared_homes_split_demand_and_zero_shares_are_dropped():
    # 1000 tok/s x 1.2 burst x 25 %
    home = {"open": {"us-east": 25, "eu-north": 75, "us-west": 0}}
    intent = make_intent(
        "us-east",
        "eu-north",
        "us-west",
        regions={"origins": {"us-east": {"home": home}}},
        demand={"demand": [make_curve("shop", "us-east", 1000)]},
        guardrails={"burst_margin": "20 %"},
    )
    assert set(intent.home_demand) == {("chat", "open", "us-east"), ("chat", "open", "eu-north")}
    assert intent.home_demand["chat", "open", "us-east"] == pytest.approx([300.0] * 168)


def test_curves_of_one_class_home_and_model_add_up():
    curves = [make_curve("shop", "us-east", 100, 300), make_curve("shop", "eu-north", 1000)]
    home = {"eu-north": {"home": {"open": {"us-east": 100}}}}
    intent = make_intent(regions={"origins": home}, demand={"demand": curves})
    assert intent.home_demand["chat", "open", "us-east"][:4] == pytest.approx((1100, 1300, 1100, 1300))


def test_a_shape_peaks_at_its_hour_and_has_its_trough_twelve_hours_later():
    hours = Shape.model_validate({"peak": "90k tok/s", "peak_utc_hour": 18, "trough": "25 %"}).hours()
    assert hours[18] == pytest.approx(90_000)
    assert hours[6] == pytest.approx(22_500)
    assert max(hours) == hours[18]


def test_a_shape_is_lower_on_saturday_and_sunday():
    hours = Shape.model_validate({"peak": "10 tok/s", "peak_utc_hour": 0, "trough": "100 %", "weekend": "60 %"}).hours()
    assert hours[119] == pytest.approx(10)
    assert hours[120] == hours[167] == pytest.approx(6)


def test_the_surge_follows_from_its_inputs():
    # 1 + 0.4 x (0.6 - 0.1) / (1 - 0.6) = 1.5
    surge = {"factor": None, "q": "40 %", "c": "60 %", "c_f": "10 %"}
    assert math.isclose(make_intent(guardrails={"prefill_surge": surge}).guardrails.prefill_surge.value, 1.5)


def test_goodput_that_nobody_measured_is_a_notice():
    accelerators = {H100: {"goodput": {"kind": "assumed", "source": "a guess"}}}
    intent = make_intent(models={"models": {"chat": {"accelerators": accelerators}}})
    assert any("chat on h100-sxm-80 is assumed" in text and "a guess" in text for text in notices(intent))
