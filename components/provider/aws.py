"""The AWS provider of a region, and what several roles declare alike: roles, machines, buckets closed to the public.

Machines carry people's tags by their scaling group: a launch template takes no default tags, and one that changed with
them would replace every node. https://github.com/hashicorp/terraform-provider-aws/issues/19387
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pulumi
import pulumi_aws as aws

from components import names
from components.base import Place, PlatformComponent
from components.provider.contract import ProviderArgs

PODS = "pods.eks.amazonaws.com"
"""The service that hands a role to a pod."""


def declare(name: str, args: ProviderArgs) -> pulumi.ProviderResource:
    """Declare the provider; the wrong account ends the deployment before anything is made."""
    tags = names.user_tags(args.tags) | labels(args.place)
    provider: pulumi.ProviderResource = aws.Provider(
        name,
        region=args.place.provider_region,
        allowed_account_ids=[args.allowed_account],
        default_tags=aws.ProviderDefaultTagsArgs(tags=tags),
        assume_roles=[aws.ProviderAssumeRoleArgs(role_arn=args.role)] if args.role else None,
    )
    return provider


def labels(place: Place) -> dict[str, str]:
    """Return our own tags of everything in a region; the provider adds people's."""
    return names.labels(fleet=place.fleet, region=place.region, jurisdiction=place.jurisdiction)


def trust(service: str) -> str:
    """Return the trust policy of a role that a service assumes."""
    statement = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": ["sts:AssumeRole", "sts:TagSession"],
    }
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, sort_keys=True)


def role(
    component: PlatformComponent,
    name: str,
    place: Place,
    purpose: str,
    *,
    service: str,
    boundary: str | None,
    **policies: Any,
) -> aws.iam.Role:
    """Declare a role that a service assumes.

    Args:
        component: who declares it.
        name: logical name.
        place: the region.
        purpose: what it is for; part of its own name.
        service: who assumes it.
        boundary: the most that it may ever be allowed.
        policies: policies of its own, as the SDK takes them.
    """
    return aws.iam.Role(
        name,
        name=names.role(place.fleet, place.region, purpose),
        assume_role_policy=trust(service),
        permissions_boundary=boundary,
        tags=labels(place),
        opts=component.child(),
        **policies,
    )


def attach(component: PlatformComponent, name: str, role: aws.iam.Role, policy: str) -> aws.iam.RolePolicyAttachment:
    """Give a role a policy of AWS."""
    return aws.iam.RolePolicyAttachment(
        f"{name}-{policy}",
        role=role.name,
        policy_arn=f"arn:aws:iam::aws:policy/{policy}",
        opts=component.child(),
    )


def launch_template(
    component: PlatformComponent,
    name: str,
    place: Place,
    purpose: str,
    *,
    tags: Mapping[str, str],
    root: Mapping[str, int],
    **more: Any,
) -> aws.ec2.LaunchTemplate:
    """Declare what machines start from: an encrypted disk, tags, and no credentials of the machine for its pods.

    Args:
        component: who declares it.
        name: logical name.
        place: the region.
        purpose: what the machines are for; part of its own name.
        tags: ours, of the machines and their disks. A change replaces the machines, so people's are not among them.
        root: size, and perhaps throughput, of the disk.
        more: whatever else the template says, as the SDK takes it.
    """
    disk = aws.ec2.LaunchTemplateBlockDeviceMappingEbsArgs(
        volume_type="gp3", encrypted="true", delete_on_termination="true", **root
    )
    return aws.ec2.LaunchTemplate(
        name,
        region=place.provider_region,
        name=names.resource(place.fleet, place.region, purpose),
        metadata_options=aws.ec2.LaunchTemplateMetadataOptionsArgs(
            http_tokens="required", http_put_response_hop_limit=1
        ),
        block_device_mappings=[aws.ec2.LaunchTemplateBlockDeviceMappingArgs(device_name="/dev/xvda", ebs=disk)],
        tag_specifications=[
            aws.ec2.LaunchTemplateTagSpecificationArgs(resource_type=kind, tags=tags) for kind in ("instance", "volume")
        ],
        tags=tags,
        opts=component.child(),
        **more,
    )


def scaling_tag(
    component: PlatformComponent,
    name: str,
    place: Place,
    group: aws.eks.NodeGroup,
    tag: tuple[str, str],
    *,
    reaches_machines: bool,
) -> None:
    """Declare one tag of the scaling group behind a node group, and of the machines that it starts from then on."""
    aws.autoscaling.Tag(
        name,
        region=place.provider_region,
        autoscaling_group_name=group.resources.apply(lambda found: found[0].autoscaling_groups[0].name),
        tag=aws.autoscaling.TagTagArgs(key=tag[0], value=tag[1], propagate_at_launch=reaches_machines),
        opts=component.child(),
    )


def tag_machines(component: PlatformComponent, name: str, place: Place, group: aws.eks.NodeGroup) -> None:
    """Give the machines of a node group people's own tags."""
    for tag in names.user_tags(place.tags).items():
        scaling_tag(component, f"{name}-tag-{tag[0]}", place, group, tag, reaches_machines=True)


def closed(
    component: PlatformComponent, name: str, place: Place, bucket: aws.s3.Bucket
) -> aws.s3.BucketPublicAccessBlock:
    """Close a bucket to the public, as long as it is there."""
    return aws.s3.BucketPublicAccessBlock(
        name,
        region=place.provider_region,
        bucket=bucket.id,
        block_public_acls=True,
        block_public_policy=True,
        ignore_public_acls=True,
        restrict_public_buckets=True,
        opts=component.child(protect=place.protect),
    )


def encrypted(
    component: PlatformComponent, name: str, place: Place, bucket: aws.s3.Bucket, key: pulumi.Input[str]
) -> aws.s3.BucketServerSideEncryptionConfiguration:
    """Encrypt what is written to a bucket with the region's key, as long as it is there."""
    default = aws.s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
        sse_algorithm="aws:kms", kms_master_key_id=key
    )
    rule = aws.s3.BucketServerSideEncryptionConfigurationRuleArgs(
        apply_server_side_encryption_by_default=default, bucket_key_enabled=True
    )
    return aws.s3.BucketServerSideEncryptionConfiguration(
        name,
        region=place.provider_region,
        bucket=bucket.id,
        rules=[rule],
        opts=component.child(protect=place.protect),
    )
