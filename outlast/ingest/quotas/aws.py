"""Reads ``aws service-quotas list-service-quotas --service-code ec2 --output json``.

Schema: the API ListServiceQuotas of version 2019-06-24: ``Quotas`` with ``ServiceCode``, ``QuotaArn``
(``arn:aws:servicequotas:REGION:ACCOUNT:ec2/CODE``), ``QuotaCode``, ``QuotaName``, ``Value``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast.errors import ConfigError, Problem
from outlast.ingest.quotas.amounts import Amounts, Wanted, amount, entries, once

CLOUD = "aws"
COMMAND = "aws service-quotas list-service-quotas --service-code ec2 --output json"
_SERVICE = "ec2"


def recognises(document: object) -> bool:
    """Whether a document is this command's."""
    return isinstance(document, Mapping) and "Quotas" in document


def amounts(document: Mapping[str, Any], wanted: Wanted, where: str) -> Amounts:
    """Return the listing's amounts.

    Raises:
        ConfigError: it is of another service, region or account, incomplete, or wrong in itself.
    """
    quotas = entries(document["Quotas"], where)
    if document.get("NextToken"):
        do = "List without --max-items and --no-paginate"
        raise ConfigError(Problem(where=where, what="is the first page of several", do=do))
    services = {str(quota.get("ServiceCode")) for quota in quotas}
    if quotas and services != {_SERVICE}:
        what, got = "lists another service", ", ".join(sorted(services))
        raise ConfigError(
            Problem(where=where, what=what, got=got, allowed=_SERVICE, do=f"Use --service-code {_SERVICE}")
        )
    found: dict[str, float] = {}
    for quota in quotas:
        code = str(quota.get("QuotaCode"))
        if code in wanted.codes:
            _check_place(str(quota.get("QuotaArn", "")), wanted, where)
            once(found, code, amount(quota.get("Value"), f"{where}, {code}"), where)
    return Amounts(tool=COMMAND, granted=found)


def _check_place(arn: str, wanted: Wanted, where: str) -> None:
    parts = arn.split(":")
    region, account = (parts[3], parts[4]) if len(parts) > 5 else ("", "")
    if region and region != wanted.provider_region:
        do = "Name the region of ours that lies there, or list with --region"
        what = "is of another region"
        raise ConfigError(Problem(where=where, what=what, got=region, allowed=wanted.provider_region, do=do))
    if account and account != wanted.account:
        do = "List with the account of regions.yaml, or correct it there"
        raise ConfigError(
            Problem(where=where, what="is of another account", got=account, allowed=wanted.account, do=do)
        )
