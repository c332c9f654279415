"""Requests to Azure; options as the reference of the ``quota`` extension of the Azure command line lists them.

Families with GPUs are often refused there and go to support, so the form matters as much as the command.
"""

from __future__ import annotations

import shlex

from outlast.operations.requests.request import Ask

_SPOT = "lowPriorityCores"


def request(ask: Ask) -> tuple[str, str]:
    """Return the command, and what to write in a support request if it is refused."""
    code = ask.quota.quota_code
    scope = f"/subscriptions/{ask.account}/providers/Microsoft.Compute/locations/{ask.provider_region}"
    words = ["az", "quota", "create", "--resource-name", code, "--scope", scope, "--limit-object"]
    words += [f"value={ask.value}", "limit-object-type=LimitValue"]
    words += ["--resource-type", "lowPriority" if code.lower() == _SPOT.lower() else "dedicated"]
    form = (
        f"If it is refused, open a support request: Service and subscription limits (quotas), Compute-VM (cores-vCPUs) "
        f"subscription limit increases, subscription {ask.account}, {ask.provider_region}, {ask.quota.quota_name}, "
        f"new vCPU limit {ask.value}. {ask.reason}."
    )
    return shlex.join(words), form
