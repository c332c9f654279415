"""AWS identities and keys: IAM roles and attachments, KMS keys and aliases, log groups."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Born, Case, Name, Reference, Row, between, refusal
from simcloud.state import Stored

ROLE = "aws:iam/role:Role"
KEY = "aws:kms/key:Key"
_LOGS = "Amazon CloudWatch Logs API Reference"
_CLUSTER = "aws:eks/cluster:Cluster"
_IAM = "AWS IAM User Guide, IAM and AWS STS quotas"
_KMS = "AWS KMS API Reference, CreateKey"


def policy_malformed(case: Case, path: str) -> Iterator[Violation]:
    """Refuse policy documents, at a path, that are not JSON with statements."""
    for where, text in case.each(path):
        if isinstance(text, str) and not statements_of(text):
            yield Violation(
                property=where,
                what="is not a policy document",
                got=text[:80],
                do="Use json.dumps of Version and Statement",
            )


def statements_of(text: object) -> list[Mapping[str, Any]]:
    """Statements of a policy document; none if it is not one."""
    try:
        found = json.loads(str(text)).get("Statement", [])
    except (ValueError, AttributeError):
        return []
    return [item for item in (found if isinstance(found, list) else [found]) if isinstance(item, Mapping)]


def allows(text: object, service: str, action: str) -> bool:
    """Whether a policy document allows a service an action."""
    return any(
        statement.get("Effect") == "Allow"
        and service in _listed(statement.get("Principal", {}), "Service")
        and any(fnmatchcase(action, pattern) for pattern in _listed(statement, "Action"))
        for statement in statements_of(text)
    )


def _listed(owner: object, key: str) -> list[str]:
    value = owner.get(key, []) if isinstance(owner, Mapping) else []
    return [str(item) for item in value] if isinstance(value, list) else [str(value)]


def untrusting(role: Stored | None, path: str, service: str, *actions: str) -> Iterator[Violation]:
    """Refuse a role that a service may not assume."""
    missing = [
        action for action in actions if role and not allows(role.inputs.get("assumeRolePolicy"), service, action)
    ]
    if role and missing:
        yield Violation(
            property=path,
            what=f"the role does not let {service} in",
            got=f"'{role.id}' without {', '.join(missing)}",
            do=f"Allow {service} {', '.join(actions)} in the role's trust policy",
        )


@refusal("AWS IAM User Guide, IAM JSON policy elements")
def _trust_malformed(case: Case) -> Iterator[Violation]:
    yield from policy_malformed(case, "assumeRolePolicy")


@refusal("AWS IAM API Reference, CreateRole")
def _session_length(case: Case) -> Iterator[Violation]:
    yield from between("maxSessionDuration", 3600, 43200, "s")(case)


@refusal("AWS IAM User Guide, IAM JSON policy elements")
def _inline_policy_malformed(case: Case) -> Iterator[Violation]:
    yield from policy_malformed(case, "inlinePolicies.*.policy")


@refusal("AWS IAM User Guide, Permissions boundaries for IAM entities")
def _boundary_malformed(case: Case) -> Iterator[Violation]:
    arn = case.get("permissionsBoundary")
    if arn is not None and not re.fullmatch(_POLICY_ARN, str(arn)):
        yield Violation(
            property="permissionsBoundary",
            what="is not the ARN of a policy",
            got=f"'{arn}'",
            do="Write arn:aws:iam::ACCOUNT:policy/NAME",
        )


_POLICY_ARN = r"arn:aws[\w-]*:iam::(aws|\d{12}):policy/[\w+=,.@/-]+"


@refusal("AWS IAM API Reference, AttachRolePolicy")
def _policy_arn_malformed(case: Case) -> Iterator[Violation]:
    arn = case.get("policyArn")
    if arn is not None and not re.fullmatch(_POLICY_ARN, str(arn)):
        yield Violation(
            property="policyArn",
            what="is not the ARN of a policy",
            got=f"'{arn}'",
            do="Write arn:aws:iam::aws:policy/NAME",
        )


def _path(born: Born) -> str:
    return str(born.inputs.get("path") or "/")


@refusal(_KMS)
def _key_policy_malformed(case: Case) -> Iterator[Violation]:
    yield from policy_malformed(case, "policy")


@refusal("AWS KMS API Reference, ScheduleKeyDeletion")
def _waiting_period(case: Case) -> Iterator[Violation]:
    yield from between("deletionWindowInDays", 7, 30, "days")(case)


@refusal("AWS KMS Developer Guide, Rotate AWS KMS keys")
def _rotation(case: Case) -> Iterator[Violation]:
    yield from between("rotationPeriodInDays", 90, 2560, "days")(case)
    if (
        case.get("enableKeyRotation") is True
        and case.get("customerMasterKeySpec", "SYMMETRIC_DEFAULT") != "SYMMETRIC_DEFAULT"
    ):
        yield Violation(
            property="enableKeyRotation",
            what="only symmetric keys rotate by themselves",
            got=str(case.get("customerMasterKeySpec")),
            do="Set it to false and rotate by the alias",
        )


@refusal(_KMS)
def _usage_and_spec(case: Case) -> Iterator[Violation]:
    usage, spec = case.get("keyUsage", "ENCRYPT_DECRYPT"), str(case.get("customerMasterKeySpec", "SYMMETRIC_DEFAULT"))
    fits = {
        "ENCRYPT_DECRYPT": spec == "SYMMETRIC_DEFAULT" or spec.startswith("RSA_"),
        "SIGN_VERIFY": spec.startswith(("RSA_", "ECC_", "ML_DSA_")),
        "GENERATE_VERIFY_MAC": spec.startswith("HMAC_"),
        "KEY_AGREEMENT": spec.startswith("ECC_"),
    }
    if not fits.get(str(usage), False):
        yield Violation(
            property="customerMasterKeySpec",
            what=f"does not go with key usage {usage}",
            got=spec,
            do="Choose another spec",
        )


def _key_id(born: Born) -> str:
    h = born.hash
    uuid = f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:32]}"
    return f"mrk-{h[:32]}" if born.inputs.get("multiRegion") else uuid


@refusal("AWS KMS API Reference, CreateAlias")
def _reserved_alias(case: Case) -> Iterator[Violation]:
    if str(case.get("name", "")).startswith("alias/aws/"):
        yield Violation(property="name", what="names of AWS managed keys are reserved", do="Choose another name")


@refusal("pulumi-aws, aws.eks.Cluster: enabledClusterLogTypes and its log group", phase="birth")
def _made_by_the_cluster(case: Case) -> Iterator[Violation]:
    match = re.fullmatch(r"/aws/eks/(.+)/cluster", str(case.get("name", "")))
    for cluster in case.clouds.every("aws", _CLUSTER, case.place.account) if match else ():
        if (
            match
            and cluster.id == match[1]
            and cluster.region == case.place.region
            and cluster.inputs.get("enabledClusterLogTypes")
        ):
            yield Violation(
                property="name",
                what="exists already: the cluster made it, without retention",
                got=f"cluster {cluster.id}",
                do="Create the log group before the cluster (depends_on)",
            )


def _target_arn(born: Born) -> str:
    key = str(born.inputs.get("targetKeyId"))
    return key if key.startswith("arn:") else born.fill("arn:aws:kms:{region}:{account}:key/") + key


_RETENTION_DAYS = (
    0,
    1,
    3,
    5,
    7,
    14,
    30,
    60,
    90,
    120,
    150,
    180,
    365,
    400,
    545,
    731,
    1096,
    1827,
    2192,
    2557,
    2922,
    3288,
    3653,
)


@refusal("Amazon CloudWatch Logs User Guide, Encrypt log data in CloudWatch Logs using AWS KMS", phase="apply")
def _key_closed_to_logs(case: Case) -> Iterator[Violation]:
    key, service = case.target("kmsKeyId", KEY), f"logs.{case.place.region}.amazonaws.com"
    if key and not allows(key.inputs.get("policy"), service, "kms:GenerateDataKey"):
        yield Violation(
            property="kmsKeyId",
            what=f"the key's policy does not let {service} use it",
            got=key.id,
            do=f"Allow {service} kms:Encrypt, Decrypt, ReEncrypt, GenerateDataKey and DescribeKey",
        )


@refusal(f"{_LOGS}, PutRetentionPolicy")
def _retention(case: Case) -> Iterator[Violation]:
    days = case.get("retentionInDays")
    if days is not None and days not in _RETENTION_DAYS:
        yield Violation(
            property="retentionInDays",
            what="is not a retention the service offers",
            got=str(days),
            allowed=", ".join(str(item) for item in _RETENTION_DAYS),
            do="Choose one of these",
        )


@refusal(f"{_LOGS}, CreateLogGroup: deletionProtectionEnabled", phase="delete")
def _log_group_protected(case: Case) -> Iterator[Violation]:
    if case.get("deletionProtectionEnabled") is True:
        yield Violation(
            property="deletionProtectionEnabled", what="the log group is protected", do="Set it to false first"
        )


ROWS = (
    Row(
        type=ROLE,
        id="{name}",
        name=Name(
            path="name", pattern=r"[\w+=,.@-]+", longest=64, source=_IAM, says="letters, digits and + = , . @ - _"
        ),
        place="",
        outputs={
            "arn": lambda born: born.fill("arn:aws:iam::{account}:role") + _path(born) + str(born.inputs["name"]),
            "uniqueId": lambda born: f"AROA{born.hash[:17].upper()}",
        },
        defaults={"maxSessionDuration": 3600, "path": "/", "forceDetachPolicies": False},
        aliases=("{arn}",),
        immutable=frozenset({"path"}),
        unique=("{account}/{name}",),
        refusals=(_trust_malformed, _inline_policy_malformed, _boundary_malformed, _session_length),
    ),
    Row(
        type="aws:iam/rolePolicyAttachment:RolePolicyAttachment",
        id="{role}/{policyArn}",
        place="",
        immutable=frozenset({"role", "policyArn"}),
        references=(Reference(path="role", types=(ROLE,), named=True, holds=True),),
        unique=("{account}/{role}/{policyArn}",),
        refusals=(_policy_arn_malformed,),
    ),
    Row(
        type=KEY,
        id=_key_id,
        outputs={"arn": lambda born: born.fill("arn:aws:kms:{region}:{account}:key/{id}"), "keyId": "{id}"},
        defaults={
            "bypassPolicyLockoutSafetyCheck": False,
            "customerMasterKeySpec": "SYMMETRIC_DEFAULT",
            "isEnabled": True,
            "keyUsage": "ENCRYPT_DECRYPT",
        },
        aliases=("{arn}",),
        immutable=frozenset({"keyUsage", "customerMasterKeySpec", "multiRegion", "customKeyStoreId", "xksKeyId"}),
        refusals=(_key_policy_malformed, _waiting_period, _rotation, _usage_and_spec),
    ),
    Row(
        type="aws:kms/alias:Alias",
        id="{name}",
        name=Name(
            path="name",
            pattern=r"alias/[A-Za-z0-9/_-]+",
            longest=256,
            source="AWS KMS API Reference, CreateAlias",
            auto=False,
            says="alias/ and letters, digits, / _ -",
        ),
        outputs={"arn": "arn:aws:kms:{region}:{account}:{name}", "targetKeyArn": _target_arn},
        aliases=("{arn}",),
        references=(Reference(path="targetKeyId", types=(KEY,), cascades=True),),
        unique=("{account}/{region}/{name}",),
        refusals=(_reserved_alias,),
    ),
    Row(
        type="aws:cloudwatch/logGroup:LogGroup",
        id="{name}",
        name=Name(
            path="name",
            pattern=r"[\w./#-]+",
            longest=512,
            source=f"{_LOGS}, CreateLogGroup",
            says="letters, digits and . - _ / #",
        ),
        outputs={"arn": "arn:aws:logs:{region}:{account}:log-group:{name}"},
        defaults={"skipDestroy": False},
        aliases=("{arn}",),
        references=(Reference(path="kmsKeyId", types=(KEY,)),),
        immutable=frozenset({"logGroupClass"}),
        unique=("{account}/{region}/{name}",),
        refusals=(_made_by_the_cluster, _key_closed_to_logs, _retention, _log_group_protected),
    ),
)
