"""Checks of regions, node pools and origins against facts and classes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from outlast.errors import Problem, did_you_mean, listed
from outlast.intent.checks_ranges import check_ranges, check_reach
from outlast.intent.intent import Intent
from outlast.intent.known import unknown
from outlast.intent.partitions import why_not_divided
from outlast.intent.ranges import MOST_ZONES
from outlast.intent.regions import NodePool, Region

_RESERVED = ("global", "routing", "none", "replica", "node", "zone")
"""Names of stacks and of losses."""
_CONTINENTS = ("AF", "AN", "AS", "EU", "NA", "OC", "SA")
_ISO_3166 = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD
CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF
GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN
KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI
SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI
VN VU WF WS XK YE YT ZA ZM ZW
"""
_PLACES = {"continent": _CONTINENTS, "country": tuple(_ISO_3166.split())}
"""Codes that DNS knows. Source: Route 53 API Reference, GeoLocation; ISO 3166-1, and XK for Kosovo."""


def check_regions(intent: Intent) -> Iterator[Problem]:
    """Places, zones, address ranges, accounts and node pools of every region."""
    facts = intent.facts
    for name, region in intent.regions.items():
        where = f"{intent.name}/regions.yaml, regions.{name}"
        if name in _RESERVED:
            yield Problem(
                where=where, what=f"'{name}' means something else here", allowed="any other name", do="Rename it"
            )
        if region.cloud not in facts.clouds:
            yield unknown(f"{where}.cloud", "cloud", region.cloud, facts.clouds)
            continue
        places = {place for cloud, place in facts.provider_regions if cloud == region.cloud}
        if region.provider_region not in places:
            yield unknown(
                f"{where}.provider_region", f"provider region of {region.cloud}", region.provider_region, places
            )
            continue
        yield from _check_zones(intent, f"{where}.zones", region)
        if region.allowed_account and region.allowed_account != region.account:
            yield Problem(
                where=f"{where}.allowed_account",
                what="differs from the account",
                got=region.allowed_account,
                allowed=region.account,
                do="Correct one of them",
            )
        if facts.can(region.cloud, "numbered-service-agents") and region.account_number is None:
            yield Problem(
                where=f"{where}.account_number",
                what=f"missing: {region.cloud} names the services that use the region's key by the account's number",
                do="Enter the number of the account",
            )
        yield from check_reach(f"{where}.api.allow", region.api)
        for pool_id, pool in region.node_pools.items():
            yield from _check_node_pool(intent, name, region, f"{where}.node_pools.{pool_id}", pool)
    yield from check_ranges(intent)
    yield from _check_dns(intent)


def _check_zones(intent: Intent, where: str, region: Region) -> Iterator[Problem]:
    most = intent.facts.provider_regions[region.cloud, region.provider_region].zones
    if strange := strange_zones(intent, region):
        named = ", ".join(f"'{zone}'" for zone in strange)
        yield Problem(
            where=where,
            what=f"{region.provider_region} has no zone of that id",
            got=named,
            allowed=listed(zones_of(intent, region)),
            do="Write zone ids, not names, which differ from account to account",
        )
    closed = {zone for cloud, zone in intent.facts.closed_zones if cloud == region.cloud}
    for zone in region.zones:
        if zone in closed and region.network.existing is None:
            yield Problem(
                where=where,
                what="a zone that takes no control plane of a managed cluster",
                got=zone,
                allowed=listed(zones_of(intent, region) - closed),
                do="Use another zone",
            )
    if len(set(region.zones)) != len(region.zones):
        yield Problem(where=where, what="a zone stands twice", got=", ".join(region.zones), do="Remove the repeat")
    elif len(region.zones) > min(most, MOST_ZONES):
        yield Problem(
            where=where,
            what=f"{region.provider_region} has {f'{most} zones' if most else 'no zones'}, and a range is cut for few",
            got=str(len(region.zones)),
            allowed=f"up to {min(most, MOST_ZONES)}" if most else "a provider region with zones",
            do="Use fewer zones" if most else "Choose a provider region that has zones",
        )
    elif region.network.existing is None:
        yield from _check_spread(intent, where, region)


def _check_spread(intent: Intent, where: str, region: Region) -> Iterator[Problem]:
    """A control plane lies in subnets of the region's own zones, but in those of a network that exists."""
    least = intent.facts.networks[region.cloud].cluster_zones
    if len(region.zones) < least:
        yield Problem(
            where=where,
            what=f"a control plane of {region.cloud} spreads over more zones",
            got=str(len(region.zones)),
            allowed=f"{least} or more",
            do="Add a zone; node pools need not use it",
        )


