"""Attempts an example in this process and listens to the one refusal that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pulumi.runtime.proto import provider_pb2

from simcloud.cloud import Cloud
from simcloud.refusals import Violation
from simcloud.row import Case
from simcloud.row import Refusal as Stated
from simcloud.values import encode
from tests.simcloud.conftest import CONFIG, Context, Plugin, Refusal, Site, changed, inputs_of
from tests.simcloud.examples import COMMON, PROVIDER, Example, plan, row
from tests.simcloud.standing import Standing, built


@dataclass
class Heard:
    """What an attempt led to."""

    example: Example
    violations: list[Violation] = field(default_factory=list)
    """What the example's own refusal said."""
    message: str = ""
    """All that the engine would be told; empty: nothing was refused."""

    @property
    def words(self) -> tuple[str, ...]:
        """Words of the refusal's sentence that its message must hold, whoever asks."""
        if self.example.refusal is None:
            return (COMMON[self.example.claim] or self.message.split(" (got")[0],)
        return tuple(sorted({word for item in self.violations for word in (item.what, item.source)}))

    @property
    def is_refusal(self) -> bool:
        """Tell whether the refusal spoke, and reached the message."""
        return bool(self.message and self.words) and all(word in self.message for word in self.words)


def judged_alone(standing: Standing, example: Example) -> Heard:
    """Check changed inputs of something that stands; nothing is built."""
    plugin = standing.plugin(example.package)
    with _listening(plugin, example) as heard:
        if example.of == PROVIDER:
            _check_provider(plugin, {**CONFIG.get(example.package, {}), **example.change})
        else:
            _check(standing, example, example.change)
    return heard


def judged_together(standing: Standing, group: list[Heard], change: Mapping[str, Any]) -> bool:
    """Tell whether one check of several changes says what each of them says alone."""
    try:
        _check(standing, group[0].example, change)
    except Refusal as refusal:
        return all(word in str(refusal) for heard in group for word in heard.words)
    return False


def _check(standing: Standing, example: Example, change: Mapping[str, Any]) -> None:
    known = standing.made(example.package, example.of)
    standing.plugin(example.package).checked(known.type, known.name, changed(inputs_of(known), change))


def attempted(site: Site, example: Example) -> Heard:
    """Build what an example needs, then do what is to be refused."""
    package, name = example.package, example.of
    kind, inputs = plan(package)[name]
    plugin = site.plugins[package]
    built(site, package, name, example.without)
    if example.how == "create":
        site.build(example.also)
    else:
        made = site.make(name, kind, changed(inputs, example.change) if example.how == "delete" else inputs)
        needed = {key for key in plan(package) if any(f"@{key}." in str(entry[1]) for entry in example.also.values())}
        site.build({key: entry for key, entry in plan(package).items() if key in example.also or key in needed})
        site.build(example.also)
    with _listening(plugin, example) as heard:
        if example.how == "create":
            plugin.create(kind, name, site.filled(changed(inputs, example.change)))
        elif example.how == "update":
            foreseen = example.refusal is not None and example.refusal.phase == "plan"
            plugin.update(made, site.filled(changed(inputs, example.change)), preview=foreseen)
        else:
            plugin.delete(made)
    return heard


def _check_provider(plugin: Plugin, config: Mapping[str, Any]) -> None:
    urn = f"urn:pulumi:s::p::pulumi:providers:{plugin.package}::{plugin.package}"
    answer = plugin.provider.CheckConfig(provider_pb2.CheckRequest(urn=urn, news=encode(config)), Context())
    if answer.failures:
        raise Refusal("\n".join(item.reason for item in answer.failures))


@contextmanager
def _listening(plugin: Plugin, example: Example) -> Iterator[Heard]:
    """Note what the example's refusal says while the plugin is asked."""
    heard, operations = Heard(example), plugin.operations
    before = operations.cloud
    if example.refusal is not None:
        operations.cloud = _with_ear(before, example, heard.violations)
    try:
        yield heard
    except Refusal as refusal:
        heard.message = str(refusal)
    finally:
        operations.cloud = before


def _with_ear(cloud: Cloud, example: Example, violations: list[Violation]) -> Cloud:
    known, wanted = row(example.type), example.refusal
    assert wanted is not None

    def check(case: Case) -> list[Violation]:
        said = [violation.cite(wanted.source) for violation in wanted.check(case)]
        violations.extend(said)
        return said

    def heard(refusals: tuple[Stated, ...]) -> tuple[Stated, ...]:
        return tuple(replace(item, check=check) if item is wanted else item for item in refusals)

    cloud = replace(cloud, refusals=heard(cloud.refusals))
    listening = replace(known, refusals=heard(known.refusals))
    if example.type in cloud.rows:
        return replace(cloud, rows={**cloud.rows, example.type: listening})
    return replace(cloud, any_row=lambda kind: listening if kind == example.type else cloud.any_row(kind))
