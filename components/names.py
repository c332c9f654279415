"""Makes every physical name and label; nothing else does.

Names are plain strings, known in a preview. Parts are joined by two hyphens, which our own names cannot hold, so that
different parts never give one name; a name that would be too long is cut and ends in a digest of its parts.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from hashlib import sha256

_DIGEST_LENGTH = 8
_ROW_KEY = re.compile(r"([a-z][a-z0-9]{0,7})-([1-9])-([a-z])")
"""Key of a lock's row: node pool, number of the zone, generation; the last two have one character each."""
_LABEL_LENGTH = 63
"""Kubernetes and Google Cloud cut nothing and refuse more. Source: their label syntax."""


def digest(*parts: str) -> str:
    """Return eight hexadecimal digits that stand for the parts."""
    return sha256("\x00".join(parts).encode()).hexdigest()[:_DIGEST_LENGTH]


def joined(*parts: str, longest: int) -> str:
    """Join parts of our own into a name of at most ``longest`` characters: letters, digits and hyphens."""
    name = "--".join(parts)
    return name if len(name) <= longest else _cut(name, longest, *parts)


def _cut(name: str, longest: int, *parts: str) -> str:
    return f"{name[: longest - _DIGEST_LENGTH - 1].rstrip('-')}-{digest(*parts)}"


def cluster(fleet: str, region: str) -> str:
    """Name of a region's cluster; 40 is GKE's limit."""
    return joined(fleet, region, longest=40)


def node_pool(*parts: str) -> str:
    """Name of a node pool inside its cluster, from the key of its row or what else it is; 40 is GKE's limit."""
    return joined(*parts, longest=40)


def role(fleet: str, region: str, purpose: str) -> str:
    """Name of an identity that is unique in its account; 64 is IAM's limit."""
    return joined(fleet, region, purpose, longest=64)


def service_account(fleet: str, region: str, purpose: str) -> str:
    """Id of a service account; Google Cloud wants 6 to 30 characters."""
    name = joined(fleet, region, purpose, longest=30)
    return name if len(name) >= 6 else f"{name}-{digest(fleet, region, purpose)}"


def service_account_email(fleet: str, region: str, purpose: str, *, project: str) -> str:
    """Address of a service account; known before it exists."""
    return f"{service_account(fleet, region, purpose)}@{project}.iam.gserviceaccount.com"


def bucket(fleet: str, region: str, purpose: str, account: str) -> str:
    """Name of a bucket; all accounts of a cloud share one space of names, so it ends in a digest of the account."""
    return (
        f"{joined(fleet, region, purpose, longest=63 - _DIGEST_LENGTH - 1)}-{digest(account, fleet, region, purpose)}"
    )


def repository(fleet: str, region: str, image: str) -> str:
    """Path of one image's repository where a registry has one repository per image."""
    return "/".join((fleet, region, image))


def registry(fleet: str, region: str) -> str:
    """Id of a repository that holds many images."""
    return joined(fleet, region, "images", longest=63)


def key_alias(fleet: str, region: str) -> str:
    """Alias of a region's key where keys have ids of the cloud's own."""
    return f"alias/{fleet}/{region}/data"


def key_ring(fleet: str, region: str) -> str:
    """Name of a key ring; it can never be deleted, so it is never renamed."""
    return joined(fleet, region, longest=63)


def key() -> str:
    """Name of the key in its ring."""
    return "data"


def resource_group(fleet: str, region: str, purpose: str) -> str:
    """Name of a group of resources; 80 is AKS's limit for the group of its nodes."""
    return joined(fleet, region, purpose, longest=80)


def vault(fleet: str, region: str, account: str) -> str:
    """Name of a key vault: one space of names for all accounts, 24 characters, no two hyphens in a row."""
    return f"{f'{fleet}-{region}'[:15].rstrip('-')}-{digest(account, fleet, region)}"


def container_registry(fleet: str, region: str, account: str) -> str:
    """Name of a registry where all accounts share one space of names: 5 to 50 letters and digits."""
    return f"{_letters(fleet, region)[:42]}{digest(account, fleet, region)}"


def storage_account(fleet: str, region: str, purpose: str, account: str) -> str:
    """Name of a storage account: one space of names for all accounts, 24 lower-case letters and digits."""
    return f"{_letters(fleet, region)[:16]}{digest(account, fleet, region, purpose)}"


def agent_pool(key: str) -> str:
    """Name of a node pool where AKS allows 12 lower-case letters and digits, the first a letter.

    ``gh100-1-a`` is ``gh1001a``; a key of any other form gives a name of full length, which that form never has.
    """
    parts = _ROW_KEY.fullmatch(key)
    return "".join(parts.groups()) if parts else f"p{sha256(key.encode()).hexdigest()[:11]}"


def role_assignment(*parts: str) -> str:
    """Name of a grant, which Azure wants to be a UUID: the same parts give the same one."""
    return str(uuid.uuid5(uuid.NAMESPACE_OID, "\x00".join(parts)))


def _letters(*parts: str) -> str:
    return "".join(parts).replace("-", "")


def resource(fleet: str, region: str, purpose: str) -> str:
    """Name of a network part or an address: RFC 1035, 63 characters."""
    return joined(fleet, region, purpose, longest=63)


def kubernetes_object(*parts: str) -> str:
    """Name of an object inside a cluster: RFC 1123, 63 characters."""
    return joined(*parts, longest=63)


def host(*labels_: str, zone: str) -> str:
    """Host name below a DNS zone, most specific label first."""
    return ".".join((*labels_, zone))


def labels(
    *,
    fleet: str,
    region: str | None = None,
    jurisdiction: str | None = None,
    node_pool: str | None = None,
    accelerator: str | None = None,
    partition: str | None = None,
    pool: str | None = None,
    residency: str | None = None,
    owner: str | None = None,
) -> dict[str, str]:
    """Return labels, or tags, that every cloud and Kubernetes accept; they claim, rules look at the real place."""
    values = {
        "fleet": fleet,
        "region": region,
        "jurisdiction": jurisdiction,
        "node-pool": node_pool,
        "accelerator": accelerator,
        "partition": partition,
        "pool": pool,
        "class": residency,
        "owner": owner,
        "managed-by": "outlast",
    }
    return {f"outlast-{key}": label_value(value) for key, value in values.items() if value is not None}


def user_tags(tags: Mapping[str, str]) -> dict[str, str]:
    """Return people's own tags as they are: the loader refuses what a cloud would not take."""
    return dict(tags)


def label_value(text: str) -> str:
    """Return the text as a label's value: lower case, letters, digits, ``-`` and ``_``."""
    value = re.sub(r"[^a-z0-9_-]+", "-", text.lower()).strip("-_")
    return value if len(value) <= _LABEL_LENGTH else _cut(value, _LABEL_LENGTH, text)
