"""What only tests of AWS know: which resources and inputs answer the questions of the contracts."""

import base64
import json
import re
from collections import Counter

from tests.components.contract_cluster import ClusterSeen
from tests.components.contract_network import NetworkSeen
from tests.components.contract_node_pool import NodePoolSeen
from tests.components.contract_stores import StoreSeen
from tests.components.contract_system_pool import SystemPoolSeen

CLUSTER, PROVIDER, ACCOUNT = "aws:eks/cluster:Cluster", "pulumi:providers:aws", "allowedAccountIds"
GROUP, SUBNET, ROUTE = "aws:eks/nodeGroup:NodeGroup", "aws:ec2/subnet:Subnet", "aws:ec2/route:Route"
TEMPLATE, ADDRESS = "aws:ec2/launchTemplate:LaunchTemplate", "aws:ec2/eip:Eip"
ASSOCIATION = "aws:ec2/routeTableAssociation:RouteTableAssociation"
GROUP_TAG = "aws:autoscaling/tag:Tag"
BINDING = "aws:eks/podIdentityAssociation:PodIdentityAssociation"
KEY, REPOSITORY, BUCKET = "aws:kms/key:Key", "aws:ecr/repository:Repository", "aws:s3/bucket:Bucket"
OWN_KEY = "aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration"
SHUT, VERSIONS = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock", "aws:s3/bucketVersioning:BucketVersioning"
COSTS = frozenset({CLUSTER, GROUP, TEMPLATE, ADDRESS, "aws:ec2/natGateway:NatGateway"})


def network(recording):
    used = {urn for group in recording.of(GROUP) for urn in group.property_dependencies["subnetIds"]}
    subnets = [subnet for subnet in recording.of(SUBNET) if subnet.urn in used]
    return NetworkSeen(
        zones=frozenset(subnet.get("availabilityZoneId") for subnet in subnets),
        exposed=[subnet.urn for subnet in subnets if subnet.get("mapPublicIpOnLaunch") is not False],
        locked_in=[subnet.urn for subnet in subnets if not _has_nat(recording, subnet.urn)],
    )


def _has_nat(recording, subnet):
    links = [row.property_dependencies for row in recording.of(ASSOCIATION)]
    tables = {table for link in links if subnet in link["subnetId"] for table in link["routeTableId"]}
    routes = [row for row in recording.of(ROUTE) if row.get("natGatewayId") is not None]
    return any(tables & set(route.property_dependencies["routeTableId"]) for route in routes)


def cluster(recording):
    (row,) = recording.of(CLUSTER)
    return ClusterSeen(
        version=row.get("version"),
        identities_only=row.get("accessConfig.authenticationMode") == "API"
        and row.get("accessConfig.bootstrapClusterCreatorAdminPermissions") is False,
        private=row.get("vpcConfig.endpointPrivateAccess") and row.get("vpcConfig.endpointPublicAccess") is False,
        encrypted_with=tuple(key for key in ("encryptionConfig.provider.keyArn",) if row.get(key) is not None),
        logged=frozenset(row.get("enabledClusterLogTypes")),
        guarded=row.get("deletionProtection"),
    )


def node_pool(recording, key):
    (group,) = [row for row in recording.of(GROUP) if row.get("labels.outlast-node-pool") == key]
    (template,) = [row for row in recording.of(TEMPLATE) if row.get("tags.outlast-node-pool") == key]
    preference = "capacityReservationSpecification.capacityReservationPreference"
    said = base64.b64decode(template.get("userData") or "").decode()
    folder = re.search(r"mountPath: (\S+)", said)
    return NodePoolSeen(
        labels=dict(group.get("labels")),
        tags=_machine_tags(recording, group, template),
        taints=[f"{row['key']}={row['value']}:{_effect(row['effect'])}" for row in group.get("taints") or ()],
        only_reserved=template.get(preference) == "capacity-reservations-only",
        surge=group.get("updateConfig.updateStrategy") != "MINIMAL",
        raw_disks=0 if "strategy: RAID0" in said else 1,
        joined_at=folder.group(1) if folder else None,
    )


def _machine_tags(recording, group, template):
    """Tags of the machines: those of the template, and those that the group behind the node group hands on."""
    (kind,) = [kind for kind in template.get("tagSpecifications") if kind["resourceType"] == "instance"]
    behind = [row for row in recording.of(GROUP_TAG) if group.urn in row.property_dependencies["autoscalingGroupName"]]
    handed_on = [row.get("tag") for row in behind if row.get("tag.propagateAtLaunch")]
    return dict(kind["tags"]) | {tag["key"]: tag["value"] for tag in handed_on}


