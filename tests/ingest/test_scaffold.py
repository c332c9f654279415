"""A new fleet: valid, plannable, commented, and never written over another."""

from datetime import date
from pathlib import Path

import pytest
import yaml

from outlast.errors import ConfigError, EnvironmentProblem
from outlast.ingest import scaffold
from outlast.ingest.scaffold import create, fleet_files
from outlast.ingest.sites import first_regions, sites, starters
from outlast.intent import FILES, load_intent, stack_order
from outlast.planner import plan
from outlast.proof import prove
from tests.builders import CONFIG, facts
from tests.ingest.conftest import contents

DAY = date(2026, 11, 30)


def created(config, *regions):
    create(config, "mine", regions, facts(), DAY)
    return load_intent(config, "mine", facts())


def test_a_new_fleet_plans_at_once_and_survives_within_what_it_holds(config):
    intent = created(config)
    lock = plan(intent, None).lock
    assert all(margin.holds for margin in prove(lock, intent).binding())
    for region in lock.regions.values():
        assert all(0 < quota.peak <= quota.granted for quota in region.quotas.values())


def test_a_new_fleet_lies_on_every_cloud_and_holds_two_classes(config):
    intent = created(config)
    assert {region.cloud for region in intent.regions.values()} == set(starters())
    assert set(intent.tenants_file.classes) == {"open", "eu-resident"}
    assert {how.goodput.kind for model in intent.models.values() for how in model.accelerators.values()} == {"assumed"}


def test_every_machine_of_a_new_fleet_has_a_quota_of_its_family(config):
    intent = created(config, "us-east", "eu-central")
    machines = {row.cloud: row.node_pools["gh100"].machine_type for row in intent.regions.values()}
    assert machines["azure"] == "Standard_ND96isr_H100_v5"
    assert all("standardNDSH100v5Family" in held.quotas for held in [intent.holdings("eu-central")])


def test_every_key_is_explained_and_every_file_names_its_schema():
    texts = fleet_files("mine", sites((), facts()), facts(), DAY)
    for name, text in texts.items():
        stem = name.removesuffix(".yaml")
        assert text.startswith(f"# yaml-language-server: $schema=../../schema/{stem}.json\n")
        assert (CONFIG / "schema" / f"{stem}.json").is_file()
        assert stem in FILES
        assert text.count("#") > 1, name


@pytest.mark.parametrize(
    "regions",
    [
        ("us-east", "eu-north"),
        ("us-east", "eu-central", "virginia=azure:eastus"),
        ("us-east", "oregon=aws:us-west-2"),
        ("london=aws:eu-west-2", "mumbai=aws:ap-south-1", "iowa=gcp:us-central1"),
    ],
    ids=",".join,
)
def test_other_regions_plan_too(config, regions):
    intent = created(config, *regions)
    assert len(intent.regions) == len(regions)
    assert plan(intent, None).lock.regions.keys() == intent.regions.keys()


def test_stack_files_are_those_of_the_fleet(config):
    intent = created(config)
    names = {path.name for path in (config / "stacks").glob("Pulumi.mine.*")}
    assert names == {f"Pulumi.{stack}.yaml" for stack in stack_order(intent)}
    for name in names:
        assert yaml.safe_load((config / "stacks" / name).read_text()).keys() == {"encryptionsalt"}


def test_the_salt_is_one_of_simulated_stacks():
    salts = {yaml.safe_load(path.read_text())["encryptionsalt"] for path in (CONFIG / "stacks").glob("Pulumi.demo.*")}
    assert scaffold.SIM_SALT in salts


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    "name",
    ["Mine", "my fleet", "a.b", "../mine", "", "-x", "x" * 33, "1st", "my_fleet", "a/b", "ü"],
)
def test_what_cannot_be_a_name_is_refused(config, name):
    with pytest.raises(ConfigError, match="not a name"):
        create(config, name, (), facts(), DAY)


@pytest.mark.usefixtures("unchanged")
def test_a_fleet_that_exists_is_never_overwritten(config):
    with pytest.raises(ConfigError, match=r"fleets/demo: exists already"):
        create(config, "demo", (), facts(), DAY)


def test_an_empty_folder_or_a_stack_file_in_the_way_is_named_and_nothing_is_written(config):
    (config / "fleets" / "empty").mkdir()
    (config / "stacks" / "Pulumi.mine.us-east.yaml").write_text("config: {}\n")
    before = contents(config)
    for name, taken in (("empty", "fleets/empty"), ("mine", "Pulumi.mine.us-east.yaml")):
        with pytest.raises(ConfigError, match=taken):
            create(config, name, (), facts(), DAY)
    assert contents(config) == before


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize(
    ("regions", "word"),
    [
        (("us-eats", "eu-west"), "us-east"),
        (("us-east",), "2 to"),
        (("us-east", "us-east"), "twice"),
        (("us-east", "mars=aws:mars-1"), "mars-1"),
        (("us-east", "x=nimbus:us-1"), "nimbus"),
        (("us-east", "x=aws"), "NAME=CLOUD:PROVIDER_REGION"),
        (("us-east", "X=aws:us-west-2"), "NAME=CLOUD:PROVIDER_REGION"),
        (("us-east", "x=aws:eu-central-2"), "offers no"),
        (("us-east", "global=aws:us-west-2"), "global"),
        (("eu-west", "iowa=gcp:us-central1"), "DNS"),
        (("us-east", "x=azure:westus"), "offers no"),
        (("us-east", "somewhere"), "CLOUD:PROVIDER_REGION"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_regions_are_refused_with_what_is_right(config, regions, word):
    with pytest.raises(ConfigError, match=word):
        create(config, "mine", regions, facts(), DAY)


@pytest.mark.usefixtures("unchanged")
def test_a_write_that_breaks_off_leaves_nothing(config, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(EnvironmentProblem, match="No space"):
        create(config, "mine", (), facts(), DAY)


def test_the_command_writes_a_fleet_that_checks_and_plans(outlast, config):
    code, out, err = outlast("init", "mine")
    assert (code, err) == (0, "")
    assert str(config / "fleets" / "mine") in out
    assert outlast("check", "mine")[0] == 0
    assert outlast("plan", "mine")[0] == 0
    assert (config / "fleets" / "mine" / "plan.lock.yaml").is_file()


def test_first_regions_are_regions_of_clouds_that_facts_know():
    for _, cloud, place in first_regions():
        assert (cloud, place) in facts().provider_regions
