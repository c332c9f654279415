"""The routing stack: per residency class a tree of records that holds the lock's homes and shares."""

from __future__ import annotations

import pulumi

from components import gateway_address, routing
from outlast.intent import Intent
from outlast.lock import Lock, applied_output
from stacks.exports import ZONE, RoutingExports, export_applied, read_global, read_region, write
from stacks.providers import region_provider


def declare(intent: Intent, lock: Lock) -> None:
    """Declare the trees of all classes over the regions that operations.yaml lists as serving."""
    dns = intent.fleet.dns
    serving = [region for region in intent.regions if intent.operations.regions.get(region) == "serving"]
    slots = {
        region: gateway_address.slots(intent.regions[region].cloud, intent.regions[region].zones) for region in serving
    }
    addresses = {region: read_region(intent.name, region, slots[region]).gateway_addresses for region in serving}
    zone_id = read_global(intent.name, dns=True).dns[ZONE]
    opts = pulumi.ResourceOptions(providers=[region_provider(intent, dns.region)])
    routes = {
        residency: routing.declare_routes(
            residency,
            dns.cloud,
            routing.ClassRoutesArgs(
                fleet=intent.name,
                residency=residency,
                zone=dns.zone,
                zone_id=zone_id,
                homes=homes,
                shares=lock.shares.get(residency, {}),
                geolocations={origin: intent.regions_file.origins[origin].geolocation for origin in homes},
                slots=slots,
                addresses=addresses,
            ),
            opts,
        )
        for residency, homes in lock.homes.items()
    }
    write(RoutingExports(hosts={residency: made.host for residency, made in routes.items()}))
    pulumi.export("clouds", intent.fleet.clouds)
    export_applied(applied_output(lock, None, routing=True), [made.records for made in routes.values()])
