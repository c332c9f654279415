"""``docs/simulated-clouds.md``: what the simulated clouds refuse, from their own table."""

from __future__ import annotations

from simcloud.cloud import Cloud, cloud_of, packages
from simcloud.row import Row
from tools.pages.table import table

_HEAD = """# What the simulated clouds refuse

Made by `make resources` from `simcloud/rows`; `tests/tools/test_pages.py` fails while it is out of date. The stand-ins
are not the clouds: each refusal repeats what the named public source says, and no real account was asked.

Of every type they also refuse: arguments that the SDK's classes do not have, names that are malformed or taken,
references to what does not exist or lies in another region, deletion of what is in use or protected, the wrong account,
nodes beyond a quota, a reservation or what a zone offers. A change of what is fixed at birth replaces the resource.
Tests show every one of them through the real engine; `python -m tests.simcloud.examples` counts them.

When: **check** whenever a program runs, **plan** in previews too, **birth** at a create, **apply** at a create or an
update, **delete** before a deletion.
"""


def page() -> str:
    """Return the page."""
    clouds = [cloud_of(package) for package in packages()]
    lines = [_HEAD]
    for cloud in clouds:
        rows = [row for row in cloud.rows.values() if row.refusals]
        count = sum(len(row.refusals) for row in rows)
        lines += [
            f"## `{cloud.package}`: {count} refusals, {len(cloud.rows)} types",
            "",
            *_table(rows),
            "",
            *_kept(cloud),
        ]
    return "\n".join(lines).rstrip("\n") + "\n"


def _table(rows: list[Row]) -> list[str]:
    cells = [
        [f"`{row.type}`", item.claim.replace("-", " "), item.phase, item.source]
        for row in sorted(rows, key=lambda row: row.type)
        for item in sorted(row.refusals, key=lambda item: (item.claim, item.source))
    ]
    return list(table(["type", "refuses", "when", "source"], cells))


def _kept(cloud: Cloud) -> list[str]:
    kept = sorted((row.type, row.kept_source) for row in cloud.rows.values() if row.kept)
    return [f"Never deleted, as in the cloud: `{type_}` ({source}).\n" for type_, source in kept]
