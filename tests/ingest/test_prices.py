"""A list of prices replaces the one in use only when all of it holds together."""

import csv
import io

import pytest

from outlast.errors import ConfigError
from outlast.facts import load_facts
from outlast.ingest.prices import LARGE_RATIO, read_prices, refuse_large
from tests.builders import CONFIG, facts

TEXT = (CONFIG / "facts" / "prices.csv").read_text()
HEADINGS = TEXT.splitlines()[0].split(",")
ROWS = list(csv.DictReader(io.StringIO(TEXT)))


def written(rows, headings=HEADINGS):
    stream = io.StringIO()
    writer = csv.DictWriter(stream, headings)
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def with_first(**changes):
    return written([ROWS[0] | changes, *ROWS[1:]])


def read(path):
    return read_prices(path, CONFIG, facts())


def test_the_list_in_use_changes_nothing(source):
    found = read(source(TEXT, "list.csv"))
    assert (found.added, found.changed, found.vanished, found.renewed) == ({}, {}, {}, 0)
    assert list(csv.DictReader(io.StringIO(found.text))) == ROWS


def test_rows_that_are_added_changed_vanished_and_renewed_are_told_apart(source):
    added = ROWS[0] | {"basis": "capacity_block"}
    rows = [ROWS[0] | {"usd_h": "99"}, ROWS[1] | {"as_of": "2026-11-30"}, *ROWS[3:], added]
    found = read(source(written(rows), "list.csv"))
    assert len(found.added) == len(found.vanished) == found.renewed == 1
    assert list(found.changed.values()) == [(float(ROWS[0]["usd_h"]), 99.0)]


@pytest.mark.parametrize(
    "changes",
    [
        {"usd_h": "0"},
        {"usd_h": "-1"},
        {"usd_h": "nan"},
        {"usd_h": "inf"},
        {"usd_h": "cheap"},
        {"usd_h": ""},
        {"basis": "bargain"},
        {"source": ""},
        {"as_of": "yesterday"},
        {"as_of": ""},
        {"provider_region": "us-esat-1"},
    ],
    ids=str,
)
def test_a_wrong_row_is_refused_in_plain_words(source, changes):
    with pytest.raises(ConfigError) as caught:
        read(source(with_first(**changes), "list.csv"))
    assert "nput should" not in str(caught.value)
    assert "list.csv" in str(caught.value)


def test_a_machine_type_that_facts_do_not_know_is_refused(source):
    with pytest.raises(ConfigError, match=r"^list.csv, p9.huge: machine type"):
        read(source(with_first(machine_type="p9.huge"), "list.csv"))


@pytest.mark.parametrize(
    "text",
    [written([*ROWS, ROWS[0]]), "a,b\n1,2\n", TEXT.splitlines()[0] + "\n", TEXT.replace("usd_h", "price", 1), "{}"],
    ids=["twice", "other-columns", "no-rows", "renamed", "json"],
)
def test_what_is_no_list_of_prices_is_refused(source, text):
    with pytest.raises(ConfigError):
        read(source(text, "list.csv"))


@pytest.mark.parametrize("change", [lambda row: row | {"usd_h": "1.23"}, lambda _: None], ids=["move", "vanish"])
def test_too_large_a_change_of_one_cloud_is_refused(source, change):
    gcp = [row for row in ROWS if row["cloud"] == "gcp"]
    most = int(len(gcp) * LARGE_RATIO)
    for count, is_refused in ((most, False), (most + 1, True)):
        touched = [id(row) for row in gcp[:count]]
        rows = [changed for row in ROWS if (changed := change(row) if id(row) in touched else row)]
        found = read(source(written(rows), "list.csv"))
        if is_refused:
            with pytest.raises(ConfigError, match=r"gcp.*--accept-large-change"):
                refuse_large(found, facts(), "list.csv")
        else:
            refuse_large(found, facts(), "list.csv")


@pytest.mark.usefixtures("unchanged")
@pytest.mark.parametrize("flags", [(), ("--write",)], ids=["shown", "refused"])
def test_nothing_is_written_without_write_or_of_a_large_change(outlast, source, flags):
    rows = ROWS[:1] if flags else [ROWS[0] | {"usd_h": "99"}, *ROWS[1:]]
    code, out, _ = outlast("import", "prices", source(written(rows), "list.csv"), *flags)
    assert code == len(flags)
    assert "vanished" in out


def test_write_replaces_the_list(outlast, source, config):
    path = source(with_first(usd_h="99"), "list.csv")
    code, _, err = outlast("import", "prices", path, "--write")
    assert (code, err) == (0, "")
    assert 99 in {row.usd_h for row in load_facts(config).prices.values()}


def test_a_large_change_is_written_when_it_is_accepted(outlast, source, config):
    code, _, _ = outlast("import", "prices", source(written(ROWS[:5]), "l.csv"), "--accept-large-change", "--write")
    assert code == 0
    assert len(load_facts(config).prices) == 5
