"""Values of the serving layer on Google Cloud."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from components.serving.contract import Gateway

CACHE = "/mnt/disks/models"
"""Where the node stager joins and mounts the node's local SSDs; a pod does not start before it has."""


def gateway(bindings: Mapping[str, pulumi.Input[str]], addresses: Mapping[str, pulumi.Input[str]]) -> Gateway:  # noqa: ARG001
    """Bind a passthrough load balancer to the region's address."""
    return Gateway(annotations={"cloud.google.com/l4-rbs": "enabled"}, load_balancer_ip=next(iter(addresses.values())))
