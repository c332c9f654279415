"""Networks and clusters that exist: what is missing, of another place, or asked of what is not ours to make."""

import pytest

from outlast.intent import load_intent
from tests.builders import demo_intent, facts, messages_of, write_demo

EAST, WEST = "regions/us-east", "regions/eu-west"
SUBNETS = {zone: f"subnet-0000000{n}" for n, zone in enumerate(("use1-az1", "use1-az2", "use1-az4"))}
NETWORK = {"existing": "vpc-0a1b2c3d", "subnets": SUBNETS, "api_subnets": ["subnet-0000000a", "subnet-0000000b"]}
CLUSTER = {
    "existing": "ml-east",
    "server": "https://0A1B.gr7.us-east-1.eks.amazonaws.com",
    "certificate_authority": "Y2E=",
}
BESIDE = {key: entry for key, entry in NETWORK.items() if key != "api_subnets"}
SHARED = "projects/outlast-demo-eu/regions/europe-west4/subnetworks/nodes"
GOOGLE = {
    "existing": "projects/outlast-demo-eu/global/networks/ml",
    "subnets": {"europe-west4-b": SHARED, "europe-west4-c": SHARED},
}
GKE = "projects/{project}/locations/{place}/clusters/ml"
CENTRAL = "regions/eu-central"
THEIRS = "/subscriptions/7d0c5a3e-4b1f-4c8e-9a26-3f5d8e1b6c40/resourceGroups/theirs/providers"
AZURE = {
    "existing": f"{THEIRS}/Microsoft.Network/virtualNetworks/ml",
    "subnets": {
        f"polandcentral-{number}": f"{THEIRS}/Microsoft.Network/virtualNetworks/ml/subnets/nodes" for number in "123"
    },
}
AKS = {
    "existing": f"{THEIRS}/Microsoft.ContainerService/managedClusters/ml",
    "server": "https://ml-0a1b2c3d.polandcentral.azmk8s.io",
}
ISSUER = (
    "https://{place}.oic.prod-aks.azure.com/11111111-2222-3333-4444-555555555555/66666666-7777-8888-9999-000000000000/"
)
HOST = "https://gke-0a1b-123.europe-west4.gke.goog"


def network(**changes):
    return {f"{EAST}/network": NETWORK | changes}


def cluster(**changes):
    """An existing cluster in an existing network; what it decides itself is taken away."""
    kept = {key: value for key, value in (CLUSTER | changes).items() if value is not None}
    return {f"{EAST}/network": BESIDE, f"{EAST}/cluster": kept, f"{EAST}/access": None}


def google(existing, server=HOST):
    return {
        f"{WEST}/network": GOOGLE,
        f"{WEST}/cluster": {"existing": existing, "server": server},
        f"{WEST}/access": None,
    }


def azure(issuer):
    return {
        f"{CENTRAL}/network": AZURE,
        f"{CENTRAL}/cluster": AKS | ({"issuer": issuer} if issuer else {}),
        f"{CENTRAL}/access": None,
    }


