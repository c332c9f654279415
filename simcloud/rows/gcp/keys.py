"""Cloud KMS: key rings and keys, and what other services need before they may use a key."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.refusals import Violation
from simcloud.row import Case, Name, Reference, Refusal, Row, one_of, refusal
from simcloud.rows.gcp.forms import labelled, location_of
from simcloud.rows.gcp.identity import PROJECT_MEMBER, grant_id, malformed_grants, member_missing

RING = "gcp:kms/keyRing:KeyRing"
KEY = "gcp:kms/cryptoKey:CryptoKey"
KEY_MEMBER = "gcp:kms/cryptoKeyIAMMember:CryptoKeyIAMMember"

_KMS = "Cloud KMS documentation"
_KEPT = "Cloud KMS documentation: key rings and keys cannot be deleted; terraform-provider-google, google_kms_key_ring"
_MULTI = ("global", "us", "europe", "asia", "nam4", "eur4", "eur5", "eur6", "asia1")
_SAME_PLACE = {"eu": "europe"}
"""Multi-region of storage -> that of its keys, where the words differ. Source: Cloud Storage, Customer-managed keys."""
_USE = ("roles/cloudkms.cryptoKeyEncrypterDecrypter", "roles/cloudkms.admin", "roles/owner")


def usable_key(path: str, service: str, agent: str) -> tuple[Refusal, Refusal]:
    """Make the refusals of a key that lies elsewhere, or that a service's own account may not use.

    Args:
        path: input that names the key.
        service: title of the documentation.
        agent: domain of the service agent.
    """
    source = f"{service} documentation, Customer-managed encryption keys"

    @refusal(source, claim="key-elsewhere")
    def elsewhere(case: Case) -> Iterator[Violation]:
        lies, wanted = location_of(case.get(path)), case.place.region.lower()
        if lies and not case.unsure("location") and lies != _SAME_PLACE.get(wanted, wanted):
            yield Violation(
                property=path, what="the key lies elsewhere", got=lies, allowed=wanted, do="Use a key there"
            )

    @refusal(source, phase="apply", watch=(path,), claim="key-not-granted")
    def not_granted(case: Case) -> Iterator[Violation]:
        key = case.target(path, KEY)
        number = case.world.account_number("gcp", case.place.account) or r"\d+"
        member = rf"serviceAccount:service-{number}@{agent}\.iam\.gserviceaccount\.com"
        grants = [grant for grant in case.clouds.users(key) if grant.type == KEY_MEMBER] if key else []
        grants += case.clouds.every("gcp", PROJECT_MEMBER, case.place.account)
        held = {str(grant.inputs.get("member")) for grant in grants if grant.inputs.get("role") in _USE}
        if key and not any(re.fullmatch(member, one) for one in held):
            yield Violation(
                property=path,
                what=f"the service's own account may not use key {key.name}",
                allowed=member.replace("\\", ""),
                do=f"Grant it {_USE[0]} on the key first",
            )

    return elsewhere, not_granted


def location_unknown(case: Case, multi: tuple[str, ...]) -> Iterator[Violation]:
    """Refuse a location that is neither a region nor one of a service's multi-regions."""
    where, regions = case.get("location"), case.world.regions("gcp")
    if where is not None and where not in {*regions, *multi} and str(where).lower() not in regions:
        yield Violation(
            property="location",
            what="is not a location of the service",
            got=f"'{where}'",
            allowed=f"a region, or {', '.join(multi)}",
            do="Correct it",
        )


@refusal(f"{_KMS}, Cloud KMS locations")
def _ring_location(case: Case) -> Iterator[Violation]:
    yield from location_unknown(case, _MULTI)


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


_PURPOSES = (
    "ENCRYPT_DECRYPT",
    "ASYMMETRIC_SIGN",
    "ASYMMETRIC_DECRYPT",
    "RAW_ENCRYPT_DECRYPT",
    "MAC",
    "KEY_ENCAPSULATION",
)

ROWS = (
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
        refusals=(
            _rotation,
            _algorithm_and_purpose,
            refusal(f"{_KMS}, Key purposes")(one_of("purpose", _PURPOSES)),
            labelled(),
        ),
    ),
    Row(
        type=KEY_MEMBER,
        id=grant_id("{cryptoKeyId}"),
        place="",
        outputs={"etag": "{hash:.12}"},
        immutable=frozenset({"cryptoKeyId", "role", "member", "condition"}),
        references=(Reference(path="cryptoKeyId", types=(KEY,)),),
        refusals=(*malformed_grants, member_missing),
    ),
)
