"""Kubernetes objects of the core and apps groups: their forms and what the API server refuses.

The pinned SDK's classes are the schema (`shapes`); here is what an API server judges beyond it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.addresses import public_address
from simcloud.refusals import Violation
from simcloud.row import Born, Case, Computed, Name, Refusal, Row, one_of, refusal
from simcloud.rows.kubernetes.security import level_unknown
from simcloud.rows.kubernetes.services import port_twice, traffic_policy
from simcloud.values import UNKNOWN, at, first, has_unknown, is_unknown

NAMESPACE = "kubernetes:core/v1:Namespace"
SERVICE = "kubernetes:core/v1:Service"
CONFIG_MAP = "kubernetes:core/v1:ConfigMap"
DEPLOYMENT = "kubernetes:apps/v1:Deployment"
DAEMON_SET = "kubernetes:apps/v1:DaemonSet"

_DOCS = "Kubernetes documentation"
_API = "Kubernetes API Reference"
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_ALWAYS = frozenset({"default", "kube-system", "kube-public", "kube-node-lease"})


def object_name(
    longest: int = 253, pattern: str = rf"{_LABEL}(\.{_LABEL})*", says: str = "lower-case letters, digits, - and ."
) -> Name:
    """The form of an object's name: a DNS subdomain unless its kind wants a label."""
    return Name(
        path="metadata.name",
        pattern=pattern,
        longest=longest,
        source=f"{_DOCS}, Object Names and IDs (RFC 1123)",
        says=says,
    )


_AS_LABEL = object_name(63, _LABEL, "lower-case letters, digits and -")
_AS_SERVICE = object_name(63, r"[a-z]([-a-z0-9]*[a-z0-9])?", "lower-case letters, digits and -, starting with a letter")


@refusal(f"{_DOCS}, Namespaces", phase="apply", watch=("metadata.namespace",))
def namespace_missing(case: Case) -> Iterator[Violation]:
    """Refuse an object whose namespace does not exist."""
    name = case.get("metadata.namespace", "default")
    found = [item for item in case.clouds.find(str(name), [NAMESPACE]) if item.account == case.place.account]
    if name not in _ALWAYS and not found:
        yield Violation(
            property="metadata.namespace", what=f"there is no namespace '{name}'", do="Create it first (depends_on)"
        )


@refusal(f"{_DOCS}, Deployments: Selector")
def _selector_matches_nothing(case: Case) -> Iterator[Violation]:
    if case.unsure("spec.selector") or has_unknown(
        [case.get("spec.selector"), case.get("spec.template.metadata", UNKNOWN)]
    ):
        return
    wanted, labels = case.get("spec.selector.matchLabels") or {}, case.get("spec.template.metadata.labels") or {}
    missing = sorted(key for key, value in wanted.items() if labels.get(key) != value)
    if missing or not (wanted or case.has("spec.selector.matchExpressions")):
        yield Violation(
            property="spec.selector",
            what="does not match the template's labels",
            got=", ".join(missing) or "an empty selector",
            do="Give the template the selector's labels",
        )


@refusal(f"{_API}, PodSpec")
def _containers(case: Case) -> Iterator[Violation]:
    containers = case.get("spec.template.spec.containers") or []
    names = [item.get("name") for item in containers if isinstance(item, dict)]
    if not names and not case.unsure("spec.template.spec.containers.*"):
        yield Violation(property="spec.template.spec.containers", what="is empty", do="Add a container")
    for twice in sorted({str(name) for name in names if names.count(name) > 1}):
        yield Violation(property="spec.template.spec.containers", what=f"has two containers '{twice}'", do="Rename one")
    for name in names:
        if not is_unknown(name) and (not re.fullmatch(_LABEL, str(name)) or len(str(name)) > 63):
            yield Violation(
                property="spec.template.spec.containers", what=f"'{name}' is not a name", do="Use a-z, 0-9 and -"
            )


@refusal(f"{_API}, Volume and VolumeMount")
def _mount_without_volume(case: Case) -> Iterator[Violation]:
    if case.unsure("spec.template.spec.volumes.*.name"):
        return
    volumes = {value for _, value in case.each("spec.template.spec.volumes.*.name")}
    for kind in ("containers", "initContainers"):
        for where, name in case.each(f"spec.template.spec.{kind}.*.volumeMounts.*.name"):
            if name not in volumes:
                yield Violation(property=where, what=f"there is no volume '{name}'", do="Add it to the pod's volumes")


@refusal(f"{_DOCS}, Volumes: Mount propagation")
def _propagation_needs_privilege(case: Case) -> Iterator[Violation]:
    for kind in ("containers", "initContainers"):
        for where, container in case.each(f"spec.template.spec.{kind}.*"):
            privileged = first(container, "securityContext.privileged")
            modes = [value for _, value in at(container, "volumeMounts.*.mountPropagation")]
            if "Bidirectional" in modes and privileged is not True and not is_unknown(privileged):
                yield Violation(
                    property=f"{where}.securityContext.privileged",
                    what="only a privileged container may mount for the node",
                    got=str(privileged),
                    allowed="true",
                    do="Make it privileged, or mount without mountPropagation: Bidirectional",
                )


