"""What the simulated clouds hold: one SQLite file, safe for several plugin processes at once.

Owns resources, their references and names, quota use, settings, faults and the log of operations. Knows nothing of
types: rules live in the rows. All writes happen inside `change`, one immediate transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from outlast.errors import EnvironmentProblem, Problem
from simcloud.values import plain

_VERSION = 2
"""Of the schema; a file of another version is refused."""

_SCHEMA = """
create table if not exists resource (
    serial integer primary key, cloud text not null, account text not null, region text not null, type text not null,
    id text not null, urn text not null, name text not null, checked text not null, outputs text not null,
    hash text not null, revision integer not null, kept integer not null default 0,
    unique (cloud, account, region, type, id));
create table if not exists alias (value text not null, serial integer not null references resource on delete cascade);
create index if not exists alias_value on alias (value);
create index if not exists alias_serial on alias (serial);
create table if not exists reference (
    serial integer not null references resource on delete cascade, target integer not null, hold integer not null,
    cascade integer not null, property text not null);
create index if not exists reference_target on reference (target);
create index if not exists reference_serial on reference (serial);
create table if not exists taken (key text primary key, serial integer not null references resource on delete cascade);
create table if not exists usage (
    key text not null, amount real not null, serial integer not null references resource on delete cascade);
create index if not exists usage_key on usage (key);
create table if not exists birth (urn text primary key, births integer not null);
create table if not exists setting (key text primary key, value text not null);
create table if not exists fault (
    serial integer primary key, kind text not null, arguments text not null, times integer);
create table if not exists operation (
    serial integer primary key, package text not null, method text not null, preview integer not null,
    urn text not null, outcome text not null);
