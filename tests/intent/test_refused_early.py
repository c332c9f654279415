"""What a cloud would refuse at deployment, or what would pass in silence: refused by the loader, one line each."""

import re
from datetime import date
from typing import Any

import pytest
import yaml

from outlast.errors import ConfigError
from outlast.ingest.scaffold import fleet_files
from outlast.ingest.sites import sites
from outlast.intent import load_intent
from outlast.intent.checks_capacity import ended_in_use
from outlast.intent.reading import _PATTERNS
from outlast.intent.schema import schemas
from tests.builders import (
    RESERVATION,
    facts,
    intent_of,
    make_intent,
    merged,
    messages_of,
    plain_lines,
    write_demo,
)

DAY = date(2026, 11, 30)
EAST, WEST, CENTRAL = "regions/us-east", "regions/eu-west", "regions/eu-central"
OURS, OTHERS = "111122223333", "444455556666"
HELD = {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 4}
ROW = {"machine_type": "p5.48xlarge", "zones": ["use1-az1"], "capacity": "reserved", "reservation": RESERVATION}

REGIONS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("a node pool from a digit on", {f"{EAST}/node_pools/4h100": ROW}, ["node_pools.4h100", "starting with a letter"]),
    ("a role's name", {f"{EAST}/role": "deployer"}, ["us-east.role", "'deployer'", "role/NAME"]),
    (
        "a role of another account",
        {f"{EAST}/role": f"arn:aws:iam::{OTHERS}:role/deployer"},
        ["us-east.role", f"got {OTHERS}", f"allowed {OURS}"],
    ),
    ("a user for a service account", {f"{WEST}/role": "ann@example.org"}, ["eu-west.role", "service account"]),
    ("a name for a client id", {f"{CENTRAL}/role": "deployer"}, ["eu-central.role", "client id"]),
    (
        "a principal of another account",
        {f"{EAST}/access/admin": [f"arn:aws:iam::{OTHERS}:role/admin"]},
        ["us-east.access.admin", f"got {OTHERS}", f"allowed {OURS}"],
    ),
    (
        "a boundary of another account",
        {f"{EAST}/permissions_boundary": f"arn:aws:iam::{OTHERS}:policy/edge"},
        ["us-east.permissions_boundary", f"got {OTHERS}", f"allowed {OURS}"],
    ),
    ("a tag that Azure keeps", {f"{CENTRAL}/tags": {"windows-x": "y"}}, ["eu-central.tags.windows-x", "azure keeps"]),
    ("a label that Google keeps", {f"{WEST}/tags": {"goog-x": "y"}}, ["eu-west.tags.goog-x", "gcp keeps"]),
    (
        "a machine of another maker",
        {f"{EAST}/node_pools/gh100/machine_type": "mi300x.48xlarge"},
        ["gh100.machine_type", "'mi300x.48xlarge'", "Choose one of them"],
    ),
    ("no continent", {"origins/us/geolocation": ["continent:XX"]}, ["origins.us.geolocation", "'continent:XX'", "NA"]),
    ("no country", {"origins/us/geolocation": ["country:ZZ"]}, ["origins.us.geolocation", "'country:ZZ'", "ISO 3166"]),
    ("a number that is none", {f"{WEST}/account_number": "twelve"}, ["account_number", "6 to 20 digits"]),
]
CAPACITY: list[tuple[str, dict[str, Any], list[str]]] = [
    ("a reservation's name", {f"{EAST}/reservations/mine": HELD}, ["reservations.mine", "'mine'", "cr-"]),
    ("a group's name", {f"{CENTRAL}/reservations": {"held": HELD}}, ["reservations.held", "capacityReservationGroups"]),
    ("a reservation in capitals", {f"{WEST}/reservations": {"Held": HELD}}, ["reservations.Held", "a name, or"]),
]
FLEET: list[tuple[str, dict[str, Any], list[str]]] = [
    ("no version", {"kubernetes": "latest"}, ["fleet.yaml, kubernetes", "'latest'", "1.36"]),
    ("no DNS name", {"dns/zone": "api"}, ["fleet.yaml, dns.zone", "'api'", "api.example.com"]),
    ("a version nobody creates", {"kubernetes": "1.34"}, ["fleet.yaml, kubernetes", "can be created on"]),
    (
        "an add-on's version of another form",
        {"add_ons": {"vpc-cni": "v1.22"}},
        ["fleet.yaml, add_ons.vpc-cni", "'v1.22'", "eksbuild"],
    ),
]
CASES = [
    (name, stem, changes, says)
    for stem, rows in (("regions", REGIONS), ("capacity", CAPACITY), ("fleet", FLEET))
    for name, changes, says in rows
]


