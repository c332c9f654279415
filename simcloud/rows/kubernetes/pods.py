"""What an API server refuses in the pods of any workload: a pod itself, or the template of what makes pods.

The pinned SDK's classes are the schema (`shapes`), whose texts are plain strings; the words allowed in them stand here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Case, Refusal, refusal
from simcloud.values import has_unknown, is_unknown

_DOCS = "Kubernetes documentation"
_API = "Kubernetes API Reference"
_TEMPLATES = ("spec.template.spec", "spec.jobTemplate.spec.template.spec")
_CONTAINERS = ("containers.*", "initContainers.*")
_PROBES = ("startupProbe", "readinessProbe", "livenessProbe")
_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_QUANTITY = r"[+-]?(\d+(\.\d*)?|\.\d+)(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei|[eE][+-]?\d+)?"
_FACTORS = {"n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18} | {
    f"{letter}i": 1024.0**power for power, letter in enumerate("KMGTPE", 1)
}


def pods(case: Case) -> list[tuple[str, Mapping[str, Any]]]:
    """List the pod specs of an object with their paths; a kind without pods has none."""
    paths = ("spec",) if case.type == "kubernetes:core/v1:Pod" else _TEMPLATES
    return [(where, pod) for path in paths for where, pod in case.each(path) if isinstance(pod, Mapping)]


def each(case: Case, *paths: str) -> Iterator[tuple[str, Any]]:
    """List the known values at paths below every pod spec."""
    for where, _ in pods(case):
        for path in paths:
            yield from case.each(f"{where}.{path}")


def containers(case: Case, path: str = "") -> Iterator[tuple[str, Any]]:
    """List the known values at a path of every container, those that run first too."""
    yield from each(case, *(f"{kind}.{path}".rstrip(".") for kind in _CONTAINERS))


def amount(quantity: Any) -> float | None:
    """Read a quantity; None if it is not one. Source: Kubernetes API Reference, Quantity."""
    text = str(quantity)
    match = re.fullmatch(_QUANTITY, text)
    if match is None:
        return None
    suffix = match[3] or ""
    if suffix in _FACTORS:
        return float(text.removesuffix(suffix)) * _FACTORS[suffix]
    return float(text)


def _words(claim: str, source: str, words: tuple[str, ...], *paths: str) -> Refusal:
    """Make a refusal of any other word at paths below a pod spec."""

    @refusal(source, claim=f"{claim}-unknown")
    def check(case: Case) -> Iterator[Violation]:
        for where, value in each(case, *paths):
            if value not in words:
                yield Violation(
                    property=where,
                    what="is not a word the API server knows",
                    got=repr(value),
                    allowed=", ".join(word or "''" for word in words),
                    do="Use one of these",
                )

    return check


_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
_EXPRESSIONS = (
    "affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.*.matchExpressions.*",
    "affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution.*.preference.matchExpressions.*",
)
_HOST_PATHS = ("", "DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
_POLICIES = ("Always", "IfNotPresent", "Never")

WORDS = (
    _words("restart-policy", f"{_API}, PodSpec: restartPolicy", ("Always", "OnFailure", "Never"), "restartPolicy"),
    _words(
        "dns-policy",
        f"{_API}, PodSpec: dnsPolicy",
        ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"),
        "dnsPolicy",
    ),
    _words(
        "pull-policy",
        f"{_API}, Container: imagePullPolicy",
        _POLICIES,
        *(f"{kind}.imagePullPolicy" for kind in _CONTAINERS),
    ),
    _words("host-path", f"{_DOCS}, Volumes: hostPath volume types", _HOST_PATHS, "volumes.*.hostPath.type"),
    _words(
        "toleration-effect",
        f"{_DOCS}, Taints and Tolerations",
        ("", "NoSchedule", "PreferNoSchedule", "NoExecute"),
        "tolerations.*.effect",
    ),
    _words(
        "spread",
        f"{_DOCS}, Pod Topology Spread Constraints",
        ("DoNotSchedule", "ScheduleAnyway"),
        "topologySpreadConstraints.*.whenUnsatisfiable",
    ),
    _words(
        "affinity-operator",
        f"{_DOCS}, Assigning Pods to Nodes: Operators",
        _OPERATORS,
        *(f"{path}.operator" for path in _EXPRESSIONS),
    ),
    _words(
        "seccomp",
        f"{_API}, SeccompProfile",
        ("Localhost", "RuntimeDefault", "Unconfined"),
        "securityContext.seccompProfile.type",
        *(f"{kind}.securityContext.seccompProfile.type" for kind in _CONTAINERS),
    ),
    _words(
        "port-protocol",
        f"{_API}, ContainerPort",
        ("TCP", "UDP", "SCTP"),
        *(f"{kind}.ports.*.protocol" for kind in _CONTAINERS),
    ),
)


@refusal(f"{_API}, Quantity", claim="size-limit")
def _size_limit(case: Case) -> Iterator[Violation]:
    for where, value in each(case, "volumes.*.emptyDir.sizeLimit"):
        if (amount(value) or 0) <= 0:
            yield Violation(property=where, what="is not a size", got=f"'{value}'", do="Write it as 32Gi")


@refusal(f"{_DOCS}, Resource Management for Pods and Containers: Extended resources", claim="parts-of-a-device")
def _parts_of_a_device(case: Case) -> Iterator[Violation]:
    for part in ("limits", "requests"):
        for where, given in containers(case, f"resources.{part}"):
            for key, value in given.items():
                wanted = None if is_unknown(value) or "/" not in key else amount(value)
                if wanted is not None and not wanted.is_integer():
                    yield Violation(
                        property=f"{where}.{key}",
                        what="comes in whole pieces",
                        got=f"'{value}'",
                        do="Ask for a whole number",
                    )


@refusal(f"{_DOCS}, Resource Management for Pods and Containers: Requests and limits", claim="request-above-limit")
def _request_above_limit(case: Case) -> Iterator[Violation]:
    for where, block in containers(case, "resources"):
        if has_unknown(block):
            continue
        limits = block.get("limits") or {}
        for key, value in (block.get("requests") or {}).items():
            wanted, limit = amount(value), amount(limits.get(key))
            if "/" not in key and wanted is not None and limit is not None and wanted > limit:
                yield Violation(
                    property=f"{where}.requests.{key}",
                    what="is more than the limit",
                    got=f"'{value}'",
                    allowed=f"at most {limits[key]}",
                    do="Lower the request or raise the limit",
                )


@refusal(f"{_API}, Probe and LifecycleHandler", claim="one-handler")
def _one_handler(case: Case) -> Iterator[Violation]:
    handlers = {**dict.fromkeys(_PROBES, ("exec", "grpc", "httpGet", "tcpSocket"))}
    handlers |= dict.fromkeys(("lifecycle.preStop", "lifecycle.postStart"), ("exec", "httpGet", "sleep", "tcpSocket"))
    for path, known in handlers.items():
        for where, block in containers(case, path):
            given = [word for word in known if block.get(word) is not None]
            if len(given) != 1:
                yield Violation(
                    property=where,
                    what="needs one handler",
                    got=", ".join(given) or "none",
                    allowed=", ".join(known),
                    do="Give one",
                )


@refusal(f"{_API}, ContainerPort", claim="port-malformed")
def _port_malformed(case: Case) -> Iterator[Violation]:
    for where, number in containers(case, "ports.*.containerPort"):
        if not 1 <= number <= 65535:
            yield Violation(
                property=where, what="is not a port", got=f"{number}", allowed="1 to 65535", do="Correct it"
            )
    seen: set[str] = set()
    for where, name in each(case, "containers.*.ports.*.name"):
        if not re.fullmatch(r"(?=.*[a-z])(?!.*--)[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?", str(name)):
            yield Violation(
                property=where,
                what="is not the name of a port",
                got=f"'{name}'",
                allowed="at most 15 lower-case letters, digits and single -, with a letter",
                do="Rename it",
            )
        elif name in seen:
            yield Violation(property=where, what=f"there are two ports '{name}'", do="Rename one")
        seen.add(str(name))


@refusal(f"{_API}, Volume", claim="volume-malformed")
def _volume_malformed(case: Case) -> Iterator[Violation]:
    seen: set[str] = set()
    for where, volume in each(case, "volumes.*"):
        name, sources = volume.get("name"), [key for key in volume if key != "name"]
        if is_unknown(name):
            continue
        if not re.fullmatch(_LABEL, str(name)):
            yield Violation(property=f"{where}.name", what=f"'{name}' is not a name", do="Use a-z, 0-9 and -")
        if str(name) in seen:
            yield Violation(property=f"{where}.name", what=f"there are two volumes '{name}'", do="Rename one")
        if len(sources) > 1:
            yield Violation(property=where, what="has more than one source", got=", ".join(sources), do="Give one")
        seen.add(str(name))


@refusal(f"{_API}, VolumeMount", claim="mounted-twice")
def _mounted_twice(case: Case) -> Iterator[Violation]:
    for where, mounts in containers(case, "volumeMounts"):
        paths = [mount.get("mountPath") for mount in mounts if not is_unknown(mount)]
        for twice in sorted({str(path) for path in paths if paths.count(path) > 1 and not is_unknown(path)}):
            yield Violation(property=where, what=f"two volumes are mounted at '{twice}'", do="Mount one elsewhere")


@refusal(f"{_API}, EnvVar", claim="variable-given-twice")
def _variable_given_twice(case: Case) -> Iterator[Violation]:
    for where, variable in containers(case, "env.*"):
        if variable.get("value") and variable.get("valueFrom"):
            yield Violation(property=where, what="has a value and a source of its value", do="Give one")


@refusal(f"{_DOCS}, Taints and Tolerations", claim="toleration-contradicts-itself")
def _toleration(case: Case) -> Iterator[Violation]:
    for where, block in each(case, "tolerations.*"):
        operator = block.get("operator") or "Equal"
        if has_unknown(block):
            continue
        if operator not in ("Equal", "Exists"):
            yield Violation(
                property=f"{where}.operator",
                what="is no operator of a toleration",
                got=f"'{operator}'",
                allowed="Equal, Exists",
                do="Use one of these",
            )
        elif operator == "Exists" and block.get("value"):
            yield Violation(property=where, what="tolerates any value and names one", do="Leave the value out")
        elif operator == "Equal" and not block.get("key"):
            yield Violation(property=where, what="without a key the operator is Exists", do="Give a key")


@refusal(f"{_DOCS}, Pod Topology Spread Constraints: maxSkew", claim="spread-malformed")
def _spread(case: Case) -> Iterator[Violation]:
    seen: set[tuple[str, str]] = set()
    for where, block in each(case, "topologySpreadConstraints.*"):
        skew = block.get("maxSkew")
        if isinstance(skew, int) and skew < 1:
            yield Violation(property=f"{where}.maxSkew", what="is too small", got=f"{skew}", do="Use 1 or more")
        pair = str(block.get("topologyKey")), str(block.get("whenUnsatisfiable"))
        if pair in seen and not has_unknown(list(pair)):
            yield Violation(property=where, what=f"repeats {pair[0]} with {pair[1]}", do="Leave one out")
        seen.add(pair)


@refusal(f"{_DOCS}, Assigning Pods to Nodes: Operators", claim="expression-and-values")
def _expression_and_values(case: Case) -> Iterator[Violation]:
    for where, block in each(case, *_EXPRESSIONS):
        operator, values = block.get("operator"), block.get("values")
        if has_unknown([operator, values]):
            continue
        if operator in ("Exists", "DoesNotExist") and values:
            yield Violation(property=where, what=f"{operator} takes no values", do="Leave them out")
        elif operator in ("In", "NotIn") and not values:
            yield Violation(property=where, what=f"{operator} needs values", do="Give at least one")


@refusal(f"{_API}, SecurityContext", claim="privilege-contradicts-itself")
def _privilege(case: Case) -> Iterator[Violation]:
    for where, block in containers(case, "securityContext"):
        added = [] if has_unknown(block) else (block.get("capabilities") or {}).get("add") or []
        if block.get("allowPrivilegeEscalation") is False and (block.get("privileged") is True or "SYS_ADMIN" in added):
            yield Violation(
                property=f"{where}.allowPrivilegeEscalation",
                what="cannot be false for what is privileged",
                do="Leave it out, or take the privilege away",
            )


@refusal(f"{_API}, PodSpec: terminationGracePeriodSeconds", claim="grace-period")
def _grace_period(case: Case) -> Iterator[Violation]:
    for where, value in each(case, "terminationGracePeriodSeconds"):
        if isinstance(value, int) and value < 0:
            yield Violation(property=where, what="is negative", got=f"{value} s", do="Use 0 or more")


REFUSALS = (
    *WORDS,
    _size_limit,
    _parts_of_a_device,
    _request_above_limit,
    _one_handler,
    _port_malformed,
    _volume_malformed,
    _mounted_twice,
    _variable_given_twice,
    _toleration,
    _spread,
    _expression_and_values,
    _privilege,
    _grace_period,
)
