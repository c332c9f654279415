"""From what is missing to a request: how much to ask for, and whose module words it.

A cloud's module has ``request(ask)``, which returns the command and the form.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Iterable
from dataclasses import dataclass

from outlast.facts import QuotaFact
from outlast.intent import Intent
from outlast.operations.holdings import ROUNDING, QuotaUse


@dataclass(frozen=True)
class Ask:
    """A quota to be raised."""

    quota: QuotaFact
    account: str
    provider_region: str
    """A region the grant is for; of a cap of the account, any of its regions."""
    value: int
    """Desired total, not the difference."""
    reason: str


@dataclass(frozen=True)
class RequestText:
    """One request, ready to be sent."""

    title: str
    """What it raises, from what, to what."""
    command: str
    """Command line that sends it; empty where only a form exists."""
    form: str
    """What to write where a person must be asked: the way without the command, or after it was refused."""


def desired(use: QuotaUse) -> int:
    """Return the total to ask for: the peak, rounded up to two significant digits, so that a small change fits too."""
    peak = math.ceil(use.peak - ROUNDING)
    step: int = 10 ** max(0, len(str(peak)) - 2)
    return math.ceil(peak / step) * step


def requests_for(intent: Intent, uses: Iterable[QuotaUse]) -> tuple[RequestText, ...]:
    """Return one request for each grant that neither covers the peak nor is already asked to."""
    return tuple(_worded(intent, use) for use in uses if use.missing_after_requests)


def _worded(intent: Intent, use: QuotaUse) -> RequestText:
    row = intent.regions[use.regions[0]]
    ask = Ask(
        quota=use.quota,
        account=row.account,
        provider_region=row.provider_region,
        value=desired(use),
        reason=f"Inference fleet {intent.name}: {use.peak:,.0f} {use.unit} at its peak, failover included",
    )
    title = (
        f"{' and '.join(use.regions)}: {use.quota.quota_name} ({use.quota.quota_code}) "
        f"from {use.grant.granted:,.0f} to {ask.value:,} {use.unit}"
    )
    name = f"outlast.operations.requests.{row.cloud}"
    if importlib.util.find_spec(name) is None:
        return RequestText(title, "", f"{use.quota.raise_with}: {ask.value:,} {use.unit}. {ask.reason}.")
    command, form = importlib.import_module(name).request(ask)
    return RequestText(title, command, form)
