"""Google Cloud stores: buckets and repositories of artifacts, with grants on these."""

from __future__ import annotations

from collections.abc import Iterator

from simcloud.refusals import Violation
from simcloud.row import Case, Name, Reference, Row, one_of, refusal
from simcloud.rows.gcp.forms import labelled
from simcloud.rows.gcp.identity import grant_id, malformed_grants, member_missing
from simcloud.rows.gcp.keys import KEY, location_unknown, usable_key

REPOSITORY = "gcp:artifactregistry/repository:Repository"

_BUCKETS = "Cloud Storage documentation, Bucket naming guidelines"
_OF_BUCKETS = ("US", "EU", "ASIA", "NAM4", "EUR4", "EUR5", "EUR7", "EUR8", "ASIA1")
_OF_REPOSITORIES = ("us", "europe", "asia")
_FORMATS = ("DOCKER", "MAVEN", "NPM", "PYTHON", "APT", "YUM", "GO", "GENERIC", "KFP", "RUBY")


@refusal("Cloud Storage documentation, Bucket locations")
def _bucket_location(case: Case) -> Iterator[Violation]:
    yield from location_unknown(case, _OF_BUCKETS)


@refusal("Artifact Registry documentation, Repository locations")
def _repository_location(case: Case) -> Iterator[Violation]:
    yield from location_unknown(case, _OF_REPOSITORIES)


@refusal("Cloud Storage documentation, Dual-regions: custom placement")
def _placement(case: Case) -> Iterator[Violation]:
    regions = case.each("customPlacementConfig.dataLocations.*")
    if case.has("customPlacementConfig") and len(regions) != 2:
        yield Violation(
            property="customPlacementConfig", what="needs exactly two regions", got=str(len(regions)), do="List two"
        )


@refusal(_BUCKETS)
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


ROWS = (
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
        references=(Reference(path="encryption.defaultKmsKeyName", types=(KEY,)),),
        unique=("{name}",),
        refusals=(
            _bucket_location,
            _placement,
            _reserved_name,
            _turbo_replication,
            *usable_key("encryption.defaultKmsKeyName", "Cloud Storage", "gs-project-accounts"),
            labelled(),
        ),
    ),
    Row(
        type=REPOSITORY,
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
            *usable_key("kmsKeyName", "Artifact Registry", "gcp-sa-artifactregistry"),
            refusal("Artifact Registry API Reference, Format")(one_of("format", _FORMATS)),
            labelled(),
        ),
    ),
    Row(
        type="gcp:artifactregistry/repositoryIamMember:RepositoryIamMember",
        id=grant_id("projects/{account}/locations/{location}/repositories/{repository}"),
        place="location",
        outputs={"etag": "{hash:.12}"},
        immutable=frozenset({"repository", "role", "member", "condition"}),
        references=(Reference(path="repository", types=(REPOSITORY,), named=True),),
        refusals=(*malformed_grants, member_missing),
    ),
)
