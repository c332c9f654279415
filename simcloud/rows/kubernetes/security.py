"""Pod security admission: what a namespace lets its pods do, by its label `pod-security.kubernetes.io/enforce`.

The real admission stops the pods and not the workload that makes them; the workload then never becomes ready, which is
when `pulumi up` fails. Here the workload is refused at once, with the reason. Source of all lists: Kubernetes
documentation, Pod Security Standards.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simcloud.refusals import Violation
from simcloud.row import Case, refusal
from simcloud.rows.kubernetes.pods import containers, each, pods

ENFORCE = "pod-security.kubernetes.io/enforce"
LEVELS = ("privileged", "baseline", "restricted")
_STANDARDS = "Kubernetes documentation, Pod Security Standards"
_NAMESPACE = "kubernetes:core/v1:Namespace"
_BASELINE_CAPABILITIES = frozenset(
    {
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    }
)
_RESTRICTED_VOLUMES = frozenset(
    {
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "persistentVolumeClaim",
        "projected",
        "secret",
    }
)


@refusal("Kubernetes documentation, Pod Security Admission: labels for namespaces", claim="security-level-unknown")
def level_unknown(case: Case) -> Iterator[Violation]:
    """Refuse a namespace whose labels name no level."""
    labels = case.get("metadata.labels")
    for mode in ("enforce", "audit", "warn") if isinstance(labels, Mapping) else ():
        key = f"pod-security.kubernetes.io/{mode}"
        if labels is not None and labels.get(key, LEVELS[0]) not in LEVELS:
            yield Violation(
                property=f"metadata.labels.{key}",
                what="is not a level of pod security",
                got=f"'{labels[key]}'",
                allowed=", ".join(LEVELS),
                do="Use one of these",
            )


@refusal(_STANDARDS, phase="apply", claim="pod-security")
def pod_security(case: Case) -> Iterator[Violation]:
    """Refuse pods that their namespace does not let in."""
    level = _level(case) if pods(case) else LEVELS[0]
    if level == LEVELS[0]:
        return
    found = [*_below_baseline(case), *(_below_restricted(case) if level == LEVELS[2] else ())]
    for where, what in found:
        yield Violation(
            property=where,
            what=f"{what}, and the namespace enforces {level}",
            do=f"Leave it out, or label the namespace {ENFORCE}={LEVELS[0]}",
        )


def _level(case: Case) -> str:
    """The level that the object's namespace enforces; a namespace without the label enforces none."""
    namespace = case.target("metadata.namespace", _NAMESPACE)
    labels = (namespace.inputs.get("metadata") or {}).get("labels") if namespace else None
    return str((labels or {}).get(ENFORCE, LEVELS[0]))


def _below_baseline(case: Case) -> Iterator[tuple[str, str]]:
    for word in ("hostNetwork", "hostPID", "hostIPC"):
        yield from ((where, "shares the node's own namespaces") for where, value in each(case, word) if value is True)
    yield from ((where, "mounts a path of the node") for where, _ in each(case, "volumes.*.hostPath"))
    for where, context in containers(case, "securityContext"):
        if context.get("privileged") is True:
            yield f"{where}.privileged", "is privileged"
        added = set((context.get("capabilities") or {}).get("add") or ()) - _BASELINE_CAPABILITIES
        if added:
            yield f"{where}.capabilities.add", f"adds {', '.join(sorted(added))}"
    yield from ((where, "takes a port of the node") for where, port in containers(case, "ports.*.hostPort") if port)


def _below_restricted(case: Case) -> Iterator[tuple[str, str]]:
    for where, volume in each(case, "volumes.*"):
        others = volume.keys() - {"name"} - _RESTRICTED_VOLUMES
        yield from ((f"{where}.{kind}", "is a volume of another kind") for kind in sorted(others - {"hostPath"}))
    for where, pod in pods(case):
        for kind in ("containers", "initContainers"):
            for index, container in enumerate(pod.get(kind) or ()):
                path = f"{where}.{kind}[{index}].securityContext"
                yield from ((path, what) for what in _unrestricted(pod, container))


def _unrestricted(pod: Mapping[str, Any], container: Mapping[str, Any]) -> Iterator[str]:
    """What one container lacks; the pod's context holds where the container's own is silent."""
    own: Mapping[str, Any] = container.get("securityContext") or {}
    context = {**(pod.get("securityContext") or {}), **own}
    capabilities = own.get("capabilities") or {}
    if own.get("allowPrivilegeEscalation") is not False:
        yield "may gain privileges (allowPrivilegeEscalation)"
    if "ALL" not in (capabilities.get("drop") or ()) or set(capabilities.get("add") or ()) - {"NET_BIND_SERVICE"}:
        yield "keeps capabilities (capabilities.drop: [ALL])"
    if context.get("runAsNonRoot") is not True or context.get("runAsUser") == 0:
        yield "may run as root (runAsNonRoot)"
    if (context.get("seccompProfile") or {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "has no seccomp profile (seccompProfile.type)"
