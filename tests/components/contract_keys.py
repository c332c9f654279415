"""What every region's key promises."""

from tests.components.clouds import reading, stored
from tests.components.contract_stores import StoreContract


class KeysContract(StoreContract):
    """Invariants, on every cloud."""

    ROLE = "keys"

    def test_it_is_the_only_key_of_its_region(self, cloud):
        assert len(reading(cloud).keys(stored(cloud))) == 1
