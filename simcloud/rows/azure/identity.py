"""Azure groups, identities and who may do what: resource groups, managed identities, role assignments, locks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simcloud.refusals import Violation
from simcloud.row import Born, Case, Name, Row, one_of, refusal
from simcloud.rows.azure.arm import (
    ASSIGNMENT,
    GROUP,
    GROUP_ID,
    GUID,
    IDENTITY,
    arm_id,
    arm_name,
    guid,
    principal,
    role_of,
    said,
)

CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
LOCK = "azure-native:authorization:ManagementLockByScope"

_RBAC = "Azure RBAC documentation"
_FEDERATION = "Microsoft Entra workload identity federation documentation"
_NAMES = "Azure Resource Manager documentation, Naming rules and restrictions"
_MOST_CREDENTIALS = 20
"""Of one identity. Source: Microsoft Entra workload identity federation, Important considerations and restrictions."""


def _principal(born: Born) -> str:
    return guid("", born.hash[::-1])


@refusal(f"{_NAMES}: a resource group's name does not end with a period")
def _trailing_period(case: Case) -> Iterator[Violation]:
    name = str(case.get("resourceGroupName", ""))
    if name.endswith("."):
        yield Violation(property="resourceGroupName", what="ends with a period", got=f"'{name}'", do="Drop it")


@refusal(f"{_FEDERATION}, Configure a managed identity to trust an external identity provider: issuer")
def _issuer_malformed(case: Case) -> Iterator[Violation]:
    issuer = case.get("issuer")
    if issuer is not None and not re.fullmatch(r"https://[\w.-]+(/[^?#\s]*)?", str(issuer)):
        yield Violation(
            property="issuer", what="is not the URL of an issuer", got=f"'{issuer}'", do="Use the cluster's issuerURL"
        )


@refusal(f"{_FEDERATION}, Important considerations and restrictions: audiences")
def _one_audience(case: Case) -> Iterator[Violation]:
    given = case.each("audiences.*")
    if len(given) != 1 and case.has("audiences") and not case.unsure("audiences"):
        yield Violation(
            property="audiences",
            what="needs exactly one value",
            got=str(len(given)),
            do="Use api://AzureADTokenExchange",
        )


@refusal(f"{_FEDERATION}, Important considerations and restrictions: number of credentials", phase="birth")
def _too_many_credentials(case: Case) -> Iterator[Violation]:
    owner = (case.get("resourceGroupName"), case.get("resourceName"))
    others = [
        item
        for item in case.clouds.every("azure", CREDENTIAL, case.place.account)
        if (item.inputs.get("resourceGroupName"), item.inputs.get("resourceName")) == owner
    ]
    if len(others) >= _MOST_CREDENTIALS:
        yield Violation(
            property="resourceName",
            what="has as many federated credentials as an identity may have",
            got=str(len(others)),
            allowed=str(_MOST_CREDENTIALS),
            do="Use another identity",
        )


def _trusted(case: Case) -> str | None:
    words = [case.get(key) for key in ("resourceGroupName", "resourceName", "issuer", "subject")]
    return "/".join(map(str, words)) if None not in words else None


@refusal(f"{_RBAC}, Azure role assignments: principal")
def _principal_malformed(case: Case) -> Iterator[Violation]:
    value = case.get("principalId")
    if value is not None and not re.fullmatch(GUID, str(value)):
        yield Violation(
            property="principalId", what="is not an object id of the directory", got=f"'{value}'", do="Write a GUID"
        )


@refusal(f"{_RBAC}, Azure built-in roles; RoleDefinitionDoesNotExist")
def _role_unknown(case: Case) -> Iterator[Violation]:
    value = case.get("roleDefinitionId")
    if value is not None and not (
        re.fullmatch(rf"(/subscriptions/[^/]+)?/providers/Microsoft\.Authorization/roleDefinitions/{GUID}", str(value))
        and role_of(value)
    ):
        yield Violation(
            property="roleDefinitionId",
            what="is no role definition",
            got=f"'{value}'",
            do="Write /subscriptions/SUBSCRIPTION/providers/Microsoft.Authorization/roleDefinitions/GUID of a role",
        )


@refusal(f"{_RBAC}, Troubleshoot Azure RBAC: PrincipalNotFound for a new identity", phase="birth")
def _type_of_new_principal(case: Case) -> Iterator[Violation]:
    found = [item for item in case.clouds.every("azure", IDENTITY) if principal(item) == case.get("principalId")]
    if found and case.get("principalType") != "ServicePrincipal":
        yield Violation(
            property="principalType",
            what="the directory may not know a new identity yet",
            got=str(case.get("principalType")),
            do="Set it to ServicePrincipal",
        )


def _given(case: Case) -> str | None:
    words = [case.get("scope"), case.get("principalId"), role_of(case.get("roleDefinitionId"))]
    return "/".join(map(str, words)) if None not in words else None


@refusal("Azure Resource Manager documentation, Lock your resources: scope")
def _scope_malformed(case: Case) -> Iterator[Violation]:
    value = case.get("scope")
    if value is not None and not re.fullmatch(
        r"/subscriptions/[^/]+(/resourceGroups/[^/]+(/providers/.+)?)?", str(value)
    ):
        yield Violation(property="scope", what="is not the id of a scope", got=f"'{value}'", do="Use a resource's id")


ROWS = (
    Row(
        type=GROUP,
        id=GROUP_ID,
        name=arm_name(
            "resourceGroupName",
            r"[\w().-]+",
            90,
            _NAMES,
            "letters, digits, underscores, parentheses, hyphens and periods",
        ),
        outputs=said("Microsoft.Resources/resourceGroups", "resourceGroupName"),
        unique=(GROUP_ID,),
        refusals=(_trailing_period,),
    ),
    Row(
        type=IDENTITY,
        id=arm_id("Microsoft.ManagedIdentity/userAssignedIdentities", "resourceName"),
        name=arm_name(
            "resourceName",
            r"[A-Za-z0-9][\w-]*",
            128,
            _NAMES,
            "letters, digits, hyphens and underscores, starting with a letter or digit",
            shortest=3,
        ),
        outputs=said(
            "Microsoft.ManagedIdentity/userAssignedIdentities",
            "resourceName",
            principalId=_principal,
            clientId=lambda born: guid("", born.hash),
            tenantId=guid("", "0" * 32),
        ),
        unique=(arm_id("Microsoft.ManagedIdentity/userAssignedIdentities", "resourceName"),),
    ),
    Row(
        type=CREDENTIAL,
        id=arm_id(
            "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
            "resourceName",
            "federatedIdentityCredentialResourceName",
        ),
        name=arm_name(
            "federatedIdentityCredentialResourceName",
            r"[A-Za-z0-9][\w-]*",
            120,
            _NAMES,
            "letters, digits, hyphens and underscores, starting with a letter or digit",
            shortest=3,
        ),
        place="resourceName",
        outputs=said(
            "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
            "federatedIdentityCredentialResourceName",
        ),
        immutable=frozenset({"resourceName"}),
        unique=(
            arm_id(
                "Microsoft.ManagedIdentity/userAssignedIdentities/federatedIdentityCredentials",
                "resourceName",
                "federatedIdentityCredentialResourceName",
            ),
            _trusted,
        ),
        refusals=(_issuer_malformed, _one_audience, _too_many_credentials),
    ),
    Row(
        type=ASSIGNMENT,
        id="{scope}/providers/Microsoft.Authorization/roleAssignments/{roleAssignmentName}",
        name=Name(
            path="roleAssignmentName",
            pattern=GUID,
            longest=36,
            source=f"{_RBAC}, Role Assignments - Create; InvalidRoleAssignmentId",
            says="a GUID",
            made=guid,
        ),
        place="",
        outputs=said("Microsoft.Authorization/roleAssignments", "roleAssignmentName"),
        immutable=frozenset({"principalId", "scope", "roleDefinitionId"}),
        unique=("{scope}/{roleAssignmentName}", _given),
        refusals=(
            _principal_malformed,
            _role_unknown,
            _type_of_new_principal,
            refusal(f"{_RBAC}, Role Assignments - Create: principalType")(
                one_of("principalType", ("User", "Group", "ServicePrincipal", "ForeignGroup", "Device"))
            ),
        ),
    ),
    Row(
        type=LOCK,
        id="{scope}/providers/Microsoft.Authorization/locks/{lockName}",
        name=arm_name(
            "lockName", r"[^<>%&:\\?/]*[^<>%&:\\?/. ]", 90, _NAMES, "no <, >, %, &, :, \\, ?, / or final period"
        ),
        place="",
        outputs=said("Microsoft.Authorization/locks", "lockName"),
        immutable=frozenset({"scope"}),
        unique=("{scope}/{lockName}",),
        refusals=(
            _scope_malformed,
            refusal("Azure Resource Manager documentation, Lock your resources: level")(
                one_of("level", ("CanNotDelete", "ReadOnly"))
            ),
        ),
    ),
)
