"""What a simulated cloud does when it is asked: check, diff, create, read, update, delete, on plain values.

Knows nothing of gRPC (that is `provider`) and nothing of types (that is the table).
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha1
from itertools import count
from typing import Any

from simcloud import faults, judge, shapes
from simcloud.cloud import Cloud, Session
from simcloud.refusals import Refused, Violation
from simcloud.row import Born, Case, Phase, Place, Row, blur, computed, fill, judged, words_of
from simcloud.shapes import Shapes
from simcloud.state import Clouds, Links, Stored
from simcloud.values import (
    AUTONAMED,
    CREATE_FIRST,
    DEFAULTS,
    UNKNOWN,
    changed_paths,
    has_unknown,
    is_unknown,
    lies_under,
    merge,
    plain,
)
from simcloud.world import World


@dataclass(frozen=True, kw_only=True)
class Difference:
    """What would change, and what cannot change in place."""

    paths: Mapping[str, str]
    """Exact path to `add`, `delete` or `update`."""
    replaces: frozenset[str]
    delete_first: bool


@dataclass(frozen=True, kw_only=True)
class Made:
    """A resource after a create, update or read."""

    id: str
    outputs: Mapping[str, Any]
    inputs: Mapping[str, Any] = field(default_factory=dict)
    half_made: str = ""
    """Why a create is only half done; the engine keeps the resource and tries again."""


class Operations:
    """One provider's view of the simulated clouds."""

    def __init__(self, cloud: Cloud, shapes: Shapes, world: World, clouds: Clouds) -> None:
        """Hold the table, the SDK's shapes, what the world knows and the state file."""
        self.cloud, self.shapes, self.world, self.clouds = cloud, shapes, world, clouds
        self.session = Session(account="", region="", config={})
        self.provider = ""  # its URN, once it is configured
        self._previewed = judge.Previewed()

    def row(self, kind: str) -> Row:
        """Find the row of a type, with what the package refuses of every type; refuse what the table does not list."""
        row = self.cloud.rows.get(kind) or self.cloud.any_row(kind)
        if row is None:
            near = difflib.get_close_matches(kind, self.cloud.rows, n=1)
            hint = f"Use '{near[0]}', or add a row" if near else "Add a row"
            raise Refused(
                Violation(what=f"the simulated {self.cloud.name} has no type '{kind}'", do=f"{hint} to simcloud/rows")
            )
        return replace(row, refusals=(*self.cloud.refusals, *row.refusals))

    def check(self, urn: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[dict[str, Any], list[Violation]]:
        """Judge inputs by themselves and fill in what the real provider would: defaults and a name."""
        row = self.row(type_of(urn))
        given = {key: value for key, value in new.items() if value is not None}
        inputs = {**self.cloud.filled(row, given, plain(old), self.session), **given}
        filled = [key for key, value in row.defaults.items() if inputs.setdefault(key, value) is value]
        if name := self._autoname(row, urn, old, inputs):
            inputs = merge(inputs, name)
            filled.append(row.name.path if row.name else "")
        shape = self.shapes.types.get(row.type)
        found = shapes.problems(inputs, shape, self.shapes) if shape else []
        violations = [Violation(property=item.path, what=item.reason) for item in found]
        if not violations:
            case = self._case(row, inputs, None)
            violations = [*_misnamed(row, case), *judged(row, case, ("check",))]
        if self.cloud.bridged and shape:
            inputs = {
                key: shapes.with_defaults(item, shape.inputs.get(key, "any"), self.shapes)
                for key, item in inputs.items()
            }
            inputs[DEFAULTS] = sorted(filled)
        return inputs, violations

    def diff(self, urn: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Difference:
        """Compare checked inputs and say which changes the cloud cannot make in place."""
        row = self.row(type_of(urn))
        before, after = plain(old), plain(new)
        paths = changed_paths(before, after)
        fixed = row.immutable | self.cloud.fixed | ({row.name.path} if row.name else set())
        fixed |= self.cloud.also_fixed(row, self.session)
        replaces = frozenset(path for path in paths if any(lies_under(path, item) for item in fixed))
        fresh_name = not replaces or _autonamed(row, old)
        kept = frozenset() if fresh_name else self._keys(row, before) & self._keys(row, after)
        in_place = bool(replaces) and self.cloud.replaces_in_place and not _autonamed(row, old)
        return Difference(paths=paths, replaces=replaces, delete_first=bool(kept) or in_place)

    def create(self, urn: str, given: Mapping[str, Any], *, preview: bool) -> Made:
        """Make a resource, or say in a preview what it would be."""
        row, inputs = self.row(type_of(urn)), plain(given)
        case = self._case(row, inputs, None)
        if not preview:
            faults.strike(case, name_of(urn))
        with self.clouds.change():
            links = self._judge(row, case, urn, preview=preview, changed=None)
            if preview:
                return Made(id="", outputs=self._foreseen(row, inputs, case.place))
            births = self.clouds.births(urn)
            seed = sha1(f"{urn}#{births}".encode(), usedforsecurity=False).hexdigest()
            born = self._born("", seed, 1, case.place, inputs)
            identity = row.id(born) if callable(row.id) else born.fill(row.id)
            born = replace(born, id=identity)
            outputs = computed(row, born)
            self._forget_twin(row, case.place, identity)
            stored = Stored(
                cloud=case.place.cloud,
                account=case.place.account,
                region=case.place.region,
                type=row.type,
                id=identity,
                urn=urn,
                name=self._called(row, inputs, identity),
                checked=given,
                outputs={},
                hash=seed,
            )
            stored = self.clouds.add(stored, self._links(row, case.place, links, inputs, outputs, identity))
            self.cloud.settled(stored, outputs, self.clouds)
        half_made = faults.after_create(self.clouds, row.type, name_of(urn))
        return Made(id=identity, outputs=self._outputs(row, inputs, case.place, outputs), half_made=half_made)

    def read(self, urn: str, identity: str, state: Mapping[str, Any]) -> Made | None:
        """Say what the cloud holds; None if nothing."""
        row = self.row(type_of(urn))
        stored = self._held(row, identity, plain(state))
        if stored is None:
            return None
        inputs = stored.inputs
        place = Place(cloud=stored.cloud, account=stored.account, region=stored.region)
        if lost := self._silent(place):
            raise Refused(*lost)
        outputs = computed(row, self._born(identity, stored.hash, stored.revision, place, inputs))
        outputs = merge(outputs, stored.outputs)
        nodes = row.nodes(self._case(row, inputs, stored)) if row.nodes else None
        if (
            nodes
            and self.cloud.degraded.keys() <= outputs.keys()
            and faults.lost_zones(self.clouds, place.cloud, nodes.zones)
        ):
            outputs |= self.cloud.degraded
        return Made(id=identity, inputs=stored.checked, outputs=self._outputs(row, inputs, place, outputs))

    def update(
        self, urn: str, identity: str, old: Mapping[str, Any], given: Mapping[str, Any], *, preview: bool
    ) -> Made:
        """Change a resource in place, or say in a preview what it would become; what is invented stays known."""
        row, inputs, before = self.row(type_of(urn)), plain(given), plain(old)
        if not preview:
            faults.strike(self._case(row, inputs, None), name_of(urn))
        with self.clouds.change():
            stored = self._held(row, identity, before)
            if stored is None:
                raise Refused(
                    Violation(what="no longer exists in the cloud", do="Run 'pulumi refresh', then deploy again")
                )
            changed = changed_paths(before, inputs)
            case = replace(self._case(row, inputs, stored), old=before)
            links = self._judge(row, case, urn, preview=preview, changed=changed)
            born = self._born(identity, stored.hash, stored.revision + 1, case.place, inputs)
            outputs = computed(row, born)
            if preview:
                unknown = {key: UNKNOWN for key in row.moving if changed}
                return Made(id=identity, outputs=self._outputs(row, inputs, case.place, outputs | unknown))
            renewed = replace(
                stored,
                checked=given,
                outputs={},
                revision=stored.revision + 1,
                name=self._called(row, inputs, identity),
            )
            self.clouds.replace(renewed, self._links(row, case.place, links, inputs, outputs, identity))
            self.cloud.settled(renewed, outputs, self.clouds)
        return Made(id=identity, outputs=self._outputs(row, inputs, case.place, outputs))

    def delete(self, urn: str, identity: str, state: Mapping[str, Any]) -> None:
        """Take a resource out of the cloud; what is gone already is fine."""
        row = self.row(type_of(urn))
        with self.clouds.change():
            stored = self._held(row, identity, plain(state))
            if stored is None or stored.kept:
                return
            case = self._case(row, stored.inputs, stored)
            violations = [*self._silent(case.place), *judged(row, case, ("delete",)), *judge.in_use(stored, case)]
            removal = self.cloud.removal(stored)
            if removal not in ("remove", "keep"):
                violations.append(Violation(what=removal))
            if violations:
                raise Refused(*violations)
            self.cloud.removing(stored, self.clouds)
            if row.kept or removal == "keep":
                self.clouds.keep(stored)
            else:
                self.clouds.remove(stored)

    def _forget_twin(self, row: Row, place: Place, identity: str) -> None:
        """Let what takes no name of its own and is all in its id, such as a grant, be made again: it is there once."""
        for twin in () if row.unique else self.clouds.every(place.cloud, row.type, place.account):
            if (twin.id, twin.region) == (identity, place.region):
                self.clouds.remove(twin)

    def _judge(self, row: Row, case: Case, urn: str, *, preview: bool, changed: Mapping[str, str] | None) -> Links:
        """Ask everything that may refuse a create or update; return what the resource is tied to."""
        previewed = self._previewed if preview else None
        nodes = row.nodes(case) if row.nodes else None
        references, violations = judge.links_of(case, row, preview=preview)
        references += self.cloud.inside(case, self.clouds)
        if case.old is not None:
            violations = [item for item in violations if any(lies_under(path, item.property) for path in changed or {})]
        keys, usage = judge.keys_of(case, row), judge.usage_of(case, row)
        more = case.old is None or _asks_more(row, case)
        violations += [*self._silent(case.place), *faults.standing(case, nodes, more=more)]
        violations += judged(row, case, _phases(case, preview=preview), changed)
        violations += judge.taken(case, row, keys, previewed, judge.Named(urn=urn, provider=self.provider))
        if more:
            violations += judge.offered(case, row)
            violations += judge.overdrawn(case, row, usage, previewed, urn)
        if violations:
            raise Refused(*violations)
        if previewed is not None:
            previewed.keys |= dict.fromkeys(keys, urn)
            previewed.replaced |= {case.own.serial} if case.own else set()
            for key, amount in usage.items():
                previewed.usage.setdefault(key, {})[urn] = amount
        return Links(references=references, keys=keys, usage=usage)

    def _silent(self, place: Place) -> list[Violation]:
        return list(faults.silent(self.clouds, self.cloud.host(place)))

    def _autoname(self, row: Row, urn: str, old: Mapping[str, Any], inputs: Mapping[str, Any]) -> dict[str, Any]:
        """Make up an omitted name: the old one if there is one, else a free one from the logical name."""
        if row.name is None or not row.name.auto or self._case(row, inputs, None).has(row.name.path):
            return {}
        steps = row.name.path.split(".")
        if any(f"{steps[-1]}Prefix" == key for key in inputs):
            return {}
        for attempt in count():
            digits = sha1(f"{urn}#{attempt}".encode(), usedforsecurity=False).hexdigest()
            name = row.name.make(name_of(urn), digits)
            previous = _inside(old, steps) if _autonamed(row, old) else None
            tree: dict[str, Any] = _nest(steps, previous or name)
            if name == name_of(urn):  # a copy of the logical name is made up once
                return tree
            tree = merge(tree, dict(self.cloud.autonamed))
            if previous or not any(self.clouds.owner_of(key) for key in self._keys(row, merge(dict(inputs), tree))):
                return tree
        return {}

    def _case(self, row: Row, inputs: Mapping[str, Any], own: Stored | None) -> Case:
        place = self.cloud.place(row, inputs, self.session)
        return Case(type=row.type, inputs=plain(inputs), place=place, world=self.world, clouds=self.clouds, own=own)

    def _keys(self, row: Row, inputs: Mapping[str, Any]) -> frozenset[str]:
        return judge.keys_of(self._case(row, inputs, None), row)

    def _held(self, row: Row, identity: str, state: Mapping[str, Any]) -> Stored | None:
        place = self.cloud.place(row, state, self.session)
        region = None if self.cloud.global_ids else place.region
        return self.clouds.get(place.cloud, row.type, identity, place.account, region)

    def _born(self, identity: str, seed: str, revision: int, place: Place, inputs: Mapping[str, Any]) -> Born:
        return Born(
            id=identity,
            hash=seed,
            revision=revision,
            place=place,
            inputs=inputs,
            clouds=self.clouds,
            config=self.session.config,
        )

    def _outputs(self, row: Row, inputs: Mapping[str, Any], place: Place, outputs: Mapping[str, Any]) -> dict[str, Any]:
        """Lay inputs, what the provider knows and what the cloud says over each other; what was given is kept."""
        known = self.cloud.echo(row, place, inputs, self.session)
        return dict(merge(merge(dict(outputs), dict(known)), dict(self.cloud.shown(inputs))))

    def _foreseen(self, row: Row, inputs: Mapping[str, Any], place: Place) -> dict[str, Any]:
        unknown = {key: blur(value, UNKNOWN) for key, value in row.outputs.items()}
        return self._outputs(row, inputs, place, unknown)

    def _links(
        self, row: Row, place: Place, links: Links, inputs: Mapping[str, Any], outputs: Mapping[str, Any], identity: str
    ) -> Links:
        words = {**words_of(outputs, place), **words_of(inputs, place), "id": identity}
        aliases = {item(outputs) if callable(item) else fill(item, words) for item in row.aliases} | {identity}
        return replace(links, aliases=frozenset(alias for alias in aliases if alias))

    def _called(self, row: Row, inputs: Mapping[str, Any], identity: str) -> str:
        found = _inside(inputs, row.name.path.split(".")) if row.name else None
        return str(found or identity)


def _phases(case: Case, *, preview: bool) -> tuple[Phase, ...]:
    """Phases of judgement that a create or update goes through."""
    if preview:
        return ("plan",)
    return ("plan", "apply") if case.old is not None else ("plan", "apply", "birth")


def _autonamed(row: Row, inputs: Mapping[str, Any]) -> bool:
    """Tell whether the provider made up the name in some checked inputs."""
    if row.name is None:
        return False
    annotations = (
        (inputs.get("metadata") or {}).get("annotations") or {} if not is_unknown(inputs.get("metadata")) else {}
    )
    return row.name.path in inputs.get(DEFAULTS, ()) or AUTONAMED in annotations or inputs.get(CREATE_FIRST) is True


def _misnamed(row: Row, case: Case) -> list[Violation]:
    """Judge a name by its length and pattern."""
    name = row.name
    value = case.get(name.path) if name else None
    if name is None or not isinstance(value, str):
        return []
    if name.shortest <= len(value) <= name.longest and (not name.pattern or re.fullmatch(name.pattern, value)):
        return []
    allowed = f"{name.shortest} to {name.longest} characters" + (
        f", {name.says or name.pattern}" if name.pattern else ""
    )
    return [
        Violation(
            property=name.path,
            what="is not a name the cloud takes",
            got=f"'{value}', {len(value)} characters",
            allowed=allowed,
            do="Choose another name",
            source=name.source,
        )
    ]


def _asks_more(row: Row, case: Case) -> bool:
    """Tell whether an update asks for other machines than before, or more of them."""
    now = row.nodes(case) if row.nodes else None
    before = row.nodes(replace(case, inputs=case.old or {}, old=None)) if row.nodes else None
    return now is not None and (before is None or now.machine_type != before.machine_type or now.count > before.count)


def _inside(values: Mapping[str, Any], steps: list[str]) -> Any:
    found: Any = values
    for step in steps:
        found = found.get(step) if isinstance(found, Mapping) else None
    return None if has_unknown(found) or is_unknown(found) else found


def _nest(steps: list[str], value: Any) -> dict[str, Any]:
    for step in reversed(steps[1:]):
        value = {step: value}
    return {steps[0]: value}


def type_of(urn: str) -> str:
    """Resource type of a URN."""
    return urn.split("::")[2].split("$")[-1]


def name_of(urn: str) -> str:
    """Logical name of a URN."""
    return urn.split("::", 3)[3]
