"""Facts agree with each other, say where they come from, and a wrong row is named by file and line."""

import shutil
from collections import defaultdict
from datetime import date, timedelta
from itertools import pairwise

import pytest
from pydantic import TypeAdapter

from outlast.errors import FactError
from outlast.facts import load_facts
from outlast.intent.tenants import Jurisdiction
from outlast.lock.digest import prices_used
from tests.builders import CONFIG, demo_intent, facts

TODAY = date(2026, 11, 30)
"""Day of the demo fleet."""
FILES = sorted(path.stem for path in (CONFIG / "facts").glob("*.csv"))
PACKAGES = {"aws", "gcp", "azure-native", "kubernetes", "pulumi"}
SEVERAL_SIZES: dict[str, str] = {}
"""Accelerator -> why the memory of its GPU differs between machine types."""
NO_REGIONS = {("aws", "several"): "the source of capacity block prices gives one for several regions"}
NO_MACHINES = {"h200-sxm-141": "the only published figure of its model on this family of cards"}
SEVERAL_LAWS = {"US": "regions of its government are under a law of their own"}
OLD_PRICES_BEFORE = TODAY - timedelta(days=400)
"""The default age limit of guardrails."""


def rows(name: str) -> list:
    found = getattr(facts(), name)
    return list(found.values()) if hasattr(found, "values") else list(found)


@pytest.mark.parametrize("name", FILES)
def test_every_row_has_a_source_and_a_day_that_has_been(name):
    assert [row for row in rows(name) if not row.source.strip() or row.as_of > TODAY] == []


@pytest.mark.parametrize("name", FILES)
def test_no_source_is_a_place_of_one_machine(name):
    assert [row.source for row in rows(name) if row.source.startswith(("/", "~", "file:"))] == []


def test_prices_of_what_the_demo_buys_are_within_the_age_limit():
    used = prices_used(demo_intent())
    assert used
    assert [row for row in used if row.as_of < OLD_PRICES_BEFORE] == []


def test_every_machine_type_offered_or_priced_exists():
    known = set(facts().machine_types)
    assert {(row.cloud, row.machine_type) for row in (*rows("offerings"), *rows("prices"))} - known == set()


def test_every_region_offered_or_priced_exists():
    known = set(facts().provider_regions)
    named = {(row.cloud, row.provider_region) for row in (*rows("offerings"), *rows("prices"))}
    assert named - known == set(NO_REGIONS)


def test_every_accelerator_named_exists():
    named = {row.accelerator for row in (*rows("machine_types"), *rows("goodput"))}
    assert named - set(facts().accelerators) == set(NO_MACHINES)


def test_short_names_of_accelerators_differ():
    assert len({row.short for row in rows("accelerators")}) == len(rows("accelerators"))


def test_a_gpu_of_one_accelerator_has_one_memory():
    sizes = defaultdict(set)
    for row in rows("machine_types"):
        sizes[row.accelerator].add(round(row.gpu_mem_gb / row.node_gpus))
    assert {name for name, found in sizes.items() if len(found) > 1} == set(SEVERAL_SIZES), dict(sizes)


def test_memory_of_nodes_is_that_of_their_cards():
    nominal = {name: row.mem_gb_nominal for name, row in facts().accelerators.items()}
    wrong = [
        (row.machine_type, row.gpu_mem_gb / row.node_gpus, nominal[row.accelerator])
        for row in rows("machine_types")
        if abs(row.gpu_mem_gb / row.node_gpus - nominal[row.accelerator]) > 0.07 * nominal[row.accelerator]
    ]
    assert wrong == []


def test_a_sustained_bandwidth_is_below_the_figure_of_its_machine_type():
    for key, row in facts().network_baselines.items():
        assert row.baseline_gbps < (facts().machine_types[key].network_gbps or 0), key


