"""Rows of ``config/facts/*.csv``: one frozen model a file, every row with its source and date."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from ipaddress import IPv4Network
from types import MappingProxyType
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

Capacity = Literal["on_demand", "reserved", "spot"]
"""How a node is bought."""
LIST_BASIS: Mapping[str, str] = MappingProxyType({"on_demand": "on_demand", "reserved": "on_demand", "spot": "spot"})
"""Capacity type -> basis of the list price it starts from; a reservation is billed at the on-demand price."""


def _split(text: object) -> object:
    return tuple(str(text).replace(";", " ").split()) if isinstance(text, str) else text


def _blank_is_none(text: object) -> object:
    return None if text == "" else text


def _compiles(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        what = f"is no regular expression: {error}"
        raise ValueError(what) from error
    return text


Words = Annotated[tuple[str, ...], BeforeValidator(_split)]
"""Several words in one cell, separated by blanks or semicolons."""
MaybeFloat = Annotated[float | None, BeforeValidator(_blank_is_none)]
MaybeInt = Annotated[int | None, BeforeValidator(_blank_is_none)]
MaybeRange = Annotated[IPv4Network | None, BeforeValidator(_blank_is_none)]
Ranges = Annotated[tuple[IPv4Network, ...], BeforeValidator(_split)]
Pattern = Annotated[str, AfterValidator(_compiles)]
"""A regular expression."""


class Row(BaseModel):
    """Common to all facts: where it comes from and when that was true."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    source: str = Field(min_length=1)
    """Publication the figures come from."""
    as_of: date
    """Day the source was true."""


class Accelerator(Row):
    """A GPU model."""

    accelerator: str
    short: str = Field(pattern=r"^[a-z0-9]+$")
    """Short name used in pool keys."""
    product: str
    arch: str
    resource: str
    """Kubernetes resource name of one device."""
    compute_capability: str
    mem_gb_nominal: float
    mem_mib_reported: MaybeFloat
    mem_bw_gb_per_s: float
    bf16_dense_tflops: float
    fp8_dense_tflops: float
    tdp_w: float
    interconnect: str
    interconnect_gb_per_s_bidir: MaybeFloat
    fp8_formats: str
    mig_max_instances: float
    mig_profiles_max_count: Words
    partition_modes: str


class MachineType(Row):
    """A cloud's shape of a node."""

    cloud: str
    machine_type: str
    accelerator: str
    node_gpus: float = Field(ge=0)
    """GPUs of a node; less than one where the cloud sells a fraction of a card."""
    gpu_mem_gb: float
    vcpu: int
    ram_gb: float
    nvme_count: MaybeFloat
    """Local NVMe disks of a node; blank where the source gives only a total or none."""
    nvme_gb_each: MaybeFloat
    disk_unit: Literal["gb", "gib"]
    """Unit in which the cloud reports disks: decimal or binary."""
    network_gbps: MaybeFloat

    @property
    def disk_gib(self) -> int:
        """Local NVMe of a node in GiB, whole."""
        gib = 1e9 / 2**30 if self.disk_unit == "gb" else 1.0
        return int((self.nvme_count or 0) * (self.nvme_gb_each or 0) * gib)


class NetworkBaseline(Row):
    """What a node can keep up from storage, where that is less than the machine type's figure."""

    cloud: str
    machine_type: str
    baseline_gbps: float = Field(gt=0)
    """Sustained bandwidth of one network card: without burst credits, and without cards that only GPUs use."""


class Interconnect(Row):
    """Network cards by which machines of one type speak to each other past the operating system; no row: none."""

    cloud: str
    machine_type: str
    cards: int = Field(gt=0)


class AcceleratorType(Row):
    """What a cloud itself calls the accelerator of a machine type, where node pools say both; no row: they do not."""

    cloud: str
    machine_type: str
    accelerator_type: str = Field(min_length=1)


