"""Every row makes its resource, and every refusal refuses: the examples stand in `cases/*.yaml`."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from simcloud.cloud import cloud_of, packages
from simcloud.shapes import Shapes
from simcloud.values import UNKNOWN, at, decode, first
from tests.simcloud.attempts import attempted, judged_alone
from tests.simcloud.conftest import (
    Refusal,
    Site,
    changed,
    close_site,
    inputs_of,
    rows_of,
    urn_of,
)
from tests.simcloud.examples import Example, demanded, examples, plan, row
from tests.simcloud.standing import Standing, stand

NAMELESS = {("aws", "nat"), ("aws", "gateway_endpoint")}
"""What shares a row with others that have a name of their own: it has no address, or no private name."""
MANY = 25
"""Ways of refusal that a cloud must have at least. Source: the issue that made the three clouds complete."""

ENTRIES = [(package, name, *entry) for package in packages() for name, entry in plan(package).items()]


def cases(found: Iterable[tuple[str, ...]]) -> list[Any]:
    """Cases by package, name and whatever else they say."""
    return [pytest.param(*words, id="-".join(words)) for words in found]


def fixed(kind: str) -> frozenset[str]:
    """Inputs that cannot change in place."""
    known = row(kind)
    return known.immutable | ({known.name.path} if known.name else set())


EVERY = cases((package, name) for package, name, _, _ in ENTRIES)
STATED = cases((package, name) for package, name, kind, _ in ENTRIES if kind in cloud_of(package).rows)
UNIQUE = cases(
    (package, name) for package, name, kind, _ in ENTRIES if row(kind).unique and (package, name) not in NAMELESS
)
REFERRED = cases(
    (package, name, where.replace("[", ".").replace("]", ""))
    for package, name, kind, inputs in ENTRIES
    for reference in row(kind).references
    for where, _ in at(inputs, reference.path)
)
"""With the input that refers."""
HELD = cases(
    sorted(
        {
            (package, str(value)[1:].split(".")[0])
            for package, _, kind, inputs in ENTRIES
            for reference in row(kind).references
            for _, value in (at(inputs, reference.path) if reference.holds else ())
        }
    )
)
FIXED = cases((package, name) for package, name, kind, _ in ENTRIES if fixed(kind))
NAMED = cases(
    (package, name, wanted.path)
    for package, name, kind, _ in ENTRIES
    if (wanted := row(kind).name) is not None and wanted.pattern
)
"""With the input that is the name."""
EXAMPLES = [pytest.param(example, id=str(example)) for package in packages() for example in examples(package)]


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory, all_shapes: dict[str, Shapes]) -> Iterator[Standing]:
    built = stand(tmp_path_factory.mktemp("standing"), all_shapes)
    yield built
    close_site(built.site)


def given(standing: Standing, package: str, name: str, change: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Inputs of something that stands, with a change."""
    return changed(inputs_of(standing.made(package, name)), change or {})


@pytest.mark.parametrize(("package", "name"), EVERY)
def test_a_row_makes_its_resource_and_a_preview_knows_nothing_invented(
    standing: Standing, package: str, name: str
) -> None:
    made = standing.made(package, name)
    invented = row(made.type).outputs.keys() - made.inputs.keys()
    assert set(made.outputs) >= invented
    assert UNKNOWN not in str(made.outputs)
    foreseen = standing.foreseen.get((package, name), dict.fromkeys(invented, UNKNOWN))
    assert {key for key in invented if UNKNOWN not in str(foreseen[key])} == set()


@pytest.mark.parametrize(("package", "name"), EVERY)
def test_a_value_that_is_not_known_yet_is_no_violation(standing: Standing, package: str, name: str) -> None:
    kind, refused = plan(package)[name][0], {}
    for path in paths(inputs_of(standing.made(package, name))):
        answer = standing.plugin(package).check(kind, name, given(standing, package, name, {path: UNKNOWN}))
        refused[path] = [failure.reason for failure in answer.failures]
    assert {path: reasons for path, reasons in refused.items() if reasons} == {}


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Every dotted path into a value; keys that hold dots themselves are left out."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        if "." not in str(key):
            yield f"{path}.{key}".lstrip(".")
            yield from paths(item, f"{path}.{key}".lstrip("."))


@pytest.mark.parametrize(("package", "name"), STATED)
def test_an_unknown_argument_is_refused(standing: Standing, package: str, name: str) -> None:
    kind, inputs = plan(package)[name]
    failures = standing.plugin(package).check(kind, name, {**inputs, "nonsense": 1}).failures
    assert any("not an argument" in failure.reason for failure in failures)


