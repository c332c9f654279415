"""Declares a program against a monitor that writes down what the engine would be told, as the view's records.

With `preview` every value that a cloud invents is unknown, as in the preview of a new stack; without, each has a value
made from the resource's own name. Nothing here waits on an `apply`: tests look at records only.
"""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pulumi
from google.protobuf import empty_pb2, json_format
from pulumi.runtime import mocks, rpc
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.settings import SETTINGS, set_root_resource
from pulumi.runtime.stack import run_in_stack
from pulumi.runtime.sync_await import _sync_await

from outlast.view.resource import Resource, Value, name_of, normalise, provider_of, type_of

PROJECT = "outlast"
ORGANIZATION = "organization"
_STACK = "pulumi:pulumi:Stack"
_REFERENCE = "pulumi:pulumi:StackReference"
_IDENTITY = {"identity": {"type": "UserAssigned", "userAssignedIdentities": {"an-id": {}}}}
"""Azure is told a list of identities and answers a table of them."""
_INVENTED: Mapping[str, Mapping[str, Any]] = {
    "aws:eks/cluster:Cluster": {
        "certificateAuthority": {"data": "Y2E="},
        "endpoint": "https://cluster.example",
        "vpcConfig": {"clusterSecurityGroupId": "sg-cluster"},
    },
    "aws:eks/nodeGroup:NodeGroup": {"resources": [{"autoscalingGroups": [{"name": "eks-group"}]}]},
    "gcp:container/cluster:Cluster": {
        "controlPlaneEndpointsConfig": {"dnsEndpointConfig": {"endpoint": "gke.example"}}
    },
    "aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 3},
    "aws:ec2/eip:Eip": {"publicIp": "192.0.2.1"},
    "gcp:compute/address:Address": {"address": "192.0.2.2"},
    "gcp:serviceaccount/account:Account": {"name": "projects/p/serviceAccounts/account"},
    "azure-native:resources:ResourceGroup": {"name": "group"},
    "azure-native:network:VirtualNetwork": {"name": "network"},
    "azure-native:network:PrivateEndpoint": {"name": "endpoint"},
    "azure-native:network:PublicIPAddress": {"name": "address", "ipAddress": "192.0.2.3"},
    "azure-native:privatedns:PrivateZone": {"name": "zone"},
    "azure-native:network:FlowLog": _IDENTITY,
    "azure-native:storage:StorageAccount": {"name": "account", **_IDENTITY},
    "azure-native:keyvault:Vault": {"name": "vault"},
    "azure-native:keyvault:Key": {"keyUriWithVersion": "https://vault.example/keys/data/1"},
    "azure-native:managedidentity:UserAssignedIdentity": {
        "name": "identity",
        "principalId": "principal",
        "clientId": "client",
        "tenantId": "tenant",
    },
    "azure-native:containerservice:ManagedCluster": {
        "name": "aks",
        **_IDENTITY,
        "oidcIssuerProfile": {"enabled": True, "issuerURL": "https://issuer.example/"},
    },
}
CREDENTIALS = "azure-native:containerservice:listManagedClusterUserCredentials"
"""The only function of a cloud that components call: AKS says nowhere else what signs its API server."""
_AKS = {"cluster": {"server": "https://aks.example:443", "certificate-authority-data": "Y2E="}}
_STRINGS = ("arn", "keyId", "zoneId", "publicIp", "allocationId", "address", "email", "member")


@dataclass
class Recording:
    """What the engine was told."""

    resources: tuple[Resource, ...] = ()
    """Sorted by URN."""
    outputs: dict[str, Mapping[str, Value]] = field(default_factory=dict)
    """URN -> outputs that a component registered."""
    exports: Mapping[str, Value] = field(default_factory=dict)
    deleted_with: dict[str, str] = field(default_factory=dict)
    """URN -> URN of what it goes with."""
    providers: dict[str, str] = field(default_factory=dict)
    """URN -> URN of the provider given; empty for the default provider."""
    warnings: list[str] = field(default_factory=list)

    def of(self, type_: str) -> tuple[Resource, ...]:
        """Return the resources of a type."""
        return tuple(resource for resource in self.resources if resource.type == type_)


class _Nothing(mocks.Mocks):
    """Answers of no cloud; the recorder answers itself."""

    def call(self, args: mocks.MockCallArgs) -> tuple[dict[str, Any], None]:
        raise AssertionError(args.token)

    def new_resource(self, args: mocks.MockResourceArgs) -> tuple[str, dict[str, Any]]:
        raise AssertionError(args.typ)


