"""What every cloud's provider promises: a policy can decide in a preview whose account and which place it is."""

from outlast.view.resource import unknown_paths
from tests.components.clouds import REGIONS, intent, reading, recorded


class ProviderContract:
    """Invariants, on every cloud."""

    ROLE = "provider"

    def test_account_and_place_are_literal(self, cloud):
        recording = recorded(cloud)
        (provider,) = recording.of(reading(cloud).PROVIDER)
        row = intent().regions[REGIONS[cloud]]
        assert list(unknown_paths(provider.inputs)) == []
        assert row.account in str(provider.get(reading(cloud).ACCOUNT))
        assert row.provider_region in str(dict(provider.inputs))

    def test_everything_of_the_cloud_goes_through_it(self, cloud):
        recording = recorded(cloud)
        (provider,) = recording.of(reading(cloud).PROVIDER)
        package = reading(cloud).PROVIDER.rpartition(":")[2]
        used = {row.provider for row in recording.resources if row.package == package and row.provider}
        assert used == {provider.urn}