"""


@dataclass(frozen=True, kw_only=True)
class Stored:
    """One resource in a simulated cloud."""

    serial: int = 0
    cloud: str
    account: str
    """Account, project or subscription; for in-cluster objects the cluster."""
    region: str
    """Provider region; empty for what is global."""
    type: str
    id: str
    urn: str
    name: str
    """What the resource is called in the cloud, for messages."""
    checked: Mapping[str, Any]
    """Inputs as the provider checked them, with the marks of the bridge."""
    outputs: Mapping[str, Any]
    """What the cloud says differently from what its row would make: drift."""
    hash: str
    """Hexadecimal digits from which everything invented about the resource is made."""
    revision: int = 1
    """1 at birth, one more with every update."""
    kept: bool = False
    """True for what the real cloud never deletes, after it was deleted."""

    @cached_property
    def inputs(self) -> Mapping[str, Any]:
        """Inputs without marks, for judgement."""
        return dict(plain(self.checked))


@dataclass(frozen=True, kw_only=True)
class Links:
    """Everything that ties a resource to others."""

    aliases: frozenset[str] = frozenset()
    """Values by which other resources may refer to it."""
    references: tuple[Link, ...] = ()
    keys: frozenset[str] = frozenset()
    """Names it takes; no other resource may take them."""
    usage: Mapping[str, float] = field(default_factory=dict)
    """Quota key to amount."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """A reference that was resolved."""

    property: str
    target: Stored
    holds: bool
    """The target cannot be deleted while this resource exists."""
    cascades: bool
    """Deleting the target deletes this resource."""


_COLUMNS = "serial, cloud, account, region, type, id, urn, name, checked, outputs, hash, revision, kept"


class Clouds:
    """The state file, opened by one process."""

    def __init__(self, path: Path) -> None:
        """Open or create the file."""
        self._db = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = off")
        self._db.execute("pragma foreign_keys = on")
        (version,) = self._db.execute("pragma user_version").fetchone()
        if version == 0 and not self._db.execute("select 1 from sqlite_master").fetchone():
            self._db.executescript(f"begin immediate; {_SCHEMA} pragma user_version = {_VERSION}; commit;")
        elif version != _VERSION:
            raise EnvironmentProblem(
                Problem(where=str(path), what="was made by another version of simcloud", do=f"Remove {path.parent}")
            )

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    @contextmanager
    def change(self) -> Iterator[None]:
        """Make everything inside one transaction; other processes wait."""
        self._db.execute("begin immediate")
        try:
            yield
        except BaseException:
            self._db.execute("rollback")
            raise
        self._db.execute("commit")

    def get(self, cloud: str, kind: str, identity: str, account: str = "", region: str | None = None) -> Stored | None:
        """Find a resource by type and id, in one place if the place is given."""
        query = f"select {_COLUMNS} from resource where cloud = ? and type = ? and id = ?"
        arguments: list[object] = [cloud, kind, identity]
        for column, value in (("account", account or None), ("region", region)):
            if value is not None:
                query += f" and {column} = ?"
                arguments.append(value)
        row = self._db.execute(query, arguments).fetchone()
        return _stored(row) if row else None

    def find(self, value: str, types: Iterable[str] = ()) -> list[Stored]:
        """Find the resources of some types, or of any, that a value refers to, wherever they are."""
        wanted = frozenset(types)
        rows = self._db.execute(
            f"select {_COLUMNS} from resource where kept = 0"
            " and serial in (select serial from alias where value = ?) order by serial",
            [value],
        ).fetchall()
        return [found for row in rows if (found := _stored(row)).type in wanted or not wanted]

    def every(self, cloud: str = "", kind: str = "", account: str = "") -> list[Stored]:
        """List resources, oldest first; an empty argument selects all."""
        rows = self._db.execute(
            f"select {_COLUMNS} from resource where (? = '' or cloud = ?) and (? = '' or type = ?)"
            " and (? = '' or account = ?) order by serial",
            [cloud, cloud, kind, kind, account, account],
        ).fetchall()
        return [_stored(row) for row in rows]

    def users(self, target: Stored, *, holding: bool = False) -> list[Stored]:
        """List the resources that refer to one; with `holding`, only those that keep it from being deleted."""
        columns = ", ".join(f"r.{name}" for name in _COLUMNS.split(", "))
        rows = self._db.execute(
            f"select distinct {columns} from resource r join reference f on f.serial = r.serial"
            " where f.target = ? and f.hold >= ? and r.serial != ? order by r.serial",
            [target.serial, int(holding), target.serial],
        ).fetchall()
        return [_stored(row) for row in rows]

    def held_by(self, holder: Stored) -> list[Stored]:
        """List the resources that one keeps from being deleted."""
        columns = ", ".join(f"r.{name}" for name in _COLUMNS.split(", "))
        rows = self._db.execute(
            f"select distinct {columns} from resource r join reference f on f.target = r.serial"
            " where f.serial = ? and f.hold = 1 order by r.serial",
            [holder.serial],
        ).fetchall()
        return [_stored(row) for row in rows]

    def owner_of(self, key: str) -> Stored | None:
        """Find the resource that has taken a name."""
        columns = ", ".join(f"r.{name}" for name in _COLUMNS.split(", "))
        row = self._db.execute(
            f"select {columns} from resource r join taken t on t.serial = r.serial where t.key = ?", [key]
        ).fetchone()
        return _stored(row) if row else None

    def used(self, key: str, besides: frozenset[int] = frozenset()) -> float:
        """Sum the use of a quota, besides some resources."""
        rows = self._db.execute("select serial, amount from usage where key = ?", [key]).fetchall()
        return float(sum(amount for serial, amount in rows if serial not in besides))

    def births(self, urn: str) -> int:
        """Count how often a resource of this URN was created."""
        row = self._db.execute("select births from birth where urn = ?", [urn]).fetchone()
        return int(row[0]) if row else 0

    def setting(self, key: str, default: str = "") -> str:
        """Read a setting."""
        row = self._db.execute("select value from setting where key = ?", [key]).fetchone()
        return str(row[0]) if row else default

    def faults(self) -> list[tuple[int, str, dict[str, Any], int | None]]:
        """List faults as (number, kind, arguments, times left; None: until it is lifted)."""
        rows = self._db.execute("select serial, kind, arguments, times from fault order by serial").fetchall()
        return [(serial, kind, json.loads(arguments), times) for serial, kind, arguments, times in rows]

    def operations(self) -> list[tuple[str, str, bool, str, str]]:
        """List what was asked of the clouds, as (package, method, preview, urn, outcome), oldest first."""
        rows = self._db.execute(
            "select package, method, preview, urn, outcome from operation order by serial"
        ).fetchall()
        return [(package, method, bool(preview), urn, outcome) for package, method, preview, urn, outcome in rows]

    def add(self, new: Stored, links: Links) -> Stored:
        """Put a new resource into the cloud."""
        cursor = self._db.execute(
            "insert into resource (cloud, account, region, type, id, urn, name, checked, outputs, hash, revision, kept)"
            " values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                new.cloud,
                new.account,
                new.region,
                new.type,
                new.id,
                new.urn,
                new.name,
                json.dumps(new.checked),
                json.dumps(new.outputs),
                new.hash,
                new.revision,
                int(new.kept),
            ],
        )
        self._db.execute(
            "insert into birth values (?, 1) on conflict (urn) do update set births = births + 1", [new.urn]
        )
        serial = int(cursor.lastrowid or 0)
        self._link(serial, links)
        return _stored(self._db.execute(f"select {_COLUMNS} from resource where serial = ?", [serial]).fetchone())

    def replace(self, new: Stored, links: Links) -> None:
        """Store a changed resource."""
        self._db.execute(
            "update resource set name = ?, checked = ?, outputs = ?, revision = ?, kept = ? where serial = ?",
            [new.name, json.dumps(new.checked), json.dumps(new.outputs), new.revision, int(new.kept), new.serial],
        )
        for table in ("alias", "reference", "taken", "usage"):
            self._db.execute(f"delete from {table} where serial = ?", [new.serial])
        self._link(new.serial, links)

    def observe(self, stored: Stored, checked: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        """Change what the cloud says of a resource, without touching its links: drift."""
        self._db.execute(
            "update resource set checked = ?, outputs = ? where serial = ?",
            [json.dumps(checked), json.dumps(outputs), stored.serial],
        )

    def remove(self, stored: Stored) -> None:
        """Take a resource out of the cloud, with everything that lives inside it."""
        inside = self._db.execute(
            "select serial from reference where target = ? and cascade = 1 and serial != ?",
            [stored.serial, stored.serial],
        ).fetchall()
        self._db.execute("delete from resource where serial = ?", [stored.serial])
        for (serial,) in inside:
            row = self._db.execute(f"select {_COLUMNS} from resource where serial = ?", [serial]).fetchone()
            if row:
                self.remove(_stored(row))

    def keep(self, stored: Stored) -> None:
        """Mark a resource as deleted by the program and still there, as clouds do with what they never delete."""
        self._db.execute("update resource set kept = 1 where serial = ?", [stored.serial])
        for table in ("alias", "reference", "usage"):
            self._db.execute(f"delete from {table} where serial = ?", [stored.serial])

    def set(self, key: str, value: str) -> None:
        """Store a setting."""
        self._db.execute("insert or replace into setting values (?, ?)", [key, value])

    def add_fault(self, kind: str, arguments: Mapping[str, Any], times: int | None) -> int:
        """Store a fault and return its number."""
        cursor = self._db.execute(
            "insert into fault (kind, arguments, times) values (?, ?, ?)", [kind, json.dumps(arguments), times]
        )
        return int(cursor.lastrowid or 0)

    def spend_fault(self, serial: int) -> None:
        """Use a fault once; a fault without a number of times stays."""
        self._db.execute("update fault set times = times - 1 where serial = ?", [serial])
        self._db.execute("delete from fault where serial = ? and times <= 0", [serial])

    def lift_faults(self, serial: int | None = None) -> None:
        """Lift one fault, or all."""
        self._db.execute("delete from fault where ? is null or serial = ?", [serial, serial])

    def log(self, package: str, method: str, preview: bool, urn: str, outcome: str) -> None:
        """Remember an operation."""
        self._db.execute(
            "insert into operation (package, method, preview, urn, outcome) values (?, ?, ?, ?, ?)",
            [package, method, int(preview), urn, outcome],
        )

    def clear(self) -> None:
        """Empty the clouds, faults and log; settings stay."""
        for table in ("resource", "birth", "fault", "operation"):
            self._db.execute(f"delete from {table}")

    def _link(self, serial: int, links: Links) -> None:
        self._db.executemany("insert into alias values (?, ?)", [(value, serial) for value in links.aliases])
        self._db.executemany(
            "insert into reference values (?, ?, ?, ?, ?)",
            [(serial, link.target.serial, link.holds, link.cascades, link.property) for link in links.references],
        )
        self._db.executemany("insert into taken values (?, ?)", [(key, serial) for key in links.keys])
        self._db.executemany("insert into usage values (?, ?, ?)", [(k, v, serial) for k, v in links.usage.items()])


def _stored(row: tuple[Any, ...]) -> Stored:
    fields = dict(zip(_COLUMNS.split(", "), row, strict=True))
    fields |= {"checked": json.loads(fields["checked"]), "outputs": json.loads(fields["outputs"])}
    return Stored(**fields | {"kept": bool(fields["kept"])})
