"""The demo with networks and clusters that were there before it."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import Any

from outlast.intent import Intent
from outlast.intent.regions import Region
from outlast.intent.stacks import parse
from stacks.run import declare
from tests.builders import demo_intent, merged
from tests.recording import Recording, record
from tests.stacks.conftest import demo_lock, deployed_stacks

AZURE = "/subscriptions/7d0c5a3e-4b1f-4c8e-9a26-3f5d8e1b6c40/resourceGroups/ml/providers"
SHARED = "projects/outlast-demo-eu/regions/europe-west4/subnetworks/nodes"
NETWORKS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "us-east": {
            "existing": "vpc-0a1b2c3d",
            "subnets": {"use1-az1": "subnet-00000001", "use1-az2": "subnet-00000002", "use1-az4": "subnet-00000004"},
        },
        "eu-west": {
            "existing": "projects/outlast-demo-eu/global/networks/ml",
            "subnets": {"europe-west4-b": SHARED, "europe-west4-c": SHARED},
        },
        "eu-central": {
            "existing": f"{AZURE}/Microsoft.Network/virtualNetworks/ml",
            "subnets": {
                f"polandcentral-{zone}": f"{AZURE}/Microsoft.Network/virtualNetworks/ml/subnets/nodes-{zone}"
                for zone in (1, 2, 3)
            },
        },
    }
)
CLUSTERS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "us-east": {
            "existing": "ml-east",
            "server": "https://0A1B2C3D.gr7.us-east-1.eks.amazonaws.com",
            "certificate_authority": "Y2E=",
        },
        "eu-west": {
            "existing": "projects/outlast-demo-eu/locations/europe-west4/clusters/ml-west",
            "server": "https://gke-0a1b-123.europe-west4.gke.goog",
        },
        "eu-central": {
            "existing": f"{AZURE}/Microsoft.ContainerService/managedClusters/ml-central",
            "server": "https://ml-central-0a1b2c3d.privatelink.polandcentral.azmk8s.io:443",
            "certificate_authority": "Y2E=",
            "issuer": "https://polandcentral.oic.prod-aks.azure.com/00000000-0000-0000-0000-000000000000/0a1b2c3d/",
        },
    }
)
API_SUBNETS: Mapping[str, list[str]] = MappingProxyType(
    {
        "us-east": ["subnet-0000000a", "subnet-0000000b"],
        "eu-west": [],
        "eu-central": [f"{AZURE}/Microsoft.Network/virtualNetworks/ml/subnets/api"],
    }
)


def existing(region: str, *, cluster: bool, server: str | None = None) -> Intent:
    """The demo in which a region's network, and its cluster if asked for, exist, behind another address if given."""
    intent = demo_intent()
    network = dict(NETWORKS[region]) | ({} if cluster else {"api_subnets": API_SUBNETS[region]})
    there: dict[str, Any] = {"network": network}
    if cluster:
        there |= {"cluster": dict(CLUSTERS[region]) | ({"server": server} if server else {}), "access": None}
    row = merged(intent.regions[region].model_dump(mode="json", exclude_unset=True), there)
    regions = {**intent.regions, region: Region.model_validate(row)}
    return replace(intent, regions_file=intent.regions_file.model_copy(update={"regions": regions}))


@cache
def recorded_existing(region: str, *, cluster: bool, preview: bool = True, server: str | None = None) -> Recording:
    """What the region's stack declares there."""
    intent, stack = existing(region, cluster=cluster, server=server), f"demo.{region}"
    return record(
        lambda: declare(parse(stack), intent, demo_lock()),
        preview=preview,
        stack=stack,
        stacks={} if preview else deployed_stacks(),
    )
