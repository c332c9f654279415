"""Runs every check of a fleet before any resource exists; without the cloud, from files and facts alone."""

from __future__ import annotations

from outlast.operations import checks, checks_ages, checks_holdings
from outlast.operations.findings import Check, Finding, Situation

CHECKS: tuple[Check, ...] = (
    Check("lock", "the lock fits the files and is what they declare", checks.check_lock),
    Check("account", "the credentials at hand are of the region's account", checks.check_account),
    Check("access", "somebody may administer the cluster", checks.check_access),
    Check("network", "the network holds the nodes and their pods", checks.check_network),
    Check("way-out", "the loss of a zone leaves the others their way out", checks.check_way_out),
    Check("zones", "the region keeps the zones it is deployed with", checks.check_zones),
    Check("offering", "every machine type is offered in its zones", checks.check_offering),
    Check("capacity-type", "every machine type is sold the way it is to be bought", checks.check_capacity_type),
    Check("quota", "granted quotas cover the peak", checks_holdings.check_quotas),
    Check("cap", "caps of the account, and quotas that regions share, cover the peak", checks_holdings.check_caps),
    Check("reservation", "reservations exist and hold the nodes", checks_holdings.check_reservations),
    Check("reservation-term", "reservations are valid today and long enough", checks_holdings.check_terms),
    Check("memory", "weights, adapters and a sequence fit the memory of a replica", checks.check_memory),
    Check("disk", "staged artifacts fit the local disks", checks.check_disks),
    Check("price", "every node has a price", checks.check_prices),
    Check("price-age", "prices are young enough", checks_ages.check_price_age),
    Check("quota-age", "statements of quotas are young enough", checks_ages.check_quota_age),
    Check("goodput-age", "goodput records are young enough", checks_ages.check_goodput_age),
    Check("goodput-kind", "goodput is measured", checks_ages.check_goodput_kind),
)
"""In the order in which an operator would mend them."""


def preflight(situation: Situation) -> tuple[Finding, ...]:
    """Return the findings of every check in every region that the lock holds; each pair has at least one."""
    findings: list[Finding] = []
    regions = [region for region in situation.intent.regions if region in situation.lock.regions]
    for check in CHECKS:
        for region in regions:
            found = check.find(situation, region)
            against = [Finding(check.name, region, verdict, problem) for verdict, problem in found]
            findings += against or [Finding(check.name, region, "passed")]
    return tuple(findings)
