"""One deployment of the demo a session; each test works on a copy of it."""

from __future__ import annotations

import pytest

from tests.engine.simulation import FLEET, Simulation


@pytest.fixture(scope="session")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Simulation:
    """The demo's stacks, up under the policy pack; not to be changed."""
    made = Simulation.new(tmp_path_factory.mktemp("deployed") / "demo")
    ran = made.outlast("sim", "up", FLEET)
    assert ran.code == 0, ran.output
    return made


@pytest.fixture
def deployed(pristine: Simulation, tmp_path) -> Simulation:
    """A copy of the deployed demo that the test may break."""
    return pristine.copy(tmp_path / "demo")


@pytest.fixture
def empty(tmp_path) -> Simulation:
    """The demo before anything is deployed."""
    return Simulation.new(tmp_path / "demo")
