"""Files that are right one by one and wrong together: places, zones, homes, curves, reservations, guardrails."""

import pytest

from tests.builders import messages_of, write_demo

FIRST = "demand/0"
POOL = "regions/us-east/node_pools/gh100"
GOODPUT = "models/chat-large/accelerators/h100-sxm-80/goodput"
HELD = "regions/us-east/reservations/cr-0123456789abcdef0"
NORTH = "regions/eu-north/node_pools/gh100"
L4_IN_NORTH = {f"{NORTH}/machine_type": "g6.xlarge", f"{NORTH}/zones": ["eun1-az1"]}

PLACES = [
    (
        "a zone of another region",
        "regions",
        {"regions/us-east/zones": ["use1-az1", "eun1-az1"]},
        ["us-east.zones", "'eun1-az1'", "us-east-1", "use1-az4"],
    ),
    (
        "a zone the region does not use",
        "regions",
        {f"{POOL}/zones": ["use1-az6"]},
        ["us-east.node_pools.gh100.zones", "'use1-az6'", "use1-az1, use1-az2, use1-az4"],
    ),
    (
        "a zone without control planes",
        "regions",
        {"regions/us-east/zones": ["use1-az1", "use1-az2", "use1-az3"]},
        ["regions.yaml, regions.us-east.zones", "no control plane", "got use1-az3", "use1-az4"],
    ),
    (
        "a zone without the machine type",
        "regions",
        {"regions/us-east/zones": ["use1-az3"], f"{POOL}/zones": ["use1-az3"], f"{POOL}/machine_type": "g6.xlarge"},
        ["node_pools.gh100.zones", "use1-az3", "g6.xlarge"],
    ),
    (
        "a machine type not offered in the region",
        "regions",
        {"regions/us-east/provider_region": "eu-west-3"},
        ["node_pools.gh100.machine_type", "p5.48xlarge", "eu-west-3", "us-east-1"],
    ),
    (
        "cards for each other on a machine without",
        "regions",
        {f"{POOL}/machine_type": "g6.xlarge", f"{POOL}/interconnect": True},
        ["node_pools.gh100.interconnect", "g6.xlarge", "p5.48xlarge", "Remove it"],
    ),
    (
        "cards for each other on a cloud without",
        "regions",
        {"regions/eu-west/node_pools/gh100/interconnect": True},
        ["eu-west.node_pools.gh100.interconnect", "gcp", "Remove it"],
    ),
    (
        "a zone twice",
        "regions",
        {"regions/us-east/zones": ["use1-az1", "use1-az1", "use1-az2", "use1-az4"]},
        ["regions.us-east.zones", "use1-az1, use1-az1"],
    ),
    (
        "overlapping ranges",
        "regions",
        {"regions/eu-west/cidr": "10.16.0.0/16"},
        ["regions.eu-west.cidr", "10.16.0.0/16", "'us-east'"],
    ),
    ("a small range", "regions", {"regions/us-east/cidr": "10.16.0.0/20"}, ["us-east.cidr", "10.16.0.0/20", "/16"]),
    ("a range with host bits", "regions", {"regions/us-east/cidr": "10.16.0.1/16"}, ["us-east.cidr", "10.16.0.1/16"]),
    ("no range at all", "regions", {"regions/us-east/cidr": "ten"}, ["us-east.cidr", "'ten'", "10.16.0.0/16"]),
    (
        "a public API for everybody",
        "regions",
        {"regions/us-east/api": {"private": False}},
        ["us-east.api.allow", "private: true"],
    ),
    (
        "a public API for the whole world",
        "regions",
        {"regions/us-east/api": {"private": False, "allow": ["0.0.0.0/0"]}},
        ["us-east.api.allow", "0.0.0.0/0"],
    ),
    (
        "another account",
        "regions",
        {"regions/us-east/allowed_account": "444455556666"},
        ["us-east.allowed_account", "444455556666", "111122223333"],
    ),
    (
        "an account without quotes",
        "regions",
        {"regions/us-east/account": 111122223333},
        ["us-east.account", "111122223333", "quotes"],
    ),
    (
        "a geolocation twice",
        "regions",
        {"origins/us/geolocation": ["continent:EU"]},
        ["origins.eu.geolocation", "continent:EU", "'us'"],
    ),
    (
        "no geolocation",
        "regions",
        {"origins/us/geolocation": ["country:usa"]},
        ["origins.us.geolocation", "'country:usa'", "country:XX"],
    ),
    (
        "a MIG layout the card lacks",
        "regions",
        {f"{POOL}/partition": "mig-7x1g.11gb"},
        ["gh100.partition", "1g.11gb", "1g.10gb"],
    ),
    (
        "more MIG instances than fit",
        "regions",
        {f"{POOL}/partition": "mig-8x1g.10gb"},
        ["gh100.partition", "got 8", "1 to 7"],
    ),
    (
        "a DNS region on another cloud",
        "fleet",
        {"dns/region": "eu-west"},
        ["fleet.yaml, dns.region", "eu-west on gcp", "aws"],
    ),
    (
        "a long node pool id",
        "regions",
        {"regions/us-east/node_pools/gh100-large": {"machine_type": "p5.48xlarge", "zones": ["use1-az1"]}},
        ["us-east.node_pools.gh100-large", "1 to 8 lower-case letters"],
    ),
]

