"""``regions.yaml``: our regions, their node pools and access, and the origins of demand."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from outlast.facts.models import Capacity
from outlast.intent.base import Name, PoolId, Strict, planner_input

Cidr = Annotated[str, StringConstraints(pattern=r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$")]
Partition = Annotated[str, StringConstraints(pattern=r"^(whole|mig-\d+x[a-z0-9.+]+|slice-\d+)$")]
Nat = Literal["regional", "zonal"]
Share = Annotated[int, Field(ge=0, le=100)]
Homes = dict[Name, Share]
"""Region -> per cent of an origin's demand that is at home there."""


class NodePool(Strict):
    """Machines of one type that the planner may count; one lock row a zone."""

    machine_type: str = planner_input()
    """The cloud's name of the shape."""
    zones: tuple[str, ...] = planner_input(min_length=1)
    """Zones it may use, in the order in which extra replicas are placed."""
    capacity: Capacity = planner_input("on_demand")
    """How the nodes are bought."""
    reservation: str | None = planner_input(None)
    """Id of the reservation of a ``reserved`` node pool; declared in capacity.yaml."""
    partition: Partition = planner_input("whole")
    """``whole``, a MIG layout such as ``mig-7x1g.10gb``, or ``slice-4`` for time-slicing."""
    scaling: Literal["fixed", "elastic"] = planner_input("fixed")
    """``fixed``: minimum = desired = maximum, needed for headroom; ``elastic``: an autoscaler owns the count."""
    interconnect: bool = planner_input(False)
    """Whether its machines get network cards for each other; a replica lies on one node and needs none."""


class Access(Strict):
    """Principals of the cluster's API, as the cloud spells them."""

    admin: tuple[str, ...] = ()
    operator: tuple[str, ...] = ()
    viewer: tuple[str, ...] = ()


class ApiAccess(Strict):
    """Who can reach the cluster's API server over the network."""

    private: bool = True
    """Only from inside the network."""
    allow: tuple[Cidr, ...] = ()
    """Public ranges that may reach it when ``private`` is false."""


class NetworkChoice(Strict):
    """Whether the region's network is made or there already, and how nodes reach the world."""

    existing: str | None = None
    """The cloud's id of a network that exists and is used as it is; absent: we create it."""
    subnets: dict[str, str] = {}
    """Zone -> id of the subnet of its nodes; of an existing network."""
    api_subnets: tuple[str, ...] = ()
    """Subnets that the control plane reaches nodes from, where the cloud wants them; of an existing network."""
    nat: Nat | None = None
    """One way out for the region, or one a zone; absent: one for the region where it outlives every zone."""


class ClusterChoice(Strict):
    """Whether the region's cluster is made or there already."""

    existing: str | None = None
    """The cloud's id of a cluster that exists and is used as it is, in an existing network; absent: we create it."""
    server: Annotated[str, StringConstraints(pattern=r"^https://[^/]+$")] | None = None
    """Address of the API server of an existing cluster."""
    certificate_authority: str | None = None
    """Certificate authority of that address, base64; absent where its certificate is publicly trusted."""
    issuer: Annotated[str, StringConstraints(pattern=r"^https://.+$")] | None = None
    """Issuer of its service accounts' tokens; needed where identities of the cloud trust one by its address."""


class Region(Strict):
    """One cell: one cluster, one stack."""

    cloud: str = planner_input()
    provider_region: str = planner_input()
    """The cloud's name of the region."""
    zones: tuple[str, ...] = planner_input(min_length=1)
    """Zone ids, stable across accounts."""
    account: str
    """Account, project or subscription."""
    allowed_account: str | None = None
    """``account`` a second time, so that a slip of the hand in one of them meets no other account."""
    account_number: Annotated[str, StringConstraints(pattern=r"^\d{6,20}$")] | None = None
    """The cloud's number of the account, where its own services are named by it."""
    role: str | None = None
    """Role or service account to assume; absent: ambient credentials."""
    cidr: Cidr
    """Address range of the region's network, /16 or larger."""
    dns_region: str
    """Nearest region of the DNS cloud."""
    node_pools: dict[PoolId, NodePool] = planner_input(min_length=1)
    access: Access = Access()
    api: ApiAccess = ApiAccess()
    network: NetworkChoice = NetworkChoice()
    cluster: ClusterChoice = ClusterChoice()
    operators: Literal["managed", "external"] = "managed"
    """Whether the stack installs the cluster's operators or leaves them to others."""
    permissions_boundary: str | None = None
    """Policy that bounds every role the stack creates."""
    protect: bool = True
    """Deletion protection on everything that holds data or takes long to get back."""
    tags: dict[str, str] = {}


class Origin(Strict):
    """Where demand arises."""

    geolocation: tuple[str, ...] = Field(min_length=1)
    """DNS geolocation codes: two-letter continent or country, for example ``continent:EU``, ``country:IN``."""
    nearest: tuple[Name, ...] = planner_input(min_length=1)
    """Regions from nearest to farthest; a class without ``home`` lives in the first one it may use."""
    home: dict[Name, Homes] = planner_input({})
    """Residency class -> shares over regions, summing to 100."""


class RegionsFile(Strict):
    """Regions and origins."""

    regions: dict[Name, Region] = planner_input(min_length=1)
    origins: dict[Name, Origin] = planner_input(min_length=1)
