"""Registers resources from a file: what the engine, the plugins and the SDK cost without us.

The SDK's class of each type is loaded, as in any program that declares it; components, checks and files are left out.
"""

import importlib
import json
import os
from pathlib import Path
from typing import Any

import pulumi

MARK = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's own mark of an unknown text."""


def inputs_of(value: Any) -> Any:
    """Return inputs as a program gives them: unknowns as unknowns, without the marks that providers add."""
    if isinstance(value, dict):
        return {key: inputs_of(entry) for key, entry in value.items() if not key.startswith("__")}
    if isinstance(value, list):
        return [inputs_of(entry) for entry in value]
    return pulumi.UNKNOWN if value == MARK else value


def load_class(token: str) -> None:
    """Load the SDK's class of a type, such as ``aws:eks/nodeGroup:NodeGroup``."""
    package, module, name = token.split(":")
    module = module.split("/")[0] if package != "kubernetes" else module.replace("/", ".")
    getattr(importlib.import_module(f"pulumi_{package.replace('-', '_')}.{module}"), name)


made: dict[str, pulumi.Resource] = {}
for entry in json.loads(Path(os.environ["BARE_RESOURCES"]).read_text(encoding="utf-8")):
    inputs = inputs_of(entry["inputs"])
    after = [made[urn] for urn in entry["after"] if urn in made]
    if entry["type"].startswith("pulumi:providers:"):
        package = entry["type"].rsplit(":", 1)[-1]
        options = pulumi.ResourceOptions(depends_on=after)
        made[entry["urn"]] = pulumi.ProviderResource(package, entry["name"], inputs, options)
        continue
    load_class(entry["type"])
    provider = made[entry["provider"]]
    options = pulumi.ResourceOptions(provider=provider, depends_on=after)  # type: ignore[arg-type]
    made[entry["urn"]] = pulumi.CustomResource(entry["type"], entry["name"], inputs, options)
