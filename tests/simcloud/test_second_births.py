"""What a cloud says to a program that makes something again, because its plugin died before the engine knew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simcloud.cloud import packages
from simcloud.shapes import Shapes
from tests.simcloud.conftest import Refusal, close_site, inputs_of
from tests.simcloud.examples import plan
from tests.simcloud.standing import Standing, stand

EVERY = [pytest.param(package, name, id=f"{package}-{name}") for package in packages() for name in plan(package)]


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory, all_shapes: dict[str, Shapes]) -> Iterator[Standing]:
    """Everything of every plan, to be made once more."""
    built = stand(tmp_path_factory.mktemp("standing"), all_shapes)
    yield built
    close_site(built.site)


@pytest.mark.parametrize(("package", "name"), EVERY)
def test_a_second_birth_goes_well_or_is_refused_in_words(standing: Standing, package: str, name: str) -> None:
    kind, before = plan(package)[name][0], standing.made(package, name)
    refused = ""
    try:
        standing.plugin(package).create(kind, name, inputs_of(before))
    except Refusal as refusal:
        refused = str(refusal)
    assert "the simulated cloud failed" not in refused