@refusal(f"{_DOCS}, DaemonSet: Pod Template")
def _restarts_always(case: Case) -> Iterator[Violation]:
    policy = case.get("spec.template.spec.restartPolicy", "Always")
    if policy != "Always":
        yield Violation(
            property="spec.template.spec.restartPolicy",
            what="pods of a DaemonSet always restart",
            got=f"'{policy}'",
            allowed="Always",
            do="Leave it out",
        )


@refusal(f"{_DOCS}, Resource Management for Pods and Containers")
def _quantity(case: Case) -> Iterator[Violation]:
    for kind in ("containers", "initContainers"):
        for part in ("limits", "requests"):
            for where, value in case.each(f"spec.template.spec.{kind}.*.resources.{part}.*"):
                if not re.fullmatch(r"\d+(\.\d+)?(m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|e\d+)?", str(value)):
                    yield Violation(
                        property=where, what="is not a quantity", got=f"'{value}'", do="Write it as 500m or 80Gi"
                    )


@refusal(f"{_DOCS}, Schedule GPUs; Extended resources")
def _gpu_limits(case: Case) -> Iterator[Violation]:
    for where, block in case.each("spec.template.spec.containers.*.resources"):
        for key, wanted in () if has_unknown(block) else (block.get("requests") or {}).items():
            limit = (block.get("limits") or {}).get(key)
            if "/" in key and str(limit) != str(wanted) and not has_unknown([limit, wanted]):
                yield Violation(
                    property=f"{where}.limits",
                    what=f"{key} must be limited to what is requested",
                    got=f"{wanted} and {limit}",
                    do="Set the limit to the request",
                )


@refusal(f"{_API}, ServiceSpec")
def _ports(case: Case) -> Iterator[Violation]:
    kind = case.get("spec.type", "ClusterIP")
    if kind != "ExternalName" and not case.has("spec.ports.*") and case.get("spec.clusterIP") != "None":
        yield Violation(property="spec.ports", what="is empty", do="Add a port")
    for where, port in case.each("spec.ports.*.port"):
        if isinstance(port, int) and not 1 <= port <= 65535:
            yield Violation(property=where, what="is not a port", got=str(port), allowed="1 to 65535", do="Correct it")
    names = [item.get("name") for _, item in case.each("spec.ports.*")]
    if len(names) > 1 and (None in names or len(set(names)) < len(names)):
        yield Violation(property="spec.ports", what="several ports need names of their own", do="Name each port")


@refusal(f"{_API}, DeploymentStrategy")
def _strategy(case: Case) -> Iterator[Violation]:
    kind, rolling = case.get("spec.strategy.type", "RollingUpdate"), case.get("spec.strategy.rollingUpdate")
    if kind not in ("RollingUpdate", "Recreate"):
        yield Violation(
            property="spec.strategy.type",
            what="is not a strategy",
            got=f"'{kind}'",
            allowed="RollingUpdate, Recreate",
            do="Use one of these",
        )
    elif kind == "Recreate" and rolling:
        yield Violation(property="spec.strategy.rollingUpdate", what="is not for Recreate", do="Leave it out")
    elif isinstance(rolling, dict) and _is_none(rolling.get("maxSurge")) and _is_none(rolling.get("maxUnavailable")):
        yield Violation(
            property="spec.strategy.rollingUpdate",
            what="maxSurge and maxUnavailable are both 0, so that nothing could ever be replaced",
            do="Raise one",
        )


def _is_none(value: Any) -> bool:
    return value in (0, "0", "0%")


@refusal(f"{_API}, DeploymentSpec: replicas")
def _negative_replicas(case: Case) -> Iterator[Violation]:
    count = case.get("spec.replicas", 1)
    if isinstance(count, int) and count < 0:
        yield Violation(property="spec.replicas", what="is negative", got=f"{count}", do="Use 0 or more")


@refusal(f"{_DOCS}, ConfigMaps: at most 1 MiB")
def _size(case: Case) -> Iterator[Violation]:
    found = [*case.each("data.*"), *case.each("binaryData.*")]
    size = sum(len(str(value).encode()) for _, value in found)
    if size > 1024 * 1024:
        yield Violation(what="is too large", got=f"{size} bytes", allowed="1048576 bytes", do="Mount a volume instead")


@refusal(f"{_DOCS}, ConfigMaps: object")
def _key_malformed(case: Case) -> Iterator[Violation]:
    for part in ("data", "binaryData"):
        for key in case.get(part) or {}:
            if not re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key) or key in (".", ".."):
                yield Violation(
                    property=f"{part}.{key}", what="is not a key", got=f"'{key}'", do="Use letters, digits, - _ and ."
                )


