"""Google Cloud identities: service accounts, and grants on projects and on service accounts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from simcloud.refusals import Violation
from simcloud.row import Born, Case, Name, Reference, Row, refusal

ACCOUNT = "gcp:serviceaccount/account:Account"
PROJECT_MEMBER = "gcp:projects/iAMMember:IAMMember"
_CLUSTER = "gcp:container/cluster:Cluster"

_IAM = "Google Cloud IAM documentation, Principal identifiers and Roles"
_CONDITIONS = "Google Cloud IAM documentation, Overview of IAM Conditions"
_BASIC = ("roles/owner", "roles/editor", "roles/viewer")
_AGENT = r"serviceAccount:service-(\d+)@(container-engine-robot|gs-project-accounts|compute-system|gcp-sa-[a-z-]+)\..+"
_POOL = r"serviceAccount:([^\[\]@]+)\.svc\.id\.goog\[([^\[\]/]+)/([^\[\]/]+)\]"


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


@refusal(_CONDITIONS)
def _condition_malformed(case: Case) -> Iterator[Violation]:
    if not case.has("condition"):
        return
    expression, title = case.get("condition.expression"), case.get("condition.title")
    if isinstance(expression, str) and not _is_balanced(expression):
        yield Violation(
            property="condition.expression",
            what="is not an expression",
            got=f"'{expression}'",
            do="Close every quotation mark and bracket",
        )
    if title == "":
        yield Violation(property="condition.title", what="is empty", do="Say what the condition is for")
    if case.get("role") in _BASIC:
        yield Violation(property="condition", what="basic roles take no condition", do="Grant a narrower role")


def _is_balanced(expression: str) -> bool:
    outside = re.sub(r'"[^"]*"|\'[^\']*\'', "", expression)
    return bool(expression.strip()) and not re.search(r"[\"']", outside) and outside.count("(") == outside.count(")")


malformed_grants = (_member_malformed, _role_malformed, _condition_malformed)
"""What is wrong with a grant whatever it is on."""


@refusal(f"{_IAM}: service account does not exist", phase="birth", claim="member-missing")
def member_missing(case: Case) -> Iterator[Violation]:
    """Refuse a service account that nobody made, ours or a service's own."""
    member = str(case.get("member"))
    match = re.fullmatch(r"serviceAccount:([^@\[\]]+@([^.]+)\.iam\.gserviceaccount\.com)", member)
    if match and match[2] in case.world.accounts("gcp") and not case.clouds.find(match[1], [ACCOUNT]):
        yield Violation(property="member", what="there is no such service account", got=match[1], do="Create it first")
    agent = re.fullmatch(_AGENT, member)
    numbers = {case.world.account_number("gcp", project) for project in case.world.accounts("gcp")} - {""}
    if agent and numbers and agent[1] not in numbers:
        yield Violation(
            property="member",
            what="no project that the credentials reach has this number",
            got=agent[1],
            allowed=", ".join(sorted(numbers)),
            do="Correct account_number in regions.yaml",
        )


@refusal(
    "GKE documentation, Workload Identity Federation for GKE; terraform-google-kubernetes-engine issue 916",
    phase="birth",
)
def _pool_missing(case: Case) -> Iterator[Violation]:
    pool = re.fullmatch(_POOL, str(case.get("member")))
    clusters = case.clouds.every("gcp", _CLUSTER)
    pools = {str((found.inputs.get("workloadIdentityConfig") or {}).get("workloadPool")) for found in clusters}
    if pool and f"{pool[1]}.svc.id.goog" not in pools:
        yield Violation(
            property="member",
            what="the pool of identities does not exist",
            got=f"{pool[1]}.svc.id.goog",
            do="Make a cluster with Workload Identity in the project first",
        )


def grant_id(on: str) -> Callable[[Born], str]:
    """Make the id of a grant: what it is on, its role and member, and its condition, which makes it another grant.

    Source: terraform-provider-google, tpgiamresource: conditionKey.
    """

    def fill(born: Born) -> str:
        condition = born.inputs.get("condition") or {}
        words = [str(condition.get(key) or "") for key in ("title", "description", "expression")] if condition else []
        return "/".join((born.fill(f"{on}/{{role}}/{{member}}"), *words))

    return fill


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
        type=PROJECT_MEMBER,
        id=grant_id("{account}"),
        place="",
        outputs={"etag": "{hash:.12}"},
        immutable=frozenset({"role", "member", "condition"}),
        refusals=(*malformed_grants, member_missing),
    ),
    Row(
        type="gcp:serviceaccount/iAMMember:IAMMember",
        id=grant_id("{serviceAccountId}"),
        place="",
        outputs={"etag": "{hash:.12}"},
        immutable=frozenset({"serviceAccountId", "role", "member", "condition"}),
        references=(Reference(path="serviceAccountId", types=(ACCOUNT,)),),
        refusals=(*malformed_grants, member_missing, _pool_missing),
    ),
)
