"""A pack that uses the real pack's reader and writes its records to the file that OUTLAST_SEEN names."""

import json
import os
import sys
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from pulumi_policy import EnforcementLevel, PolicyPack, ResourceValidationPolicy, StackValidationPolicy

from outlast.view import UNKNOWN
from policies.pack import Pack

MARK = "04da6b54-80e4-46f7-96ec-b56ff0331ba9"
"""The engine's own mark of an unknown text."""
PACK = Pack(Path(), {})


def _collect(args, _report) -> None:
    PACK.collect(args)


def _write(args, _report) -> None:
    records = [asdict(PACK.merged(found)) for found in args.resources]
    text = json.dumps(records, default=lambda value: MARK if value is UNKNOWN else str(value))
    Path(os.environ["OUTLAST_SEEN"]).write_text(text, encoding="utf-8")


PolicyPack(
    "reading",
    [
        ResourceValidationPolicy("collect", "collects", _collect, EnforcementLevel.ADVISORY),
        StackValidationPolicy("write", "writes", _write, EnforcementLevel.ADVISORY),
    ],
)
