"""A contract is kept on every cloud that has a module for its role."""

from tests.components.clouds import clouds


def pytest_generate_tests(metafunc):
    """Run the tests of a class with a ROLE on each of its clouds."""
    role = getattr(metafunc.cls, "ROLE", None)
    if role and "cloud" in metafunc.fixturenames:
        metafunc.parametrize("cloud", clouds(role))