@refusal(f"{_API}, ServiceSpec: loadBalancerIP", phase="apply", watch=("spec.loadBalancerIP",))
def _address_not_reserved(case: Case) -> Iterator[Violation]:
    address = case.get("spec.loadBalancerIP")
    if address is not None and not case.clouds.find(str(address)):
        yield Violation(
            property="spec.loadBalancerIP",
            what="is no reserved address",
            got=str(address),
            do="Reserve it in the region first",
        )


@refusal(f"{_DOCS}, Specifying a Disruption Budget for your Application")
def _one_budget(case: Case) -> Iterator[Violation]:
    given = [key for key in ("minAvailable", "maxUnavailable") if case.has(f"spec.{key}")]
    if len(given) != 1 and not case.unsure("spec"):
        yield Violation(
            property="spec",
            what="a budget has either minAvailable or maxUnavailable",
            got=", ".join(given) or "none",
            do="Give one",
        )


def object_id(born: Born) -> str:
    """`namespace/name`, or the name alone for what has no namespace."""
    metadata = born.inputs.get("metadata") or {}
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}"


def object_key(case: Case) -> str | None:
    """An object's name in its cluster."""
    name, namespace = case.get("metadata.name"), case.get("metadata.namespace", "default")
    return f"{case.place.account}/{namespace}/{name}" if name else None


def cluster_id(born: Born) -> str:
    """Id of what has no namespace."""
    return str((born.inputs.get("metadata") or {})["name"])


def cluster_key(case: Case) -> str | None:
    """Name of what has no namespace in its cluster."""
    return f"{case.place.account}/{case.get('metadata.name')}" if case.get("metadata.name") else None


def _uid(born: Born) -> str:
    return f"{born.hash[:8]}-{born.hash[8:12]}-{born.hash[12:16]}-{born.hash[16:20]}-{born.hash[20:32]}"


METADATA: Mapping[str, Computed] = {"uid": _uid, "creationTimestamp": "2026-01-01T00:00:00Z"}
"""What the API server adds to the metadata of any object."""


def _service_status(born: Born) -> dict[str, Any]:
    spec = born.inputs.get("spec") or {}
    if spec.get("type") != "LoadBalancer":
        return {"loadBalancer": {}}
    return {"loadBalancer": {"ingress": [{"ip": spec.get("loadBalancerIP") or public_address(born)}]}}


def _service_spec(born: Born) -> dict[str, Any]:
    return {"clusterIP": f"10.96.{born.number(0, 256)}.{born.number(1, 255, 1)}"}


def _deployment_status(born: Born) -> dict[str, Any]:
    count = (born.inputs.get("spec") or {}).get("replicas", 1)
    return {"replicas": count, "readyReplicas": count, "availableReplicas": count, "updatedReplicas": count}


def _daemon_status(_: Born) -> dict[str, Any]:
    """Say that nothing runs yet: which nodes there are is not simulated."""
    return dict.fromkeys(("currentNumberScheduled", "desiredNumberScheduled", "numberMisscheduled", "numberReady"), 0)


def _namespaced(
    type_: str,
    *refusals: Refusal,
    name: Name | None = None,
    outputs: Mapping[str, Computed] | None = None,
    immutable: str = "",
) -> Row:
    """Return the row of a type whose objects live in a namespace, with what all of them share."""
    return Row(
        type=type_,
        id=object_id,
        name=name or object_name(),
        outputs={"metadata": METADATA, **(outputs or {})},
        immutable=frozenset({"metadata.namespace", immutable} - {""}),
        unique=(object_key,),
        refusals=(namespace_missing, *refusals),
    )


ROWS = (
    Row(
        type=NAMESPACE,
        id=cluster_id,
        name=_AS_LABEL,
        place="cluster",
        outputs={"metadata": METADATA, "status": {"phase": "Active"}},
        unique=(cluster_key,),
        refusals=(level_unknown,),
    ),
    _namespaced("kubernetes:core/v1:ServiceAccount"),
    _namespaced(CONFIG_MAP, _size, _key_malformed),
    _namespaced(
        SERVICE,
        _ports,
        port_twice,
        traffic_policy,
        _address_not_reserved,
        refusal(f"{_API}, ServiceSpec: type")(
            one_of("spec.type", ("ClusterIP", "NodePort", "LoadBalancer", "ExternalName"))
        ),
        name=_AS_SERVICE,
        outputs={"spec": _service_spec, "status": _service_status},
        immutable="spec.clusterIP",
    ),
    _namespaced(
        DEPLOYMENT,
        _strategy,
        _negative_replicas,
        _selector_matches_nothing,
        _containers,
        _mount_without_volume,
        _quantity,
        _gpu_limits,
        _propagation_needs_privilege,
        outputs={"status": _deployment_status},
        immutable="spec.selector",
    ),
    _namespaced(
        DAEMON_SET,
        _selector_matches_nothing,
        _containers,
        _mount_without_volume,
        _quantity,
        _gpu_limits,
        _propagation_needs_privilege,
        _restarts_always,
        outputs={"status": _daemon_status},
        immutable="spec.selector",
    ),
    _namespaced("kubernetes:policy/v1:PodDisruptionBudget", _one_budget),
)
