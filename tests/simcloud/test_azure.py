"""What Azure refuses, promises and does whatever the type: places, names, locks, functions, pools, faults."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest
from pulumi.runtime.proto import provider_pb2

from simcloud.rows.kubernetes.provider import LOAD_BALANCER
from simcloud.values import CREATE_FIRST, UNKNOWN, decode, encode
from tests.simcloud.conftest import (
    AZURE,
    NAMESPACE,
    SERVICE,
    Context,
    Made,
    Plugin,
    Refusal,
    Site,
    changed,
    inputs_of,
    set_fault,
)
from tests.simcloud.examples import plan

GROUP, VNET = "azure-native:resources:ResourceGroup", "azure-native:network:VirtualNetwork"
VAULT, REGISTRY = "azure-native:keyvault:Vault", "azure-native:containerregistry:Registry"
CLUSTER, POOL = "azure-native:containerservice:ManagedCluster", "azure-native:containerservice:AgentPool"
NAT, ASSIGNMENT = "azure-native:network:NatGateway", "azure-native:authorization:RoleAssignment"
KEY, LOCK = "azure-native:keyvault:Key", "azure-native:authorization:ManagementLockByScope"
PLAN = plan("azure-native")
CREDENTIALS = "azure-native:containerservice:listManagedClusterUserCredentials"
MACHINE, ZONE = "Standard_ND96isr_H100_v5", "swedencentral-1"


@pytest.fixture
def azure(site: Site) -> Plugin:
    return site.plugins["azure-native"]


def made(site: Site, until: str) -> Site:
    """Build everything of the plan that comes before one name."""
    site.build(PLAN, until)
    return site


def planned(site: Site, name: str, **change: Any) -> dict[str, Any]:
    """Inputs that the plan has for a name, with changes."""
    return dict(site.filled(changed(PLAN[name][1], change)))


def group(site: Site, name: str = "eu-north", location: str = "swedencentral") -> Made:
    return site.make(name.replace("-", "_"), GROUP, {"resourceGroupName": name, "location": location})


def network(**change: Any) -> dict[str, Any]:
    space = {"addressSpace": {"addressPrefixes": ["10.0.0.0/16"]}}
    return {"resourceGroupName": "eu-north", "virtualNetworkName": "net", **space, **change}


def test_a_subscription_that_the_credentials_do_not_reach_is_refused(azure: Plugin) -> None:
    with pytest.raises(Refusal, match="do not reach the subscription"):
        azure.configure(subscriptionId="99999999-0000-4000-8000-000000000000", location="swedencentral")


def test_ambient_credentials_of_another_subscription_are_refused(azure: Plugin) -> None:
    azure.clouds.set("account/azure", "99999999-0000-4000-8000-000000000000")
    with pytest.raises(Refusal, match="do not reach the subscription"):
        azure.configure(subscriptionId=AZURE, location="swedencentral")


def test_a_location_that_does_not_exist_is_refused_with_the_nearest(site: Site, azure: Plugin) -> None:
    with pytest.raises(Refusal, match="Did you mean 'swedencentral'"):
        azure.configure(subscriptionId=AZURE, location="swedencentra")
    group(site)
    with pytest.raises(Refusal, match="is not an Azure location"):
        azure.create(VNET, "net", network(location="atlantis"))


def test_two_spellings_of_a_location_are_one(site: Site, azure: Plugin) -> None:
    group(site)
    azure.create(VNET, "net", network(location="Sweden Central"))
    assert site.clouds.every(kind=VNET)[0].region == "swedencentral"


def test_an_omitted_location_is_the_providers_else_the_groups(site: Site, azure: Plugin) -> None:
    group(site, location="polandcentral")
    assert azure.checked(VNET, "net", network())["location"] == "swedencentral"
    azure.configure(subscriptionId=AZURE)
    assert azure.checked(VNET, "net", network())["location"] == "polandcentral"


def test_a_child_lies_where_its_parent_does(site: Site) -> None:
    group(site)
    site.make("network", VNET, network(location="polandcentral"))
    subnet = {"resourceGroupName": "eu-north", "virtualNetworkName": "net", "subnetName": "a"}
    site.make("subnet", "azure-native:network:Subnet", {**subnet, "addressPrefix": "10.0.0.0/24"})
    assert site.clouds.every(kind="azure-native:network:Subnet")[0].region == "polandcentral"


FILED = [name for name, (_, inputs) in PLAN.items() if "resourceGroupName" in inputs and name not in ("group", "flows")]


@pytest.mark.parametrize("name", FILED)
def test_nothing_is_made_in_a_group_that_does_not_exist(azure: Plugin, name: str) -> None:
    given = PLAN[name][1]
    parents = {key: "https://x" if key == "issuer" else "x" for key in given if str(given[key]).startswith("@")}
    with pytest.raises(Refusal, match=r"there is no '/subscriptions/.*/nowhere"):
        azure.create(PLAN[name][0], name, {**given, **parents, "resourceGroupName": "nowhere"})


def test_a_role_is_given_only_on_what_exists(site: Site, azure: Plugin) -> None:
    made(site, "joins_nodes")
    with pytest.raises(Refusal, match=r"there is no '.*/nothing'"):
        azure.create(
            ASSIGNMENT, "a", planned(site, "joins_nodes", scope=f"/subscriptions/{AZURE}/resourceGroups/nothing")
        )
    azure.create(ASSIGNMENT, "a", planned(site, "joins_nodes", scope=f"/subscriptions/{AZURE}"))


def test_a_role_is_given_once_whatever_the_assignment_is_called(site: Site, azure: Plugin) -> None:
    made(site, "joins_api")
    again = planned(site, "joins_nodes", roleAssignmentName="00000000-0000-4000-8000-000000000099")
    with pytest.raises(Refusal, match="exists already"):
        azure.create(ASSIGNMENT, "again", again)


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Every dotted path into a value."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if "." not in str(key):
            yield f"{path}.{key}".lstrip(".")
            yield from paths(item, f"{path}.{key}".lstrip("."))


def unknown_where_it_refers(value: Any) -> Any:
    """Inputs as the first preview has them: nothing is known of what is not made yet."""
    if isinstance(value, dict):
        return {key: unknown_where_it_refers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [unknown_where_it_refers(item) for item in value]
    return UNKNOWN if isinstance(value, str) and value.startswith("@") else value


@pytest.mark.parametrize("name", PLAN)
def test_what_is_not_known_yet_is_no_violation(azure: Plugin, name: str) -> None:
    kind, inputs = PLAN[name]
    known = unknown_where_it_refers(inputs)
    for path in paths(known):
        azure.preview(kind, name, changed(known, {path: UNKNOWN}))


def test_an_omitted_name_is_made_up_and_marked_so_that_a_successor_comes_first(site: Site, azure: Plugin) -> None:
    group(site)
    inputs = network()
    del inputs["virtualNetworkName"]
    checked = azure.checked(VNET, "net", inputs)
    assert checked["virtualNetworkName"].startswith("net")
    assert checked[CREATE_FIRST] is True
    found = azure.create(VNET, "net", inputs)
    assert not azure.diff(found, {**inputs, "location": "polandcentral"}).deleteBeforeReplace


def test_a_resource_with_a_given_name_is_deleted_before_its_successor_is_made(site: Site, azure: Plugin) -> None:
    group(site)
    found = azure.create(VNET, "net", network())
    assert azure.diff(found, network(location="polandcentral")).deleteBeforeReplace
    assert azure.diff(found, network(virtualNetworkName="other")).deleteBeforeReplace


def test_a_role_assignment_without_a_name_gets_a_guid(site: Site, azure: Plugin) -> None:
    made(site, "joins_nodes")
    inputs = planned(site, "joins_nodes")
    del inputs["roleAssignmentName"]
    assert len(azure.create(ASSIGNMENT, "a", inputs).outputs["name"]) == 36


@pytest.mark.parametrize("name", ["outlast-eu", "OUTLAST-EU"])
def test_the_name_of_a_deleted_vault_stays_taken(site: Site, azure: Plugin, name: str) -> None:
    made(site, "key")
    azure.delete(site.made["vault"])
    assert all(item.kept for item in site.clouds.every("azure") if item.type in (VAULT, KEY))
    with pytest.raises(Refusal, match=r"exists already.*\n?.*"):
        azure.create(VAULT, "another", planned(site, "vault", vaultName=name))


def test_a_group_takes_everything_inside_with_it(site: Site, azure: Plugin) -> None:
    made(site, "lock")
    azure.delete(site.made["group"])
    assert {item.type for item in site.clouds.every("azure")} == {VAULT, KEY, "azure-native:network:FlowLog"}


@pytest.mark.parametrize("name", ["images", "group"])
def test_what_a_lock_is_on_or_inside_cannot_be_deleted(site: Site, azure: Plugin, name: str) -> None:
    made(site, "nowhere")
    with pytest.raises(Refusal, match=r"lock 'outlast' on .* forbids it"):
        azure.delete(site.made[name])
    azure.delete(site.made["lock"])
    azure.delete(site.made[name])


def test_a_lock_on_a_group_protects_what_is_inside(site: Site, azure: Plugin) -> None:
    group(site)
    site.make("network", VNET, network())
    site.make("lock", LOCK, {"lockName": "all", "scope": "@eu_north.id", "level": "CanNotDelete"})
    with pytest.raises(Refusal, match="forbids it"):
        azure.delete(site.made["network"])


def test_a_lock_on_a_store_keeps_private_endpoints_to_it(site: Site, azure: Plugin) -> None:
    made(site, "zone_group").make("lock", *PLAN["lock"])
    with pytest.raises(Refusal, match="forbids it"):
        azure.delete(site.made["endpoint"])


def test_a_cluster_takes_its_load_balancers_with_it(site: Site, azure: Plugin) -> None:
    made(site, "window")
    credentials = invoked(azure, resourceGroupName="eu-north", resourceName="eu-north")
    site.plugins["kubernetes"].configure(kubeconfig=credentials)
    site.make("namespace", NAMESPACE, {"metadata": {"name": "serving"}})
    spec = {"type": "LoadBalancer", "ports": [{"port": 443}]}
    site.make("gateway", SERVICE, {"metadata": {"name": "gateway", "namespace": "serving"}, "spec": spec})
    assert site.clouds.every(kind=LOAD_BALANCER)
    azure.delete(site.made["cluster"])
    assert not site.clouds.every(kind=LOAD_BALANCER)


def invoked(azure: Plugin, function: str = CREDENTIALS, **given: str) -> str:
    answer = azure.provider.Invoke(provider_pb2.InvokeRequest(tok=function, args=encode(given)), Context())
    (entry,) = decode(getattr(answer, "return"))["kubeconfigs"]
    return base64.b64decode(entry["value"]).decode()


def test_a_cluster_hands_out_a_kubeconfig_that_leads_to_it_and_holds_no_secret(site: Site, azure: Plugin) -> None:
    made(site, "window")
    found = json.loads(invoked(azure, resourceGroupName="eu-north", resourceName="eu-north"))
    assert found["clusters"][0]["cluster"]["server"] == f"https://{site.made['cluster'].outputs['privateFQDN']}:443"
    assert found["clusters"][0]["cluster"]["certificate-authority-data"]
    assert set(found["users"][0]["user"]) == {"exec"}


@pytest.mark.parametrize(
    ("function", "given", "message"),
    [
        (CREDENTIALS, {"resourceGroupName": "eu-north", "resourceName": "eu-south"}, "there is no cluster"),
        (CREDENTIALS, {"resourceName": "eu-north"}, "there is no cluster"),
        ("azure-native:containerservice:listManagedClusterAdminCredentials", {}, "answer no functions"),
        ("azure-native:storage:listStorageAccountKeys", {}, "answer no functions"),
    ],
)
def test_other_functions_and_other_clusters_are_refused(
    azure: Plugin, function: str, given: dict[str, str], message: str
) -> None:
    with pytest.raises(Refusal, match=message):
        invoked(azure, function, **given)


def test_a_cluster_of_another_subscription_hands_out_nothing(site: Site, azure: Plugin) -> None:
    made(site, "window")
    azure.operations.session = replace(azure.operations.session, account="other")
    with pytest.raises(Refusal, match="there is no cluster"):
        invoked(azure, resourceGroupName="eu-north", resourceName="eu-north")


def test_a_pool_counts_against_the_quota_of_its_clusters_location(site: Site) -> None:
    made(site, "amd_nodes")
    assert site.clouds.used(f"quota|NDH100|{AZURE}|swedencentral") == 2 * 96


def test_a_reserved_pool_in_its_zone_is_made(site: Site, azure: Plugin) -> None:
    made(site, "nodes")
    group_id = (
        f"/subscriptions/{AZURE}/resourceGroups/held/providers/Microsoft.Compute/capacityReservationGroups/group-1"
    )
    contributor = "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"
    number = "00000000-0000-4000-8000-000000000099"
    given = planned(site, "joins_nodes", scope=group_id, roleDefinitionId=contributor, roleAssignmentName=number)
    azure.create(ASSIGNMENT, "uses", given)
    azure.create(POOL, "nodes", planned(site, "nodes", capacityReservationGroupID=group_id))


def test_a_cluster_goes_up_a_minor_version_and_then_its_pools(site: Site, azure: Plugin) -> None:
    made(site, "credential")
    pool, newer = site.made["nodes"], {"orchestratorVersion": "1.37"}
    with pytest.raises(Refusal, match="newer than the control plane"):
        azure.update(pool, inputs_of(pool) | newer)
    cluster = azure.update(site.made["cluster"], inputs_of(site.made["cluster"]) | {"kubernetesVersion": "1.37"})
    assert cluster.outputs["currentKubernetesVersion"] == "1.37"
    assert azure.update(pool, inputs_of(pool) | newer).outputs["currentOrchestratorVersion"] == "1.37"


@pytest.mark.parametrize("change", [{"gpuInstanceProfile": "MIG3g"}, {"vmSize": "Standard_ND96isr_MI300X_v5"}])
def test_a_pool_of_other_cards_is_another_pool(site: Site, azure: Plugin, change: dict[str, str]) -> None:
    made(site, "amd_nodes")
    (path,) = change
    given = {**inputs_of(site.made["nodes"]), "gpuInstanceProfile": None, "gpuProfile": {"driver": "None"}, **change}
    assert path in azure.diff(site.made["nodes"], given).replaces


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        ("lose-zone", {"cloud": "azure", "zone": ZONE}, f"zone {ZONE} does not answer"),
        ("stockout", {"cloud": "azure", "machine_type": MACHINE, "zone": ZONE}, f"has no {MACHINE} left"),
        (
            "revoke-quota",
            {"cloud": "azure", "region": "swedencentral", "code": "NDH100", "granted": "0"},
            "allowed 0 vCPU",
        ),
        ("throttle", {"cloud": "azure"}, "rate exceeded"),
        ("lose-region", {"cloud": "azure", "region": "swedencentral"}, "swedencentral does not answer"),
    ],
)
def test_a_fault_refuses_new_nodes(
    site: Site, azure: Plugin, kind: str, arguments: Mapping[str, str], message: str
) -> None:
    made(site, "nodes")
    fault = set_fault(site.clouds, kind, arguments)
    with pytest.raises(Refusal, match=message):
        azure.create(POOL, "nodes", planned(site, "nodes"))
    site.clouds.lift_faults(fault.number)
    azure.create(POOL, "nodes", planned(site, "nodes"))


def test_nodes_in_a_lost_zone_degrade(site: Site, azure: Plugin) -> None:
    made(site, "amd_nodes")
    set_fault(site.clouds, "lose-zone", {"cloud": "azure", "zone": ZONE})
    answer = azure.read(POOL, "nodes", site.made["nodes"].id)
    assert decode(answer.properties)["provisioningState"] == "Failed"


def test_a_refresh_sees_a_count_that_somebody_changed(site: Site, azure: Plugin) -> None:
    made(site, "amd_nodes")
    (stored,) = site.clouds.every(kind=POOL)
    with site.clouds.change():
        site.clouds.observe(stored, {**stored.checked, "count": 1, "tags": {"by": "hand"}}, stored.outputs)
    seen = decode(azure.read(POOL, "nodes", stored.id).inputs)
    assert (seen["count"], seen["tags"]) == (1, {"by": "hand"})
