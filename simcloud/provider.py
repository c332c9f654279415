"""One stand-in plugin: speaks the engine's provider protocol and leaves every decision to `operations`.

Started by the engine, once for every provider resource of a program. It refuses to serve anything but the state of its
own sim directory, so that a simulated fleet never meets a real backend.

Source of the protocol: `proto/pulumi/provider.proto` of the Pulumi SDK.
"""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Iterator, Mapping
from concurrent import futures
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc, status_pb2

from simcloud import shapes, world
from simcloud.cloud import Cloud, cloud_of
from simcloud.home import WORLD, shapes_file
from simcloud.operations import Made, Operations, name_of, type_of
from simcloud.refusals import Refused, Throttled, Violation
from simcloud.state import Clouds
from simcloud.values import changed_paths, decode, encode, has_unknown, plain

_MAX_MESSAGE_BYTES = 400 * 1024 * 1024
"""Source: Pulumi SDK, `python/lib/pulumi/runtime/settings.py`."""

_KINDS = {
    "add": provider_pb2.PropertyDiff.ADD,
    "delete": provider_pb2.PropertyDiff.DELETE,
    "update": provider_pb2.PropertyDiff.UPDATE,
}
_KINDS_REPLACE = {
    "add": provider_pb2.PropertyDiff.ADD_REPLACE,
    "delete": provider_pb2.PropertyDiff.DELETE_REPLACE,
    "update": provider_pb2.PropertyDiff.UPDATE_REPLACE,
}

Answer = TypeVar("Answer")


