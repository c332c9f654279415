"""The tree of a class holds the lock's homes and shares, and never leads outside the class."""

import pulumi
import pytest

from components.routing import ClassRoutesArgs, declare_routes, tree
from components.routing.contract import host_of
from stacks.providers import region_provider
from tests.builders import demo_intent
from tests.recording import record

ZONE = "api.example.org"


def make_args(**changes):
    slots = {"us-east": ("z1", "z2"), "eu-west": ("regional",), "eu-north": ("z1", "z2", "z3")}
    values = {
        "fleet": "demo",
        "residency": "open",
        "zone": ZONE,
        "zone_id": "Z1",
        "homes": {"us": {"us-east": 100}, "eu": {"eu-west": 40, "eu-north": 60}},
        "shares": {
            "us-east": {"eu-west": 43, "eu-north": 57},
            "eu-west": {"us-east": 100, "eu-north": 0},
            "eu-north": {"us-east": 10, "eu-west": 90},
        },
        "geolocations": {"us": ("continent:NA", "country:BR"), "eu": ("continent:EU",)},
        "slots": slots,
        "addresses": {region: dict.fromkeys(own, "192.0.2.1") for region, own in slots.items()},
    }
    return ClassRoutesArgs(**(values | changes))


def weights(routes, host):
    return {route.set_identifier: route.weight for route in routes if route.host == f"{host}.open.{ZONE}"}


def test_homes_and_shares_are_those_of_the_lock():
    routes = tree(make_args())
    assert weights(routes, "eu.home") == {"eu-west": 40, "eu-north": 60}
    assert weights(routes, "us.home") == {"us-east": 100}
    assert weights(routes, "us-east.spill") == {"eu-west": 43, "eu-north": 57}
    assert weights(routes, "eu-west.spill") == {"us-east": 100}


def test_a_home_region_serves_itself_until_it_is_unhealthy():
    assert weights(tree(make_args()), "us-east.node") == {"self": 100, "spill": 0}


def test_every_address_of_a_region_is_a_leaf_of_its_own():
    routes = tree(make_args())
    assert weights(routes, "eu-north.leaf") == {"z1": 1, "z2": 1, "z3": 1}
    assert {route.address for route in routes if route.address} == {
        ("us-east", "z1"), ("us-east", "z2"), ("eu-west", "regional"), *(("eu-north", f"z{n}") for n in (1, 2, 3))
    }  # fmt: skip


def test_entries_go_by_origin_and_the_first_answers_for_the_rest_of_the_world():
    entries = {
        route.set_identifier: (route.geolocation, route.target)
        for route in tree(make_args())
        if not route.weight and route.level == "entry"
    }
    assert entries == {
        "us-continent-na": ("continent:NA", f"us.home.open.{ZONE}"),
        "us-country-br": ("country:BR", f"us.home.open.{ZONE}"),
        "default": ("default", f"us.home.open.{ZONE}"),
        "eu-continent-eu": ("continent:EU", f"eu.home.open.{ZONE}"),
    }


def test_targets_come_before_what_leads_to_them_and_lie_in_the_same_class():
    seen = set()
    for route in tree(make_args()):
        assert route.target in seen or route.address
        assert route.host == f"open.{ZONE}" or route.host.endswith(f".open.{ZONE}")
        seen.add(route.host)


def test_a_drained_region_gets_nothing_and_its_homes_spill():
    args = make_args(slots={"eu-west": ("regional",), "eu-north": ("z1",)})
    routes = tree(args)
    assert weights(routes, "us-east.node") == {"spill": 100}
    assert weights(routes, "us-east.leaf") == {}
    assert weights(routes, "eu-west.node") == {"self": 100}, "its only survivor is drained"


def test_an_origin_that_nothing_can_serve_has_no_entry():
    args = make_args(slots={"eu-west": ("regional",)}, shares={})
    assert {route.target for route in tree(args) if route.level == "entry"} == {f"eu.home.open.{ZONE}"}


def test_set_identifiers_do_not_change_with_the_shares():
    before = tree(make_args())
    after = tree(
        make_args(
            shares={
                "us-east": {"eu-west": 50, "eu-north": 50},
                "eu-west": {"us-east": 100},
                "eu-north": {"us-east": 55, "eu-west": 45},
            }
        )
    )
    assert [(route.host, route.set_identifier) for route in before] == [
        (route.host, route.set_identifier) for route in after
    ]


@pytest.mark.parametrize("preview", [True, False], ids=["preview", "known"])
def test_records_are_the_tree(preview):
    args = make_args()
    recording = record(lambda: routes_program(args), preview=preview)
    records = recording.of("aws:route53/record:Record")
    declared = {(r.get("name"), r.get("setIdentifier")): r for r in records}
    assert len(declared) == len(records) == len(tree(args))
    for route in tree(args):
        found = declared[route.host, route.set_identifier]
        assert found.get("weightedRoutingPolicies.0.weight") == route.weight
        assert found.get("aliases.0.name") == (route.target or None)
        if route.address:
            assert found.get("ttl") == 30
            assert found.property_dependencies["healthCheckId"]
        else:
            assert found.get("aliases.0.evaluateTargetHealth") is True
            targets = {r.urn for r in records if r.get("name") == route.target}
            assert targets <= set(found.dependencies), "an alias of a name without records is refused"


def test_health_is_asked_for_the_class_at_each_address():
    args = make_args()
    checks = record(lambda: routes_program(args), preview=False).of("aws:route53/healthCheck:HealthCheck")
    assert {(c.get("resourcePath"), c.get("fqdn"), c.get("port")) for c in checks} == {
        ("/healthz/open", host_of(args), 443)
    }
    assert len(checks) == 6


def routes_program(args):
    provider = region_provider(demo_intent(), "us-east")
    declare_routes("open", "aws", args, pulumi.ResourceOptions(providers=[provider]))
