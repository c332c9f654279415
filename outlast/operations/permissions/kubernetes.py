"""The ClusterRole of whoever deploys into a region's cluster; verbs as the Kubernetes API concepts list them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from outlast.operations.permissions.document import Deployer, Document, Granted

_READ = ["get", "list", "watch"]
_ALL = [*_READ, "create", "update", "patch", "delete"]


def documents(deployer: Deployer, granted: Granted) -> Iterator[Document]:
    """Yield one role, the same for every cluster of the fleet."""
    name = f"{deployer.fleet}-deployer"
    owned = set(granted.of("all"))
    rules = [*_rules(owned, _ALL), *_rules(set(granted.of("read")) - owned, _READ)]
    bind = ["kubectl", "create", "clusterrolebinding", name, f"--clusterrole={name}", "--user=USER"]
    yield Document(
        name=f"{deployer.cloud}-{name}",
        content={
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRole",
            "metadata": {"name": name},
            "rules": rules,
        },
        commands=(f"kubectl apply -f {deployer.cloud}-{name}.json", shlex.join(bind)),
        note=(
            f"Clusters of {', '.join(site.region for site in deployer.sites)}; the first deployment needs a principal "
            f"of access.admin, because the cluster has no role yet. It is of use where another identity deploys later, "
            f"or a pipeline of GitOps; principals of access.admin need none. USER is its name in the cluster."
        ),
    )


def _rules(words: set[str], verbs: list[str]) -> Iterator[dict[str, Any]]:
    """Yield a rule for each group of the API; a word is ``<group>/<resource>``, without a group in the core one."""
    groups: dict[str, list[str]] = {}
    for word in sorted(words):
        group, _, resource = word.rpartition("/")
        groups.setdefault(group, []).append(resource)
    for group, resources in sorted(groups.items()):
        yield {"apiGroups": [group], "resources": resources, "verbs": verbs}
