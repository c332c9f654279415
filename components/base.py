"""What all components share: where they are, how they register, and how a role's module for a cloud is found.

Refuses to know any cloud: a role's contract names its arguments and outputs, `components/<role>/<cloud>.py` declares.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, TypeVar, cast

import pulumi

from outlast.errors import ConfigError, Problem, did_you_mean, listed
from outlast.intent import Intent

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a component lies, in our words and the cloud's; all of it is known before any cloud answers."""

    fleet: str
    region: str
    """Our region."""
    jurisdiction: str
    """Law that applies there; from facts."""
    cloud: str
    provider_region: str
    """The cloud's name of the region."""
    zones: tuple[str, ...]
    account: str
    """Account, project or subscription."""
    protect: bool
    """Deletion protection, ours and the cloud's."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """People's own tags, for what a provider's default ones do not reach."""


def place_of(intent: Intent, region: str, *, teardown: bool) -> Place:
    """Return where a region's components lie.

    Args:
        intent: the fleet.
        region: our region.
        teardown: whether protection is lifted so that the stack can be destroyed.
    """
    row = intent.regions[region]
    return Place(
        fleet=intent.name,
        region=region,
        jurisdiction=intent.jurisdiction(region),
        cloud=row.cloud,
        provider_region=row.provider_region,
        zones=row.zones,
        account=row.account,
        protect=row.protect and not teardown,
        tags=row.tags,
    )


class PlatformComponent(pulumi.ComponentResource):
    """A component whose outputs are its annotated attributes and whose inputs are its plain arguments."""

    token: ClassVar[str]
    """`outlast:<role>:<Class>`; part of every child's URN, so it never changes."""

    def __init__(self, name: str, args: object, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__(self.token, name, plain_inputs(args), opts)
        self._own = frozenset(vars(self)) | {"_own"}

    def child(
        self,
        *,
        depends_on: Sequence[pulumi.Resource] | None = None,
        protect: bool | None = None,
        ignore_changes: list[str] | None = None,
        deleted_with: pulumi.Resource | None = None,
        provider: pulumi.ProviderResource | None = None,
    ) -> pulumi.ResourceOptions:
        """Return the options of a child; the engine itself hands down the providers of the caller's options."""
        return pulumi.ResourceOptions(
            parent=self,
            depends_on=depends_on,
            protect=protect,
            ignore_changes=ignore_changes,
            deleted_with=deleted_with,
            provider=provider,
        )

    def register(self) -> None:
        """Register the annotated attributes as outputs; call it last.

        Raises:
            TypeError: an annotated attribute is not set, or a public attribute is not annotated.
        """
        promised = output_names(type(self))
        kept = {name for name in vars(self) if name not in self._own and not name.startswith("_")}
        missing, extra = sorted(promised - kept), sorted(kept - promised)
        if missing or extra:
            what = f"{type(self).__name__}: outputs not set {missing}, set but not annotated {extra}"
            raise TypeError(what)
        self.register_outputs({name: getattr(self, name) for name in sorted(promised)})


C = TypeVar("C", bound=PlatformComponent)


def output_names(component: type[PlatformComponent]) -> frozenset[str]:
    """Return the output attributes that a component class and its contract annotate."""
    classes = [cls for cls in component.__mro__ if issubclass(cls, PlatformComponent) and cls is not PlatformComponent]
    return frozenset(
        name
        for cls in classes
        for name, kind in inspect.get_annotations(cls).items()
        if not name.startswith("_") and "ClassVar" not in str(kind)
    )


def plain_inputs(args: object) -> dict[str, Any]:
    """Return the arguments that are known beforehand, by wire name; what a cloud invents is left out."""
    found: dict[str, Any] = {}
    for entry in fields(cast("Any", args)):
        value = getattr(args, entry.name)
        if isinstance(value, Place):
            found |= plain_inputs(value)
        elif value is not None and _is_plain(value):
            found[_camel(entry.name)] = value
    return found


def _is_plain(value: object) -> bool:
    if isinstance(value, Mapping):
        return all(_is_plain(entry) for entry in value.values())
    if isinstance(value, (tuple, list)):
        return all(_is_plain(entry) for entry in value)
    return isinstance(value, (str, int, float))


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.title() for word in rest)


def module_of(role: str, cloud: str) -> ModuleType:
    """Return the module that declares a role on a cloud.

    Raises:
        ConfigError: the role has no module for that cloud.
    """
    known = {path.stem for path in (_FOLDER / role).glob("*.py")} - {"__init__", "contract"}
    if cloud not in known:
        raise ConfigError(
            Problem(
                where=f"cloud '{cloud}'",
                what=f"no {role.replace('_', ' ')} can be declared there",
                allowed=listed(known),
                do=did_you_mean(cloud, known) or f"Add components/{role}/{cloud}.py, or use another cloud",
            )
        )
    return importlib.import_module(f"components.{role}.{cloud}")


def class_of(contract: type[C], cloud: str) -> type[C]:
    """Return a contract's class for a cloud: ``Network`` on aws is ``AwsNetwork`` in ``components/network/aws.py``."""
    role = contract.__module__.split(".")[-2]
    found = getattr(module_of(role, cloud), f"{cloud.capitalize()}{contract.__name__}")
    return cast("type[C]", found)
