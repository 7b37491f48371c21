"""The provider the engine attaches to: pulumi-aws in name and version, the bridge behind it.

`python -m nightshift.emulator.engine.proxy --bridge B --provider P --folder F` prints its port and process
ids as a JSON line and serves until its standard input closes. When the bridge or the provider behind it dies,
it ends by itself: exit 3, the reason on standard error.
"""

import argparse
import json
import os
import select
import sys
import threading
from collections.abc import Callable
from concurrent import futures
from importlib.metadata import version
from pathlib import Path
from typing import IO, NoReturn

import grpc
from google.protobuf import empty_pb2
from google.protobuf.message import Message
from pulumi.runtime.proto import plugin_pb2, provider_pb2, provider_pb2_grpc

from nightshift.emulator.engine import shapes, tokens, translate
from nightshift.emulator.engine.bridge import UNLIMITED, Bridge
from nightshift.emulator.engine.schema import unknown_inputs

PROVIDER_DIED = 3
_DETAILS = "grpc-status-details-bin"
_RESOURCE_CALLS = ("Check", "Diff", "Create", "Read", "Update", "Delete")
_PLAIN_CALLS = ("Handshake", "Attach", "GetSchema", "CheckConfig", "DiffConfig", "Configure", "Cancel")
_LAST_WORDS_S = 1.0


class Proxy(provider_pb2_grpc.ResourceProviderServicer):
    """Forwards each call to the bridge, rewritten both ways. Errors keep code, text and details."""

    def __init__(self, bridge: Bridge) -> None:
        self._stub = bridge.stub
        self._version = version("pulumi-aws")
        for name in _RESOURCE_CALLS:
            setattr(self, name, self._resource_call(name))
        for name in _PLAIN_CALLS:
            setattr(self, name, self._plain_call(name))

    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """The SDK's own version: the engine warns about any other."""
        return plugin_pb2.PluginInfo(version=self._version)

    def Invoke(
        self, request: provider_pb2.InvokeRequest, context: grpc.ServicerContext
    ) -> provider_pb2.InvokeResponse:
        """A look-up."""
        token = request.tok
        _refuse_unknown(token, tokens.INVOKES, context)
        request.tok = tokens.bridge_token(token)
        answer = self._forward("Invoke", request, context, None)
        assert isinstance(answer, provider_pb2.InvokeResponse)
        translate.invoke_answer(token, answer)
        return answer

    def _resource_call(self, name: str) -> Callable[[Message, grpc.ServicerContext], Message]:
        def call(request: Message, context: grpc.ServicerContext) -> Message:
            token = translate.token_of(request.urn)  # ty: ignore[missing-attribute]
            _refuse_unknown(token, tokens.RESOURCES, context)
            if isinstance(request, provider_pb2.CheckRequest) and (failures := _check(token, request)):
                return provider_pb2.CheckResponse(inputs=request.news, failures=failures)
            shape = shapes.shape_of(token)
            translate.request(request, shape)
            answer = self._forward(name, request, context, shape)
            translate.answer(answer, shape)
            return answer

        return call

    def _plain_call(self, name: str) -> Callable[[Message, grpc.ServicerContext], Message]:
        return lambda request, context: self._forward(name, request, context, None)

    def _forward(
        self, name: str, request: Message, context: grpc.ServicerContext, shape: shapes.Shape | None
    ) -> Message:
        try:
            return getattr(self._stub, name)(request)
        except grpc.RpcError as error:
            _pass_on(error, context, shape)


def _refuse_unknown(token: str, known: tuple[str, ...], context: grpc.ServicerContext) -> None:
    if token not in known:
        context.abort(
            grpc.StatusCode.UNIMPLEMENTED,
            f"{token} is not among the types that the emulator's provider knows; "
            "name it in nightshift/emulator/engine/tokens.py",
        )


def _check(token: str, request: provider_pb2.CheckRequest) -> list[provider_pb2.CheckFailure]:
    return [
        provider_pb2.CheckFailure(
            property=path, reason=f"{path}: the bridged Terraform provider has no such input of {token}"
        )
        for path in unknown_inputs(token, request.news)
    ]


def _pass_on(error: grpc.RpcError, context: grpc.ServicerContext, shape: shapes.Shape | None) -> NoReturn:
    assert isinstance(error, grpc.Call)
    trailing = error.trailing_metadata() or ()
    context.set_trailing_metadata(
        [(key, translate.status_details(value, shape)) for key, value in trailing if key == _DETAILS]
    )
    context.abort(error.code(), error.details() or "")
    raise AssertionError("abort always raises")


def _watch(bridge: Bridge) -> None:
    """Wait for the first death among bridge and provider, then end with its name."""
    watched = {os.pidfd_open(bridge.process.pid): f"the bridge (process {bridge.process.pid})"}
    for pid in bridge.provider_pids():
        watched[os.pidfd_open(pid)] = f"the Terraform AWS provider (process {pid})"
    ready, _, _ = select.select(list(watched), [], [])
    print(f"nightshift: {watched[ready[0]]} ended in the middle of its work", file=sys.stderr, flush=True)
    threading.Event().wait(_LAST_WORDS_S)
    bridge.stop()
    os._exit(PROVIDER_DIED)


def serve(bridge: Bridge, ready: IO[str]) -> None:
    """Serve `bridge` on a free port of 127.0.0.1 until standard input closes."""
    server = grpc.server(futures.ThreadPoolExecutor(64), options=UNLIMITED)
    provider_pb2_grpc.add_ResourceProviderServicer_to_server(Proxy(bridge), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    pids = {"bridge": bridge.process.pid, "provider": bridge.provider_pids()}
    threading.Thread(target=_watch, args=(bridge,), daemon=True).start()
    ready.write(json.dumps({"port": port, "pid": os.getpid(), **pids}) + "\n")
    ready.flush()
    sys.stdin.read()
    bridge.stop()
    os._exit(0)


def main() -> None:
    """Start the bridge named on the command line and serve it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bridge", type=Path, required=True)
    parser.add_argument("--provider", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True, help="for the wrapper script; must exist")
    options = parser.parse_args()
    serve(Bridge(options.bridge, options.provider, options.folder, sys.stderr), sys.stdout)


if __name__ == "__main__":
    main()