class Recorder(mocks.MockMonitor):
    """A monitor that records and answers."""

    def __init__(self, *, preview: bool, stacks: Mapping[str, Mapping[str, Any]]) -> None:
        super().__init__(_Nothing())
        self._preview = preview
        self._stacks = stacks
        self._lock = threading.Lock()
        self._records: dict[str, Resource] = {}
        self.recording = Recording()

    def make_urn(self, parent: str, type_: str, name: str) -> str:
        """Name a resource as the engine does: with the types of all its parents below the stack."""
        if parent and type_of(parent) != _STACK:
            type_ = f"{parent.split('::')[2]}${type_}"
        return "::".join((f"urn:pulumi:{pulumi.get_stack()}", PROJECT, type_, name))

    def RegisterResource(self, request: Any) -> Any:
        """Record a registration."""
        urn = self.make_urn(request.parent, request.type, request.name)
        if request.type == _STACK:
            return resource_pb2.RegisterResourceResponse(urn=urn)
        raw = json_format.MessageToDict(request.object)
        with self._lock:
            assert urn not in self._records, f"two resources are called {urn}"
            self._records[urn] = self._record(urn, request, raw)
            self.recording.deleted_with[urn] = request.deletedWith
            if request.custom and not request.type.startswith("pulumi:providers:"):
                self.recording.providers[urn] = self._records[urn].provider
        answer = self._answer(request.type, request.name) if request.custom else {}
        known = json_format.ParseDict({**raw, **answer}, resource_pb2.RegisterResourceResponse().object)
        identity = "" if self._preview or not request.custom else f"{request.name}-id"
        return resource_pb2.RegisterResourceResponse(urn=urn, id=identity, object=known)

    def ReadResource(self, request: Any) -> Any:
        """Answer a reference to another stack."""
        assert request.type == _REFERENCE, f"components read nothing from clouds, this one read {request.type}"
        stack = request.name.rsplit("/", 1)[-1]
        state = {"name": request.name, "outputs": self._stacks.get(stack, {}), "secretOutputNames": []}
        urn = self.make_urn(request.parent, request.type, request.name)
        answer = resource_pb2.ReadResourceResponse(urn=urn)
        json_format.ParseDict(state, answer.properties)
        return answer

    def Invoke(self, request: Any) -> Any:
        """Answer the one function that a component may call; nothing is asked for what is not known yet."""
        assert request.tok == CREDENTIALS, f"components call no function of a cloud, this one called {request.tok}"
        value = base64.b64encode(json.dumps({"clusters": [_AKS]}).encode()).decode()
        answer = resource_pb2.ResourceInvokeResponse()
        json_format.ParseDict({"kubeconfigs": [{"name": "clusterUser", "value": value}]}, getattr(answer, "return"))
        return answer

    def RegisterResourceOutputs(self, request: Any) -> Any:
        """Record the outputs of a component or of the stack."""
        outputs = _mapping(json_format.MessageToDict(request.outputs))
        with self._lock:
            if type_of(request.urn) == _STACK:
                self.recording.exports = outputs or self.recording.exports
            else:
                self.recording.outputs[request.urn] = outputs
        return empty_pb2.Empty()

    def _record(self, urn: str, request: Any, raw: Mapping[str, Any]) -> Resource:
        return Resource(
            urn=urn,
            type=request.type,
            name=name_of(urn),
            inputs=_mapping(raw),
            parent="" if type_of(request.parent) == _STACK else request.parent,
            provider=provider_of(request.provider) if request.custom else "",
            provider_inputs=self._provider_inputs(request.provider),
            dependencies=tuple(sorted(request.dependencies)),
            property_dependencies={
                key: tuple(sorted(value.urns)) for key, value in request.propertyDependencies.items() if value.urns
            },
            protect=request.protect,
            ignore_changes=tuple(request.ignoreChanges),
        )

    def _answer(self, type_: str, name: str) -> Mapping[str, Any]:
        """What the cloud invents: nothing that is known before an update, also inside what the program gave."""
        invented = _INVENTED.get(type_, {})
        if self._preview:
            return dict.fromkeys(invented, rpc.UNKNOWN)
        return {key: f"{name}-{key}" for key in _STRINGS} | dict(invented)

    def _provider_inputs(self, reference: str) -> Mapping[str, Value]:
        provider = self._records.get(reference.rsplit("::", 1)[0])
        return provider.inputs if provider else {}

    def finish(self, warnings: list[str]) -> Recording:
        """Return what was recorded."""
        self.recording.resources = tuple(record for _, record in sorted(self._records.items()))
        self.recording.warnings = warnings
        return self.recording


class _Log:
    """Takes the place of the logger that the SDK's stand-in engine writes to."""

    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warning(self, message: str) -> None:
        self.warnings.append(message)

    def error(self, message: str) -> None:
        raise AssertionError(message)

    def info(self, message: str) -> None:
        """Nothing to keep."""

    debug = info


def record(
    program: Callable[[], object],
    *,
    preview: bool,
    stack: str = "demo.test",
    stacks: Mapping[str, Mapping[str, Any]] | None = None,
) -> Recording:
    """Run a program and return all that the engine was told.

    Args:
        program: declares resources.
        preview: whether invented values are unknown.
        stack: name of the stack.
        stacks: stack -> its outputs, for references.
    """
    recorder, log = Recorder(preview=preview, stacks=stacks or {}), _Log()

    def run() -> None:
        program()

    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    SETTINGS.outputs.clear()
    try:
        pulumi.runtime.set_mocks(
            _Nothing(),
            project=PROJECT,
            stack=stack,
            preview=preview,
            logger=log,  # type: ignore[arg-type]
            monitor=recorder,
            organization=ORGANIZATION,
        )
        # Not the root that set_mocks made: the program gets its own, as under the engine.
        set_root_resource(None)  # type: ignore[arg-type]
        with warnings.catch_warnings():
            # Modules of the SDKs say so while they load, whatever is used of them.
            warnings.filterwarnings("ignore", ".* has been deprecated in favor of", DeprecationWarning)
            _sync_await(run_in_stack(run))
    finally:
        _end(loop)
    return recorder.finish(log.warnings)


def _end(loop: asyncio.AbstractEventLoop) -> None:
    """Close a loop with all that a program that failed has left in it."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()
    asyncio.set_event_loop(None)


def declare(
    program: Callable[[], object],
    preview: bool,
    stack: str = "demo.test",
    stacks: Mapping[str, Mapping[str, Any]] | None = None,
) -> tuple[Resource, ...]:
    """Run a program and return its resources."""
    return record(program, preview=preview, stack=stack, stacks=stacks).resources


def _mapping(raw: Mapping[str, Any]) -> Mapping[str, Value]:
    value = normalise(raw)
    assert isinstance(value, Mapping)
    return value
