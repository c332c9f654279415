"""What the identities of every cloud promise: of nodes, and of a service account inside the cluster."""

from tests.components.clouds import KEY, reading, recorded


class IdentityContract:
    """Invariants, on every cloud."""

    ROLE = "identity"

    def test_nodes_act_as_an_identity_of_their_own(self, cloud):
        recording = recorded(cloud)
        holders = reading(cloud).node_identity(recording, KEY)
        assert any("identity:" in urn for urn in holders), holders

    def test_nodes_read_no_weights(self, cloud):
        assert reading(cloud).buckets_of_nodes(recorded(cloud)) == []


class WorkloadIdentityContract:
    """Invariants, on every cloud."""

    ROLE = "workload_identity"

    def test_one_service_account_is_bound_and_no_other(self, cloud):
        assert reading(cloud).bound_accounts(recorded(cloud, preview=False)) == ["serving/stager"]

    def test_no_credential_is_made(self, cloud):
        made = {row.type.split(":")[-1] for row in recorded(cloud).resources}
        assert made.isdisjoint({"AccessKey", "Key", "ServiceAccountKey", "ApplicationPassword"})