RULES = [
    (
        "shares that do not sum",
        "regions",
        {"origins/eu/home/eu-resident": {"eu-west": 50, "eu-north": 40}},
        ["origins.eu.home.eu-resident", "100", "got 90"],
    ),
    (
        "a home outside the law",
        "regions",
        {"origins/eu/home/eu-resident": {"eu-west": 50, "us-east": 50}},
        ["home.eu-resident.us-east", "'eu-resident'", "US", "allowed EU"],
    ),
    (
        "a home that does not admit the class",
        "tenants",
        {"admits/EU": ["open"]},
        ["regions.yaml, origins.eu.home.eu-resident.eu-west", "EU", "'eu-resident'"],
    ),
    (
        "a home without a model of the class",
        "regions",
        L4_IN_NORTH,
        ["home.eu-resident.eu-north", "chat-large", "'eu-resident'"],
    ),
    (
        "a class with one region",
        "regions",
        L4_IN_NORTH | {"origins/eu/home/eu-resident": {"eu-west": 100}, "regions/eu-central/node_pools/gh100": None},
        ["tenants.yaml, classes.eu-resident", "'eu-west'", "EU", "chat-large", "gap"],
    ),
    (
        "a class without a region",
        "tenants",
        {"classes/eu-resident/serve_in": ["IN"], "classes/eu-resident/fail_over_to": ["IN"]},
        ["home.eu-resident.eu-west", "EU", "allowed IN"],
    ),
    (
        "a survival dropped without a gap",
        "tenants",
        {"classes/open/survive": ["region", "replica"]},
        ["classes.open.survive", "zone", "'gap'"],
    ),
    (
        "a gap for another loss",
        "tenants",
        {
            "classes/open/survive": ["region", "replica"],
            "classes/open/gap": {"loss": "region", "owner": "x", "reason": "x", "expires": "2027-01-01"},
        },
        ["classes.open.survive", "zone"],
    ),
    (
        "prompt logging against the class",
        "tenants",
        {"tenants/bank-eu/prompt_logging": True},
        ["tenants.bank-eu.prompt_logging", "'eu-resident'", "true", "false"],
    ),
    (
        "a host twice",
        "tenants",
        {"tenants/bank-eu/host": "a.example.org", "tenants/shop-us/host": "a.example.org"},
        ["tenants.bank-eu.host", "a.example.org", "'shop-us'"],
    ),
    (
        "tenants of two classes in one curve",
        "demand",
        {f"{FIRST}/tenants": ["shop-us", "bank-eu"]},
        ["demand.0.tenants", "eu-resident, open"],
    ),
    (
        "two curves of a tenant",
        "demand",
        {"demand/1": {"tenants": ["shop-us"], "origin": "us", "model": "chat-large", "hours": ["1 tok/s"] * 24}},
        ["demand.1", "'shop-us'", "'us'", "'chat-large'", "demand.0"],
    ),
    (
        "a curve for a model that its tenant lacks",
        "tenants",
        {"tenants/shop-us/models": ["chat-larg"]},
        ["demand.0.model", "'shop-us'", "got chat-large"],
    ),
    ("no form of a curve", "demand", {f"{FIRST}/shape": None}, ["demand.0", "shape, hours, trace", "none"]),
    (
        "a short curve",
        "demand",
        {f"{FIRST}/shape": None, f"{FIRST}/hours": ["1 tok/s"]},
        ["demand.0", "24 or 168", "got 1"],
    ),
    ("no demand", "demand", {"demand": []}, ["demand.yaml, demand", "1 or more"]),
    (
        "a replica larger than a node",
        "models",
        {"models/chat-large/accelerators/h100-sxm-80/gpus_per_replica": 16},
        ["h100-sxm-80.gpus_per_replica", "got 16 GPUs", "8 GPUs", "'gh100'"],
    ),
    ("no goodput", "models", {f"{GOODPUT}/value": "0 tok/s"}, ["goodput.value", "0 tok/s", "above 0"]),
    (
        "a failure occupancy below normal",
        "guardrails",
        {"occupancy/failure": "60 %"},
        ["guardrails.yaml, occupancy", "70%", "60%"],
    ),
    (
        "a surge of one without a reason",
        "guardrails",
        {"prefill_surge/factor": 1.0},
        ["prefill_surge", "none_because", "owner"],
    ),
    ("a surge below one", "guardrails", {"prefill_surge/factor": 0.5}, ["prefill_surge.factor", "got 0.5", "1"]),
    (
        "a warmer cache after a move",
        "guardrails",
        {"prefill_surge": {"q": "40 %", "c": "30 %", "c_f": "50 %"}},
        ["prefill_surge", "30%", "50%"],
    ),
    ("half a surge", "guardrails", {"prefill_surge": {"q": "40 %"}}, ["prefill_surge", "factor", "q, c and c_f"]),
    ("two regions lost", "guardrails", {"losses/region": 2}, ["losses.region", "got 2", "1 or less"]),
    (
        "reserved without a reservation",
        "regions",
        {f"{POOL}/capacity": "reserved"},
        ["gh100.reservation", "capacity: reserved", "Name the reservation"],
    ),
    (
        "an unknown reservation",
        "regions",
        {f"{POOL}/capacity": "reserved", f"{POOL}/reservation": "cr-0123456789abcdef0"},
        ["gh100.reservation", "'cr-0123456789abcdef0'", "capacity.yaml"],
    ),
    (
        "a reservation of an unknown machine type",
        "capacity",
        {HELD: {"machine_type": "p5.48xlrge", "zone": "use1-az1", "nodes": 4}},
        ["reservations.cr-0123456789abcdef0", "'p5.48xlrge'", "mean 'p5.48xlarge'?"],
    ),
    (
        "a reservation in another region's zone",
        "capacity",
        {HELD: {"machine_type": "p5.48xlarge", "zone": "eun1-az1", "nodes": 4}},
        ["reservations.cr-0123456789abcdef0", "'eun1-az1'", "use1-az1"],
    ),
    (
        "a route of an unknown model",
        "capacity",
        {"regions/us-east/hosted_routes/r": {"model": "chat-lage", "classes": ["opn"], "quota": "1M tok/min"}},
        ["hosted_routes.r", "mean 'chat-large'?"],
    ),
]

CASES = [*PLACES, *RULES]


@pytest.mark.parametrize(("stem", "changes", "says"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_mistake_is_told_in_one_message_with_its_facts(stem, changes, says, tmp_path):
    write_demo(tmp_path, stem, changes)
    lines = messages_of(tmp_path)
    assert [line for line in lines if line.startswith("demo/") and all(word in line for word in says)], lines
