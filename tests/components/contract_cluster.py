"""What every cloud's cluster promises."""

from dataclasses import dataclass

import pytest

from tests.components.clouds import intent, reading, recorded


@dataclass(frozen=True)
class ClusterSeen:
    """A cluster as the contract asks about it."""

    version: str
    identities_only: bool
    """Whether callers are known to the cloud, and no other credential opens it."""
    private: bool
    """Whether nobody outside the network reaches the API server without an identity that the cloud has checked."""
    encrypted_with: tuple[str, ...]
    """Inputs that name the key of the cluster's secrets, known or not yet."""
    logged: frozenset[str]
    guarded: bool | None
    """Deletion protection of the cloud; None where it has none."""


class ClusterContract:
    """Invariants, on every cloud."""

    ROLE = "cluster"

    def test_its_version_is_the_fleets(self, cloud):
        assert reading(cloud).cluster(recorded(cloud)).version == intent().fleet.kubernetes

    def test_only_identities_of_the_cloud_get_in(self, cloud):
        assert reading(cloud).cluster(recorded(cloud)).identities_only

    def test_its_api_is_private(self, cloud):
        assert reading(cloud).cluster(recorded(cloud)).private

    def test_its_secrets_are_encrypted_with_the_regions_key(self, cloud):
        assert reading(cloud).cluster(recorded(cloud)).encrypted_with

    def test_what_its_control_plane_does_is_logged(self, cloud):
        assert reading(cloud).cluster(recorded(cloud)).logged

    @pytest.mark.parametrize("teardown", [False, True], ids=["kept", "teardown"])
    def test_one_flag_protects_it_here_and_there(self, cloud, teardown):
        recording = recorded(cloud, teardown=teardown)
        (cluster,) = recording.of(reading(cloud).CLUSTER)
        assert cluster.protect is not teardown
        assert reading(cloud).cluster(recording).guarded in (None, not teardown)
