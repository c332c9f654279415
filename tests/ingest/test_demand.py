"""Demand of other tools: what is read, what is refused, and what is written."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import yaml

from outlast.errors import ConfigError
from outlast.facts import load_facts
from outlast.ingest.demand import Asked, lengths_of, read_demand, split
from outlast.ingest.samples import samples_of
from outlast.intent import load_intent
from tests.builders import demo_intent

ASKED = Asked(model="chat-large", origin="us", tenants=("shop-us",))
FLAGS = ("--model", "chat-large", "--origin", "us", "--tenants", "shop-us")
START = datetime(2026, 11, 2, tzinfo=UTC)
"""A Monday."""


def prometheus(*values, start=START, step_s=3600, **labels):
    """The answer of a range query with one series."""
    pairs = [[start.timestamp() + step_s * index, str(value)] for index, value in enumerate(values)]
    result = [{"metric": labels, "values": pairs}]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def table(*values, start=START, zone="Z", heading="timestamp,value"):
    """A CSV table by the hour."""
    moments = [(start + timedelta(hours=index)).replace(tzinfo=None) for index in range(len(values))]
    rows = [f"{moment.isoformat()}{zone},{value}" for moment, value in zip(moments, values, strict=True)]
    return "\n".join([heading, *rows, ""])


def wave(hours):
    """A curve with its peak at midnight."""
    return [1000 + 100 * abs(12 - hour % 24) for hour in range(hours)]


def read(path, **changes):
    return read_demand(path, replace(ASKED, **changes), demo_intent())


def test_a_range_query_and_a_table_of_the_same_series_give_the_same_curve(source):
    from_query = read(source(prometheus(*wave(168))), reading="week")
    from_table = read(source(table(*wave(168)), "export.csv"), reading="week")
    assert from_query.curve == from_table.curve
    assert from_query.curve.values == tuple(map(float, wave(168)))


def test_samples_within_an_hour_are_averaged(source):
    quarters = [1000 + index % 4 for index in range(24 * 4)]
    assert set(read(source(prometheus(*quarters, step_s=900))).curve.values) == {1001.5}


def test_local_times_are_brought_to_utc(source):
    path = source(table(*wave(24), zone=""), "export.csv")
    found = read(path, zone="Asia/Tokyo")
    assert found.curve.values[(24 - 9) % 24] == wave(24)[0]
    assert "Asia/Tokyo" in found.text


def test_a_table_by_the_hour_is_read_in_utc(source):
    rows = "\n".join(f"{hour},{value}" for hour, value in enumerate(wave(24)))
    found = read(source(f"hour,load\n{rows}\n", "hours.csv"), zone="UTC")
    assert found.curve.values == tuple(map(float, wave(24)))
    assert "1970" not in found.text + found.says


def test_the_column_of_several_is_the_one_that_is_named(source):
    rows = "\n".join(f"{hour},{9 - hour % 9},{value}" for hour, value in enumerate(wave(24)))
    path = source(f"hour,requests,tokens\n{rows}\n", "hours.csv")
    assert read(path, zone="UTC", column="tokens").curve.values == tuple(map(float, wave(24)))


def test_the_trace_says_source_zone_unit_and_what_was_filled(source):
    values = wave(48)
    document = prometheus(*values)
    del document["data"]["result"][0]["values"][5]
    found = read(source(document), interpolate=True)
    head = [line for line in found.text.splitlines() if line.startswith("#")]
    for word in ("export.json", "UTC", "tok/s", "1 hours"):
        assert any(word in line for line in head), word
    assert [float(line) for line in found.text.splitlines() if not line.startswith("#")] == list(found.curve.values)


BAD_DOCUMENTS = {
    "a-vector": {"status": "success", "data": {"resultType": "vector", "result": []}},
    "an-error": {"status": "error", "errorType": "bad_data", "error": "parse error"},
    "no-series": {"status": "success", "data": {"resultType": "matrix", "result": []}},
    "two-series": {
        "status": "success",
        "data": {"resultType": "matrix", "result": prometheus(1)["data"]["result"] * 2},
    },
    "another-tool": {"Quotas": []},
    "a-list": [1, 2],
    "an-empty-series": prometheus(),
    "no-values": {"status": "success", "data": {"resultType": "matrix", "result": [{"metric": {}}]}},
    "a-histogram": {"status": "success", "data": {"resultType": "matrix", "result": [{"histograms": []}]}},
    "not-pairs": {"status": "success", "data": {"resultType": "matrix", "result": [{"values": [[1], 2, None]}]}},
    "23-hours": prometheus(*wave(23)),
    "nan": prometheus(*wave(23), "NaN"),
    "infinite": prometheus(*wave(23), "+Inf"),
    "negative": prometheus(*wave(23), -1),
    "words": prometheus(*wave(23), "many"),
    "milliseconds": json.loads(json.dumps(prometheus(*wave(24))).replace(".0,", "000.0,")),
    "a-total": prometheus(*wave(24), __name__="vllm:generation_tokens_total"),
    "only-rising": prometheus(*range(48)),
    "all-zero": prometheus(*[0] * 24),
    "a-gap": prometheus(*wave(30), step_s=7200),
}


@pytest.mark.parametrize("name", BAD_DOCUMENTS)
def test_what_is_no_demand_is_refused(source, name):
    with pytest.raises(ConfigError) as caught:
        read(source(BAD_DOCUMENTS[name]))
    assert all(problem.do for problem in caught.value.problems)


BAD_TABLES = {
    "no-time": "a,b\n1,2\n",
    "several-columns": "timestamp,a,b\n2026-11-02T00:00:00Z,1,2\n",
    "no-zone": table(*wave(24), zone=""),
    "mixed-zones": table(*wave(12)) + table(*wave(12), zone="+01:00", heading="").replace("+01:00", "").lstrip(),
    "not-a-time": "timestamp,value\nyesterday,1\n",
    "twice": table(1, 2) + "2026-11-02T00:00:00Z,3\n",
    "negative": table(*wave(23), -5),
    "empty-cell": table(*wave(23), ""),
    "23-hours-of-a-table": "hour,value\n" + "".join(f"{hour},1\n" for hour in range(23)),
    "hour-24": "hour,value\n" + "".join(f"{hour},1\n" for hour in range(1, 25)),
    "hour-twice": "hour,value\n" + "".join(f"{min(hour, 22)},1\n" for hour in range(24)),
    "semicolons": "timestamp;value\n2026-11-02;1\n",
}


@pytest.mark.parametrize("name", BAD_TABLES)
def test_a_table_that_is_no_demand_is_refused(source, name):
    zone = "UTC" if "hour" in name else None
    with pytest.raises(ConfigError):
        read(source(BAD_TABLES[name], "export.csv"), zone=zone)


def test_a_table_by_the_hour_must_say_that_it_is_in_utc(source):
    path = source("hour,value\n" + "".join(f"{hour},1\n" for hour in range(24)), "hours.csv")
    for zone in (None, "Europe/Berlin"):
        with pytest.raises(ConfigError, match="--timezone UTC"):
            read(path, zone=zone)


@pytest.mark.parametrize("moment", ["2026-10-25T02:30:00", "2026-03-29T02:30:00"], ids=["twice", "never"])
def test_a_local_time_that_is_there_twice_or_never_is_refused(moment):
    with pytest.raises(ConfigError, match="twice or never"):
        samples_of(f"timestamp,value\n{moment},1\n", "f", None, None, "Europe/Berlin")


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"model": "chat-larg"}, "chat-large"),
        ({"origin": "uss"}, "us"),
        ({"tenants": ("shop-uss",)}, "shop-us"),
        ({"tenants": ()}, "tenant"),
        ({"reading": "weekly"}, "week"),
        ({"form": "xml"}, "csv"),
        ({"form": "csv"}, "prometheus"),
        ({"zone": "Mars/Base", "form": None}, "Europe/Berlin"),
        ({"column": "tokens", "form": None}, "value"),
    ],
)
def test_a_wrong_option_is_refused_with_what_is_right(source, changes, word):
    is_table = "form" in changes and changes["form"] is None
    path = source(table(*wave(24)), "t.csv") if is_table else source(prometheus(*wave(24)))
    with pytest.raises(ConfigError, match=word):
        read(path, **changes)


def test_a_part_of_a_curves_tenants_is_refused(source):
    with pytest.raises(ConfigError, match="some of these tenants"):
        read(source(prometheus(*wave(24))), tenants=("shop-us", "bank-eu"))


def test_requests_become_tokens_by_their_length(outlast, source, config):
    requests = ("--unit", "requests/s", "--lengths", "2000:300", "--replace", "--write")
    code, _, err = outlast("import", "demand", "demo", source(prometheus(*wave(24))), *FLAGS, *requests)
    assert (code, err) == (0, "")
    curve = load_intent(config, "demo", load_facts(config)).demand_file.demand[0]
    assert curve.hours_in("output tok/s")[:24] == tuple(300.0 * value for value in wave(24))


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"unit": "requests/s"}, "--lengths"),
        ({"unit": "input tok/s"}, "output tok/s"),
        ({"unit": "requests"}, "requests/s"),
    ],
)
def test_a_unit_that_does_not_fit_the_model_is_refused(source, changes, word):
    with pytest.raises(ConfigError, match=word):
        read(source(prometheus(*wave(24))), **changes)


@pytest.mark.parametrize("text", ["2000", "2000:", ":300", "a:b", "0:0", "-1:3", ""])
def test_lengths_that_are_none_are_refused(text):
    with pytest.raises(ConfigError, match="2000:300"):
        lengths_of(text)


def test_words_are_split_at_commas_and_stand_once():
    assert split(["a, b", "c", "a"]) == ("a", "b", "c")


@pytest.mark.usefixtures("unchanged")
def test_without_write_nothing_is_written_and_the_entry_is_shown(outlast, source):
    code, out, _ = outlast("import", "demand", "demo", source(prometheus(*wave(24))), *FLAGS)
    assert code == 0
    (entry,) = yaml.safe_load(next(line for line in out.splitlines() if line.startswith("  - {")))
    assert entry["tenants"] == ["shop-us"]


@pytest.mark.usefixtures("unchanged")
def test_a_curve_that_stands_there_is_not_overwritten(outlast, source):
    code, _, err = outlast("import", "demand", "demo", source(prometheus(*wave(24))), *FLAGS, "--write")
    assert code == 1
    assert "--replace" in err


def test_a_curve_takes_the_place_of_another_and_keeps_the_other_lines(outlast, source, config):
    path = config / "fleets" / "demo" / "demand.yaml"
    before = path.read_text()
    code, _, err = outlast(
        "import", "demand", "demo", source(prometheus(*wave(168))), *FLAGS, "--write", "--replace", "--reading", "week"
    )
    assert (code, err) == (0, "")
    assert len(set(before.splitlines()) - set(path.read_text().splitlines())) == 1
    loaded = load_intent(config, "demo", load_facts(config)).demand_file.demand[0]
    assert loaded.rates() == tuple(map(float, wave(168)))


def test_a_new_curve_is_put_at_the_end(outlast, source, config):
    code, _, err = outlast(
        "import", "demand", "demo", source(prometheus(*wave(24))), *FLAGS[:2], "--origin", "eu", *FLAGS[4:], "--write"
    )
    assert (code, err) == (0, "")
    curves = load_intent(config, "demo", load_facts(config)).demand_file.demand
    assert (curves[-1].origin, curves[-1].tenants) == ("eu", ("shop-us",))
    assert len(curves) == len(demo_intent().demand_file.demand) + 1


@pytest.mark.usefixtures("unchanged")
def test_an_unknown_way_to_fill_is_refused(outlast, source):
    code, _, err = outlast("import", "demand", "demo", source(prometheus(*wave(24))), *FLAGS, "--fill", "zeros")
    assert code == 1
    assert "interpolate" in err


@pytest.mark.usefixtures("unchanged")
def test_an_unknown_fleet_is_refused(outlast, source):
    code, _, err = outlast("import", "demand", "demmo", source(prometheus(*wave(24))), *FLAGS)
    assert code == 1
    assert "'demo'" in err
