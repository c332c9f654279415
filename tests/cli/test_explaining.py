"""What the commands that explain refuse, print and leave alone."""

import json
from typing import Any

import pytest
from typer.testing import CliRunner

from outlast.cli import explaining, plans
from outlast.cli.app import app
from outlast.cli.context import Fleet
from outlast.errors import ConfigError, InfeasiblePlan, OutlastError, StaleLock
from outlast.lock import lock_text, read_lock
from outlast.planner import settled_lock
from tests.builders import P_QUOTA, make_curve
from tests.fleet_files import loaded, write_fleet, write_lock

FLAT = {"demand": [make_curve("shop", "us-east", 2800)]}
BURST = {"guardrails": {"burst_margin": "20 %"}}
QUOTAS = {"regions.us-east.quotas": None}
ASK = {"residency": "open", "peak": "5k tok/s", "hour": 12}


def granted(amount):
    return {"regions": {"us-east": {"quotas": {P_QUOTA: {"granted": f"{amount} vCPU"}}}}}


@pytest.fixture
def fleet(tmp_path, monkeypatch):
    """Return the folder of a small planned fleet with some files changed afterwards; commands read it."""

    def make(**changes):
        variants = {"variants": {"burst-20": BURST, "no-quota": {"capacity": QUOTAS}}}
        kept: dict[str, dict[str, Any]] = {
            "demand": FLAT,
            "variants": variants,
            "guardrails": {"losses": {"region": 0}},
        }
        folder = write_fleet(tmp_path / "planned", **kept)
        write_lock(folder)
        lock = (folder / "plan.lock.yaml").read_text()
        folder = write_fleet(tmp_path, **{**kept, **changes})
        (folder / "plan.lock.yaml").write_text(lock)
        monkeypatch.setattr("outlast.cli.context.load", lambda _: Fleet(loaded(folder), folder))
        return folder

    return make


def run(capsys, command, *arguments, **options):
    command("test", *arguments, form="json", **options)
    return json.loads(capsys.readouterr().out)


def test_why_gives_every_gpu(fleet, capsys):
    lock = read_lock(fleet())
    paid = run(capsys, explaining.why)["paid"]
    assert sum(p["usd_h"] for p in paid) == pytest.approx(lock.solver.usd_h, abs=0.01)
    assert run(capsys, explaining.why, "eu-north")["paid"] == []


def test_quote_gives_price_and_fit(fleet, capsys):
    fleet()
    found = run(capsys, explaining.quote, **ASK)
    assert found["fits"]
    assert found["usd_month"] == pytest.approx(730 * found["quote"]["more"]["usd_h"])


def test_runway_gives_month_and_day(fleet, capsys):
    fleet(capacity=granted(576))
    found = run(capsys, explaining.runway, growth="30 %/month", months=4)["runway"]
    assert found["ends"][0]["month"] == found["last_month"] + 1
    assert found["last_day"] >= "2026-11-30"


def test_what_if_gives_every_variant_and_the_router(fleet, capsys):
    fleet()
    found = run(capsys, plans.plan, what_if=["all"], router="even")["choices"]
    assert [choice["name"] for choice in found] == ["as it is", "burst-20", "no-quota", "router even"]


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (explaining.why, {}),
        (explaining.quote, ASK),
        (explaining.quote, ASK | {"peak": "500k tok/s"}),
        (explaining.runway, {"growth": "3 %/month", "months": 2}),
        (plans.plan, {"what_if": ["burst-20"]}),
        (plans.plan, {"premiums": True, "dry_run": True}),
    ],
    ids=["why", "quote", "quote beyond quota", "runway", "what-if", "premiums"],
)
def test_words_are_printed_and_nothing_is_written(fleet, capsys, command, arguments):
    folder = fleet()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    command("test", **arguments)
    assert "test" in capsys.readouterr().out
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_variant_without_a_plan_says_why(fleet, capsys):
    fleet()
    plans.plan("test", what_if=["no-quota"])
    told = capsys.readouterr()
    assert "no-quota: there is no plan" in told.out
    assert "us-east needs" in told.err


def test_premiums_are_written_once_and_kept(fleet, capsys):
    folder = fleet()
    plans.plan("test", premiums=True)
    assert read_lock(folder).premiums
    capsys.readouterr()
    for anew in (True, False):
        plans.plan("test", premiums=anew)
        assert "up to date" in capsys.readouterr().out
    plans.plan("test", settle=True)
    assert "up to date" in capsys.readouterr().out


def test_premiums_of_a_lock_are_renewed_with_its_inputs(fleet):
    folder = fleet()
    plans.plan("test", premiums=True)
    before = read_lock(folder)
    demand = folder / "demand.yaml"
    demand.write_text(demand.read_text().replace("2800", "9800"))
    plans.plan("test")
    after = read_lock(folder)
    assert [premium.rule for premium in after.premiums] == [premium.rule for premium in before.premiums]
    assert after.premiums != before.premiums


