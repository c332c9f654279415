"""Routing on Route 53: any address of any cloud, groups nested by alias, health of each address."""

from __future__ import annotations

from typing import ClassVar

import pulumi
import pulumi_aws as aws

from components import names
from components.routing.contract import (
    DEFAULT,
    ClassRoutes,
    ClassRoutesArgs,
    DnsZone,
    DnsZoneArgs,
    Route,
    host_of,
    tree,
)

_TTL_S = 30
_INTERVAL_S = 10
_FAILURES = 3
"""With the interval and the TTL: a loss is seen and acted on within about 60 to 75 seconds."""


class AwsDnsZone(DnsZone):
    """A public hosted zone."""

    token: ClassVar[str] = "outlast:routing:AwsDnsZone"

    def __init__(self, name: str, args: DnsZoneArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        zone = aws.route53.Zone(
            name,
            name=args.zone,
            force_destroy=False,
            tags=names.labels(fleet=args.fleet),
            opts=self.child(protect=args.protect),
        )
        self.zone_id = zone.zone_id
        self.register()


class AwsClassRoutes(ClassRoutes):
    """The records and health checks of one class."""

    token: ClassVar[str] = "outlast:routing:AwsClassRoutes"

    def __init__(self, name: str, args: ClassRoutesArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(name, args, opts)
        made: dict[str, list[aws.route53.Record]] = {}
        for route in tree(args):
            record = self._leaf(name, args, route) if route.address else self._alias(name, args, route, made)
            made.setdefault(route.host, []).append(record)
        self.host = host_of(args)
        self.records = pulumi.Output.all(*(record.fqdn for group in made.values() for record in group))
        self.register()

    def _leaf(self, name: str, args: ClassRoutesArgs, route: Route) -> aws.route53.Record:
        region, slot = route.address or ("", "")
        address = args.addresses[region][slot]
        logical = f"{name}-leaf-{region}-{slot}"
        check = aws.route53.HealthCheck(
            logical,
            type="HTTPS",
            ip_address=address,
            fqdn=host_of(args),
            port=443,
            enable_sni=True,
            resource_path=f"/healthz/{args.residency}",
            request_interval=_INTERVAL_S,
            failure_threshold=_FAILURES,
            tags=names.labels(fleet=args.fleet, region=region, residency=args.residency) | {"Name": logical},
            opts=self.child(),
        )
        return aws.route53.Record(
            logical,
            zone_id=args.zone_id,
            name=route.host,
            type="A",
            ttl=_TTL_S,
            records=[address],
            set_identifier=route.set_identifier,
            weighted_routing_policies=[aws.route53.RecordWeightedRoutingPolicyArgs(weight=route.weight or 0)],
            health_check_id=check.id,
            opts=self.child(),
        )

    def _alias(
        self, name: str, args: ClassRoutesArgs, route: Route, made: dict[str, list[aws.route53.Record]]
    ) -> aws.route53.Record:
        weighted = geolocation = None
        if route.weight is None:
            geolocation = [_geolocation(route.geolocation)]
        else:
            weighted = [aws.route53.RecordWeightedRoutingPolicyArgs(weight=route.weight)]
        return aws.route53.Record(
            f"{name}-{route.level}-{route.key.replace('/', '-')}",
            zone_id=args.zone_id,
            name=route.host,
            type="A",
            set_identifier=route.set_identifier,
            weighted_routing_policies=weighted,
            geolocation_routing_policies=geolocation,
            aliases=[aws.route53.RecordAliasArgs(name=route.target, zone_id=args.zone_id, evaluate_target_health=True)],
            # Route 53 refuses an alias of a name that has no records yet.
            opts=self.child(depends_on=made[route.target]),
        )


def _geolocation(place: str) -> aws.route53.RecordGeolocationRoutingPolicyArgs:
    kind, _, code = place.partition(":")
    if place == DEFAULT:
        return aws.route53.RecordGeolocationRoutingPolicyArgs(country="*")
    if kind == "continent":
        return aws.route53.RecordGeolocationRoutingPolicyArgs(continent=code)
    return aws.route53.RecordGeolocationRoutingPolicyArgs(country=code)
