"""A sim directory: what is put there, what it points at, and that nothing leaks out of it."""

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from outlast.errors import EnvironmentProblem
from outlast.intent.writing import write_all
from simcloud import environment, life, shell_exports, sim_directory
from simcloud.fleet_config import mirror
from simcloud.home import WORLD, install
from simcloud.state import Clouds, Links, Stored
from tests.simcloud.conftest import WORLD_DOCUMENT

SCRIPTS = sysconfig.get_path("scripts")
VPC = Stored(
    cloud="aws", account="1", region="us-east-1", type="aws:ec2/vpc:Vpc", id="vpc-1", urn="u", name="n", checked={},
    outputs={}, hash="0",
)  # fmt: skip


@pytest.fixture
def config(tmp_path: Path) -> Path:
    root = tmp_path / "config"
    for name, text in {
        "facts/prices.csv": "a\n",
        "fleets/prod/fleet.yaml": "# ours\nclouds: real\nobjective: money\n",
        "fleets/prod/regions.yaml": "regions: {}\n",
        "fleets/demo/fleet.yaml": "clouds: simulated\n",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_the_environment_is_absolute_and_inside_the_sim(tmp_path: Path) -> None:
    found = environment(tmp_path / "sim", tmp_path, "demo", {"PATH": "bin"})
    for key in ("PULUMI_HOME", "OUTLAST_SIM", "OUTLAST_CONFIG", "OUTLAST_APPLIED"):
        assert found[key].startswith(str(tmp_path / "sim"))
    assert found["PULUMI_BACKEND_URL"] == f"file://{tmp_path}/sim/state"
    assert found["PATH"] == f"{SCRIPTS}:bin"


def test_an_engine_built_from_source_goes_first_on_the_path(tmp_path: Path) -> None:
    (tmp_path / ".build").mkdir()
    (tmp_path / ".build" / "engine-bin").write_text("/engine/bin\n")
    first = environment(tmp_path / "sim", tmp_path, "demo", {"PATH": "bin"})
    assert first["PATH"] == f"/engine/bin:{SCRIPTS}:bin"
    assert environment(tmp_path / "sim", tmp_path, "demo", first)["PATH"] == first["PATH"]


def test_the_command_line_is_found_in_a_shell_that_took_the_environment(tmp_path: Path) -> None:
    script = shell_exports(environment(tmp_path / "sim", tmp_path, "demo", {"PATH": "/usr/bin:/bin"}))
    done = subprocess.run(
        ["/bin/sh", "-c", f"{script} command -v outlast"], env={}, capture_output=True, text=True, check=True
    )
    assert Path(done.stdout.strip()).parent == Path(SCRIPTS)


def test_a_reset_says_how_much_it_forgot(tmp_path: Path) -> None:
    stacks = tmp_path / "state" / ".pulumi" / "stacks" / "outlast"
    stacks.mkdir(parents=True)
    for name in ("demo.global.json", "demo.global.json.bak", "demo.global.json.attrs", "demo.routing.json.gz"):
        (stacks / name).touch()
    (tmp_path / WORLD).write_text(json.dumps(WORLD_DOCUMENT))
    clouds = Clouds(tmp_path / "clouds.sqlite")
    with clouds.change():
        clouds.add(VPC, Links())
    clouds.close()
    assert life.reset(tmp_path) == (2, 1)
    assert life.reset(tmp_path) == (0, 0)
    assert (tmp_path / "applied.json").read_text() == "{}\n"


def test_exports_survive_a_shell() -> None:
    tricky = {"A": 'it\'s a "path" with $HOME', "B": "x y"}
    script = shell_exports(tricky) + 'printf "%s|%s" "$A" "$B"'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "|".join(tricky.values())


def test_the_sim_lives_where_it_is_told_or_beside_the_program(tmp_path: Path) -> None:
    assert sim_directory(tmp_path, {}) == tmp_path / ".sim"
    assert sim_directory(tmp_path, {"OUTLAST_SIM": "/elsewhere"}) == Path("/elsewhere")


def test_the_mirror_links_every_file_and_simulates_the_fleet(config: Path, tmp_path: Path) -> None:
    mirrored = mirror(config, tmp_path / "sim", "prod")
    assert (mirrored / "fleets/prod/fleet.yaml").read_text() == "# ours\nclouds: simulated\nobjective: money\n"
    (config / "fleets/prod/regions.yaml").write_text("regions: {a: b}\n")
    assert (mirrored / "fleets/prod/regions.yaml").read_text() == "regions: {a: b}\n"
    assert (config / "fleets/prod/fleet.yaml").read_text().count("real") == 1


def test_a_simulated_fleet_is_linked_whole(config: Path, tmp_path: Path) -> None:
    assert (mirror(config, tmp_path / "sim", "demo") / "fleets/demo/fleet.yaml").is_symlink()


def test_the_mirror_forgets_what_was_removed_and_follows_what_changed(config: Path, tmp_path: Path) -> None:
    mirrored = mirror(config, tmp_path / "sim", "prod")
    (config / "facts/prices.csv").unlink()
    (config / "fleets/prod/fleet.yaml").write_text("clouds: real\nobjective: replicas\n")
    mirror(config, tmp_path / "sim", "prod")
    assert not (mirrored / "facts/prices.csv").is_symlink()
    assert "replicas" in (mirrored / "fleets/prod/fleet.yaml").read_text()


def test_a_first_lock_that_is_written_into_the_mirror_lies_where_people_keep_it(config: Path, tmp_path: Path) -> None:
    lock = mirror(config, tmp_path / "sim", "prod") / "fleets/prod/plan.lock.yaml"
    assert not lock.exists()
    write_all({lock: "fleet: prod\n"})
    assert (config / "fleets/prod/plan.lock.yaml").read_text() == "fleet: prod\n"
    mirror(config, tmp_path / "sim", "prod")
    assert lock.read_text() == "fleet: prod\n"


def test_a_fleet_that_does_not_exist_is_refused(config: Path, tmp_path: Path) -> None:
    with pytest.raises(EnvironmentProblem, match=r"has no fleet\.yaml"):
        mirror(config, tmp_path / "sim", "staging")


def test_a_plugin_starts_with_the_python_of_its_environment_and_no_sdk(tmp_path: Path) -> None:
    install(tmp_path, Path(__file__).parents[2], ["kubernetes"])
    (script,) = tmp_path.glob("home/plugins/resource-kubernetes-v*/pulumi-resource-kubernetes")
    assert os.access(script, os.X_OK)
    assert sys.executable in script.read_text()
    asked = subprocess.run([script], env={"OUTLAST_SIM": ""}, capture_output=True, text=True, check=False)
    assert "need OUTLAST_SIM" in asked.stderr


def test_serving_loads_no_sdk_and_no_model_of_the_files_people_write() -> None:
    script = (
        "import sys, simcloud.provider; from simcloud.cloud import *; [*map(cloud_of, packages())]; print(*sys.modules)"
    )
    asked = [sys.executable, "-c", script]
    done = subprocess.run(asked, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2])
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"pulumi_aws", "pulumi_gcp", "pulumi_kubernetes", "pydantic"}


def test_a_state_file_of_another_version_is_refused(tmp_path: Path) -> None:
    clouds = Clouds(tmp_path / "clouds.sqlite")
    clouds._db.execute("pragma user_version = 99")
    clouds.close()
    with pytest.raises(EnvironmentProblem, match="another version"):
        Clouds(tmp_path / "clouds.sqlite")
