"""Google Cloud as the stand-in plugin of package `gcp` knows it: projects, places, and the rows of its files.

Ids carry project and location, so those of two regions never meet. `deletionPolicy`, which most types have, decides
what a deletion does. Source: terraform-provider-google, "deletion_policy".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from outlast.errors import did_you_mean, listed
from simcloud.cloud import Cloud, Session
from simcloud.refusals import Refused, Violation
from simcloud.row import Case, Place, Row, refusal
from simcloud.rows.gcp import cluster, data, dns, existing, firewall, identity, keys, network, nodes
from simcloud.state import Clouds, Stored
from simcloud.world import World

_PROJECTS = "Google Cloud documentation, Resource Manager access control"


def configure(config: Mapping[str, Any], world: World, clouds: Clouds) -> Session:
    """Find the project; the simulated credentials reach the projects of the fleet's regions."""
    region, project = str(config.get("region") or ""), str(config.get("project") or "")
    ambient = clouds.setting("account/gcp")
    reached = [ambient] if ambient else list(world.accounts("gcp"))
    if region and region not in world.regions("gcp"):
        do = did_you_mean(region, world.regions("gcp")) or "Use one of them"
        raise Refused(
            Violation(
                property="region",
                what="is not a Google Cloud region",
                got=f"'{region}'",
                allowed=listed(world.regions("gcp")),
                do=do,
                source="Google Cloud documentation, Geography and regions",
            )
        )
    if project not in reached:
        raise Refused(_foreign(project, reached))
    return Session(account=project, region=region, config=config)


def _foreign(project: str, reached: list[str]) -> Violation:
    return Violation(
        property="project",
        what="the credentials do not reach the project",
        got=f"'{project}'",
        allowed=listed(reached),
        do="Use the credentials of the region's project, or correct regions.yaml",
        source=_PROJECTS,
    )


def place(row: Row, inputs: Mapping[str, Any], session: Session) -> Place:
    """Read the location input; a zone counts as its region, a multi-region as itself."""
    project = str(inputs.get("project") or session.account)
    if row.place == "":
        return Place(cloud="gcp", account=project, region="")
    where = str(inputs.get(row.place or "region") or session.region)
    return Place(cloud="gcp", account=project, region=re.sub(r"(?<=\d)-[a-z]$", "", where))


def echo(row: Row, where: Place, inputs: Mapping[str, Any], _session: Session) -> Mapping[str, Any]:
    """Outputs that the provider knows before it asks: the project, the region, labels with the provider's defaults."""
    known: dict[str, Any] = {"project": where.account}
    if row.place in ("region", "location"):
        known[row.place] = inputs.get(row.place) or where.region
    if isinstance(inputs.get("labels"), Mapping):
        known["effectiveLabels"] = dict(inputs["labels"])
        known["pulumiLabels"] = dict(inputs["labels"])
    return known


@refusal(_PROJECTS)
def _project_out_of_reach(case: Case) -> Iterator[Violation]:
    reached = list(case.world.accounts("gcp"))
    if case.place.account not in reached and not case.unsure("project"):
        yield _foreign(case.place.account, reached)


def removal(stored: Stored) -> str:
    """What `deletionPolicy` says about a deletion."""
    policy = stored.inputs.get("deletionPolicy")
    if policy == "PREVENT":
        return "deletionPolicy PREVENT protects it. Set it to DELETE, deploy, then delete"
    return "keep" if policy == "ABANDON" else "remove"


_TABLES = (network, firewall, dns, identity, keys, data, cluster, nodes)

CLOUD = Cloud(
    package="gcp",
    name="gcp",
    rows={row.type: row for module in _TABLES for row in module.ROWS},
    configure=configure,
    place=place,
    echo=echo,
    fixed=frozenset({"project", "location", "region"}),
    provider_fixed=frozenset({"project", "region"}),
    global_ids=True,
    refusals=(_project_out_of_reach,),
    removal=removal,
    existing=existing.seeds,
)
