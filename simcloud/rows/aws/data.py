"""AWS stores: S3 buckets with their settings, ECR repositories."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.refusals import Violation
from simcloud.row import Case, Name, Reference, Row, between, one_of, refusal
from simcloud.rows.aws.identity import KEY, policy_malformed, statements_of

BUCKET = "aws:s3/bucket:Bucket"

_S3 = "Amazon S3 User Guide, General purpose bucket naming rules"
_ECR = "Amazon ECR API Reference, CreateRepository"
_OF_BUCKET = Reference(path="bucket", types=(BUCKET,), named=True, cascades=True)


@refusal(_S3)
def _reserved_name(case: Case) -> Iterator[Violation]:
    name = str(case.get("bucket", ""))
    bad = (
        ".." in name
        or name.startswith(("xn--", "sthree-", "amzn-s3-demo-"))
        or name.endswith(("-s3alias", "--ol-s3", ".mrap"))
    )
    if bad or name.replace(".", "").isdigit():
        yield Violation(
            property="bucket", what="is a form of name that is reserved", got=f"'{name}'", do="Choose another name"
        )


@refusal("Amazon S3 API Reference, PutBucketVersioning", phase="plan", watch=("versioningConfiguration",))
def _versioning_is_one_way(case: Case) -> Iterator[Violation]:
    path = "versioningConfiguration.status"
    old = ((case.old or {}).get("versioningConfiguration") or {}).get("status")
    if case.get(path) == "Disabled" and old in ("Enabled", "Suspended"):
        yield Violation(property=path, what="cannot be disabled again", got=f"{old} to Disabled", do="Use Suspended")


@refusal("Amazon S3 API Reference, ServerSideEncryptionByDefault")
def _key_and_algorithm(case: Case) -> Iterator[Violation]:
    for where, rule in case.each("rules.*.applyServerSideEncryptionByDefault"):
        algorithm = rule.get("sseAlgorithm")
        if rule.get("kmsMasterKeyId") and algorithm == "AES256":
            yield Violation(
                property=f"{where}.kmsMasterKeyId",
                what="does not go with AES256",
                do="Use aws:kms, or leave the key out",
            )


_POLICY = "Amazon S3 User Guide, Policies and permissions in Amazon S3"


@refusal(_POLICY)
def _policy_malformed(case: Case) -> Iterator[Violation]:
    yield from policy_malformed(case, "policy")


@refusal(_POLICY, phase="apply", watch=("policy",))
def _policy_of_another_bucket(case: Case) -> Iterator[Violation]:
    arn = f"arn:aws:s3:::{case.get('bucket')}"
    for statement in statements_of(case.get("policy")):
        found = statement.get("Resource", [])
        for resource in found if isinstance(found, list) else [found]:
            if resource != arn and not str(resource).startswith(f"{arn}/"):
                yield Violation(
                    property="policy",
                    what="speaks of another bucket",
                    got=str(resource),
                    allowed=f"{arn}, {arn}/*",
                    do="Name this bucket",
                )


@refusal("Amazon S3 User Guide, Blocking public access: the meaning of public", phase="apply", watch=("policy",))
def _policy_is_public(case: Case) -> Iterator[Violation]:
    blocks = case.users_of(case.target("bucket", BUCKET), "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock")
    blocked = any(block.inputs.get("blockPublicPolicy") is True for block in blocks)
    for statement in statements_of(case.get("policy")):
        anyone = statement.get("Principal") in ("*", {"AWS": "*"})
        if blocked and anyone and statement.get("Effect") == "Allow" and not statement.get("Condition"):
            yield Violation(
                property="policy",
                what="lets everybody in, which the bucket's public access block refuses",
                do="Name who may, or add a condition",
            )


@refusal("Amazon S3 API Reference, LifecycleRule")
def _lifecycle_rule(case: Case) -> Iterator[Violation]:
    yield from one_of("rules.*.status", ("Enabled", "Disabled"))(case)
    yield from between("rules.*.expiration.days", 1, 36500, "days")(case)


@refusal(f"{_ECR}: imageTagMutabilityExclusionFilters")
def _exclusions_and_mutability(case: Case) -> Iterator[Violation]:
    mutability = str(case.get("imageTagMutability", "MUTABLE"))
    if case.has("imageTagMutabilityExclusionFilters") != mutability.endswith("_WITH_EXCLUSION"):
        yield Violation(
            property="imageTagMutabilityExclusionFilters",
            what=f"does not go with {mutability}",
            allowed="filters with IMMUTABLE_WITH_EXCLUSION or MUTABLE_WITH_EXCLUSION only",
            do="Correct one of them",
        )


@refusal(f"{_ECR}: EncryptionConfiguration")
def _encryption_key_without_kms(case: Case) -> Iterator[Violation]:
    for where, block in case.each("encryptionConfigurations.*"):
        if block.get("kmsKey") and block.get("encryptionType", "AES256") == "AES256":
            yield Violation(property=f"{where}.kmsKey", what="needs encryptionType KMS", do="Set encryptionType")


_TAGS = ("MUTABLE", "IMMUTABLE", "MUTABLE_WITH_EXCLUSION", "IMMUTABLE_WITH_EXCLUSION")

ROWS = (
    Row(
        type=BUCKET,
        id="{bucket}",
        name=Name(
            path="bucket",
            pattern=r"[a-z0-9][a-z0-9.-]*[a-z0-9]",
            shortest=3,
            longest=63,
            source=_S3,
            says="lower-case letters, digits, hyphens and dots, starting and ending with a letter or digit",
        ),
        outputs={
            "arn": "arn:aws:s3:::{bucket}",
            "bucketDomainName": "{bucket}.s3.amazonaws.com",
            "bucketRegionalDomainName": "{bucket}.s3.{region}.amazonaws.com",
            "bucketRegion": "{region}",
            "hostedZoneId": lambda born: f"Z{born.hash[:13].upper()}",
        },
        defaults={"forceDestroy": False},
        aliases=("{arn}",),
        immutable=frozenset({"objectLockEnabled"}),
        unique=("{bucket}",),
        refusals=(_reserved_name,),
    ),
    Row(
        type="aws:s3/bucketVersioning:BucketVersioning",
        id="{bucket}",
        immutable=frozenset({"bucket", "expectedBucketOwner"}),
        references=(_OF_BUCKET,),
        unique=("{bucket}",),
        refusals=(
            refusal("Amazon S3 API Reference, VersioningConfiguration")(
                one_of("versioningConfiguration.status", ("Enabled", "Suspended", "Disabled"))
            ),
            _versioning_is_one_way,
        ),
    ),
    Row(
        type="aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock",
        id="{bucket}",
        immutable=frozenset({"bucket"}),
        references=(_OF_BUCKET,),
        unique=("{bucket}",),
    ),
    Row(
        type="aws:s3/bucketServerSideEncryptionConfiguration:BucketServerSideEncryptionConfiguration",
        id="{bucket}",
        immutable=frozenset({"bucket", "expectedBucketOwner"}),
        references=(
            _OF_BUCKET,
            Reference(path="rules.*.applyServerSideEncryptionByDefault.kmsMasterKeyId", types=(KEY,)),
        ),
        unique=("{bucket}",),
        refusals=(
            refusal("Amazon S3 API Reference, ServerSideEncryptionByDefault")(
                one_of("rules.*.applyServerSideEncryptionByDefault.sseAlgorithm", ("AES256", "aws:kms", "aws:kms:dsse"))
            ),
            _key_and_algorithm,
        ),
    ),
    Row(
        type="aws:s3/bucketPolicy:BucketPolicy",
        id="{bucket}",
        immutable=frozenset({"bucket"}),
        references=(_OF_BUCKET,),
        unique=("{bucket}",),
        refusals=(_policy_malformed, _policy_of_another_bucket, _policy_is_public),
    ),
    Row(
        type="aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
        id="{bucket}",
        outputs={"transitionDefaultMinimumObjectSize": "all_storage_classes_128K"},
        immutable=frozenset({"bucket", "expectedBucketOwner"}),
        references=(_OF_BUCKET,),
        unique=("{bucket}",),
        refusals=(_lifecycle_rule,),
    ),
    Row(
        type="aws:ecr/repository:Repository",
        id="{name}",
        name=Name(
            path="name",
            pattern=r"(?:[a-z0-9]+(?:[._-][a-z0-9]+)*/)*[a-z0-9]+(?:[._-][a-z0-9]+)*",
            shortest=2,
            longest=256,
            source=_ECR,
            says="lower-case words of letters and digits, joined by . _ - or /",
        ),
        outputs={
            "arn": "arn:aws:ecr:{region}:{account}:repository/{name}",
            "registryId": "{account}",
            "repositoryUrl": "{account}.dkr.ecr.{region}.amazonaws.com/{name}",
        },
        defaults={"imageTagMutability": "MUTABLE"},
        aliases=("{arn}", "{repositoryUrl}"),
        immutable=frozenset({"encryptionConfigurations"}),
        references=(Reference(path="encryptionConfigurations.*.kmsKey", types=(KEY,)),),
        unique=("{account}/{region}/{name}",),
        refusals=(
            refusal(_ECR)(one_of("imageTagMutability", _TAGS)),
            _exclusions_and_mutability,
            _encryption_key_without_kms,
        ),
    ),
)
