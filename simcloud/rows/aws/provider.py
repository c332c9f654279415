"""Amazon Web Services as the stand-in plugin of package `aws` knows it: credentials, places, and the rows of its files.

In pulumi-aws 7 every regional resource takes its own `region`, which goes before the provider's; global services
(IAM, Route 53) lie in the account. Source: pulumi-aws 7 migration guide, "Enhanced Region Support".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from outlast.errors import did_you_mean, listed
from simcloud.cloud import Cloud, Session
from simcloud.refusals import Refused, Violation
from simcloud.row import Place, Row
from simcloud.rows.aws import add_ons, cluster, data, endpoints, existing, identity, network, nodes, routing, templates
from simcloud.state import Clouds
from simcloud.world import World

_REGION = "AWS General Reference, Regions and endpoints"


def configure(config: Mapping[str, Any], world: World, clouds: Clouds) -> Session:
    """Find the account the ambient credentials, or the role to assume, lead to."""
    region = config.get("region", "")
    if region not in world.regions("aws"):
        do = did_you_mean(region, world.regions("aws")) or "Use one of them"
        raise Refused(
            Violation(
                property="region",
                what="is not an AWS region",
                got=f"'{region}'",
                allowed=listed(world.regions("aws")),
                do=do,
                source=_REGION,
            )
        )
    reached = _accounts(config, world, clouds)
    allowed = config.get("allowedAccountIds") or reached
    account = next((item for item in reached if item in allowed), "")
    if not account or account in (config.get("forbiddenAccountIds") or ()):
        raise Refused(
            Violation(
                property="allowedAccountIds",
                what="the credentials lead to another account",
                got=listed(reached),
                allowed=listed(allowed),
                do="Use the credentials of the region's account, or correct regions.yaml",
                source="pulumi-aws, Provider argument allowedAccountIds",
            )
        )
    return Session(account=account, region=region, config=config)


def _accounts(config: Mapping[str, Any], world: World, clouds: Clouds) -> list[str]:
    roles = [role.get("roleArn", "") for role in config.get("assumeRoles") or () if isinstance(role, Mapping)]
    found = [match[1] for role in roles if (match := re.match(r"arn:aws[\w-]*:iam::(\d{12}):", role))]
    ambient = clouds.setting("account/aws")
    return found[-1:] or ([ambient] if ambient else list(world.accounts("aws")))


def place(row: Row, inputs: Mapping[str, Any], session: Session) -> Place:
    """A resource's own region before the provider's."""
    region = "" if row.place == "" else str(inputs.get("region") or session.region)
    return Place(cloud="aws", account=session.account, region=region)


def echo(_row: Row, where: Place, inputs: Mapping[str, Any], session: Session) -> Mapping[str, Any]:
    """Outputs that the provider knows before it asks: the region, and tags with the provider's defaults."""
    known: dict[str, Any] = {"region": where.region} if where.region else {}
    if isinstance(inputs.get("tags"), Mapping):
        known["tagsAll"] = {**((session.config.get("defaultTags") or {}).get("tags") or {}), **inputs["tags"]}
    return known


_MODULES = (network, endpoints, cluster, add_ons, templates, nodes, identity, data, routing)

CLOUD = Cloud(
    package="aws",
    name="aws",
    rows={row.type: row for module in _MODULES for row in module.ROWS},
    configure=configure,
    place=place,
    echo=echo,
    fixed=frozenset({"region"}),
    provider_fixed=frozenset({"region", "allowedAccountIds", "assumeRoles"}),
    existing=existing.seeds,
)
