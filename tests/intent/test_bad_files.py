"""Files that cannot be read, and what is reported together."""

from hashlib import sha256

import pytest

from outlast.errors import ConfigError, Problem
from outlast.intent import load_intent
from outlast.intent.reading import parse_yaml
from tests.builders import H100, RESERVATION, facts, make_intent, make_model, messages_of, write_demo
from tests.tiers import make_adapters

BROKEN_YAML = [
    ("a tab", "regions:\n  us-east:\n\tcloud: aws\n", ["line 3", "tabs"]),
    ("an open bracket", "regions: [a, b\n", ["line 2", "not valid YAML"]),
    ("a key twice", "regions: {}\norigins: {}\nregions: {}\n", ["line 3", "'regions'", "twice"]),
    ("a key twice inside", "regions:\n  us-east: {cloud: aws, cloud: gcp}\n", ["line 2", "'cloud'", "twice"]),
    ("a template left unfilled", "regions:\n  us-east: {{ region }}\n", ["line 2", "quotes"]),
    ("two documents", "regions: {}\n---\norigins: {}\n", ["line 2", "single document"]),
    ("a date that is none", "regions:\n  x: 2026-02-30\n", ["line 2", "'2026-02-30'"]),
    ("a character that is none", "regions: \x00\n", ["not valid YAML"]),
    ("an alias of nothing", "regions: *base\n", ["line 1", "base"]),
    ("a list for a file", "- regions\n", ["key: value"]),
]


def write_trace(root, content: str, **trace: str) -> None:
    digest = f"sha256:{sha256(content.encode()).hexdigest()}"
    row = {"file": "curve.txt", "digest": digest, "reading": "week"} | trace
    folder = write_demo(root, "demand", {"demand/0/shape": None, "demand/0/trace": row})
    (folder / "curve.txt").write_text(content)


@pytest.mark.parametrize(("text", "says"), [case[1:] for case in BROKEN_YAML], ids=[case[0] for case in BROKEN_YAML])
def test_a_message_names_the_line_of(text, says, tmp_path):
    (write_demo(tmp_path) / "regions.yaml").write_text(text)
    lines = messages_of(tmp_path)
    assert any(line.startswith("demo/regions.yaml") and all(word in line for word in says) for line in lines), lines


def test_a_key_is_a_word_even_where_yaml_reads_no_or_off():
    problems: list[Problem] = []
    document = parse_yaml("{off: 30 %, NO: [open], yes: 1}", "a file", problems)
    assert (document, problems) == ({"off": "30 %", "NO": ["open"], "yes": 1}, [])


def test_an_empty_file_lacks_its_keys(tmp_path):
    (write_demo(tmp_path) / "regions.yaml").write_text("# nothing\n")
    assert any("demo/regions.yaml, origins" in line and "Add 'origins'" in line for line in messages_of(tmp_path))


def test_a_missing_file_is_named(tmp_path):
    (write_demo(tmp_path) / "tenants.yaml").unlink()
    assert any(line.startswith("demo/tenants.yaml: the file is missing") for line in messages_of(tmp_path))


@pytest.mark.parametrize("stem", ["operations", "waivers", "variants"])
def test_a_file_of_what_may_be_absent_may_be_missing(stem, tmp_path):
    (write_demo(tmp_path) / f"{stem}.yaml").unlink(missing_ok=True)
    assert load_intent(tmp_path, "demo", facts()).name == "demo"


def test_a_file_that_nothing_reads_is_named_with_the_nearest(tmp_path):
    (write_demo(tmp_path) / "guardrail.yaml").write_text("{}")
    assert any("demo/guardrail.yaml" in line and "'guardrails.yaml'?" in line for line in messages_of(tmp_path))


def test_a_file_in_another_encoding_is_named(tmp_path):
    (write_demo(tmp_path) / "fleet.yaml").write_bytes("clouds: simulé".encode("latin-1"))
    assert any("demo/fleet.yaml" in line and "UTF-8" in line for line in messages_of(tmp_path))


@pytest.mark.parametrize("fleet", ["dmo", "", "..", "demo/../demo"])
def test_an_unknown_fleet_is_named_with_those_there_are(fleet, tmp_path):
    write_demo(tmp_path)
    lines = messages_of(tmp_path, fleet)
    assert len(lines) == 1
    assert f"'{fleet}'" in lines[0]
    assert "demo" in lines[0]


def test_an_unknown_fleet_has_a_nearest(tmp_path):
    write_demo(tmp_path)
    assert messages_of(tmp_path, "dmo")[0].endswith("Did you mean 'demo'?")


def test_problems_of_several_files_are_reported_at_once(tmp_path):
    folder = write_demo(tmp_path, "fleet", {"router": "statik", "kubernetes": 1.36})
    (folder / "tenants.yaml").write_text("classes: [\n")
    (folder / "models.yaml").unlink()
    (folder / "lock.yaml").write_text("")
    lines = messages_of(tmp_path)
    for place in ("fleet.yaml, router", "fleet.yaml, kubernetes", "tenants.yaml, line", "models.yaml:", "lock.yaml:"):
        assert any(line.startswith(f"demo/{place}") for line in lines), place


