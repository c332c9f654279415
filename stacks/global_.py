"""The global stack: all that outlives a region. It reads no other stack."""

from __future__ import annotations

import pulumi

from components import images, keys, routing, weights
from components.base import place_of
from components.keys import Keys
from outlast.intent import Intent
from outlast.lock import Lock, applied_output
from stacks.exports import ZONE, GlobalExports, write
from stacks.providers import region_provider


def declare(intent: Intent, lock: Lock, *, teardown: bool = False) -> None:
    """Declare keys, registries and buckets of every region, and the DNS zone."""
    providers = {region: region_provider(intent, region, teardown=teardown) for region in intent.regions}
    made = {
        region: _stores(intent, region, pulumi.ResourceOptions(providers=[provider]), teardown=teardown)
        for region, provider in providers.items()
    }
    dns = intent.fleet.dns
    zone_id: pulumi.Input[str] | None = dns.existing_zone_id
    if zone_id is None:
        zone_id = routing.declare_zone(
            "zone",
            dns.cloud,
            routing.DnsZoneArgs(
                fleet=intent.name, zone=dns.zone, protect=intent.regions[dns.region].protect and not teardown
            ),
            pulumi.ResourceOptions(providers=[providers[dns.region]]),
        ).zone_id
    write(GlobalExports(keys={region: key.key for region, key in made.items()}, dns={ZONE: zone_id}))
    pulumi.export("clouds", intent.fleet.clouds)
    pulumi.export("applied", applied_output(lock, None))


def _stores(intent: Intent, region: str, opts: pulumi.ResourceOptions, *, teardown: bool) -> Keys:
    """Declare what a region stores, locked with the region's own key."""
    place = place_of(intent, region, teardown=teardown)
    number = intent.regions[region].account_number
    key = keys.declare(f"{region}-keys", keys.KeysArgs(place=place, account_number=number), opts)
    released = tuple(sorted(intent.artifacts.images))
    images.declare(f"{region}-images", images.ImagesArgs(place=place, images=released, key=key.key), opts)
    weights.declare(f"{region}-weights", weights.WeightsArgs(place=place, key=key.key), opts)
    return key
