"""A pool of the lock becomes one Deployment that can run only where the lock puts it."""

import json
from dataclasses import replace

import pytest

from components.base import place_of
from components.serving import device as device_of
from components.serving import served_pool
from components.serving.devices import spot_tolerations
from components.serving.overlays.aws import operator_configs
from components.serving.pod import pod, pool_labels
from outlast.replica import engine_flags, memory_of, replica_of
from outlast.view import view_of
from tests.builders import demo_intent, facts
from tests.stacks.conftest import demo_lock, recorded

KEY, TUNED = "chat-large-h100", "chat-tuned-h100"
NODE_GROUP, CONFIG_MAP = "aws:eks/nodeGroup:NodeGroup", "kubernetes:core/v1:ConfigMap"
REGIONS = ("us-east", "eu-west")


@pytest.fixture(params=REGIONS)
def region(request):
    return request.param


def pool_of(region, key=KEY):
    place = place_of(demo_intent(), region, teardown=False)
    return served_pool(demo_intent(), place, key, demo_lock().regions[region])


def named(recording, type_, key):
    (found,) = [resource for resource in recording.of(type_) if resource.get("metadata.name") == key]
    return found


def deployment_of(region, key=KEY):
    return named(recorded(f"demo.{region}"), "kubernetes:apps/v1:Deployment", key)


def container_of(region, key):
    (container,) = deployment_of(region, key).get("spec.template.spec.containers")
    return container


def test_flags_are_those_of_the_record_that_memory_comes_from(region):
    for key, pool in demo_lock().regions[region].pools.items():
        flags = engine_flags(memory_of(replica_of(demo_intent(), pool.pool, pool.accelerator)))
        typed = {f"{flag}={value}" if value else flag for flag, value in flags}
        assert typed <= set(pool_of(region, key).arguments)


def test_flags_follow_the_lock_where_it_differs_from_the_files():
    lock = demo_lock()
    block = lock.regions["us-east"]
    pool = block.pools[KEY].model_copy(update={"replica_gpus": 8})
    place = place_of(demo_intent(), "us-east", teardown=False)
    changed = served_pool(demo_intent(), place, KEY, block.model_copy(update={"pools": {KEY: pool}}))
    assert "--tensor-parallel-size=8" in changed.arguments


def test_a_model_that_generates_nothing_runs_as_a_pooling_one(region):
    intent, pools = demo_intent(), demo_lock().regions[region].pools
    pooling = {key for key in pools if "--runner=pooling" in pool_of(region, key).arguments}
    assert pooling == {key for key, pool in pools.items() if intent.models[pool.pool].unit != "output tok/s"}


def test_a_replica_asks_for_the_devices_of_the_lock_and_tolerates_the_taint_of_gpus(region):
    for key, pool in demo_lock().regions[region].pools.items():
        resources = container_of(region, key)["resources"]
        assert resources["limits"] == resources["requests"]
        assert list(resources["limits"].values()) == [str(pool.replica_devices)]
        assert deployment_of(region, key).get("spec.template.spec.tolerations.0.key") == "nvidia.com/gpu"


@pytest.mark.parametrize(
    ("region", "partition", "device"),
    [
        ("us-east", "whole", "nvidia.com/gpu"),
        ("us-east", "mig-7x1g.10gb", "nvidia.com/mig-1g.10gb"),
        ("us-east", "slice-4", "nvidia.com/gpu.shared"),
        ("eu-west", "whole", "nvidia.com/gpu"),
        ("eu-west", "mig-7x1g.10gb", "nvidia.com/gpu"),
        ("eu-west", "slice-4", "nvidia.com/gpu"),
    ],
)
def test_a_part_of_a_card_has_the_name_that_the_clouds_device_plugin_gives(region, partition, device):
    assert device_of(demo_intent().regions[region].cloud, "nvidia.com/gpu", partition) == device


def test_a_model_that_scales_to_zero_is_born_with_none(region):
    assert deployment_of(region, "chat-small-l4").get("spec.replicas") == 0


def test_adapters_are_mounted_from_what_is_staged_and_registered_where_their_owners_may_be(region):
    intent = demo_intent()
    base = intent.models["chat-tuned"]
    allowed = {name for name, row in base.variants.items() if intent.may_hold(intent.class_of(row.owner), region)}
    container, spec = container_of(region, TUNED), deployment_of(region, TUNED).get("spec.template.spec")
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume}
    registered = dict(argument.split("=") for argument in container["args"] if argument.count("=/adapters/"))
    assert set(registered) == allowed
    for name, path in registered.items():
        digest = intent.artifacts.adapters[base.variants[name].artifact or name].digest
        assert paths[mounts[path]].endswith(digest.replace(":", "-"))