def test_a_node_sustains_its_baseline_where_one_is_known_and_its_figure_elsewhere():
    machines = facts().machine_types
    assert facts().sustained_gbps(machines["aws", "g6.xlarge"]) == 2.5
    assert facts().sustained_gbps(machines["aws", "g6.12xlarge"]) == 40


def test_an_offering_has_no_more_zones_than_its_region():
    places = facts().provider_regions
    many = [row for row in rows("offerings") if len(row.zones) > places[row.cloud, row.provider_region].zones > 0]
    assert many == []


def test_zones_of_an_offering_differ():
    assert [row for row in rows("offerings") if len(set(row.zones)) != len(row.zones)] == []


def test_a_zone_lies_in_one_region():
    homes = defaultdict(set)
    for row in rows("offerings"):
        for zone in row.zones:
            homes[row.cloud, zone].add(row.provider_region)
    # One cloud numbers its zones anew in every region; a number alone is no place.
    assert [zone for (_, zone), regions in homes.items() if len(regions) > 1 and not zone.isdigit()] == []


def test_spot_is_never_dearer_than_on_demand():
    prices = facts().prices
    dearer = [
        key[:3]
        for key, row in prices.items()
        if key[3] == "spot" and (base := prices.get((*key[:3], "on_demand"))) and row.usd_h > base.usd_h
    ]
    assert dearer == []


def test_more_gpus_of_a_family_cost_more():
    families = defaultdict(set)
    for row in rows("prices"):
        machine = facts().machine_types[row.cloud, row.machine_type]
        if row.basis == "on_demand" and row.machine_type.startswith("p5."):
            families[row.cloud, row.provider_region, machine.accelerator].add((machine.node_gpus, row.usd_h))
    assert families
    assert all(low[1] < high[1] for sizes in families.values() for low, high in pairwise(sorted(sizes)))


def test_every_machine_type_that_is_offered_counts_against_a_quota():
    uncounted = {
        (row.cloud, row.machine_type)
        for row in rows("offerings")
        if not facts().quotas_for(row.cloud, row.machine_type, "on_demand")
    }
    assert {cloud for cloud, _ in uncounted} <= {"azure", "gcp"}, uncounted


def test_spot_counts_against_another_quota_than_on_demand():
    codes = {
        kind: {quota.quota_code for quota in facts().quotas_for("aws", "p5.48xlarge", kind)}
        for kind in ("on_demand", "reserved", "spot")
    }
    assert codes["on_demand"] == codes["reserved"]
    assert codes["on_demand"] & codes["spot"] == set()


def test_every_jurisdiction_can_be_written_in_a_class():
    for law in {row.jurisdiction for row in rows("provider_regions")}:
        assert TypeAdapter(Jurisdiction).validate_python(law) == law


def test_members_of_the_union_share_a_jurisdiction():
    laws = {row.country: row.jurisdiction for row in rows("provider_regions")}
    assert {laws[country] for country in ("Sweden", "Netherlands", "Germany", "Ireland")} == {"EU"}


def test_a_country_has_one_law():
    laws = defaultdict(set)
    for row in rows("provider_regions"):
        laws[row.country].add(row.jurisdiction)
    assert {country for country, found in laws.items() if len(found) > 1} == set(SEVERAL_LAWS)


def test_a_resource_type_is_of_a_known_package():
    packages = {
        parts[2] if parts[0] == "pulumi" else parts[0] for parts in (row.type.split(":") for row in rows("catalogue"))
    }
    assert packages <= PACKAGES


def test_a_located_type_says_how_its_place_is_read_and_a_global_one_why_it_has_none():
    for row in rows("catalogue"):
        assert (row.kind in ("located", "edge")) == bool(row.place), row.type
        assert row.kind == "located" or row.reason, row.type


@pytest.mark.parametrize("row", rows("catalogue"), ids=lambda row: row.type)
def test_a_place_path_is_an_input_a_reference_a_provider_or_the_cluster(row):
    for path in row.place:
        assert path == "@cluster" or path.removeprefix("@provider.").removeprefix("@").replace(".", "").isalnum()


