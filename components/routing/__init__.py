"""Global routing: the fleet's DNS zone, and per residency class a tree of records that holds the lock's shares."""

from components.routing.contract import (
    ClassRoutes,
    ClassRoutesArgs,
    DnsZone,
    DnsZoneArgs,
    Route,
    declare_routes,
    declare_zone,
    tree,
)

__all__ = [
    "ClassRoutes",
    "ClassRoutesArgs",
    "DnsZone",
    "DnsZoneArgs",
    "Route",
    "declare_routes",
    "declare_zone",
    "tree",
]
