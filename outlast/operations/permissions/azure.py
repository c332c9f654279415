"""Custom roles of an Azure subscription; keys as the documentation of custom roles lists them.

What the identity may assign in turn is bound by a condition on its own assignment, not by the role.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from outlast.operations.permissions.document import Deployer, Document, Granted

_ASSIGNMENTS = "Microsoft.Authorization/roleAssignments"


def documents(deployer: Deployer, granted: Granted) -> Iterator[Document]:
    """Yield the role that deploys, with the condition under which it is assigned."""
    scope = f"/subscriptions/{deployer.account}"
    title = f"{deployer.fleet} deployer of {deployer.account}"
    define = ["az", "role", "definition", "create", "--role-definition", f"@{deployer.name}.json"]
    assign = ["az", "role", "assignment", "create", "--assignee", deployer.role or "PRINCIPAL"]
    assign += ["--role", title, "--scope", scope]
    if granted.of("grant"):
        assign += ["--condition-version", "2.0", "--condition", _condition(granted.of("grant"))]
    yield Document(
        name=deployer.name,
        content={
            "Name": title,
            "IsCustom": True,
            "Description": "Made by outlast permissions",
            "Actions": list(granted.needed),
            "NotActions": [],
            "DataActions": [],
            "NotDataActions": [],
            "AssignableScopes": [scope],
        },
        commands=(*_register(deployer.account, granted.needed), shlex.join(define), shlex.join(assign)),
        note=(
            f"Subscription {deployer.account}; the scope covers all of it, so it should hold nothing else. The "
            f"condition lets the identity assign only the roles that the stacks assign. Flow logs want listKeys, so it "
            f"may read the keys of every storage account here: keep state in another subscription."
            + ("" if deployer.role else " PRINCIPAL is the object id of who deploys.")
        ),
    )


def _register(subscription: str, actions: tuple[str, ...]) -> Iterator[str]:
    """Yield what registers the resource providers that the actions belong to."""
    for name in sorted({action.partition("/")[0] for action in actions}):
        words = ["az", "provider", "register", "--namespace", name, "--subscription", subscription, "--wait"]
        yield shlex.join(words)


def _condition(roles: tuple[str, ...]) -> str:
    """Return the condition that lets an identity assign and take away only some roles, named by their ids."""
    known = f"ForAnyOfAnyValues:GuidEquals {{{', '.join(roles)}}}"
    parts = {"write": "@Request", "delete": "@Resource"}
    return " AND ".join(
        f"((!(ActionMatches{{'{_ASSIGNMENTS}/{verb}'}})) OR ({source}[{_ASSIGNMENTS}:RoleDefinitionId] {known}))"
        for verb, source in parts.items()
    )
