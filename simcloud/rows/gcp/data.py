"""Google Cloud identities, keys and stores: service accounts, IAM members, KMS, buckets, artifact repositories."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.refusals import Violation
from simcloud.row import Case, Name, Reference, Row, one_of, refusal

ACCOUNT = "gcp:serviceaccount/account:Account"
RING = "gcp:kms/keyRing:KeyRing"
KEY = "gcp:kms/cryptoKey:CryptoKey"

_KMS = "Cloud KMS documentation"
_IAM = "Google Cloud IAM documentation, Principal identifiers and Roles"
_BUCKETS = "Cloud Storage documentation, Bucket naming guidelines"
_KEPT = "Cloud KMS documentation: key rings and keys cannot be deleted; terraform-provider-google, google_kms_key_ring"
_MULTI = {
    "storage": ("US", "EU", "ASIA", "NAM4", "EUR4", "EUR5", "EUR7", "EUR8", "ASIA1"),
    "artifactregistry": ("us", "europe", "asia"),
    "kms": ("global", "us", "europe", "asia", "nam4", "eur4", "eur5", "eur6", "asia1"),
}


@refusal(_IAM)
def _member_malformed(case: Case) -> Iterator[Violation]:
    member = case.get("member")
    kinds = "user|serviceAccount|group|domain|principal|principalSet|projectOwner|projectEditor|projectViewer|deleted"
    if member is not None and not re.fullmatch(rf"allUsers|allAuthenticatedUsers|({kinds}):.+", str(member)):
        yield Violation(
            property="member",
            what="is not a principal",
            got=f"'{member}'",
            allowed="user:, group:, serviceAccount:, principal: ...",
            do="Start it with its kind",
        )


@refusal(_IAM)
def _role_malformed(case: Case) -> Iterator[Violation]:
    role = case.get("role")
    if role is not None and not re.fullmatch(r"((projects|organizations)/[^/]+/)?roles/[\w.]+", str(role)):
        yield Violation(property="role", what="is not a role", got=f"'{role}'", do="Write roles/SERVICE.ROLE")


@refusal(f"{_IAM}: service account does not exist", phase="birth")
def _member_missing(case: Case) -> Iterator[Violation]:
    match = re.fullmatch(r"serviceAccount:([^@\[\]]+@([^.]+)\.iam\.gserviceaccount\.com)", str(case.get("member")))
    if match and match[2] in case.world.accounts("gcp") and not case.clouds.find(match[1], [ACCOUNT]):
        yield Violation(property="member", what="there is no such service account", got=match[1], do="Create it first")


def _location_unknown(case: Case, service: str) -> Iterator[Violation]:
    where = case.get("location")
    known = {*case.world.regions("gcp"), *_MULTI[service]}
    if where is not None and where not in known and str(where).lower() not in case.world.regions("gcp"):
        yield Violation(
            property="location",
            what="is not a location of the service",
            got=f"'{where}'",
            allowed=f"a region, or {', '.join(_MULTI[service])}",
            do="Correct it",
        )


@refusal("Cloud Storage documentation, Bucket locations")
def _bucket_location(case: Case) -> Iterator[Violation]:
    yield from _location_unknown(case, "storage")


@refusal("Artifact Registry documentation, Repository locations")
def _repository_location(case: Case) -> Iterator[Violation]:
    yield from _location_unknown(case, "artifactregistry")


@refusal(f"{_KMS}, Cloud KMS locations")
def _ring_location(case: Case) -> Iterator[Violation]:
    yield from _location_unknown(case, "kms")


@refusal(f"{_KMS}, Key rotation")
def _rotation(case: Case) -> Iterator[Violation]:
    period = case.get("rotationPeriod")
    if period is None:
        return
    if case.get("purpose", "ENCRYPT_DECRYPT") != "ENCRYPT_DECRYPT":
        yield Violation(
            property="rotationPeriod", what="only keys for encryption rotate by themselves", do="Leave it out"
        )
    seconds = re.fullmatch(r"(\d+)(\.\d+)?s", str(period))
    if not seconds or int(seconds[1]) < 86400:
        yield Violation(
            property="rotationPeriod",
            what="is too short or malformed",
            got=f"'{period}'",
            allowed="at least 86400s",
            do="Write seconds, for example 7776000s",
        )


@refusal(f"{_KMS}, Key purposes and algorithms")
def _algorithm_and_purpose(case: Case) -> Iterator[Violation]:
    purpose, algorithm = str(case.get("purpose", "ENCRYPT_DECRYPT")), str(case.get("versionTemplate.algorithm", ""))
    fits = {
        "ENCRYPT_DECRYPT": algorithm in ("", "GOOGLE_SYMMETRIC_ENCRYPTION", "EXTERNAL_SYMMETRIC_ENCRYPTION"),
        "ASYMMETRIC_SIGN": algorithm.startswith(("EC_SIGN", "RSA_SIGN", "PQ_SIGN")),
        "ASYMMETRIC_DECRYPT": algorithm.startswith("RSA_DECRYPT"),
        "MAC": algorithm.startswith("HMAC"),
        "RAW_ENCRYPT_DECRYPT": algorithm.startswith("AES"),
    }
    if not fits.get(purpose, True):
        yield Violation(
            property="versionTemplate.algorithm",
            what=f"does not go with purpose {purpose}",
            got=algorithm or "none",
            do="Correct it",
        )


@refusal("Cloud Storage documentation, Dual-regions: custom placement")
def _placement(case: Case) -> Iterator[Violation]:
    regions = case.each("customPlacementConfig.dataLocations.*")
    if case.has("customPlacementConfig") and len(regions) != 2:
        yield Violation(
            property="customPlacementConfig", what="needs exactly two regions", got=str(len(regions)), do="List two"
        )


@refusal("Cloud Storage documentation, Bucket naming guidelines")
def _reserved_name(case: Case) -> Iterator[Violation]:
    name = str(case.get("name", ""))
    if name.startswith("goog") or "google" in name or ".." in name:
        yield Violation(
            property="name", what="is a form of name that is reserved", got=f"'{name}'", do="Choose another name"
        )


@refusal("Cloud Storage documentation, Turbo replication")
def _turbo_replication(case: Case) -> Iterator[Violation]:
    if (
        case.get("rpo") == "ASYNC_TURBO"
        and not case.has("customPlacementConfig")
        and len(str(case.get("location"))) != 4
    ):
        yield Violation(
            property="rpo", what="turbo replication needs a dual-region bucket", do="Use DEFAULT, or two regions"
        )


_PURPOSES = (
    "ENCRYPT_DECRYPT",
    "ASYMMETRIC_SIGN",
    "ASYMMETRIC_DECRYPT",
    "RAW_ENCRYPT_DECRYPT",
    "MAC",
    "KEY_ENCAPSULATION",
)
_EMAIL = "{accountId}@{account}.iam.gserviceaccount.com"

ROWS = (
    Row(
        type=ACCOUNT,
        id=f"projects/{{account}}/serviceAccounts/{_EMAIL}",
        name=Name(
            path="accountId",
            pattern=r"[a-z]([-a-z0-9]*[a-z0-9])",
            shortest=6,
            longest=30,
            source="IAM API Reference, serviceAccounts.create",
            says="lower-case letters, digits and hyphens, starting with a letter",
        ),
        place="",
        outputs={
            "email": _EMAIL,
            "member": f"serviceAccount:{_EMAIL}",
            "name": f"projects/{{account}}/serviceAccounts/{_EMAIL}",
            "uniqueId": lambda born: str(born.number(10**20, 10**21)),
        },
        defaults={"disabled": False},
        aliases=("{email}", "{name}", "{member}"),
        unique=("{account}/{accountId}",),
    ),
    Row(
        type="gcp:projects/iAMMember:IAMMember",
        id="{account}/{role}/{member}",
        place="",
        outputs={"etag": "{hash:.12}"},
        immutable=frozenset({"role", "member", "condition"}),
        refusals=(_member_malformed, _role_malformed, _member_missing),
    ),
    Row(
        type=RING,
        id="projects/{account}/locations/{location}/keyRings/{name}",
        name=Name(
            path="name",
            pattern=r"[\w-]+",
            longest=63,
            source=f"{_KMS}, Create a key ring",
            says="letters, digits, _ and -",
        ),
        place="location",
        aliases=("{name}",),
        unique=("{account}/{location}/{name}",),
        kept=True,
        kept_source=_KEPT,
        refusals=(_ring_location,),
    ),
    Row(
        type=KEY,
        id="{keyRing}/cryptoKeys/{name}",
        name=Name(
            path="name", pattern=r"[\w-]+", longest=63, source=f"{_KMS}, Create a key", says="letters, digits, _ and -"
        ),
        place="",
        outputs={"primaries": []},
        defaults={"purpose": "ENCRYPT_DECRYPT"},
        immutable=frozenset(
            {
                "keyRing",
                "purpose",
                "importOnly",
                "skipInitialVersionCreation",
                "destroyScheduledDuration",
                "cryptoKeyBackend",
            }
        ),
        references=(Reference(path="keyRing", types=(RING,)),),
        unique=("{keyRing}/{name}",),
        kept=True,
        kept_source=_KEPT,
        refusals=(_rotation, _algorithm_and_purpose, refusal(f"{_KMS}, Key purposes")(one_of("purpose", _PURPOSES))),
    ),
    Row(
        type="gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember",
        id="{cryptoKeyId}/{role}/{member}",
        place="",
        outputs={"etag": "{hash:.12}"},
        immutable=frozenset({"cryptoKeyId", "role", "member", "condition"}),
        references=(Reference(path="cryptoKeyId", types=(KEY,)),),
        refusals=(_member_malformed, _role_malformed, _member_missing),
    ),
    Row(
        type="gcp:storage/bucket:Bucket",
        id="{name}",
        name=Name(
            path="name",
            pattern=r"[a-z0-9][a-z0-9._-]*[a-z0-9]",
            shortest=3,
            longest=63,
            source=_BUCKETS,
            says="lower-case letters, digits, - _ and dots, starting and ending with a letter or digit",
        ),
        place="location",
        outputs={"selfLink": "https://www.googleapis.com/storage/v1/b/{name}", "url": "gs://{name}"},
        defaults={"forceDestroy": False},
        aliases=("{url}", "{selfLink}"),
        immutable=frozenset({"customPlacementConfig", "enableObjectRetention", "hierarchicalNamespace"}),
        unique=("{name}",),
        refusals=(_bucket_location, _placement, _reserved_name, _turbo_replication),
    ),
    Row(
        type="gcp:artifactregistry/repository:Repository",
        id="projects/{account}/locations/{location}/repositories/{repositoryId}",
        name=Name(
            path="repositoryId",
            pattern=r"[a-z]([a-z0-9-]*[a-z0-9])?",
            longest=63,
            auto=False,
            source="Artifact Registry API Reference, repositories.create",
            says="lower-case letters, digits and hyphens",
        ),
        place="location",
        outputs={
            "name": "{repositoryId}",
            "registryUri": "{location}-docker.pkg.dev/{account}/{repositoryId}",
            "createTime": "2026-01-01T00:00:00Z",
            "updateTime": "2026-01-01T00:00:00Z",
        },
        defaults={"mode": "STANDARD_REPOSITORY"},
        aliases=("{repositoryId}",),
        immutable=frozenset({"format", "kmsKeyName", "mode"}),
        references=(Reference(path="kmsKeyName", types=(KEY,)),),
        unique=("{account}/{location}/{repositoryId}",),
        refusals=(
            _repository_location,
            refusal("Artifact Registry API Reference, Format")(
                one_of(
                    "format",
                    (
                        "DOCKER",
                        "MAVEN",
                        "NPM",
                        "PYTHON",
                        "APT",
                        "YUM",
                        "GO",
                        "GENERIC",
                        "KFP",
                        "RUBY",
                    ),
                )
            ),
        ),
    ),
)
