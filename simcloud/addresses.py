"""Addresses as several clouds judge and invent them: ranges, addresses, certificates of endpoints."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from ipaddress import IPv4Network

from simcloud.refusals import Violation
from simcloud.row import Born, Case
from simcloud.state import Stored


def network_of(text: object) -> IPv4Network | None:
    """Parse a range; None if it is not one."""
    try:
        return IPv4Network(str(text), strict=True)
    except ValueError:
        return None


def malformed(case: Case, path: str, longest: int, shortest: int) -> Iterator[Violation]:
    """Refuse what is not a range, or one that is too large or too small."""
    for where, value in case.each(path):
        parsed = network_of(value)
        if parsed is None or not shortest <= parsed.prefixlen <= longest:
            yield Violation(
                property=where,
                what="is not a range the cloud takes",
                got=f"'{value}'",
                allowed=f"a network address with /{shortest} to /{longest}",
                do="Correct the range",
            )


def outside(where: str, value: object, ranges: Iterable[object], of: str) -> Iterator[Violation]:
    """Refuse a range that lies in none of some ranges."""
    parsed, around = network_of(value), [network_of(item) for item in ranges]
    if parsed and not any(item and parsed.subnet_of(item) for item in around):
        allowed = ", ".join(str(item) for item in around if item)
        yield Violation(
            property=where, what=f"lies outside {of}", got=str(value), allowed=allowed, do="Choose a range inside"
        )


def overlapping(where: str, value: object, others: Iterable[tuple[str, object]]) -> Iterator[Violation]:
    """Refuse a range that overlaps another one."""
    parsed = network_of(value)
    for name, text in others:
        other = network_of(text)
        if parsed and other and parsed.overlaps(other):
            yield Violation(
                property=where, what=f"overlaps {name}", got=f"{value} and {text}", do="Choose a range apart from it"
            )


def public_address(born: Born) -> str:
    """Invent an address from the range for benchmarks, which no real host has. Source: RFC 2544."""
    number = born.number(0, 1 << 17)
    return f"198.{18 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


def private_address(born: Born) -> str:
    """Invent an address inside the shared range 100.64.0.0/10. Source: RFC 6598."""
    number = born.number(0, 1 << 22)
    return f"100.{64 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"


def authority(born: Born | Stored) -> str:
    """Invent a certificate authority; it has the outward form of one and certifies nothing."""
    text = f"-----BEGIN CERTIFICATE-----\nsimulated-{born.hash}\n-----END CERTIFICATE-----\n"
    return base64.b64encode(text.encode()).decode()
