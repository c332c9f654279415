"""IAM policies; keys of conditions as the service authorization reference and the IAM user guide list them.

Actions of a region are bound to the fleet's regions, roles and buckets to the fleet's names, and what may be attached
or passed to what the stacks attach and pass. A managed policy holds 6,144 characters, so there may be several.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from outlast.operations.permissions.document import Deployer, Document, Granted, Site

Statement = Mapping[str, Any]

_LONGEST_POLICY = 6144
"""Characters without white space. Source: IAM and STS quotas."""
_LONGEST_ROLE, _LONGEST_BUCKET, _DIGEST = 64, 54, 9
"""Lengths at which `components.names` cuts a name, and those of the digest it then ends in."""
_GLOBAL = ("iam", "route53", "sts")
"""Services without regions. Source: IAM user guide, aws:RequestedRegion."""
_BOUNDED = ("CreateRole", "DeleteRolePolicy", "PutRolePermissionsBoundary", "PutRolePolicy")
_ATTACHING = ("AttachRolePolicy", "DetachRolePolicy")


def documents(deployer: Deployer, granted: Granted) -> Iterator[Document]:
    """Yield the policies to attach to the deploying role, each short enough for IAM."""
    policies = list(_packed([*_services(deployer, granted), *_roles(deployer, granted)]))
    for number, statements in enumerate(policies, start=1):
        name = f"{deployer.name}-{number}"
        policy_name = f"{deployer.fleet}-{_role_name(deployer) or 'deployer'}-{number}"
        words = ["aws", "iam", "create-policy", "--policy-name", policy_name]
        words += ["--policy-document", f"file://{name}.json"]
        arn = f"arn:aws:iam::{deployer.account}:policy/{policy_name}"
        attach = [
            "aws",
            "iam",
            "attach-role-policy",
            "--role-name",
            _role_name(deployer) or "ROLE",
            "--policy-arn",
            arn,
        ]
        yield Document(
            name=name,
            content={"Version": "2012-10-17", "Statement": statements},
            commands=(shlex.join(words), shlex.join(attach)),
            note=f"Policy {number} of {len(policies)} of account {deployer.account}; {_bounds(deployer)}."
            + ("" if deployer.role else " ROLE is the role that deploys; name it in regions.yaml and it stands here."),
        )


def _role_name(deployer: Deployer) -> str:
    return (deployer.role or "").rpartition("/")[2]


def _bounds(deployer: Deployer) -> str:
    open_ = [site.region for site in deployer.sites if site.permissions_boundary is None]
    if not open_:
        return "every role it makes is bounded"
    return (
        f"roles of {', '.join(open_)} have no permissions_boundary in regions.yaml, so this identity can write any "
        f"inline policy into roles of those names"
    )


def _services(deployer: Deployer, granted: Granted) -> Iterator[Statement]:
    by_service: dict[str, list[str]] = {}
    for action in granted.needed:
        by_service.setdefault(action.partition(":")[0], []).append(action)
    places = sorted({site.provider_region for site in deployer.sites})
    for service, actions in by_service.items():
        if service == "iam":
            continue
        yield _statement(
            service.title(),
            actions,
            _buckets(deployer) if service == "s3" else ["*"],
            {} if service in _GLOBAL else {"StringEquals": {"aws:RequestedRegion": places}},
        )


def _buckets(deployer: Deployer) -> list[str]:
    starts = sorted(prefix(deployer.fleet, site.region, _LONGEST_BUCKET) for site in deployer.sites)
    return [f"arn:aws:s3:::{start}*{end}" for start in starts for end in ("", "/*")]


def _roles(deployer: Deployer, granted: Granted) -> Iterator[Statement]:
    groups: dict[str | None, list[Site]] = {}
    for site in deployer.sites:
        groups.setdefault(site.permissions_boundary, []).append(site)
    for number, (boundary, sites) in enumerate(groups.items(), start=1):
        yield from _roles_within(deployer, granted, boundary, sites, f"Roles{number}")
    if granted.of("link"):
        path = [f"arn:aws:iam::{deployer.account}:role/aws-service-role/*"]
        names = {"StringEquals": {"iam:AWSServiceName": list(granted.of("link"))}}
        yield _statement("ServiceRoles", ["iam:CreateServiceLinkedRole"], path, names)
        yield _statement("ServiceRolesRead", ["iam:GetRole"], path, {})


def _roles_within(
    deployer: Deployer, granted: Granted, boundary: str | None, sites: Iterable[Site], sid: str
) -> Iterator[Statement]:
    starts = sorted(prefix(deployer.fleet, site.region, _LONGEST_ROLE) for site in sites)
    ours = [f"arn:aws:iam::{deployer.account}:role/{start}*" for start in starts]
    actions = [action for action in granted.needed if action.startswith("iam:")]
    bounded = {"StringEquals": {"iam:PermissionsBoundary": boundary}} if boundary else {}
    kinds = {"Attach": _ATTACHING, "Bounded": _BOUNDED if boundary else ()}
    special = {f"iam:{word}" for words in kinds.values() for word in words}
    attached = {"ArnEquals": {"iam:PolicyARN": list(granted.of("grant"))}}
    yield _statement(sid, [action for action in actions if action not in special], ours, {})
    for kind, words in kinds.items():
        chosen = [action for action in actions if action.removeprefix("iam:") in words]
        if chosen:
            yield _statement(f"{sid}{kind}", chosen, ours, bounded | (attached if kind == "Attach" else {}))
    if granted.of("pass"):
        passed = {"StringEquals": {"iam:PassedToService": list(granted.of("pass"))}}
        yield _statement(f"{sid}Pass", ["iam:PassRole"], ours, passed)


def _statement(sid: str, actions: list[str], resources: list[str], condition: Mapping[str, Any]) -> Statement:
    found: dict[str, Any] = {"Sid": sid, "Effect": "Allow", "Action": actions, "Resource": resources}
    return found | ({"Condition": dict(condition)} if condition else {})


def prefix(fleet: str, region: str, longest: int) -> str:
    """Return how all of a region's names of at most ``longest`` characters begin, cut ones too."""
    start, cut = f"{fleet}--{region}--", longest - _DIGEST
    return start if len(start) < cut else start[:cut].rstrip("-")


def _packed(statements: Iterable[Statement]) -> Iterator[list[Statement]]:
    """Fill policies with statements in their order."""
    pack: list[Statement] = []
    for statement in statements:
        if pack and _length([*pack, statement]) > _LONGEST_POLICY:
            yield pack
            pack = []
        pack.append(statement)
    if pack:
        yield pack


def _length(statements: list[Statement]) -> int:
    text = json.dumps({"Version": "2012-10-17", "Statement": statements}, separators=(",", ":"))
    return len("".join(text.split()))
