"""One simulated cloud: its rows, how a provider's configuration becomes credentials, and where a resource lies."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from simcloud import rows as tables
from simcloud.row import Case, Place, Refusal, Row
from simcloud.state import Clouds, Link, Stored
from simcloud.world import Existing, World


@dataclass(frozen=True, kw_only=True)
class Session:
    """A configured provider."""

    account: str
    region: str
    config: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Seed:
    """A resource that stands in a cloud before any program runs."""

    type: str
    id: str
    inputs: Mapping[str, Any]
    aliases: tuple[str, ...] = ()
    """Further values by which others refer to it."""
    inside: tuple[str, ...] = ()
    """Ids of seeds that cannot go before it."""
    is_global: bool = False
    """Whether it lies in the account and in no region."""


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """What the generic provider needs to know of one package."""

    package: str
    """Pulumi package."""
    name: str
    """The cloud's name in facts."""
    rows: Mapping[str, Row]
    configure: Callable[[Mapping[str, Any], World, Clouds], Session]
    """Turn provider configuration into credentials; raises `Refused`."""
    place: Callable[[Row, Mapping[str, Any], Session], Place]
    echo: Callable[[Row, Place, Mapping[str, Any], Session], Mapping[str, Any]]
    """Outputs the provider knows even in a preview."""
    filled: Callable[[Row, Mapping[str, Any], Mapping[str, Any], Session], Mapping[str, Any]] = lambda *_: {}
    """Inputs that the provider adds where they are omitted, from the inputs, those before, and its configuration."""
    fixed: frozenset[str] = frozenset()
    """Inputs of every type that say where: their change replaces."""
    provider_fixed: frozenset[str] = frozenset()
    """Configuration whose change replaces the provider and everything made with it."""
    bridged: bool = True
    """True if the real provider marks what it filled in with `__defaults`."""
    autonamed: Mapping[str, Any] = field(default_factory=dict)
    """Inputs by which another provider marks a name that it made up."""
    replaces_in_place: bool = False
    """True if the real provider deletes before it makes the successor, unless it made up the name."""
    degraded: Mapping[str, str] = field(default_factory=lambda: {"status": "DEGRADED"})
    """What nodes say of themselves when a zone of theirs is lost."""
    global_ids: bool = False
    """True if ids of different regions never meet."""
    any_row: Callable[[str], Row | None] = lambda _: None
    """Row of a type that users define themselves."""
    refusals: tuple[Refusal, ...] = ()
    """Refusals of every type of the package, besides the rows' own."""
    host: Callable[[Place], Place] = lambda place: place
    """The place whose loss silences what lies in another: for what lives in a cluster, the cluster's."""
    removal: Callable[[Stored], str] = lambda _: "remove"
    """What a deletion does: `remove`, `keep`, or a sentence that refuses."""
    inside: Callable[[Case, Clouds], tuple[Link, ...]] = lambda *_: ()
    """What every resource of the package lives inside, besides what its row refers to."""
    also_fixed: Callable[[Row, Session], frozenset[str]] = lambda *_: frozenset()
    """Further inputs that cannot change in place, as the provider is configured."""
    settled: Callable[[Stored, Mapping[str, Any], Clouds], None] = lambda *_: None
    """Called after a create or update, for what the cloud makes by itself."""
    removing: Callable[[Stored, Clouds], None] = lambda *_: None
    """Called before a removal that the program asked for, for what the cloud removes by itself; may raise `Refused`."""
    existing: Callable[[Existing], Iterable[Seed]] = lambda _: ()
    """What a network and cluster that exist consist of, targets before what refers to them."""
    shown: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda inputs: inputs
    """Inputs as outputs repeat them, where the cloud gives some in another form than it takes them."""
    invoke: Callable[[str, Mapping[str, Any], Session, Clouds], Mapping[str, Any] | None] = lambda *_: None
    """Answer to a function call; None: not answered."""


def packages() -> list[str]:
    """List the Pulumi packages that have a table; adding a folder under `rows/` adds a package."""
    return sorted(_table(name).package for _, name, _ in pkgutil.iter_modules(tables.__path__))


def cloud_of(package: str) -> Cloud:
    """Load one package's table; its folder has the first word of the package's name."""
    return _table(package.split("-")[0])


def _table(folder: str) -> Cloud:
    cloud = importlib.import_module(f"simcloud.rows.{folder}").CLOUD
    if not isinstance(cloud, Cloud):
        raise TypeError(folder)
    return cloud