def _effect(word):
    return {"NO_SCHEDULE": "NoSchedule"}[word]


def node_identity(recording, key):
    (group,) = [row for row in recording.of(GROUP) if row.get("labels.outlast-node-pool") == key]
    return group.property_dependencies["nodeRoleArn"]


def buckets_of_nodes(recording):
    policies = [row for row in recording.resources if row.type.startswith("aws:iam/rolePolic")]
    return [row.urn for row in policies if "identity:" in row.parent and "s3" in str(dict(row.inputs)).lower()]


def bound_accounts(recording):
    return [f"{row.get('namespace')}/{row.get('serviceAccount')}" for row in recording.of(BINDING)]


def addresses(recording):
    """Address of the gateway -> whether it is a static one of version 4."""
    return {row.urn: row.get("domain") == "vpc" for row in recording.of(ADDRESS) if "gateway_address" in row.parent}


def keys(recording):
    return frozenset(row.urn for row in recording.of(KEY))


def store(recording, role):
    rows = [row for row in recording.resources if f"outlast:{role}:" in row.parent]
    holders = tuple(row for row in rows if row.type in (KEY, REPOSITORY, BUCKET))
    flags = {row.get("forceDestroy" if row.type == BUCKET else "forceDelete") for row in holders if row.type != KEY}
    unshut = [row for row in holders if row.type == BUCKET and not _is_shut(recording, row)]
    return StoreSeen(
        holders=holders,
        exposed=[row.urn for row in [*unshut, *filter(_lets_everybody_in, rows)]],
        # A key goes only after weeks in which it can be had back; what holds data must be empty.
        guarded=flags == {False} if flags else None,
        locked_with=frozenset.intersection(*(_locked_with(recording, row) for row in holders)),
    )


def _locked_with(recording, holder):
    """A bucket is encrypted by a resource of its own."""
    settings = [row for row in recording.of(OWN_KEY) if holder.urn in row.property_dependencies["bucket"]]
    made_of = [row.property_dependencies.get("rules", ()) for row in settings]
    made_of.append(holder.property_dependencies.get("encryptionConfigurations", ()))
    return keys(recording) & {urn for urns in made_of for urn in urns}


def _is_shut(recording, bucket):
    blocks = [row for row in recording.of(SHUT) if bucket.urn in row.property_dependencies["bucket"]]
    words = ("blockPublicAcls", "blockPublicPolicy", "ignorePublicAcls", "restrictPublicBuckets")
    return any(all(block.get(word) is True for word in words) for block in blocks)


def _lets_everybody_in(row):
    statements = json.loads(row.get("policy") or "{}").get("Statement", [])
    allowed = [one for one in statements if one["Effect"] == "Allow" and "Condition" not in one]
    return any(one["Principal"] in ("*", {"AWS": "*"}) for one in allowed)


def tags_fixed(recording):
    return {row.get("imageTagMutability") for row in recording.of(REPOSITORY)} == {"IMMUTABLE"}


def versioned(recording):
    (row,) = [row for row in recording.of(VERSIONS) if "outlast:weights:" in row.parent]
    return row.get("versioningConfiguration.status") == "Enabled"


def system_pool(recording):
    """A group over several zones shares its nodes out evenly."""
    groups = [row for row in recording.of(GROUP) if "outlast:system_pool:" in row.parent]
    zones = {row.urn: row.get("availabilityZoneId") for row in recording.of(SUBNET)}
    nodes: Counter[str] = Counter()
    for group in groups:
        found = [zones[urn] for urn in group.property_dependencies["subnetIds"]]
        nodes.update({zone: group.get("scalingConfig.minSize") / len(found) for zone in found})
    templates = [row for row in recording.of(TEMPLATE) if "outlast:system_pool:" in row.parent]
    born = [kind["tags"] for row in templates for kind in row.get("tagSpecifications")]
    return SystemPoolSeen(
        nodes=nodes,
        machine_types=frozenset(name for group in groups for name in group.get("instanceTypes")),
        cards=False,
        labels=[dict(group.get("labels")) for group in groups],
        tags=[dict(tags) for tags in (*born, *(row.get("tags") for row in (*groups, *templates)))],
    )