CASES = [
    ("a network's name", network(existing="ml"), ["us-east.network.existing", "'ml'", "vpc-"]),
    (
        "a zone without a subnet",
        network(subnets={"use1-az1": "subnet-00000001"}),
        ["network.subnets", "use1-az4", "Add"],
    ),
    ("a subnet of another zone", network(subnets=SUBNETS | {"use1-az6": "subnet-00000006"}), ["subnets", "'use1-az6'"]),
    ("a subnet's name", network(subnets=SUBNETS | {"use1-az1": "nodes"}), ["network.subnets.use1-az1", "'nodes'"]),
    (
        "one subnet for two zones",
        network(subnets=SUBNETS | {"use1-az2": SUBNETS["use1-az1"]}),
        ["network.subnets.use1-az2", "use1-az1", "one zone"],
    ),
    (
        "one subnet for the control plane",
        network(api_subnets=["subnet-0000000a"]),
        ["network.api_subnets", "got 1", "2 or"],
    ),
    ("a way out of it", network(nat="zonal"), ["us-east.network.nat", "got zonal"]),
    ("subnets of no network", network(existing=None), ["us-east.network.subnets", "'existing'"]),
    (
        "a subnet that the control plane does not take",
        {f"{WEST}/network": GOOGLE | {"api_subnets": [SHARED]}},
        ["eu-west.network.api_subnets", "got 1", "none"],
    ),
    (
        "a subnet of another region",
        {f"{WEST}/network": GOOGLE | {"subnets": dict.fromkeys(GOOGLE["subnets"], SHARED.replace("west4", "west1"))}},
        ["eu-west.network.subnets.europe-west4-b", "got europe-west1", "europe-west4"],
    ),
    ("a cluster in a new network", {f"{EAST}/cluster": CLUSTER}, ["us-east.network.existing", "network that exists"]),
    ("a cluster without an address", cluster(server=None), ["us-east.cluster.server", "missing"]),
    (
        "an address that is none",
        cluster(server="ml.example.org"),
        ["us-east.cluster.server", "'ml.example.org'", "https"],
    ),
    ("an address with a path", cluster(server="https://x.example.org/api"), ["cluster.server", "without a path"]),
    (
        "an address of no cloud",
        cluster(server="https://ml.example.org"),
        ["us-east.cluster.server", "eks.amazonaws.com"],
    ),
    (
        "an address in another region",
        cluster(server="https://0A1B.gr7.eu-west-1.eks.amazonaws.com"),
        ["us-east.cluster.server", "got eu-west-1", "us-east-1"],
    ),
    ("a cluster's name with blanks", cluster(existing="ml east"), ["us-east.cluster.existing", "'ml east'"]),
    ("an address of no cluster", {f"{EAST}/cluster": {"server": CLUSTER["server"]}}, ["cluster.server", "'existing'"]),
    ("access to it", cluster() | {f"{EAST}/access": {"admin": []}}, ["us-east.access", "not ours"]),
    ("reach of it", cluster() | {f"{EAST}/api": {"private": True}}, ["us-east.api", "not ours"]),
    ("subnets of its control plane", cluster() | network(), ["us-east.network.api_subnets", "its own"]),
    ("a cluster whose issuer nobody says", azure(None), ["eu-central.cluster.issuer", "missing", "oic.prod-aks"]),
    (
        "an issuer of no AKS",
        azure("https://issuer.example/"),
        ["eu-central.cluster.issuer", "'https://issuer.example/'"],
    ),
    (
        "an issuer of another region",
        azure(ISSUER.format(place="eastus")),
        ["eu-central.cluster.issuer", "got eastus", "polandcentral"],
    ),
    ("an issuer that nothing trusts", cluster(issuer="https://x.example/"), ["us-east.cluster.issuer", "Remove"]),
    (
        "a cluster of another project",
        google(GKE.format(project="another", place="europe-west4")),
        ["eu-west.cluster.existing", "got another", "outlast-demo-eu"],
    ),
    (
        "a cluster of another region",
        google(GKE.format(project="outlast-demo-eu", place="us-east4")),
        ["eu-west.cluster.existing", "got us-east4", "europe-west4"],
    ),
    (
        "a cluster of one zone",
        google(GKE.format(project="outlast-demo-eu", place="europe-west4-b")),
        ["regional cluster"],
    ),
]


@pytest.mark.parametrize(("changes", "says"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_mistake_is_told_in_one_message_with_its_facts(changes, says, tmp_path):
    changes = {key: value for key, value in changes.items() if value is not None or key.endswith("access")}
    write_demo(tmp_path, "regions", changes)
    lines = messages_of(tmp_path)
    assert [line for line in lines if line.startswith("demo/regions.yaml") and all(word in line for word in says)], (
        lines
    )


TAKEN = {
    "a cluster and its issuer": azure(ISSUER.format(place="polandcentral")),
    "a network": network(),
    "a network and its cluster": cluster(),
    "a regional cluster": google(GKE.format(project="outlast-demo-eu", place="europe-west4")),
}


@pytest.mark.parametrize("changes", TAKEN.values(), ids=TAKEN)
def test_what_exists_is_taken_where_it_is_whole(changes, tmp_path):

    write_demo(tmp_path, "regions", changes)
    assert set(load_intent(tmp_path, "demo", facts()).regions) == set(demo_intent().regions)
