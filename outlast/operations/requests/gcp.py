"""Requests to Google Cloud Quotas; options as the reference of ``gcloud beta quotas preferences create`` lists them.

Quota ids of facts are Cloud Quotas ids, a family written behind a slash, or metric names of Compute Engine in capitals
and underscores; the id of a metric is its name with hyphens and the scope behind it.
"""

from __future__ import annotations

import shlex

from outlast.operations.requests.request import Ask

_SERVICE = "compute.googleapis.com"
_PER_REGION = "-per-project-region"


def request(ask: Ask) -> tuple[str, str]:
    """Return the command, and what to write in the console if it is refused."""
    quota_id, _, family = ask.quota.quota_code.partition("/")
    if "_" in quota_id:
        quota_id = quota_id.replace("_", "-") + _PER_REGION
    dimensions = [] if ask.quota.is_account_wide else [f"region={ask.provider_region}"]
    dimensions += [f"gpu_family={family}"] if family else []
    words = ["gcloud", "beta", "quotas", "preferences", "create", f"--service={_SERVICE}", f"--project={ask.account}"]
    words += [f"--quota-id={quota_id}", f"--preferred-value={ask.value}"]
    words += [f"--dimensions={','.join(dimensions)}"] if dimensions else []
    words += [f"--justification={ask.reason}"]
    form = (
        f"If a preference exists already, change it: 'update PREFERENCE_ID' instead of 'create'. In the console: IAM "
        f"and admin, Quotas, project {ask.account}, {quota_id}"
        f"{' (' + ', '.join(dimensions) + ')' if dimensions else ''}, new value {ask.value}."
    )
    return shlex.join(words), form