class Offering(Row):
    """Where a machine type can be had."""

    cloud: str
    provider_region: str
    zones: Words
    machine_type: str


class Price(Row):
    """List price of a node-hour."""

    cloud: str
    provider_region: str
    machine_type: str
    usd_h: float = Field(gt=0)
    basis: Literal[
        "on_demand", "spot", "spot_min_zone", "spot_max_zone", "capacity_block", "list_only_not_sold_on_demand"
    ]


class ProviderRegion(Row):
    """A cloud's region and the law that applies there."""

    cloud: str
    provider_region: str
    country: str
    jurisdiction: str
    zones: int
    zone_names: Words = ()
    """Names of its zones, where offerings do not list them."""


class ClosedZone(Row):
    """A zone that may sell machines and takes no control plane of a managed cluster."""

    cloud: str
    zone: str


IdKind = Literal[
    "account",
    "principal",
    "role",
    "permissions-boundary",
    "reservation",
    "network",
    "subnet",
    "cluster",
    "api-server",
    "issuer",
    "dns-zone",
]
"""What people name by an id of the cloud's."""


class IdForm(Row):
    """How a cloud writes an id; a kind without a row is not judged."""

    cloud: str
    kind: IdKind
    form: str
    """In words, for messages."""
    pattern: Pattern
    """Of the whole id; its groups ``account`` and ``provider_region`` say where the thing lies."""

    def read(self, text: str) -> Mapping[str, str] | None:
        """Return what an id says of its place, by group, or None if it has another form."""
        found = re.fullmatch(self.pattern, text)
        return {name: said for name, said in found.groupdict().items() if said} if found else None


class Example(Row):
    """An id or digest that stands in examples and is nobody's."""

    text: str
    what: str


class NetworkFact(Row):
    """How a cloud cuts networks, and what nodes and pods take of them."""

    cloud: str
    widest_prefix: int = Field(ge=0, le=16)
    """Shortest prefix that a network may have."""
    node_range: Literal["zone", "region"]
    """What has a range for nodes of its own: each zone, or all zones together."""
    subnet_of: Literal["zone", "region"]
    """What a subnet lies in."""
    node_addresses: int = Field(ge=1)
    """Addresses that a node takes of the range for nodes: its own, and those of pods that have no range."""
    reserved_addresses: int = Field(ge=0)
    """Addresses of a subnet that the cloud keeps."""
    pod_prefix: MaybeInt
    """Prefix of what a node takes of the range for pods; blank where pods take addresses of the range for nodes."""
    pod_range: MaybeRange
    """Range of pods inside every cluster alike; blank where they lie in the network."""
    service_range: MaybeRange
    """Range of services, where that of pods is given."""
    reserved_ranges: Ranges
    """Ranges that a network must not overlap: the cloud, or what runs on nodes, uses them itself."""
    api_subnets: int = Field(ge=0)
    """Subnets that a control plane wants to reach nodes from."""
    cluster_zones: int = Field(ge=1)
    """Fewest zones that a control plane spreads over."""

    @property
    def taken(self) -> tuple[IPv4Network, ...]:
        """Ranges that no network may overlap."""
        return (*self.reserved_ranges, *(own for own in (self.pod_range, self.service_range) if own is not None))

    def taken_by(self, network: IPv4Network) -> IPv4Network | None:
        """Return the first taken range that a network overlaps."""
        return next((taken for taken in self.taken if network.overlaps(taken)), None)


class TagRule(Row):
    """What a cloud takes as tags or labels of one resource."""

    cloud: str
    reserved_prefixes: Words
    """Starts of keys that the cloud keeps for itself."""
    most: int = Field(ge=1)
    """Most tags of one resource, ours included."""


class Capability(Row):
    """Something that a cloud can do and not every cloud can; what has no row is refused by the loader."""

    cloud: str
    capability: str = Field(pattern=r"^[a-z]+(-[a-z]+)*$")