def test_problems_across_files_are_reported_at_once(tmp_path):
    write_demo(tmp_path, "regions", {"regions/us-east/zones": ["use1-az9"], "regions/eu-west/cidr": "10.16.0.0/16"})
    lines = messages_of(tmp_path)
    assert any("us-east.zones" in line for line in lines)
    assert any("eu-west.cidr" in line for line in lines)


def test_anchors_and_merge_keys_are_read(tmp_path):
    folder = write_demo(tmp_path, "tenants")
    text = (folder / "tenants.yaml").read_text().replace("open:", "open: &terms", 1)
    extra = "  partner:\n    <<: *terms\n    legal_basis: partner terms\n"
    (folder / "tenants.yaml").write_text(text.replace("admits:", f"{extra}admits:", 1))
    classes = load_intent(tmp_path, "demo", facts()).tenants_file.classes
    assert classes["partner"].legal_basis == "partner terms"
    assert classes["partner"].serve_in == classes["open"].serve_in


@pytest.mark.parametrize(
    ("content", "trace", "says"),
    [
        ("1\n" * 168, {"file": "curv.txt"}, ["curv.txt", "beside demand.yaml"]),
        ("1\n" * 168, {"digest": "sha256:" + "0" * 64}, ["sha256:0000", "Correct the digest"]),
        ("1\n" * 167, {}, ["167 lines", "168 numbers"]),
        ("1\n" * 24, {}, ["'week'", "24 lines", "168 numbers"]),
        ("1\n" * 23 + "-1\n", {"reading": "mean day"}, ["none negative"]),
        ("1\n" * 23 + "nan\n", {"reading": "mean day"}, ["one number a line"]),
        ("1\n" * 23 + "inf\n", {"reading": "mean day"}, ["one number a line"]),
        ("1\n" * 23 + "many\n", {"reading": "mean day"}, ["one number a line"]),
    ],
    ids=["missing", "other bytes", "short", "a day for a week", "negative", "nan", "infinite", "word"],
)
def test_a_trace_is_refused_that_is(content, trace, says, tmp_path):
    write_trace(tmp_path, content, **trace)
    lines = messages_of(tmp_path)
    assert any("demand.0.trace" in line and all(word in line for word in says) for line in lines), lines


@pytest.mark.parametrize(
    ("reading", "first", "last"),
    [("week", 7, 14), ("mean day", 8, 8), ("largest day", 14, 14)],
)
def test_a_week_of_trace_is_read_as(reading, first, last, tmp_path):
    # Monday 7 every hour, Tuesday to Saturday 7, Sunday 14: mean (6 × 7 + 14) / 7 = 8
    write_trace(tmp_path, "# hourly\n" + "7\n" * 144 + "14\n" * 24, reading=reading)
    hours = load_intent(tmp_path, "demo", facts()).demand_file.demand[0].rates()
    assert (len(hours), hours[0], hours[-1]) == (168, first, last)


def test_a_reservation_of_another_machine_type_is_refused():
    held = {RESERVATION: {"machine_type": "p5.4xlarge", "zone": "use1-az1", "nodes": 4}}
    pool = {"capacity": "reserved", "reservation": RESERVATION, "zones": ["use1-az1"]}
    with pytest.raises(ConfigError, match=r"gh100\.machine_type.*got p5\.48xlarge; allowed p5\.4xlarge"):
        make_intent(
            regions={"regions": {"us-east": {"node_pools": {"gh100": pool}}}},
            capacity={"regions": {"us-east": {"reservations": held}}},
        )


def test_a_reserved_node_pool_lies_in_the_zone_of_its_reservation():
    held = {RESERVATION: {"machine_type": "p5.48xlarge", "zone": "use1-az1", "nodes": 4}}
    pool = {"capacity": "reserved", "reservation": RESERVATION}
    with pytest.raises(ConfigError, match=r"gh100\.zones.*allowed use1-az1"):
        make_intent(
            regions={"regions": {"us-east": {"node_pools": {"gh100": pool}}}},
            capacity={"regions": {"us-east": {"reservations": held}}},
        )


def test_the_owner_of_a_variant_is_a_tenant():
    model = make_adapters(variants={"tuned": {"owner": "shp", "size": "1 GiB", "rank": 16}})
    with pytest.raises(ConfigError, match=r"chat\.variants\.tuned\.owner.*'shp'.*Did you mean 'shop'\?"):
        make_intent(models={"models": {"chat": model}})


def test_an_origin_that_reaches_no_region_of_a_class_is_refused():
    tenants = {"classes": {"open": {"serve_in": ["EU"], "fail_over_to": ["*"]}}}
    origins = {"us-east": {"nearest": ["us-east"]}}
    with pytest.raises(ConfigError, match=r"origins\.us-east\.nearest.*'open'.*got us-east; allowed eu-north"):
        make_intent(tenants=tenants, regions={"origins": origins})


def test_a_region_of_another_accelerator_serves_no_class_of_the_model():
    pool = {"machine_type": "g6.xlarge", "zones": ["eun1-az1"]}
    accelerators = {H100: make_model()["accelerators"][H100]}
    with pytest.raises(ConfigError, match="losing 'us-east' leaves no region"):
        make_intent(
            regions={
                "regions": {"eu-north": {"node_pools": {"gh100": pool}}},
                "origins": {"eu-north": {"nearest": ["us-east"]}},
            },
            models={"models": {"chat": {"accelerators": accelerators}}},
        )