def test_an_impossible_plan_says_what_lifts_it_and_writes_nothing(fleet):
    folder = fleet(capacity=granted(0))
    before = (folder / "plan.lock.yaml").read_bytes()
    with pytest.raises(InfeasiblePlan, match=r"gives? a plan, tested by planning\. Raise L-417A185B in us-east from 0"):
        plans.plan("test")
    assert (folder / "plan.lock.yaml").read_bytes() == before


@pytest.mark.parametrize(
    ("command", "arguments", "told"),
    [
        (explaining.why, {"region": "us-eats"}, "unknown region 'us-eats'.*Did you mean 'us-east'"),
        (explaining.why, {"pool": "chta"}, "unknown pool 'chta'.*Did you mean 'chat'"),
        (explaining.why, {"form": "xml"}, "--format: unknown format 'xml'"),
        (explaining.quote, ASK | {"residency": "opne"}, "--class: .*Did you mean 'open'"),
        (explaining.quote, ASK | {"model": "chta"}, "Did you mean 'chat'"),
        (explaining.quote, ASK | {"hour": 24}, "--hour"),
        (explaining.quote, ASK | {"peak": "5"}, "--peak"),
        (explaining.quote, ASK | {"origin": "uk"}, "--origin: unknown origin 'uk'"),
        (explaining.quote, ASK | {"form": "yaml"}, "--format"),
        (explaining.runway, {"growth": "3"}, "--growth"),
        (explaining.runway, {"growth": "0 %/month"}, "--growth"),
        (explaining.runway, {"growth": "3 %/month", "months": 0}, "--months"),
        (explaining.runway, {"growth": "3 %/month", "form": "txt"}, "--format"),
        (plans.plan, {"what_if": ["burst"]}, "unknown variant 'burst'.*Did you mean 'burst-20'"),
        (plans.plan, {"router": "hourly"}, "--router: unknown router 'hourly' .allowed even, static"),
        (plans.plan, {"what_if": ["burst"], "router": "evn"}, "unknown variant(.|\n)*Did you mean 'even'"),
        (plans.plan, {"what_if": ["all"], "settle": True}, "--what-if.* does not go with --settle"),
        (plans.plan, {"router": "even", "check_only": True}, "does not go with --check"),
        (plans.plan, {"router": "even", "premiums": True}, "does not go with --premiums"),
        (plans.plan, {"check_only": True, "premiums": True}, "--check does not go with --premiums"),
        (plans.plan, {"form": "json"}, "--format does not go with a plan that is compared with nothing"),
        (plans.plan, {"what_if": ["all"], "form": "xml"}, "--format: unknown format"),
    ],
    ids=lambda value: " ".join(map(str, value.values())) if isinstance(value, dict) else None,
)
def test_what_makes_no_sense_is_refused(fleet, command, arguments, told):
    fleet()
    with pytest.raises(ConfigError, match=told):
        command("test", **arguments)


def test_every_mistaken_option_of_a_comparison_is_named(fleet):
    fleet()
    with pytest.raises(ConfigError) as caught:
        plans.plan("test", what_if=["one", "two"], router="three")
    assert len(caught.value.problems) == 3


def test_a_stale_lock_explains_nothing(fleet):
    fleet(demand={"demand": [make_curve("shop", "us-east", 2900)]})
    with pytest.raises(StaleLock, match="Run 'outlast plan test'"):
        explaining.why("test")


def test_a_fleet_that_was_never_planned_explains_nothing(fleet):
    (fleet() / "plan.lock.yaml").unlink()
    with pytest.raises(OutlastError, match="there is no lock"):
        explaining.why("test")


def test_all_variants_of_a_fleet_without_any_are_refused(fleet):
    fleet(variants={})
    with pytest.raises(ConfigError, match=r"variants\.yaml: there are no variants"):
        plans.plan("test", what_if=["all"])


def test_check_names_a_variant_that_does_not_hold(fleet):
    fleet(variants={"variants": {"bad": {"guardrails": {"brst": 1}}}})
    with pytest.raises(ConfigError, match=r"variants\.bad, giving guardrails\.yaml, brst: unknown key"):
        plans.check("test")


def test_an_hour_that_is_no_number_ends_without_a_traceback():
    told = CliRunner().invoke(app, ["quote", "demo", "--class", "open", "--peak", "5k tok/s", "--hour", "noon"])
    assert told.exit_code == 2
    assert "Traceback" not in told.output


def test_a_lock_with_premiums_is_written_as_it_was_planned(fleet):
    folder = fleet()
    plans.plan("test", premiums=True)
    written = (folder / "plan.lock.yaml").read_text()
    assert written == lock_text(read_lock(folder))
    assert read_lock(folder).regions == settled_lock(loaded(folder)).regions
