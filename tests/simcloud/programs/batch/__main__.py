"""Declares what the document named in BATCH says: providers and resources with the wire's own property names.

`@name.output` as a value is an output of an earlier resource; a provider's text may be a list of pieces to join.
"""

import json
import os
import re
from pathlib import Path

import pulumi

document = json.loads(Path(os.environ["BATCH"]).read_text(encoding="utf-8"))
made: dict[str, pulumi.CustomResource] = {}


def filled(value):
    """Put outputs in the place of references."""
    if isinstance(value, dict):
        return {key: filled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [filled(item) for item in value]
    match = re.fullmatch(r"@([\w-]+)\.([\w.]+)", value) if isinstance(value, str) else None
    if match is None:
        return value
    first, *steps = match[2].split(".")
    found = vars(made[match[1]])[first] if first != "id" else made[match[1]].id
    for step in steps:
        found = found[int(step) if step.isdigit() else step]
    return found


class Declared(pulumi.CustomResource):
    """A resource of any type; outputs that others refer to are named beforehand."""

    def __init__(self, entry):
        outputs = dict.fromkeys(entry["outputs"])
        opts = pulumi.ResourceOptions(
            provider=providers[entry["provider"]], depends_on=[made[name] for name in entry["after"]]
        )
        super().__init__(entry["type"], entry["name"], outputs | filled(entry["inputs"]), opts)


class Provider(pulumi.ProviderResource):
    """A provider with whatever configuration the document gives it."""

    def __init__(self, entry):
        config = {
            key: pulumi.Output.concat(*filled(value)) if isinstance(value, list) else value
            for key, value in entry["config"].items()
        }
        super().__init__(entry["package"], entry["name"], config)


providers = {}
for entry in document:
    if "package" in entry:
        providers[entry["name"]] = Provider(entry)
    else:
        made[entry["name"]] = Declared(entry)
