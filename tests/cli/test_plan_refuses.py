"""A plan that is refused or interrupted leaves the lock as it was, whole, and says why in plain lines."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from outlast.cli import main
from outlast.lock import LOCK_FILE
from tests.builders import CONFIG, H100, P_QUOTA, RESERVATION, make_curve, merged
from tests.fleet_files import write_fleet, write_lock

HELD = {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 50, "ends": "2026-01-31"}
ROW = {"zones": ["use1-az1"], "capacity": "reserved", "reservation": RESERVATION}
RESERVED = {
    "regions": {"regions": {"us-east": {"node_pools": {"gh100": ROW}}}},
    "capacity": {"regions": {"us-east": {"reservations": {RESERVATION: HELD}}}},
    "guardrails": {"losses": {"zone": 0}},
}
SLOW = {"models": {"models": {"chat": {"accelerators": {H100: {"goodput": {"value": "0.000001 tok/s"}}}}}}}
NO_QUOTA = {"capacity": {"regions": {"us-east": {"quotas": {P_QUOTA: {"granted": "0 vCPU"}}}}}}
REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "a key nobody knows": ({"guardrails": {"canarys": 1}}, ["test/guardrails.yaml, canarys"]),
    "a curve of 23 hours": (
        {"demand": {"demand": [make_curve("shop", "us-east", 1) | {"hours": ["1 tok/s"] * 23}]}},
        ["test/demand.yaml, demand.0", "23"],
    ),
    "a goodput without a unit": (
        {"models": {"models": {"chat": {"accelerators": {H100: {"goodput": {"value": 5}}}}}}},
        ["test/models.yaml, models.chat", "goodput.value"],
    ),
    "an absurd goodput": (SLOW, ["test/models.yaml, models.chat", "goodput"]),
    "a quota of nothing": (NO_QUOTA, [f"test/capacity.yaml, regions.us-east.quotas.{P_QUOTA}"]),
    "a reservation that has ended": (
        RESERVED,
        [f"test/capacity.yaml, regions.us-east.reservations.{RESERVATION}", "2026-01-31"],
    ),
    "disks that are too small": (
        {"artifacts": {"models": {"weights": {"size": "40 TiB"}}}},
        ["test/regions.yaml, regions.us-east.node_pools.gh100", "weights"],
    ),
}
LOCKS: dict[str, tuple[str, list[str]]] = {
    "is cut off": ("lock: outlast/1\nfleet: test\nregions: {us-east: {node_pools: {", ["the lock is damaged", "git"]),
    "is empty": ("", ["the lock is damaged", "git"]),
    "is of another fleet": ("OTHER", ["test/plan.lock.yaml", "other"]),
    "has a count below 0": ("NEGATIVE", ["test/plan.lock.yaml", "planned", "-1"]),
}


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The folder of a small fleet with its lock."""
    root = tmp_path / "config"
    found = write_fleet(root, demand={"demand": [make_curve("shop", "us-east", 2800)]})
    (root / "facts").symlink_to(CONFIG / "facts")
    write_lock(found)
    monkeypatch.setenv("OUTLAST_CONFIG", str(root))
    monkeypatch.delenv("OUTLAST_APPLIED", raising=False)
    monkeypatch.chdir(tmp_path)
    return found


@pytest.fixture
def outlast(monkeypatch, capsys):
    """Run the command line; returns how it ended and what it said of problems."""

    def run(*arguments: str) -> tuple[int, list[str]]:
        monkeypatch.setattr("sys.argv", ["outlast", *arguments])
        with pytest.raises(SystemExit) as end:
            main()
        said = capsys.readouterr().err
        assert "Traceback" not in said
        return int(end.value.code or 0), said.splitlines()

    return run


def change(folder: Path, changes: dict[str, Any]) -> None:
    for stem, keys in changes.items():
        path = folder / f"{stem}.yaml"
        path.write_text(yaml.safe_dump(merged(yaml.safe_load(path.read_text()), keys)))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(("changes", "says"), REFUSED.values(), ids=list(REFUSED))
def test_the_lock_stays_when_planning_is_refused_for(changes, says, folder, outlast):
    before, kept = (folder / LOCK_FILE).read_bytes(), names(folder)
    change(folder, changes)
    code, lines = outlast("plan", "test")
    assert code != 0
    assert any(all(fact in line for fact in says) for line in lines), lines
    assert (folder / LOCK_FILE).read_bytes() == before
    assert names(folder) == kept


def spoiled(folder: Path, how: str) -> str:
    """The text of a lock that is wrong, made from the right one where ``how`` is a word."""
    document = yaml.safe_load((folder / LOCK_FILE).read_text())
    if how == "OTHER":
        return yaml.safe_dump(document | {"fleet": "other"})
    if how == "NEGATIVE":
        document["regions"]["us-east"]["pools"]["chat-h100"]["replicas"]["planned"] = -1
        return yaml.safe_dump(document)
    return how


@pytest.mark.parametrize(("how", "says"), LOCKS.values(), ids=list(LOCKS))
def test_a_lock_is_neither_used_nor_overwritten_that(how, says, folder, outlast):
    text = spoiled(folder, how)
    (folder / LOCK_FILE).write_text(text)
    code, lines = outlast("plan", "test")
    assert code != 0
    assert all(any(fact in line for line in lines) for fact in says), lines
    assert (folder / LOCK_FILE).read_text() == text


def test_a_raise_that_is_not_deployed_is_not_settled(folder, outlast):
    change(folder, {"demand": {"demand": [make_curve("shop", "us-east", 700)]}})
    assert outlast("plan", "test", "--brief")[0] == 0
    before = (folder / LOCK_FILE).read_bytes()
    code, lines = outlast("plan", "test", "--settle")
    assert code != 0
    assert any("outlast applied test" in line for line in lines)
    assert (folder / LOCK_FILE).read_bytes() == before


@pytest.mark.parametrize(("error", "code"), [(OSError(28, "No space left on device"), 1), (KeyboardInterrupt(), 130)])
def test_a_lock_that_cannot_be_written_to_the_end_is_the_old_one(error, code, folder, outlast, monkeypatch):
    before, kept = (folder / LOCK_FILE).read_bytes(), names(folder)
    change(folder, {"demand": {"demand": [make_curve("shop", "us-east", 9000)]}})
    whole = Path.write_text

    def breaks(self, text, *args, **options):
        whole(self, text[: len(text) // 2], *args, **options)
        raise error

    monkeypatch.setattr(Path, "write_text", breaks)
    assert outlast("plan", "test", "--brief")[0] == code
    assert (folder / LOCK_FILE).read_bytes() == before
    assert names(folder) == kept


@pytest.mark.parametrize("command", ["check", "plan"])
def test_a_zone_is_not_taken_from_under_nodes_of_the_lock(command, folder, outlast):
    zones = ["use1-az1", "use1-az2"]
    change(folder, {"regions": {"regions": {"us-east": {"zones": zones, "node_pools": {"gh100": {"zones": zones}}}}}})
    code, lines = outlast(command, "test")
    assert code != 0
    row = "test/plan.lock.yaml, regions.us-east.node_pools.gh100-3-a.zone: us-east does not have this zone"
    assert any(row in line and "settle and deploy first, then remove the zone" in line for line in lines), lines
