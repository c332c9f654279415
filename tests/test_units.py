"""Quantities as people write them."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from outlast import units


def read(kind: Any, text: object) -> float:
    return TypeAdapter(kind).validate_python(text)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (units.Rate, "90k tok/s", 90_000),
        (units.Rate, "1,500 output tok/s", 1_500),
        (units.Rate, "2.5M input tok/s", 2_500_000),
        (units.TokensPerMinute, "6M tok/min", 6_000_000),
        (units.Tokens, "128k tokens", 128_000),
        (units.Ratio, "70 %", 0.7),
        (units.Percent, "150%", 1.5),
        (units.Gib, "1.5 TiB", 1_536),
        (units.Gib, "512 MiB", 0.5),
        (units.Seconds, "50 ms", 0.05),
        (units.Seconds, "15 min", 900),
        (units.Seconds, "2 d", 172_800),
        (units.Gpus, "400 GPUs", 400),
        (units.QuotaAmount, "12k vCPU", 12_000),
        (units.UsdPerMonth, "1.5M USD/month", 1_500_000),
    ],
)
def test_a_quantity_is_read_in_its_base_unit(kind, text, value):
    assert read(kind, text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", [90, 90.5, True, None, "", "tok/s", "90", "90k", "90 tok", "90 tok/h", "9O tok/s", "1e3 tok/s"]
)
def test_a_quantity_is_refused_without_number_and_unit(text):
    with pytest.raises(ValidationError, match="tok/s"):
        read(units.Rate, text)


@pytest.mark.parametrize(("kind", "text"), [(units.Ratio, "101 %"), (units.Ratio, "-1 %"), (units.Gib, "-1 GiB")])
def test_a_quantity_out_of_range_is_refused(kind, text):
    with pytest.raises(ValidationError, match="out of range"):
        read(kind, text)


@settings(derandomize=True, max_examples=30, deadline=None)
@given(st.integers(0, 10**9))
def test_separators_do_not_change_a_number(number):
    assert read(units.Tokens, f"{number:,} tokens") == read(units.Tokens, f"{number:_} tokens") == number
