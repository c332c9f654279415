"""Azure logs: what a resource says of itself and where it is kept, and when stored blobs are deleted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Case, Reference, Row, between, one_of, refusal
from simcloud.rows.azure.arm import arm_id, arm_name, holder, said
from simcloud.rows.azure.pools import CLUSTER
from simcloud.rows.azure.private import ACCOUNT
from simcloud.values import has_unknown

SETTING = "azure-native:monitor:DiagnosticSetting"
POLICY = "azure-native:storage:ManagementPolicy"

_SETTING_ID = "{resourceUri}/providers/Microsoft.Insights/diagnosticSettings/{name}"
_POLICY_ID = arm_id("Microsoft.Storage/storageAccounts/managementPolicies", "accountName", "managementPolicyName")

_MONITOR = "Azure Monitor documentation, Diagnostic settings"
_LIFECYCLE = "Azure Blob Storage documentation, Lifecycle management policies"

_DESTINATIONS = (
    "eventHubAuthorizationRuleId",
    "marketplacePartnerId",
    "serviceBusRuleId",
    "storageAccountId",
    "workspaceId",
)
_CATEGORIES: Mapping[str, tuple[str, ...]] = {
    CLUSTER: (
        "cloud-controller-manager",
        "cluster-autoscaler",
        "csi-azuredisk-controller",
        "csi-azurefile-controller",
        "csi-snapshot-controller",
        "fleet-mcs-controller-manager",
        "fleet-member-agent",
        "fleet-member-net-controller-manager",
        "guard",
        "karpenter-events",
        "kube-apiserver",
        "kube-audit",
        "kube-audit-admin",
        "kube-controller-manager",
        "kube-scheduler",
    ),
}
"""Type -> what it logs. Source: Azure Monitor documentation, Supported resource log categories."""
_BLOB = "policy.rules.*.definition.actions.baseBlob"


@refusal(f"{_MONITOR}: at least one data sink")
def _destination_missing(case: Case) -> Iterator[Violation]:
    if not any(case.has(key) for key in _DESTINATIONS):
        yield Violation(what="sends its logs nowhere", allowed=", ".join(_DESTINATIONS), do="Name a destination")


@refusal("Azure Monitor documentation, Migrate diagnostic settings storage retention to lifecycle management")
def _retention_of_setting(case: Case) -> Iterator[Violation]:
    for where, kept in case.each("logs.*.retentionPolicy.enabled"):
        if kept is True:
            yield Violation(
                property=where,
                what="settings no longer decide how long logs are kept",
                do="Leave it out, and give the storage account a management policy",
            )


@refusal(f"{_MONITOR}: categories and category groups")
def _category_or_group(case: Case) -> Iterator[Violation]:
    for where, log in case.each("logs.*"):
        known = not any(has_unknown(log.get(key)) for key in ("category", "categoryGroup"))
        if known and ("category" in log) == ("categoryGroup" in log):
            yield Violation(property=where, what="names a category or a group of them", do="Set one of the two")


@refusal("Azure/azure-rest-api-specs issue 10646: Category is not supported", phase="apply")
def _category_unknown(case: Case) -> Iterator[Violation]:
    target = holder(case.clouds, str(case.get("resourceUri", "")))
    known = _CATEGORIES.get(target.type, ()) if target else ()
    for where, category in case.each("logs.*.category"):
        if known and category not in known:
            yield Violation(
                property=where,
                what=f"is nothing that {target.name if target else ''} logs",
                got=f"'{category}'",
                allowed=", ".join(known),
                do="Correct it",
            )


@refusal(f"{_MONITOR}: data sinks can't be reused in different settings on the same category", phase="apply")
def _category_kept_twice(case: Case) -> Iterator[Violation]:
    own = {value for _, value in case.each("logs.*.category")}
    for other in _beside(case):
        shared = own & {log.get("category") for log in other.get("logs") or ()}
        if shared and other.get("storageAccountId") == case.get("storageAccountId"):
            yield Violation(
                property="logs",
                what=f"setting '{other.get('name')}' sends this to the same account already",
                got=", ".join(sorted(map(str, shared))),
                do="Leave them out of one of the two",
            )


@refusal(f"{_MONITOR}: five for a resource", phase="birth")
def _too_many_settings(case: Case) -> Iterator[Violation]:
    count = len(_beside(case)) + 1
    if count > 5:
        yield Violation(
            property="resourceUri", what="has too many settings", got=str(count), allowed="5", do="Join two of them"
        )


def _beside(case: Case) -> list[Mapping[str, Any]]:
    """Other settings of the same resource."""
    found = case.clouds.every("azure", SETTING, case.place.account)
    others = [item for item in found if case.own is None or item.serial != case.own.serial]
    return [item.inputs for item in others if item.inputs.get("resourceUri") == case.get("resourceUri")]


@refusal(f"{_LIFECYCLE}: at least one rule")
def _no_rule(case: Case) -> Iterator[Violation]:
    if case.get("policy.rules") == []:
        yield Violation(property="policy.rules", what="are missing", do="Write one, or leave the policy out")


@refusal(f"{_LIFECYCLE}: names of rules are unique")
def _rule_named_twice(case: Case) -> Iterator[Violation]:
    given = [str(name) for _, name in case.each("policy.rules.*.name")]
    for name in sorted({name for name in given if given.count(name) > 1}):
        yield Violation(property="policy.rules", what="two have one name", got=f"'{name}'", do="Rename one")


@refusal(f"{_LIFECYCLE}: append blobs are only deleted")
def _append_blob_moved(case: Case) -> Iterator[Violation]:
    for where, types in case.each("policy.rules.*.definition.filters.blobTypes"):
        moved = [key for key, _ in case.each(f"{_BLOB}.tierToCool") + case.each(f"{_BLOB}.tierToArchive")]
        rule = where.partition(".definition")[0]
        for key in moved:
            if "appendBlob" in types and key.startswith(f"{rule}."):
                yield Violation(property=key, what="append blobs have no tiers", do="Delete them only")


ROWS = (
    Row(
        type=SETTING,
        id=_SETTING_ID,
        name=arm_name("name", r"[^*<>%&:\\?+/]*[^*<>%&:\\?+/.\s]", 260, _MONITOR, "no *<>%&:\\?+/ in it"),
        place="resourceUri",
        outputs=said("Microsoft.Insights/diagnosticSettings", "name"),
        immutable=frozenset({"resourceUri"}),
        references=(Reference(path="storageAccountId", types=(ACCOUNT,)),),
        unique=(_SETTING_ID,),
        refusals=(
            _destination_missing,
            _retention_of_setting,
            _category_or_group,
            _category_unknown,
            _category_kept_twice,
            _too_many_settings,
        ),
    ),
    Row(
        type=POLICY,
        id=_POLICY_ID,
        place="accountName",
        outputs={"name": "DefaultManagementPolicy", "type": "Microsoft.Storage/storageAccounts/managementPolicies"},
        defaults={"managementPolicyName": "default"},
        immutable=frozenset({"accountName", "managementPolicyName"}),
        unique=(_POLICY_ID,),
        refusals=(
            _no_rule,
            _rule_named_twice,
            _append_blob_moved,
            refusal("Azure Storage REST API, Management Policies - Create Or Update: the name is default")(
                one_of("managementPolicyName", ("default",))
            ),
            refusal(f"{_LIFECYCLE}: types of rules")(one_of("policy.rules.*.type", ("Lifecycle",))),
            refusal(f"{_LIFECYCLE}: filters")(
                one_of("policy.rules.*.definition.filters.blobTypes.*", ("blockBlob", "appendBlob"))
            ),
            refusal(
                "hashicorp/terraform-provider-azurerm documentation, azurerm_storage_management_policy: days",
                claim="days-out-of-range",
            )(between(f"{_BLOB}.delete.daysAfterModificationGreaterThan", 0, 99999, "days")),
        ),
    ),
)