def strange_zones(intent: Intent, region: Region) -> list[str]:
    """Return the region's zones that facts do not know; what names zones is not judged until they are mended."""
    known = zones_of(intent, region)
    return [zone for zone in region.zones if known and zone not in known]


def zones_of(intent: Intent, region: Region) -> set[str]:
    """Return the zones that facts know in a provider region."""
    row = intent.facts.provider_regions.get((region.cloud, region.provider_region))
    return {
        zone
        for (cloud, place, _), offering in intent.facts.offerings.items()
        if (cloud, place) == (region.cloud, region.provider_region)
        for zone in offering.zones
    } | set(row.zone_names if row else ())


def _check_node_pool(intent: Intent, name: str, region: Region, where: str, pool: NodePool) -> Iterator[Problem]:
    machine = intent.facts.machine_types.get((region.cloud, pool.machine_type))
    if machine is None:
        yield _not_sold(intent, f"{where}.machine_type", region, pool.machine_type)
        return
    offering = intent.facts.offerings.get((region.cloud, region.provider_region, pool.machine_type))
    offered = offering.zones if offering else ()
    if offering is None:
        sold_in = {
            place for cloud, place, kind in intent.facts.offerings if (cloud, kind) == (region.cloud, pool.machine_type)
        }
        yield Problem(
            where=f"{where}.machine_type",
            what=f"{pool.machine_type} is not offered in {region.provider_region}",
            allowed=f"one of {listed(sold_in)}",
            do="Choose another machine type or region",
        )
    strange = strange_zones(intent, region)
    for zone in () if strange else pool.zones:
        if zone not in region.zones:
            yield unknown(f"{where}.zones", f"zone of {name}", zone, region.zones)
        elif offered and zone not in offered:
            yield Problem(
                where=f"{where}.zones",
                what=f"{pool.machine_type} is not offered in zone {zone}",
                allowed=listed(offered),
                do="Use a zone that offers it",
            )
    if problem := why_not_divided(intent.facts.accelerators[machine.accelerator], pool.partition):
        yield replace(problem, where=f"{where}.partition")
    yield from _check_interconnect(intent, region, where, pool)
    yield from _check_reservation(intent, name, where, pool)


def _not_sold(intent: Intent, where: str, region: Region, machine_type: str) -> Problem:
    sellers = [cloud for cloud, kind in intent.facts.machine_types if kind == machine_type]
    if not sellers:
        known = {kind for cloud, kind in intent.facts.machine_types if cloud == region.cloud}
        alike = [kind for kind in known if kind[:1].lower() == machine_type[:1].lower()]
        do = did_you_mean(machine_type, alike) or "Choose one of them"
        return replace(unknown(where, f"machine type of {region.cloud}", machine_type, known), do=do)
    accelerator = intent.facts.machine_types[sellers[0], machine_type].accelerator
    clouds = {cloud for (cloud, _), row in intent.facts.machine_types.items() if row.accelerator == accelerator}
    sold = f"its accelerator {accelerator} is sold on {listed(clouds)}"
    return Problem(
        where=where,
        what=f"{machine_type} is a machine type of {listed(sellers)}, not of {region.cloud}; {sold}",
        do=f"Choose a machine type of {region.cloud}, or move the node pool to a region of {listed(clouds)}",
    )


def _check_interconnect(intent: Intent, region: Region, where: str, pool: NodePool) -> Iterator[Problem]:
    if not pool.interconnect:
        return
    facts, key = intent.facts, f"{where}.interconnect"
    having = sorted(kind for cloud, kind in facts.interconnects if cloud == region.cloud)
    if not facts.can(region.cloud, "interconnect"):
        yield Problem(where=key, what=f"nodes on {region.cloud} get none", got="true", do="Remove it")
    elif pool.machine_type not in having:
        what = f"{pool.machine_type} has no network cards for it"
        yield Problem(where=key, what=what, got="true", allowed=listed(having), do="Remove it, or use one that has")
    elif region.cluster.existing is not None:
        what = "needs a network that is closed around the nodes, which an existing cluster does not promise"
        yield Problem(where=key, what=what, got="true", do="Remove it, or let us create the cluster")


