"""Custom roles of a Google Cloud project; options as the reference of ``gcloud iam roles create`` lists them.

A role's grant can be bound to what it may grant in turn, by `iam.googleapis.com/modifiedGrantsByRole`, and only for
grants of the project. So what changes the project's policy is a role of its own, granted under that condition.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from outlast.operations.permissions.document import Deployer, Document, Granted

_GRANTING = "resourcemanager.projects.setIamPolicy"
_SERVICES = {"resourcemanager": "cloudresourcemanager"}
"""Services whose name is not what their permissions start with."""
_ATTRIBUTE = "iam.googleapis.com/modifiedGrantsByRole"


def documents(deployer: Deployer, granted: Granted) -> Iterator[Document]:
    """Yield the role that deploys, and the one that grants a fixed list of roles."""
    role = f"{deployer.fleet.replace('-', '_')}_deployer"
    project = deployer.account
    plain = [word for word in granted.needed if word != _GRANTING]
    member = "" if deployer.role else " MEMBER is who deploys, as 'user:…' or 'serviceAccount:…'."
    yield Document(
        name=deployer.name,
        content=_role(f"Deploys {deployer.fleet}", plain),
        commands=(*_enable(project, plain), _create(role, project, deployer.name), _bind(deployer, role)),
        note=(
            f"Project {project}; a role cannot be bound to regions, so the project should hold nothing else: this one "
            f"may act as every service account in it, and let others do so.{member}"
        ),
    )
    if _GRANTING not in granted.needed:
        return
    roles = ", ".join(f"'{word}'" for word in granted.of("grant"))
    # The delimiter is set to a semicolon, because the expression holds commas.
    condition = f"^;^expression=api.getAttribute('{_ATTRIBUTE}', []).hasOnly([{roles}]);title=only these roles"
    yield Document(
        name=f"{deployer.name}-grants",
        content=_role(f"Grants roles for {deployer.fleet}", [_GRANTING]),
        commands=(
            _create(f"{role}_grants", project, f"{deployer.name}-grants"),
            _bind(deployer, f"{role}_grants", f"--condition={condition}"),
        ),
        note=f"Project {project}; without the condition it could make itself the owner.",
    )


def _enable(project: str, words: list[str]) -> Iterator[str]:
    """Yield what turns on the services that the words belong to, and makes the agents that keys are granted to."""
    services = sorted({_SERVICES.get(name, name) for name in (word.partition(".")[0] for word in words)})
    apis = [f"{name}.googleapis.com" for name in services]
    yield shlex.join(["gcloud", "services", "enable", *apis, f"--project={project}"])
    yield shlex.join(["gcloud", "storage", "service-agent", f"--project={project}"])
    agent = ["gcloud", "beta", "services", "identity", "create", "--service=artifactregistry.googleapis.com"]
    yield shlex.join([*agent, f"--project={project}"])


def _role(title: str, words: list[str]) -> dict[str, object]:
    return {
        "title": title,
        "description": "Made by outlast permissions",
        "stage": "GA",
        "includedPermissions": words,
    }


def _create(role: str, project: str, name: str) -> str:
    return shlex.join(["gcloud", "iam", "roles", "create", role, f"--project={project}", f"--file={name}.json"])


def _bind(deployer: Deployer, role: str, *flags: str) -> str:
    project = deployer.account
    member = f"serviceAccount:{deployer.role}" if deployer.role else "MEMBER"
    words = ["gcloud", "projects", "add-iam-policy-binding", project, f"--member={member}"]
    words += [f"--role=projects/{project}/roles/{role}", *(flags or ("--condition=None",))]
    return shlex.join(words)
