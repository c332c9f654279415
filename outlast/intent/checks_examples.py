"""Checks of a fleet on real clouds for what examples hold: nobody's accounts, domains and digests."""

from __future__ import annotations

from collections.abc import Iterator

from outlast.errors import Problem
from outlast.intent.intent import Intent

_NOBODYS = (".example", ".example.com", ".example.net", ".example.org", ".invalid", ".test")
"""Ends of domains that nobody can have. Source: RFC 2606."""


def check_examples(intent: Intent) -> Iterator[Problem]:
    """On real clouds nothing is left of what a new fleet holds as an example."""
    if intent.fleet.clouds == "simulated":
        return
    for where, text in (*_in_regions(intent), *_in_artifacts(intent)):
        domain = "." + text.lower().rpartition("@")[2]
        if text in intent.facts.examples or domain.endswith(_NOBODYS):
            what, do = "is an example, which is nobody's on a real cloud", "Put yours, or set clouds: simulated"
            yield Problem(where=f"{intent.name}/{where}", what=what, got=f"'{text}'", do=do)


def _in_regions(intent: Intent) -> Iterator[tuple[str, str]]:
    yield "fleet.yaml, dns.zone", intent.fleet.dns.zone
    for name, region in intent.regions.items():
        where = f"regions.yaml, regions.{name}"
        yield f"{where}.account", region.account
        if region.account_number is not None:
            yield f"{where}.account_number", region.account_number
        for rank, principals in region.access:
            for principal in principals:
                yield f"{where}.access.{rank}", principal


def _in_artifacts(intent: Intent) -> Iterator[tuple[str, str]]:
    files = intent.artifacts
    for kind, released in (("models", files.models), ("adapters", files.adapters), ("images", files.images)):
        for name, artifact in released.items():
            yield f"artifacts.yaml, {kind}.{name}.digest", artifact.digest
            yield f"artifacts.yaml, {kind}.{name}.signer", artifact.signer
