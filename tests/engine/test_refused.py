"""What must not get through, on the real engine: each refusal names what is wrong in the user's terms."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.engine.edits import fewer_nodes, in_region
from tests.engine.simulation import FLEET, REGIONS, REPO, Simulation

pytestmark = pytest.mark.engine
BINDING = "eu-north"
SURVIVAL = ("eu-north", "lost=us-east", "need=", "available=", "UTC")


def test_one_node_fewer_is_refused_by_verify(deployed: Simulation) -> None:
    deployed.edit("plan.lock.yaml", fewer_nodes(BINDING))
    ran = deployed.outlast("verify", FLEET)
    assert ran.code == 1
    assert all(word in ran.refusal for word in SURVIVAL), ran.output


def test_one_node_fewer_is_refused_by_the_program_without_a_pack(deployed: Simulation) -> None:
    deployed.edit("plan.lock.yaml", fewer_nodes(BINDING))
    ran = deployed.pulumi("preview", "--stack", f"{FLEET}.{BINDING}")
    assert ran.code != 0
    assert all(word in ran.refusal for word in SURVIVAL), ran.output
    assert "Traceback" not in ran.output


def test_one_node_fewer_is_refused_by_the_pack_without_the_program(deployed: Simulation, tmp_path) -> None:
    state = tmp_path / "state.json"
    state.write_text(deployed.pulumi("stack", "export", "--stack", f"{FLEET}.{BINDING}").output, encoding="utf-8")
    deployed.edit("plan.lock.yaml", fewer_nodes(BINDING))
    ran = deployed.pulumi("policy", "analyze", "--file", str(state), "--policy-pack", "policies")
    assert ran.code != 0
    assert all(word in ran.refusal for word in (*SURVIVAL, "[H-02]", "[H-05]")), ran.output


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (in_region(BINDING, r"zone: eun1-az1", "zone: eun1-az9"), ("zone", "eun1-az9", "eun1-az1")),
        (in_region(BINDING, r"scaling: fixed", "scaling: elastic"), ("scaling", "elastic", "fixed")),
        (
            in_region(BINDING, r"(nodes: \{min: \d+, expected: [\d.]+, max: )\d+", r"\g<1>99"),
            ("fixed", "min = max", "99"),
        ),
        (in_region(BINDING, r"capacity: on_demand", "capacity: spot"), ("capacity", "spot", "on_demand")),
    ],
    ids=["wrong-zone", "elastic", "fixed-with-a-range", "spot"],
)
def test_a_slip_in_the_lock_is_refused(tmp_path, change, words: tuple[str, ...]) -> None:
    broken = Simulation.new(tmp_path / "demo")
    broken.edit("plan.lock.yaml", change)
    verified = broken.outlast("verify", FLEET)
    assert verified.code == 1
    assert all(word in verified.refusal for word in words), verified.output


def test_an_eu_bucket_in_the_united_states_is_refused(deployed: Simulation, tmp_path) -> None:
    project = tmp_path / "pull-request"
    for name in ("components", "stacks", "outlast", "config/stacks"):
        shutil.copytree(REPO / name, project / name)
    for name in ("__main__.py", "Pulumi.yaml"):
        shutil.copy2(REPO / name, project / name)
    (project / ".venv").symlink_to(REPO / ".venv")
    weights = project / "components/weights/aws.py"
    text = weights.read_text(encoding="utf-8")
    moved = text.replace("region=region,", 'region="us-east-1" if place.jurisdiction == "EU" else region,', 1)
    assert moved != text
    weights.write_text(moved, encoding="utf-8")
    ran = deployed.pulumi(
        "preview", "--stack", f"{FLEET}.global", "--policy-pack", str(REPO / "policies"), project=project
    )
    assert ran.code != 0
    assert all(word in ran.refusal for word in ("[R-01]", "jurisdiction EU lies in US", "us-east-1")), ran.output


def test_a_stale_lock_is_refused_with_the_command_that_renews_it(deployed: Simulation) -> None:
    deployed.edit("demand.yaml", lambda text: text.replace("90k tok/s", "95k tok/s"))
    checked = deployed.outlast("plan", FLEET, "--check")
    ran = deployed.pulumi("preview", "--stack", f"{FLEET}.us-east")
    for refused in (checked, ran):
        assert refused.code != 0
        assert "outlast plan demo" in refused.refusal, refused.output
        assert "demand" in refused.refusal


def test_a_simulated_fleet_never_meets_a_backend_outside_the_simulation(empty: Simulation, tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir()
    elsewhere = {"PULUMI_BACKEND_URL": f"file://{tmp_path / 'elsewhere'}"}
    empty.pulumi("stack", "init", f"{FLEET}.global", variables=elsewhere)
    ran = empty.pulumi("preview", "--stack", f"{FLEET}.global", variables=elsewhere)
    assert ran.code != 0
    assert "simulated" in ran.refusal, ran.output
    assert "Traceback" not in ran.output


def test_a_simulated_fleet_is_refused_without_the_simulation(empty: Simulation) -> None:
    empty.pulumi("stack", "init", f"{FLEET}.global")
    ran = empty.pulumi("preview", "--stack", f"{FLEET}.global", variables={"OUTLAST_SIM": ""})
    assert ran.code != 0
    assert "outlast sim env" in ran.refusal, ran.output


def without_examples(config: Path) -> None:
    """Replace what a real fleet may not hold in the files below a root of configuration."""
    facts = config / "facts" / "examples.csv"
    header, *_ = facts.read_text(encoding="utf-8").splitlines()
    facts.write_text(f"{header}\n", encoding="utf-8")
    for path in (config / "fleets" / FLEET).glob("*.yaml"):
        path.write_text(path.read_text(encoding="utf-8").replace(".example", ".dev"), encoding="utf-8")


def test_a_real_fleet_is_refused_in_the_simulation(empty: Simulation) -> None:
    empty.pulumi("stack", "init", f"{FLEET}.global")
    mirror = empty.sim / "config" / "fleets" / FLEET / "fleet.yaml"
    environment = empty.environment()
    text = mirror.read_text(encoding="utf-8").replace("clouds: simulated", "clouds: real")
    real = empty.folder / "real"
    shutil.copytree(empty.config, real)
    (real / "fleets" / FLEET / "fleet.yaml").write_text(text, encoding="utf-8")
    without_examples(real)
    assert environment["OUTLAST_SIM"]
    ran = empty.pulumi("preview", "--stack", f"{FLEET}.global", variables={"OUTLAST_CONFIG": str(real)})
    assert ran.code != 0
    assert "a real fleet must not meet simulated clouds" in ran.refusal, ran.output


def test_a_missing_global_stack_is_named_before_the_engine_runs(empty: Simulation) -> None:
    ran = empty.outlast("previews", FLEET, "--stack", f"{FLEET}.us-east", "--stack", f"{FLEET}.global")
    assert ran.code == 1
    assert "demo.global" in ran.refusal
    assert "pulumi stack init" in ran.refusal, ran.output


def test_a_region_before_its_global_stack_says_what_to_run(empty: Simulation) -> None:
    for part in ("global", "us-east"):
        empty.pulumi("stack", "init", f"{FLEET}.{part}")
    ran = empty.pulumi("up", "--yes", "--skip-preview", "--stack", f"{FLEET}.us-east")
    assert ran.code != 0
    assert "pulumi up -s demo.global" in ran.refusal, ran.output
    assert "Traceback" not in ran.output


def test_a_wrong_passphrase_says_which_one_is_needed(deployed: Simulation) -> None:
    ran = deployed.outlast("previews", FLEET, "--stack", f"{FLEET}.us-east", PULUMI_CONFIG_PASSPHRASE="wrong")
    assert ran.code == 1
    assert "passphrase" in ran.refusal.lower(), ran.output


def test_a_wrong_account_is_refused(empty: Simulation) -> None:
    from simcloud.life import set_account

    empty.pulumi("stack", "init", f"{FLEET}.global")
    set_account(empty.sim, "aws", "999999999999")
    ran = empty.pulumi("preview", "--stack", f"{FLEET}.global")
    assert ran.code != 0
    assert all(word in ran.refusal for word in ("999999999999", "111122223333")), ran.output


def test_a_quota_revoked_after_the_plan_is_refused_in_the_preview(empty: Simulation) -> None:
    from simcloud.life import set_fault

    assert empty.outlast("sim", "up", FLEET, "--stack", f"{FLEET}.global").code == 0
    arguments = {"cloud": "aws", "region": "us-east-1", "code": "L-417A185B", "granted": 0}
    set_fault(empty.sim, "revoke-quota", arguments)
    empty.pulumi("stack", "init", f"{FLEET}.us-east")
    ran = empty.pulumi("preview", "--stack", f"{FLEET}.us-east")
    assert ran.code != 0
    assert "L-417A185B" in ran.refusal, ran.output


def test_previews_keep_records_that_spend_prices_without_a_difference(deployed: Simulation, tmp_path) -> None:
    kept = tmp_path / "previews"
    ran = deployed.outlast("previews", FLEET, "--out", str(kept), *_stacks(*REGIONS))
    assert ran.code == 0, ran.output
    priced = deployed.outlast("spend", FLEET, "--previews", str(kept), "--format", "json")
    from_lock = deployed.outlast("spend", FLEET, "--format", "json")
    assert json.loads(priced.output)["usdPerHour"]["after"] == json.loads(from_lock.output)["usdPerHour"]["after"]
    assert json.loads(priced.output)["gpus"]["delta"] == 0
    unknown = json.loads(priced.output)["verdicts"]["previews"]["detail"]
    assert f"{FLEET}.global, {FLEET}.routing" in unknown


def _env(simulation: Simulation) -> dict[str, str]:
    return {
        key: value for key, value in simulation.environment().items() if key.startswith(("PULUMI_", "OUTLAST_"))
    } | {"OUTLAST_CONFIG": str(simulation.config)}


def _stacks(*parts: str) -> list[str]:
    return [word for part in parts for word in ("--stack", f"{FLEET}.{part}")]
