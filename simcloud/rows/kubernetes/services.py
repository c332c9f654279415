"""What an API server refuses in a Service, besides its shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Case, refusal
from simcloud.values import has_unknown

_API = "Kubernetes API Reference"


@refusal(f"{_API}, ServiceSpec: ports")
def port_twice(case: Case) -> Iterator[Violation]:
    """Refuse two ports of one number and protocol."""
    seen: set[tuple[Any, Any]] = set()
    for where, port in case.each("spec.ports.*"):
        pair = port.get("port"), port.get("protocol") or "TCP"
        if pair in seen and not has_unknown(list(pair)):
            yield Violation(property=where, what=f"port {pair[0]}/{pair[1]} is listed twice", do="Leave one out")
        seen.add(pair)


@refusal(f"{_API}, ServiceSpec: externalTrafficPolicy")
def traffic_policy(case: Case) -> Iterator[Violation]:
    """Refuse a traffic policy that is none, or that the type of Service does not have."""
    policy, kind = case.get("spec.externalTrafficPolicy"), case.get("spec.type", "ClusterIP")
    if policy is not None and (policy not in ("Cluster", "Local") or kind not in ("NodePort", "LoadBalancer")):
        yield Violation(
            property="spec.externalTrafficPolicy",
            what=f"is not a policy of a Service of type {kind}",
            got=f"'{policy}'",
            allowed="Cluster or Local, of type NodePort or LoadBalancer",
            do="Correct it, or leave it out",
        )
