"""The pinned SDKs give every property that our stacks set the shape it had when someone last looked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from outlast.view.resource import Resource
from simcloud.shapes import Shape, Shapes
from tests.simcloud.used_properties import GONE, declared, differences, kept, table

NODES = "aws:eks/nodeGroup:NodeGroup"


@pytest.fixture(scope="module")
def resources() -> list[Resource]:
    return declared()


def upgraded(known: Mapping[str, Shapes], **changes: Shape | None) -> dict[str, Shapes]:
    """Shapes of an SDK in which properties of the node group are others, or gone."""
    aws = known["aws"]
    inputs = {**aws.types[NODES].inputs, **changes}
    shape = replace(aws.types[NODES], inputs={key: shape for key, shape in inputs.items() if shape is not None})
    return {**known, "aws": replace(aws, types={**aws.types, NODES: shape})}


def test_the_properties_we_set_are_those_the_sdks_had(resources: list[Resource], all_shapes: dict[str, Shapes]) -> None:
    changed = differences(kept(), table(resources, all_shapes))
    assert not changed, "Look at these, mend the components, then run 'make shapes':\n" + "\n".join(changed)


def test_a_property_that_an_upgrade_takes_away_is_named(
    resources: list[Resource], all_shapes: dict[str, Shapes]
) -> None:
    found = differences(kept(), table(resources, upgraded(all_shapes, instanceTypes=None)))
    assert found == [f"{NODES} instanceTypes: was list of string, is {GONE}"]


def test_a_property_that_an_upgrade_changes_is_named(resources: list[Resource], all_shapes: dict[str, Shapes]) -> None:
    found = differences(kept(), table(resources, upgraded(all_shapes, version="number")))
    assert found == [f"{NODES} version: was string, is number"]


def test_a_nested_property_that_an_upgrade_takes_away_is_named(
    resources: list[Resource], all_shapes: dict[str, Shapes]
) -> None:
    found = differences(kept(), table(resources, upgraded(all_shapes, scalingConfig="any")))
    assert {line.split(":")[-2].split(" ")[-1] for line in found} >= {"scalingConfig", "scalingConfig.minSize"}


def test_a_type_that_an_upgrade_takes_away_is_named(resources: list[Resource], all_shapes: dict[str, Shapes]) -> None:
    types = {kind: shape for kind, shape in all_shapes["aws"].types.items() if kind != NODES}
    gone = {**all_shapes, "aws": replace(all_shapes["aws"], types=types)}
    assert {line.split(" ")[0] for line in differences(kept(), table(resources, gone))} == {NODES}