class Provider(provider_pb2_grpc.ResourceProviderServicer):
    """Answers the engine for one provider resource."""

    def __init__(self, operations: Operations, environment: Mapping[str, str]) -> None:
        """Hold the operations and the environment that says which sim this is."""
        self._operations = operations
        self._environment = environment

    @property
    def _cloud(self) -> Cloud:
        return self._operations.cloud

    def Handshake(self, request: Any, context: Any) -> Any:  # noqa: D102
        return provider_pb2.ProviderHandshakeResponse(
            accept_secrets=False, accept_resources=False, accept_outputs=False
        )

    def GetPluginInfo(self, request: Any, context: Any) -> Any:  # noqa: D102
        return plugin_pb2.PluginInfo(version=self._operations.shapes.version)

    def Attach(self, request: Any, context: Any) -> Any:  # noqa: D102
        return empty_pb2.Empty()

    def Cancel(self, request: Any, context: Any) -> Any:  # noqa: D102
        return empty_pb2.Empty()

    def CheckConfig(self, request: Any, context: Any) -> Any:  # noqa: D102
        with _answering(context, request.urn):
            refuse_elsewhere(self._environment)
            news = decode(request.news)
            found = self._config_problems(news)
            return provider_pb2.CheckResponse(inputs=encode(news), failures=_failures(found))

    def DiffConfig(self, request: Any, context: Any) -> Any:  # noqa: D102
        old, new = decode(request.old_inputs) or decode(request.olds), decode(request.news)
        paths = changed_paths(plain(old), plain(new))
        replaces = sorted(set(paths) & self._cloud.provider_fixed)
        changes = provider_pb2.DiffResponse.DIFF_SOME if paths else provider_pb2.DiffResponse.DIFF_NONE
        return provider_pb2.DiffResponse(changes=changes, replaces=replaces, diffs=sorted(paths))

    def Configure(self, request: Any, context: Any) -> Any:  # noqa: D102
        with _answering(context, request.urn or f"the {self._cloud.package} provider"):
            refuse_elsewhere(self._environment)
            config = self._config(decode(request.args))
            self._operations.session = self._cloud.configure(config, self._operations.world, self._operations.clouds)
            self._operations.provider = request.urn
            return provider_pb2.ConfigureResponse(
                acceptSecrets=False, supportsPreview=True, acceptResources=False, acceptOutputs=False
            )

    def Check(self, request: Any, context: Any) -> Any:  # noqa: D102
        with _answering(context, request.urn):
            inputs, violations = self._operations.check(request.urn, decode(request.olds), decode(request.news))
            return provider_pb2.CheckResponse(inputs=encode(inputs), failures=_failures(violations))

    def Diff(self, request: Any, context: Any) -> Any:  # noqa: D102
        with _answering(context, request.urn):
            old = decode(request.old_inputs) or decode(request.olds)
            found = self._operations.diff(request.urn, old, decode(request.news))
            changes = provider_pb2.DiffResponse.DIFF_SOME if found.paths else provider_pb2.DiffResponse.DIFF_NONE
            detailed = {
                path: provider_pb2.PropertyDiff(
                    kind=(_KINDS_REPLACE if path in found.replaces else _KINDS)[kind], inputDiff=True
                )
                for path, kind in found.paths.items()
            }
            return provider_pb2.DiffResponse(
                changes=changes,
                replaces=sorted(found.replaces),
                diffs=sorted({_top(path) for path in found.paths}),
                deleteBeforeReplace=found.delete_first,
                detailedDiff=detailed,
                hasDetailedDiff=True,
            )

    def Create(self, request: Any, context: Any) -> Any:  # noqa: D102
        with self._logged("create", request), _answering(context, request.urn):
            made = self._operations.create(request.urn, decode(request.properties), preview=request.preview)
            if made.half_made:
                _abort_half_made(context, made)
            return provider_pb2.CreateResponse(id=made.id, properties=encode(made.outputs))

    def Read(self, request: Any, context: Any) -> Any:  # noqa: D102
        with self._logged("read", request), _answering(context, request.urn):
            made = self._operations.read(request.urn, request.id, decode(request.properties))
            if made is None:
                return provider_pb2.ReadResponse(id="")
            return provider_pb2.ReadResponse(id=made.id, properties=encode(made.outputs), inputs=encode(made.inputs))

    def Update(self, request: Any, context: Any) -> Any:  # noqa: D102
        with self._logged("update", request), _answering(context, request.urn):
            old = decode(request.old_inputs) or decode(request.olds)
            made = self._operations.update(request.urn, request.id, old, decode(request.news), preview=request.preview)
            return provider_pb2.UpdateResponse(properties=encode(made.outputs))

    def Delete(self, request: Any, context: Any) -> Any:  # noqa: D102
        with self._logged("delete", request), _answering(context, request.urn):
            self._operations.delete(request.urn, request.id, decode(request.old_inputs) or decode(request.properties))
            return empty_pb2.Empty()

    def Invoke(self, request: Any, context: Any) -> Any:  # noqa: D102
        with _answering(context, request.tok):
            asked = decode(request.args)
            answer = self._cloud.invoke(request.tok, asked, self._operations.session, self._operations.clouds)
            if answer is None:
                raise Refused(
                    Violation(what="the simulated clouds answer no functions", do="Pass the value as configuration")
                )
            return provider_pb2.InvokeResponse(**{"return": encode(answer)})

    def _config(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Read provider configuration, whose values other than strings arrive as JSON in strings."""
        shape = self._operations.shapes.types[f"pulumi:providers:{self._cloud.package}"]
        return {
            key: _parsed(value, shape.inputs.get(key, "string")) for key, value in given.items() if value is not None
        }

    def _config_problems(self, given: Mapping[str, Any]) -> list[Violation]:
        shape = self._operations.shapes.types[f"pulumi:providers:{self._cloud.package}"]
        config = {
            key: value for key, value in self._config(given).items() if key not in ("version", "pluginDownloadURL")
        }
        found = shapes.problems(config, shape, self._operations.shapes)
        if not found and not has_unknown(config):
            try:
                self._cloud.configure(config, self._operations.world, self._operations.clouds)
            except Refused as refused:
                return list(refused.violations)
        return [Violation(property=item.path, what=item.reason) for item in found]

    @contextmanager
    def _logged(self, method: str, request: Any) -> Iterator[None]:
        outcome = "refused"
        try:
            yield
            outcome = "done"
        finally:
            preview = bool(getattr(request, "preview", False))
            self._operations.clouds.log(self._cloud.package, method, preview, request.urn, outcome)


def refuse_elsewhere(environment: Mapping[str, str]) -> None:
    """Refuse to serve unless the engine keeps its state in the sim directory.

    Raises:
        Refused: the backend is another one.
    """
    sim, backend = environment.get("OUTLAST_SIM", ""), environment.get("PULUMI_BACKEND_URL", "")
    path = backend.removeprefix("file://")
    if sim and path != backend and Path(path).resolve() == (Path(sim) / "state").resolve():
        return
    raise Refused(
        Violation(
            what="a simulated plugin serves only the state inside its sim directory",
            got=backend or "no PULUMI_BACKEND_URL",
            allowed=f"file://{sim or '<OUTLAST_SIM>'}/state",
            do="Run 'eval \"$(outlast sim env FLEET)\"', or unset PULUMI_HOME to use real plugins",
        )
    )


@contextmanager
def _answering(context: Any, where: str) -> Iterator[None]:
    """Turn a refusal into a status that the engine prints as one sentence, and a slip of ours into a short one."""
    named = f"{type_of(where)} '{name_of(where)}'" if where.count("::") >= 3 else where
    try:
        yield
    except Refused as refused:
        code = (
            grpc.StatusCode.RESOURCE_EXHAUSTED
            if isinstance(refused, Throttled)
            else grpc.StatusCode.FAILED_PRECONDITION
        )
        sentences = [
            violation.sentence(f"{named}, {violation.property}" if violation.property else named)
            for violation in refused.violations
        ]
        context.abort(code, "\n".join(sentences))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, sqlite3.Error) as slip:
        if os.environ.get("OUTLAST_SIM_TRACE"):
            raise
        context.abort(
            grpc.StatusCode.INTERNAL,
            f"{named}: the simulated cloud failed ({type(slip).__name__}: {slip})."
            " Report it; OUTLAST_SIM_TRACE=1 shows where.",
        )


def _abort_half_made(context: Any, made: Made) -> None:
    """Fail a create in the way that makes the engine keep the resource and finish it next time."""
    failed = provider_pb2.ErrorResourceInitFailed(
        id=made.id, properties=encode(made.outputs), reasons=[made.half_made], inputs=encode(made.inputs)
    )
    status = status_pb2.Status(code=grpc.StatusCode.UNKNOWN.value[0], message=made.half_made)
    status.details.add().Pack(failed)
    context.set_trailing_metadata((("grpc-status-details-bin", status.SerializeToString()),))
    context.abort(grpc.StatusCode.UNKNOWN, made.half_made)


def _failures(violations: list[Violation]) -> list[Any]:
    """Report one failure a property; the engine can print the value of a top-level property only."""
    return [
        provider_pb2.CheckFailure(property=item.property, reason=item.reason())
        if item.property == _top(item.property)
        else provider_pb2.CheckFailure(reason=item.sentence(item.property))
        for item in violations
    ]


def _parsed(value: Any, shape: shapes.Shape) -> Any:
    if not isinstance(value, str) or shape == "string" or has_unknown(value):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def _top(path: str) -> str:
    return path.split(".")[0].split("[")[0]


def operations(package: str, sim: Path) -> Operations:
    """Open one package's view of the simulated clouds of a sim directory."""
    cloud = cloud_of(package)
    return Operations(
        cloud, shapes.load(shapes_file(sim, package)), world.load(sim / WORLD), Clouds(sim / "clouds.sqlite")
    )


def main(package: str) -> None:
    """Serve until the engine ends the process."""
    for ending in (signal.SIGINT, signal.SIGTERM):
        signal.signal(ending, lambda *_: os._exit(0))
    sim = os.environ.get("OUTLAST_SIM", "")
    if not sim:
        sys.exit("simulated plugins need OUTLAST_SIM. Run 'eval \"$(outlast sim env FLEET)\"'.")
    options = [
        ("grpc.max_receive_message_length", _MAX_MESSAGE_BYTES),
        ("grpc.max_send_message_length", _MAX_MESSAGE_BYTES),
    ]
    # One worker: the state file has one connection, and an answer takes milliseconds.
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=1), options=options)
    servicer = Provider(operations(package, Path(sim)), os.environ)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(servicer, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    print(port, flush=True)  # noqa: T201 - the engine reads the port here
    server.wait_for_termination()


if __name__ == "__main__":
    main(sys.argv[1])