def test_adapters_of_the_eu_are_not_in_the_united_states():
    owners = {name: row.owner for name, row in demo_intent().models["chat-tuned"].variants.items()}
    found = {demo_intent().class_of(owners[name]) for name in pool_of("us-east", TUNED).adapters}
    assert found == {"open"}


def test_an_operator_is_told_of_every_division_that_nodes_name(region):
    recording = recorded(f"demo.{region}")
    labels = [found for group in recording.of(NODE_GROUP) if (found := group.get("labels"))]
    named_by_nodes = {label["nvidia.com/mig.config"] for label in labels if "nvidia.com/mig.config" in label}
    configs = [row for row in recording.of(CONFIG_MAP) if row.get("metadata.namespace") == "gpu-operator"]
    declared = {name for row in configs for text in row.inputs["data"].values() for name in _mig(text)}
    assert declared == named_by_nodes


def _mig(text):
    return json.loads(text)["mig-configs"]


def test_time_slices_are_the_operators_configuration_of_their_name():
    (name, data), *rest = operator_configs(["slice-4"]).items()
    slicing = json.loads(data["slice-4"])["sharing"]["timeSlicing"]
    assert (name, rest, slicing["resources"][0]["replicas"]) == ("time-slicing", [], 4)


def test_replicas_spread_over_zones_or_wait(region):
    spec = deployment_of(region).get("spec.template.spec")
    spread = {entry["topologyKey"]: entry["whenUnsatisfiable"] for entry in spec["topologySpreadConstraints"]}
    assert spread == {"topology.kubernetes.io/zone": "DoNotSchedule", "kubernetes.io/hostname": "ScheduleAnyway"}


def test_a_replica_starts_only_on_staged_weights_of_the_released_digest(region):
    spec = deployment_of(region).get("spec.template.spec")
    (weights,) = [volume["hostPath"] for volume in spec["volumes"] if volume["name"] == "weights"]
    digest = demo_intent().artifacts.models["llama-70b"].digest
    assert weights["path"].endswith(digest.replace(":", "-"))
    assert weights["type"] == "Directory", "an absent folder must not become an empty one"
    (mount,) = [mount for mount in spec["containers"][0]["volumeMounts"] if mount["name"] == "weights"]
    assert mount["readOnly"] is True


def test_a_disruption_takes_one_replica_at_a_time(region):
    recording = recorded(f"demo.{region}")
    budget = named(recording, "kubernetes:policy/v1:PodDisruptionBudget", KEY)
    assert budget.get("spec.maxUnavailable") == 1
    assert budget.get("spec.selector.matchLabels") == pool_labels(pool_of(region))


def test_what_each_node_pool_stages_is_data_in_the_cluster(region):
    plan = named(recorded(f"demo.{region}"), CONFIG_MAP, "stage")
    released = demo_intent().artifacts.models | demo_intent().artifacts.adapters
    staged = {key: {released[name].digest for name in row.stage} for key, row in rows_of(region).items()}
    assert {key: set(json.loads(text)) for key, text in plan.inputs["data"].items()} == staged


def rows_of(region):
    return demo_lock().regions[region].node_pools


def test_the_gateway_takes_the_addresses_that_dns_holds():
    for region, key in {"us-east": "metadata", "eu-west": "spec"}.items():
        recording = recorded(f"demo.{region}", preview=False)
        (service,) = [r for r in recording.of("kubernetes:core/v1:Service") if r.get("spec.type") == "LoadBalancer"]
        addresses = {urn.rpartition("::")[2] for urn in service.property_dependencies[key]}
        assert any(name.startswith(f"{region}-gateway") for name in addresses)


def test_raw_disks_are_joined_where_the_cloud_leaves_them_raw_and_nowhere_else():
    sets = {region: recorded(f"demo.{region}").of("kubernetes:apps/v1:DaemonSet") for region in REGIONS}
    assert {region: {found.get("metadata.namespace") for found in made} for region, made in sets.items()} == {
        "us-east": set(),
        "eu-west": {"disks"},
    }


