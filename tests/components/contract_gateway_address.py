"""What the addresses of every cloud's gateway promise."""

import pytest

from components.gateway_address.contract import slots
from tests.components.clouds import REGIONS, intent, reading, recorded


def component_of(recording):
    return next(urn for urn in recording.outputs if urn.split("::")[2].startswith("outlast:gateway_address:"))


class GatewayAddressContract:
    """Invariants, on every cloud."""

    ROLE = "gateway_address"

    def test_there_is_an_address_and_a_binding_for_every_slot(self, cloud):
        recording = recorded(cloud, preview=False)
        outputs = recording.outputs[component_of(recording)]
        wanted = set(slots(cloud, intent().regions[REGIONS[cloud]].zones))
        assert set(outputs["addresses"]) == set(outputs["bindings"]) == wanted

    def test_addresses_are_static_and_never_those_of_version_6(self, cloud):
        assert reading(cloud).addresses(recorded(cloud))
        assert all(reading(cloud).addresses(recorded(cloud)).values())

    @pytest.mark.parametrize("teardown", [False, True], ids=["kept", "teardown"])
    def test_dns_holds_them_so_they_are_protected(self, cloud, teardown):
        recording = recorded(cloud, teardown=teardown)
        kept = {row.urn: row.protect for row in recording.resources if row.urn in reading(cloud).addresses(recording)}
        assert set(kept.values()) == {not teardown}