@pytest.mark.parametrize(("stem", "changes", "says"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_one_message_states_the_facts_of(stem, changes, says, tmp_path):
    write_demo(tmp_path, stem, changes)
    lines = messages_of(tmp_path)
    assert [line for line in lines if line.startswith("demo/") and all(word in line for word in says)], lines
    assert not any(re.search(r"\^|\\d|\[a-z|\$\)", line) for line in lines), lines


def test_every_pattern_of_the_files_is_said_in_words():
    patterns = set(re.findall(r'"pattern": "(.*)"', "".join(schemas().values())))
    patterns |= {key for text in schemas().values() for key in re.findall(r'"(\^.*\$)": \{', text)}
    assert {yaml.safe_load(f'"{pattern}"') for pattern in patterns} == set(_PATTERNS)


def reserved(ends: str | None) -> Any:
    held = HELD | {"ends": ends} if ends else HELD
    return make_intent(
        regions={"regions": {"us-east": {"node_pools": {"gh100": ROW}}}},
        capacity={"regions": {"us-east": {"reservations": {RESERVATION: held}}}},
    )


def test_a_reservation_in_use_that_has_ended_is_named_with_its_day():
    (problem,) = ended_in_use(reserved("2026-11-29"))
    assert re.search(r"reservations\.cr-\w+\.ends: .*has ended.*got 2026-11-29; allowed 2026-11-30", str(problem))


@pytest.mark.parametrize("ends", ["2026-11-30", "2027-01-01", None])
def test_a_reservation_in_use_that_lasts_is_not(ends):
    assert list(ended_in_use(reserved(ends))) == []


def test_an_ended_reservation_that_nothing_uses_is_no_matter():
    held = {RESERVATION: HELD | {"ends": "2026-11-29"}}
    assert list(ended_in_use(make_intent(capacity={"regions": {"us-east": {"reservations": held}}}))) == []


def test_a_reservation_that_has_ended_in_one_region_is_no_matter_of_another():
    assert list(ended_in_use(reserved("2026-11-29"), "eu-north")) == []


def test_names_of_zones_for_their_ids_are_one_problem(tmp_path):
    names = ["us-east-1a", "us-east-1b", "us-east-1c"]
    pools = {f"{EAST}/node_pools/{pool}/zones": names for pool in ("gh100", "mig7", "gl40s")}
    write_demo(tmp_path, "regions", {f"{EAST}/zones": names, **pools})
    (line,) = messages_of(tmp_path)
    for word in ("us-east.zones", "'us-east-1a', 'us-east-1b'", "use1-az1", "zone ids, not names"):
        assert word in line


def test_a_mistake_in_one_file_says_that_checks_across_files_wait(tmp_path):
    write_demo(tmp_path, "fleet", {"router": "statik"})
    first, last = messages_of(tmp_path)
    assert "fleet.yaml, router" in first
    assert last.startswith("demo: checks across files wait")


def test_an_account_that_starts_with_a_zero_needs_no_quotes(tmp_path):
    folder = write_demo(tmp_path, "regions")
    path = folder / "regions.yaml"
    path.write_text(path.read_text().replace(OURS, "011122223333").replace("'011122223333'", "011122223333"))
    assert load_intent(tmp_path, "demo", facts()).regions["us-east"].account == "011122223333"


def scaffolded(**fleet: str) -> Any:
    documents = {
        name.removesuffix(".yaml"): yaml.safe_load(text)
        for name, text in fleet_files("mine", sites((), facts()), facts(), DAY).items()
    }
    return intent_of(merged(documents, {"fleet": fleet}), "mine")


def test_a_new_fleet_goes_to_no_real_cloud_before_its_examples_are_replaced():
    assert scaffolded().fleet.clouds == "simulated"
    with pytest.raises(ConfigError, match="example") as caught:
        scaffolded(clouds="real")
    lines = plain_lines(caught.value)
    texts = "".join(fleet_files("mine", sites((), facts()), facts(), DAY).values())
    for digest in re.findall(r"sha256:[0-9a-f]{64}", texts):
        assert any(f"got '{digest}'" in line for line in lines), digest
    for key in (
        "dns.zone",
        "us-east.account",
        "eu-west.account_number",
        "us-east.access.admin",
        "eu-west.access.admin",
    ):
        assert any(f"{key}: is an example" in line for line in lines), key


def test_what_is_no_example_may_go_to_real_clouds():
    ours = {"digest": "sha256:" + "1" * 64, "signer": "release@outlast.dev"}
    region = {"account": "210987654321", "access": {"admin": ["arn:aws:iam::210987654321:role/admin"]}}
    real = make_intent(
        fleet={"clouds": "real", "dns": {"zone": "api.outlast.dev"}},
        regions={"regions": {name: region | {"account_number": "908172635445"} for name in ("us-east", "eu-north")}},
        artifacts={"models": {"weights": ours}, "images": {"engine": ours, "disks": ours}},
    )
    assert set(real.regions) == {"us-east", "eu-north"}
