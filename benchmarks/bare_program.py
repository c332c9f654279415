"""Registers resources from a file with plain inputs: what the engine and the plugins cost without us."""

import json
import os
from pathlib import Path

import pulumi

UNKNOWN = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"


def known(value: object) -> object:
    """Return inputs without what a preview does not know."""
    if isinstance(value, dict):
        return {key: known(entry) for key, entry in value.items() if entry != UNKNOWN and not key.startswith("__")}
    if isinstance(value, list):
        return [known(entry) for entry in value if entry != UNKNOWN]
    return value


wanted = json.loads(Path(os.environ["BARE_RESOURCES"]).read_text(encoding="utf-8"))
providers: dict[str, pulumi.ProviderResource] = {}
for entry in wanted:
    if entry["type"].startswith("pulumi:providers:"):
        package = entry["type"].rsplit(":", 1)[-1]
        providers.setdefault(package, pulumi.ProviderResource(package, entry["name"], known(entry["inputs"])))
for entry in wanted:
    if not entry["type"].startswith("pulumi:providers:"):
        options = pulumi.ResourceOptions(provider=providers[entry["type"].split(":", 1)[0]])
        pulumi.CustomResource(entry["type"], entry["name"], known(entry["inputs"]), options)
