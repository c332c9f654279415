"""Requests to AWS Service Quotas; options as the AWS command line's reference of version 2 lists them."""

from __future__ import annotations

import shlex

from outlast.operations.requests.request import Ask


def request(ask: Ask) -> tuple[str, str]:
    """Return the command, and what to write in a support case if it is refused."""
    words = ["aws", "service-quotas", "request-service-quota-increase", "--service-code", "ec2"]
    words += ["--quota-code", ask.quota.quota_code, "--desired-value", str(ask.value), "--region", ask.provider_region]
    form = (
        f"Signed in to account {ask.account}. If it is refused, open a support case: Service limit increase, EC2 "
        f"instances, {ask.provider_region}, {ask.quota.quota_name}, new limit {ask.value}. {ask.reason}."
    )
    return shlex.join(words), form