class KubernetesVersion(Row):
    """A minor version that a cloud's managed Kubernetes creates clusters of."""

    cloud: str
    kubernetes: str = Field(pattern=r"^1\.\d+$")


class AddOn(Row):
    """The version of a managed add-on that goes with a Kubernetes version."""

    cloud: str
    add_on: str
    kubernetes: str = Field(pattern=r"^1\.\d+$")
    version: str


class QuotaFact(Row):
    """A permission a cloud grants per account and region, and what counts against it."""

    cloud: str
    quota_code: str
    quota_name: str
    unit: Literal["vcpu", "gpus"]
    scope: str = Field(pattern=r"^(account|project|subscription)(\+region)?$")
    """What shares the grant: an account's machines in one region, or, without ``+region``, in all of them."""
    machine_types: Words
    """Patterns with ``*``."""
    capacity: Words
    """Capacity types that count against it."""
    raise_with: str
    """How an operator asks for more."""

    @property
    def is_account_wide(self) -> bool:
        """Whether one grant covers every region of an account: a cap above those of the regions."""
        return not self.scope.endswith("+region")

    @property
    def written_unit(self) -> str:
        """The unit as people write it."""
        return {"vcpu": "vCPU", "gpus": "GPUs"}[self.unit]

    def of_node(self, machine: MachineType) -> float:
        """Return what one node counts against it, in its unit."""
        return float(machine.vcpu if self.unit == "vcpu" else machine.node_gpus)


class GoodputFact(Row):
    """A published throughput at a latency target."""

    model: str
    accelerator: str
    gpus_per_replica: int
    replicas_in_run: int
    out_tok_s_run: float
    out_tok_s_per_replica: float
    out_tok_s_per_gpu: float
    slo: str
    ttft_ms: MaybeFloat
    tpot_ms: MaybeFloat
    isl: str
    osl: str
    precision: str
    engine: str
    kind: Literal["measured", "modelled"]
    note: str


class ModelShape(Row):
    """Layers and KV heads of a published model."""

    model: str
    params_b: MaybeFloat
    active_params_b: MaybeFloat
    layers: int
    q_heads: int
    kv_heads: MaybeFloat
    head_dim: MaybeFloat
    attention: str
    plain_formula_kv_bytes_per_token_16bit: MaybeFloat
    growing_kv_bytes_per_token_16bit: MaybeFloat
    fixed_kv_bytes_per_sequence_16bit: MaybeFloat
    window: str
    weights_gib: float
    weights_basis: str
    max_context: MaybeFloat
    note: str


class EgressPrice(Row):
    """Price of moving or keeping bytes."""

    cloud: str
    from_: str = Field(alias="from")
    to: str
    usd: float
    unit: str


class CatalogueRow(Row):
    """A resource type and how its place is read."""

    type: str
    kind: Literal["located", "edge", "global", "opaque"]
    """``located`` lies somewhere; ``edge`` names a second place; ``global`` lies nowhere; ``opaque`` hides it."""
    role: str
    """What it is to the rules: store, key, registry, log, compute, cluster, node_pool, workload, network, route, ..."""
    place: Words
    """Property paths that say where, the first that says anything decides; `outlast.view.places` explains ``@``."""
    reason: str
    """Why a global type is harmless, or what an edge connects."""


class Permission(Row):
    """What an identity must be allowed in order to deploy one resource type."""

    cloud: str
    type: str
    """Resource type of the catalogue; a row may be there before the catalogue's. With ``call``: a function."""
    verb: Literal["create", "read", "update", "delete", "all", "call", "grant", "pass", "link"]
    """When the words are needed. ``grant``: what it may grant to the identities that a stack makes; ``pass``: services
    that it hands those identities to; ``link``: services whose own role comes into being with the first resource."""
    permissions: Words = Field(min_length=1)
    """The cloud's own words; for objects of a cluster ``<group>/<resource>``, without a group in the core one."""