def test_a_catalogue_row_follows_a_reference_only_to_listed_types():
    for row in rows("catalogue"):
        if row.type.startswith("kubernetes:"):
            assert row.place == ("@cluster",), row.type


def test_what_keeps_data_is_located():
    roles = {"store", "registry", "key", "log", "node_pool", "cluster"}
    assert [row.type for row in rows("catalogue") if row.role in roles and row.kind != "located"] == []


def edited(root, name: str, old: str, new: str) -> str:
    shutil.copytree(CONFIG / "facts", root / "facts")
    path = root / "facts" / f"{name}.csv"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(FactError) as caught:
        load_facts(root)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "old", "new", "says"),
    [
        ("prices", "4.6016", "0", ["facts/prices.csv, line 2, usd_h", "'0'"]),
        ("prices", "4.6016", "cheap", ["facts/prices.csv, line 2, usd_h", "'cheap'"]),
        ("prices", "on_demand", "on-demand", ["facts/prices.csv, line 2, basis", "'on-demand'"]),
        ("prices", "2026-07-20", "July", ["facts/prices.csv, line 2, as_of", "'July'"]),
        ("prices", "g6.12xlarge", "g6.13xlarge", ["facts/prices.csv, g6.13xlarge", "machine_types.csv"]),
        ("offerings", "g6.12xlarge", "g6.13xlarge", ["facts/offerings.csv, g6.13xlarge", "machine_types.csv"]),
        ("offerings", "ap-northeast-1", "ap-north", ["facts/offerings.csv", "ap-north", "provider_regions.csv"]),
        ("network_baselines", "g6.xlarge", "g6.xxlarge", ["network_baselines.csv, g6.xxlarge", "machine_types.csv"]),
        ("machine_types", "l4-24", "l5-24", ["facts/machine_types.csv, g6.12xlarge", "l5-24", "l4-24"]),
        ("accelerator_types", "a3-highgpu-1g", "a3-highgpu-3g", ["accelerator_types.csv, a3-highgpu-1g", "no row for"]),
        ("catalogue", "located", "somewhere", ["facts/catalogue.csv, line 2, kind", "'somewhere'"]),
        ("catalogue", "subnet:Subnet", "vpc:Vpc", ["facts/catalogue.csv"]),
        ("quotas", "vcpu,account", "cores,account", ["facts/quotas.csv, line 2, unit", "'cores'"]),
        ("accelerators", "h100,NVIDIA", "H-100,NVIDIA", ["facts/accelerators.csv, line 2, short", "'H-100'"]),
    ],
)
def test_a_wrong_row_is_named(name, old, new, says, tmp_path):
    text = edited(tmp_path, name, old, new)
    assert all(word in text for word in says), text
    assert "pydantic" not in text
    assert "Traceback" not in text


def test_two_rows_for_one_thing_are_named(tmp_path):
    header_and_first = (CONFIG / "facts" / "prices.csv").read_text().split("\n")[:2]
    text = edited(tmp_path, "prices", header_and_first[1], f"{header_and_first[1]}\n{header_and_first[1]}")
    assert "two rows for aws us-east-1 g6.12xlarge on_demand" in text


def test_a_missing_file_of_facts_is_named(tmp_path):
    shutil.copytree(CONFIG / "facts", tmp_path / "facts")
    (tmp_path / "facts" / "egress.csv").unlink()
    with pytest.raises(FactError, match=r"facts/egress\.csv: the file is missing"):
        load_facts(tmp_path)


def test_zones_are_known_for_a_control_plane_in_every_region_that_sells_machines():
    known: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows("offerings"):
        known[row.cloud, row.provider_region] |= {
            *row.zones,
            *facts().provider_regions[row.cloud, row.provider_region].zone_names,
        }
    least = {cloud: use.cluster_zones for cloud, use in facts().networks.items()}
    assert [key for key, zones in known.items() if zones and len(zones) < least[key[0]]] == []
