"""What quotas, preflight and the plan within what is held print, write and end with."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
import typer

from outlast.cli.holdings import preflight, quotas
from outlast.cli.plans import plan
from outlast.errors import ConfigError, InfeasiblePlan
from outlast.lock import LOCK_FILE, read_lock
from tests.builders import CONFIG, demo_intent, write_demo

US, EU_WEST, EU_NORTH, EU_CENTRAL, AP_SOUTH = (f"regions/{name}/quotas" for name in demo_intent().regions)
CAP = "GPUS-ALL-REGIONS-per-project"
GRANT = {"granted": "512 GPUs", "as_of": "2026-11-01"}
H100, L4 = "GPUS-PER-GPU-FAMILY-per-project-region/NVIDIA_H100", "NVIDIA_L4_GPUS"
NARROW = {
    f"{EU_NORTH}/L-417A185B/granted": "3000 vCPU",
    EU_WEST: {H100: GRANT | {"granted": "128 GPUs"}, L4: GRANT, CAP: GRANT},
    f"{EU_CENTRAL}/standardNDSH100v5Family/granted": "192 vCPU",
    f"{EU_CENTRAL}/standardNDISv5MI300XFamily/granted": "960 vCPU",
    f"{AP_SOUTH}/L-417A185B/granted": "3000 vCPU",
}
"""Too little for what us-east would send there."""


@pytest.fixture
def demo(tmp_path, monkeypatch):
    """A function that makes the demo with a change of its capacity, and returns its folder."""

    def make(changes: Mapping[str, Any] = MappingProxyType({})) -> Path:
        root = tmp_path / "config"
        folder = write_demo(root, "capacity", changes)
        (root / "facts").symlink_to(CONFIG / "facts")
        monkeypatch.setenv("OUTLAST_CONFIG", str(root))
        monkeypatch.delenv("OUTLAST_APPLIED", raising=False)
        monkeypatch.chdir(tmp_path)
        return folder

    return make


@pytest.fixture
def made(demo):
    """The demo as it is."""
    return demo()


def with_lock(folder: Path) -> Path:
    """The folder, planned anew."""
    (folder / LOCK_FILE).unlink()
    plan("demo", brief=True)
    return folder


def test_quotas_say_what_every_grant_carries(demo, capsys):
    demo()
    quotas("demo", form="json")
    rows = json.loads(capsys.readouterr().out)["quotas"]
    assert {row["quota"] for row in rows} >= {"L-417A185B", H100, CAP}
    assert all(row["now"] <= row["raise"] and row["after_failover"] <= row["raise"] for row in rows)


def test_quotas_with_requests_print_the_commands(demo, capsys):
    demo({f"{EU_WEST}/{CAP}": None})
    quotas("demo", requests=True)
    out = capsys.readouterr().out
    assert f"--quota-id={CAP}" in out


def test_nothing_to_ask_for_is_said(demo, capsys):
    with_lock(demo_with_cap(demo))
    capsys.readouterr()
    quotas("demo", requests=True)
    assert "nothing to ask for" in capsys.readouterr().out


def demo_with_cap(demo) -> Path:
    return demo({f"{EU_WEST}/{CAP}": GRANT})


def test_a_preflight_that_fails_ends_with_1_and_says_what_to_do(demo, capsys):
    demo({f"{EU_WEST}/{CAP}": None})
    with pytest.raises(typer.Exit) as end:
        preflight("demo", horizon=30)
    out = capsys.readouterr().out
    assert end.value.exit_code == 1
    assert f"✘ demo/capacity.yaml, regions.eu-west.quotas.{CAP}: " in out


def test_a_preflight_that_passes_has_a_line_for_each_check_and_region(demo, capsys):
    with_lock(demo_with_cap(demo))
    capsys.readouterr()
    preflight("demo", form="json", horizon=30)
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {row["region"] for row in findings} == set(demo_intent().regions)
    assert {row["verdict"] for row in findings} == {"passed", "warning"}


def test_warnings_alone_do_not_fail(demo, capsys):
    with_lock(demo_with_cap(demo))
    preflight("demo", horizon=30)
    assert "none failed" in capsys.readouterr().out


def test_an_account_that_is_not_the_right_one_fails(demo):
    with_lock(demo_with_cap(demo))
    with pytest.raises(typer.Exit):
        preflight("demo", horizon=30, account=["us-east=444455556666"])


@pytest.mark.parametrize(
    ("account", "says"),
    [("us-east", "Write REGION=ACCOUNT"), ("us-east=", "Write REGION=ACCOUNT"), ("us-est=1", "Did you mean 'us-east'")],
)
def test_an_account_that_says_nothing_is_refused(demo, account, says):
    demo()
    with pytest.raises(ConfigError, match=says):
        preflight("demo", horizon=30, account=[account])


@pytest.mark.parametrize("command", [quotas, preflight])
def test_an_unknown_format_is_refused(command):
    with pytest.raises(ConfigError, match=r"unknown format 'jsn'.*Did you mean 'json'"):
        command("demo", form="jsn")


def test_a_whole_plan_within_what_is_granted_is_written(demo, capsys):
    folder = demo()
    (folder / LOCK_FILE).unlink()
    plan("demo", within="granted", brief=True)
    assert "survives every loss it must" in capsys.readouterr().out
    assert read_lock(folder).step == "raise"


def test_a_plan_with_gaps_is_shown_and_not_written(demo, capsys):
    folder = demo(NARROW)
    (folder / LOCK_FILE).unlink()
    with pytest.raises(typer.Exit):
        plan("demo", within="granted", brief=True)
    assert "class open does not survive the loss of us-east" in capsys.readouterr().out
    assert not (folder / LOCK_FILE).exists()


def test_a_plan_with_gaps_is_written_when_they_are_accepted(demo):
    folder = demo(NARROW)
    (folder / LOCK_FILE).unlink()
    plan("demo", within="granted", accept_gaps=True, brief=True)
    assert "us-east" not in read_lock(folder).shares["open"]


@pytest.mark.parametrize("bounds", ["requested", "unlimited"])
def test_a_plan_beyond_what_is_granted_is_never_written(demo, bounds):
    folder = demo(NARROW)
    (folder / LOCK_FILE).unlink()
    plan("demo", within=bounds, accept_gaps=True, brief=True)
    assert not (folder / LOCK_FILE).exists()


def test_a_dry_run_writes_nothing(demo):
    folder = demo()
    (folder / LOCK_FILE).unlink()
    plan("demo", within="granted", dry_run=True, brief=True)
    assert not (folder / LOCK_FILE).exists()


def test_less_than_normal_demand_is_no_plan_and_leaves_the_lock_alone(demo):
    folder = demo({f"{US}/L-417A185B/granted": "192 vCPU"})
    before = (folder / LOCK_FILE).read_bytes()
    with pytest.raises(InfeasiblePlan):
        plan("demo", within="granted", accept_gaps=True)
    assert (folder / LOCK_FILE).read_bytes() == before


@pytest.mark.parametrize(
    "options",
    [{"within": "requested", "settle": True}, {"within": "granted", "check_only": True}, {"accept_gaps": True}],
)
@pytest.mark.usefixtures("made")
def test_options_that_do_not_go_together_are_refused(options):
    with pytest.raises(ConfigError, match=r"does not go with|that is written settles"):
        plan("demo", **options)


@pytest.mark.parametrize("within", [None, "granted"])
def test_planning_on_a_reservation_that_has_ended_is_refused(demo, within):
    held = {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 40, "ends": "2026-11-01"}
    folder = demo({"regions/us-east/reservations/cr-0123456789abcdef0": held})
    text = (folder / "regions.yaml").read_text()
    old = "gh100: {machine_type: p5.48xlarge, zones: [use1-az1, use1-az2, use1-az4], capacity: on_demand}"
    assert old in text
    new = "gh100: {machine_type: p5.48xlarge, zones: [use1-az1], capacity: reserved, reservation: cr-0123456789abcdef0}"
    (folder / "regions.yaml").write_text(text.replace(old, new))
    with pytest.raises(ConfigError, match="the reservation has ended"):
        plan("demo", within=within)