def _check_reservation(intent: Intent, name: str, where: str, pool: NodePool) -> Iterator[Problem]:
    if (pool.capacity == "reserved") != (pool.reservation is not None):
        do = (
            "Name the reservation"
            if pool.capacity == "reserved"
            else "Set capacity: reserved, or remove the reservation"
        )
        yield Problem(
            where=f"{where}.reservation",
            what="'reservation' and 'capacity: reserved' go together",
            got=pool.reservation or "none",
            do=do,
        )
    if pool.reservation is None:
        return
    held = intent.holdings(name).reservations
    reservation = held.get(pool.reservation)
    if reservation is None:
        yield unknown(f"{where}.reservation", f"reservation of {name} in capacity.yaml", pool.reservation, held)
        return
    if reservation.machine_type != pool.machine_type:
        yield Problem(
            where=f"{where}.machine_type",
            what=f"reservation '{pool.reservation}' holds another machine type",
            got=pool.machine_type,
            allowed=reservation.machine_type,
            do="Correct the machine type, or name another reservation",
        )
    if pool.zones != (reservation.zone,) and not strange_zones(intent, intent.regions[name]):
        yield Problem(
            where=f"{where}.zones",
            what="a reserved node pool lies in the zone of its reservation",
            got=", ".join(pool.zones),
            allowed=reservation.zone,
            do="Declare one node pool per reservation",
        )


def _check_dns(intent: Intent) -> Iterator[Problem]:
    dns = intent.fleet.dns
    where = f"{intent.name}/fleet.yaml, dns.region"
    owner = intent.regions.get(dns.region)
    if dns.cloud not in intent.facts.clouds:
        yield unknown(f"{intent.name}/fleet.yaml, dns.cloud", "cloud", dns.cloud, intent.facts.clouds)
    elif owner is None:
        yield unknown(where, "region", dns.region, intent.regions)
    elif owner.cloud != dns.cloud:
        yield Problem(
            where=where,
            what="the region is not on the DNS cloud",
            got=f"{dns.region} on {owner.cloud}",
            allowed=f"a region on {dns.cloud}",
            do="Choose a region of the DNS cloud",
        )


def check_origins(intent: Intent) -> Iterator[Problem]:
    """Origins name known regions; homes sum to 100 and lie where the class may be served."""
    codes: dict[str, str] = {}
    for name, origin in intent.regions_file.origins.items():
        where = f"{intent.name}/regions.yaml, origins.{name}"
        for region in origin.nearest:
            if region not in intent.regions:
                yield unknown(f"{where}.nearest", "region", region, intent.regions)
        for code in origin.geolocation:
            kind, _, value = code.partition(":")
            if value not in _PLACES.get(kind, ()):
                yield Problem(
                    where=f"{where}.geolocation",
                    what="not a geolocation",
                    got=f"'{code}'",
                    allowed=f"continent:XX with one of {', '.join(_CONTINENTS)}, or country:XX with a code of ISO 3166",
                    do="Mend it",
                )
            if code in codes:
                yield Problem(
                    where=f"{where}.geolocation",
                    what=f"origin '{codes[code]}' has it already",
                    got=code,
                    do="Give each place to one origin",
                )
            codes[code] = name
        for residency, shares in origin.home.items():
            key = f"{where}.home.{residency}"
            if residency not in intent.tenants_file.classes:
                yield unknown(key, "residency class", residency, intent.tenants_file.classes)
                continue
            if sum(shares.values()) != 100:
                yield Problem(
                    where=key, what="shares must sum to 100", got=str(sum(shares.values())), do="Correct the shares"
                )
            for region, share in shares.items():
                if region not in intent.regions:
                    yield unknown(key, "region", region, intent.regions)
                elif share and not intent.may_serve(residency, region):
                    yield Problem(
                        where=f"{key}.{region}",
                        what=_why_not(intent, residency, region),
                        do="Move the home, or change the region or the class",
                    )
    for residency, origins in intent.origins_of_class.items():
        for name in origins:
            if name in intent.regions_file.origins and not intent.homes[residency][name]:
                yield Problem(
                    where=f"{intent.name}/regions.yaml, origins.{name}.nearest",
                    what=f"no region listed there may serve class '{residency}'",
                    got=listed(intent.regions_file.origins[name].nearest),
                    allowed=listed(r for r in intent.regions if intent.may_serve(residency, r)),
                    do="Add one, or declare a home",
                )


def _why_not(intent: Intent, residency: str, region: str) -> str:
    jurisdiction = intent.jurisdiction(region)
    detail = intent.tenants_file.classes[residency]
    if "*" not in detail.serve_in and jurisdiction not in detail.serve_in:
        allowed = listed(detail.serve_in)
        return f"class '{residency}' may not be served in {jurisdiction}, where the region lies (allowed {allowed})"
    if residency not in intent.tenants_file.admits.get(jurisdiction, ()):
        return f"jurisdiction {jurisdiction} does not admit class '{residency}'"
    missing = [model for model in intent.models_of_class[residency] if not intent.accelerators_for(model, region)]
    return f"the region hosts no {listed(missing)}, which class '{residency}' uses"
