"""A pool of the lock becomes one Deployment that can run only where the lock puts it."""

import pytest

from components.base import place_of
from components.serving import served_pool
from components.serving.pod import pod, pool_labels
from tests.builders import demo_intent
from tests.stacks.conftest import demo_lock, recorded

KEY = "chat-large-h100"
REGIONS = ("us-east", "eu-west")


@pytest.fixture(params=REGIONS)
def region(request):
    return request.param


def pool_of(region):
    place = place_of(demo_intent(), region, teardown=False)
    return served_pool(demo_intent(), place, KEY, demo_lock().regions[region].pools[KEY])


def deployment_of(region):
    (deployment,) = recorded(f"demo.{region}").of("kubernetes:apps/v1:Deployment")
    return deployment


def test_flags_come_from_lock_and_intent(region):
    arguments = pool_of(region).arguments
    assert "--tensor-parallel-size=4" in arguments
    assert "--max-model-len=8000" in arguments
    assert "--kv-cache-dtype=auto" in arguments


def test_a_replica_asks_for_whole_devices_and_tolerates_their_taint(region):
    spec = deployment_of(region).get("spec.template.spec")
    (container,) = spec["containers"]
    assert container["resources"]["limits"] == container["resources"]["requests"] == {"nvidia.com/gpu": "4"}
    assert spec["tolerations"][0]["key"] == "nvidia.com/gpu"


def test_replicas_spread_over_zones_or_wait(region):
    spec = deployment_of(region).get("spec.template.spec")
    spread = {entry["topologyKey"]: entry["whenUnsatisfiable"] for entry in spec["topologySpreadConstraints"]}
    assert spread == {"topology.kubernetes.io/zone": "DoNotSchedule", "kubernetes.io/hostname": "ScheduleAnyway"}


def test_a_replica_starts_only_on_staged_weights_of_the_released_digest(region):
    spec = deployment_of(region).get("spec.template.spec")
    (weights,) = [volume["hostPath"] for volume in spec["volumes"] if "hostPath" in volume]
    digest = demo_intent().artifacts.models["llama-70b"].digest
    assert weights["path"].endswith(digest.replace(":", "-"))
    assert weights["type"] == "Directory", "an absent folder must not become an empty one"
    (mount,) = [mount for mount in spec["containers"][0]["volumeMounts"] if mount["name"] == "weights"]
    assert mount["readOnly"] is True


def test_a_disruption_takes_one_replica_at_a_time(region):
    recording = recorded(f"demo.{region}")
    (budget,) = recording.of("kubernetes:policy/v1:PodDisruptionBudget")
    assert budget.get("spec.maxUnavailable") == 1
    assert budget.get("spec.selector.matchLabels") == pool_labels(pool_of(region))


def test_what_each_node_pool_stages_is_data_in_the_cluster(region):
    (plan,) = recorded(f"demo.{region}").of("kubernetes:core/v1:ConfigMap")
    assert set(plan.inputs["data"]) == set(demo_lock().regions[region].node_pools)
    digest = demo_intent().artifacts.models["llama-70b"].digest
    assert all(digest in entry for entry in plan.inputs["data"].values())


def test_the_gateway_takes_the_addresses_that_dns_holds():
    for region, key in {"us-east": "metadata", "eu-west": "spec"}.items():
        recording = recorded(f"demo.{region}", preview=False)
        (service,) = [r for r in recording.of("kubernetes:core/v1:Service") if r.get("spec.type") == "LoadBalancer"]
        addresses = {urn.rpartition("::")[2] for urn in service.property_dependencies[key]}
        assert any(name.startswith(f"{region}-gateway") for name in addresses)


def test_the_pod_is_the_same_on_every_cloud_but_for_its_cache():
    specs = [pod(pool_of(region), "/cache") for region in REGIONS]
    for spec in specs:
        spec["containers"][0].pop("image")
        spec.pop("affinity")
    assert specs[0] == specs[1]