@pytest.mark.parametrize(("package", "name", "path"), REFERRED)
def test_a_reference_that_leads_nowhere_is_refused(standing: Standing, package: str, name: str, path: str) -> None:
    with pytest.raises(Refusal, match="there is no"):
        standing.plugin(package).create(plan(package)[name][0], name, given(standing, package, name, {path: "missing"}))


@pytest.mark.parametrize(("package", "name"), FIXED)
def test_what_cannot_change_in_place_is_replaced(standing: Standing, package: str, name: str) -> None:
    made, replaced = standing.made(package, name), {}
    for path in (path for path in fixed(made.type) if first(made.inputs, path) is not None):
        news = changed(made.inputs, {path: "other"})
        replaced[path] = standing.plugin(package).operations.diff(urn_of(made.type, name), made.inputs, news).replaces
    assert replaced
    assert all(replaced.values()), replaced


@pytest.mark.parametrize(("package", "name"), UNIQUE)
def test_a_second_one_of_the_same_name_is_refused(standing: Standing, package: str, name: str) -> None:
    inputs = given(standing, package, name)
    with pytest.raises(Refusal, match="exists already"):
        standing.plugin(package).create(plan(package)[name][0], f"{name}-again", inputs)


@pytest.mark.parametrize(("package", "name", "path"), NAMED)
def test_a_malformed_name_is_refused(standing: Standing, package: str, name: str, path: str) -> None:
    inputs = given(standing, package, name, {path: "Not! " * 99})
    with pytest.raises(Refusal, match="is not a name the cloud takes"):
        standing.plugin(package).checked(plan(package)[name][0], name, inputs)


@pytest.mark.parametrize(("package", "name"), HELD)
def test_what_is_held_cannot_be_deleted(standing: Standing, package: str, name: str) -> None:
    with pytest.raises(Refusal, match=r"used by|mapped public"):
        standing.plugin(package).delete(standing.made(package, name))


@pytest.mark.parametrize(("package", "name"), EVERY)
def test_what_was_made_reads_back_the_same_by_its_id_alone(standing: Standing, package: str, name: str) -> None:
    made = standing.made(package, name)
    answer = standing.plugin(package).read(made.type, name, made.id)
    assert decode(answer.properties) == made.outputs
    assert decode(answer.inputs) == made.inputs


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_refusal_refuses(request: pytest.FixtureRequest, standing: Standing, example: Example) -> None:
    if example.of_inputs:
        heard = judged_alone(standing, example)
    else:
        heard = attempted(request.getfixturevalue("site"), example)
    assert heard.is_refusal, heard.message


@pytest.mark.parametrize("package", packages())
def test_every_row_has_a_create(package: str) -> None:
    assert {item.type for item in rows_of(package)} <= {kind for kind, _ in plan(package).values()}


@pytest.mark.parametrize("package", packages())
def test_every_refusal_has_an_example(package: str) -> None:
    shown = {("" if example.common else example.type, example.claim) for example in examples(package)}
    assert shown == demanded(package)


@pytest.mark.parametrize("package", packages())
def test_a_cloud_refuses_in_many_ways(package: str) -> None:
    assert len({example.claim for example in examples(package)}) >= MANY


@pytest.mark.parametrize("package", packages())
def test_every_refusal_has_a_name_of_its_own_and_a_source(package: str) -> None:
    for item in rows_of(package):
        claims = [refusal.claim for refusal in item.refusals]
        assert len(set(claims)) == len(claims)
        assert all(refusal.claim and refusal.source for refusal in item.refusals)


@pytest.mark.parametrize("package", packages())
def test_a_row_promises_only_what_the_sdk_knows(all_shapes: dict[str, Shapes], package: str) -> None:
    for item in rows_of(package):
        shape = all_shapes[package].types[item.type]
        said = {*item.immutable, *item.defaults, *(reference.path for reference in item.references)}
        assert {path.split(".")[0] for path in said} <= shape.inputs.keys()
        assert item.outputs.keys() <= shape.inputs.keys() | shape.outputs


@pytest.mark.parametrize("package", ["aws", "azure-native", "gcp"])
def test_a_whole_plan_can_be_taken_down_in_reverse(site: Site, package: str) -> None:
    site.build(plan(package))
    for made in reversed(site.made.values()):
        site.plugin(made.type).delete(made)
    left = site.clouds.every(cloud_of(package).name)
    assert {item.type.split(":")[-1] for item in left} <= {"KeyRing", "CryptoKey", "Vault", "Key"}
    assert all(item.kept for item in left)
