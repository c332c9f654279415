"""Values of the serving layer on AWS."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from components.serving.contract import Gateway

CACHE = "/mnt/k8s-disks/0/models"
"""Where the node's own set-up mounts its joined NVMe disks."""


def gateway(bindings: Mapping[str, pulumi.Input[str]], addresses: Mapping[str, pulumi.Input[str]]) -> Gateway:  # noqa: ARG001
    """Bind a network load balancer to the zones' Elastic IPs, in the order of the zones."""
    prefix = "service.beta.kubernetes.io/aws-load-balancer"
    allocations: pulumi.Output[str] = pulumi.Output.all(*bindings.values()).apply(",".join)
    return Gateway(
        annotations={
            f"{prefix}-type": "nlb",
            f"{prefix}-scheme": "internet-facing",
            f"{prefix}-cross-zone-load-balancing-enabled": "true",
            f"{prefix}-eip-allocations": allocations,
        }
    )