def test_every_machine_type_is_told_how_many_raw_disks_it_has():
    told = {}
    for made in recorded("demo.eu-west").of("kubernetes:apps/v1:DaemonSet"):
        spec = made.get("spec.template.spec")
        affinity = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        (machine_type,) = affinity["nodeSelectorTerms"][0]["matchExpressions"][1]["values"]
        (count,) = [entry["value"] for entry in spec["initContainers"][0]["env"] if entry["name"] == "COUNT"]
        told[machine_type] = int(count)
    rows = rows_of("eu-west").values()
    assert told == {row.machine_type: facts().machine_types["gcp", row.machine_type].nvme_count for row in rows}


def test_what_joins_disks_runs_privileged_in_a_namespace_of_its_own_from_its_regions_registry():
    recording = recorded("demo.eu-west")
    made, *_ = recording.of("kubernetes:apps/v1:DaemonSet")
    namespace = named(recording, "kubernetes:core/v1:Namespace", "disks")
    assert namespace.get("metadata.labels")["pod-security.kubernetes.io/enforce"] == "privileged"
    spec = made.get("spec.template.spec")
    images = {container["image"] for kind in ("initContainers", "containers") for container in spec[kind]}
    digest = demo_intent().artifacts.images["disks"].digest
    assert images == {f"europe-west4-docker.pkg.dev/outlast-demo-eu/demo--eu-west--images/disks@{digest}"}
    (joiner,), (waiter,) = spec["initContainers"], spec["containers"]
    assert joiner["securityContext"]["privileged"] is True
    assert not waiter["securityContext"].get("privileged")


def test_what_joins_disks_runs_on_every_node_with_cards_and_counts_as_no_replica():
    recording = recorded("demo.eu-west")
    made, *_ = recording.of("kubernetes:apps/v1:DaemonSet")
    spec = made.get("spec.template.spec")
    path = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert {"key": "outlast-node-pool", "operator": "Exists"} in path[0]["matchExpressions"]
    assert {"operator": "Exists"} in spec["tolerations"], "a taint keeps it off no node"
    assert made.urn not in {load.urn for load in view_of(recording.resources, facts()).workloads}


def test_cards_of_each_vendor_run_their_own_engine():
    pool = pool_of("us-east")
    place = place_of(demo_intent(), "us-east", teardown=False)
    block = demo_lock().regions["us-east"]
    changed = block.pools[KEY].model_copy(update={"accelerator": "mi300x-192"})
    other = served_pool(with_mi300x(), place, KEY, block.model_copy(update={"pools": {KEY: changed}}))
    assert ("/engine@" in pool.image, "/engine-amd@" in other.image) == (True, True)
    assert (other.gpu_resource, other.device) == ("amd.com/gpu", "amd.com/gpu")
    (toleration,) = pod(other, "/cache")["tolerations"]
    assert toleration["key"] == "amd.com/gpu"
    environment = {entry["name"] for entry in pod(other, "/cache")["containers"][0]["env"]}
    assert environment - {entry["name"] for entry in pod(pool, "/cache")["containers"][0]["env"]}


@pytest.mark.parametrize("region", demo_lock().regions)
def test_only_replicas_that_may_run_on_spot_nodes_tolerate_what_the_cloud_adds_to_them(region):
    place, block = place_of(demo_intent(), region, teardown=False), demo_lock().regions[region]
    key = next(iter(block.pools))
    rows = {row: found.model_copy(update={"capacity": "spot"}) for row, found in block.node_pools.items()}
    spot = served_pool(demo_intent(), place, key, block.model_copy(update={"node_pools": rows}))
    assert spot.also_tolerates == spot_tolerations(place.cloud)
    assert pod(spot, "/cache")["tolerations"][1:] == list(spot_tolerations(place.cloud))
    assert served_pool(demo_intent(), place, key, block).also_tolerates == ()


def with_mi300x():
    """The demo, with its large model on MI300X too."""
    intent = demo_intent()
    model = intent.models["chat-large"]
    cards = {**model.accelerators, "mi300x-192": next(iter(model.accelerators.values()))}
    models = {**intent.models, "chat-large": model.model_copy(update={"accelerators": cards})}
    return replace(intent, models_file=intent.models_file.model_copy(update={"models": models}))


def test_the_pod_is_the_same_on_every_cloud_but_for_its_cache():
    specs = [pod(pool_of(region), "/cache") for region in REGIONS]
    for spec in specs:
        spec["containers"][0].pop("image")
        spec.pop("affinity")
    assert specs[0] == specs[1]
