"""The bridge process: Pulumi's provider protocol in front of a Terraform AWS provider binary."""

import os
import subprocess
from collections.abc import Mapping
from concurrent import futures
from pathlib import Path
from typing import IO

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2, provider_pb2_grpc

from nightshift.emulator.engine import lifeline, tokens

UNLIMITED = (("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1))
_DROPPED = ("AWS_CA_BUNDLE", "PULUMI_DEBUG_PROVIDERS")


def provider_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what breaks the provider: a CA bundle of its own makes it refuse to start."""
    return {name: value for name, value in environment.items() if name not in _DROPPED}


class EngineLog(engine_pb2_grpc.EngineServicer):
    """The address the bridge insists on: it takes log lines and writes them to `sink`."""

    def __init__(self, sink: IO[str]) -> None:
        self._sink = sink

    def Log(self, request: engine_pb2.LogRequest, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Write one line of the bridge's log."""
        self._sink.write(f"{request.message}\n")
        self._sink.flush()
        return empty_pb2.Empty()


class Bridge:
    """A running bridge, parameterised with the Terraform provider. `stub` speaks to it."""

    def __init__(self, binary: Path, terraform_provider: Path, folder: Path, log: IO[str]) -> None:
        self._engine = grpc.server(futures.ThreadPoolExecutor(2), options=UNLIMITED)
        engine_pb2_grpc.add_EngineServicer_to_server(EngineLog(log), self._engine)
        engine_port = self._engine.add_insecure_port("127.0.0.1:0")
        self._engine.start()
        self.process = subprocess.Popen(
            lifeline.bound([str(binary), f"127.0.0.1:{engine_port}"]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=provider_environment(os.environ),
        )
        self.stub = provider_pb2_grpc.ResourceProviderStub(self._channel())
        self._parameterize(_wrapped(terraform_provider, folder))

    def _channel(self) -> grpc.Channel:
        assert self.process.stdout is not None
        port = self.process.stdout.readline().strip()
        if not port.isdigit():
            raise RuntimeError(f"the bridge ended at its start (exit {self.process.wait()})")
        return grpc.insecure_channel(f"127.0.0.1:{port}", options=UNLIMITED)

    def _parameterize(self, provider: Path) -> None:
        arguments = [str(provider), "--provider-name", "aws", "--include", ",".join(tokens.included())]
        parameters = provider_pb2.ParameterizeRequest.ParametersArgs(args=arguments)
        answer = self.stub.Parameterize(provider_pb2.ParameterizeRequest(args=parameters))
        self.name, self.version = answer.name, answer.version

    def provider_pids(self) -> list[int]:
        """The bridge's own children: the Terraform provider's process."""
        folder = Path(f"/proc/{self.process.pid}/task")
        return [
            int(pid) for task in folder.glob("*/children") for pid in task.read_text(encoding="ascii").split()
        ]

    def schema(self) -> str:
        """The bridge's own Pulumi schema, JSON. Takes over a second."""
        request = provider_pb2.GetSchemaRequest(subpackage_name=self.name, subpackage_version=self.version)
        return self.stub.GetSchema(request).schema

    def stop(self) -> None:
        """End the bridge; the Terraform provider dies with it."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self._engine.stop(None)


def _wrapped(provider: Path, folder: Path) -> Path:
    script = folder / "terraform-provider-aws"
    script.write_text(lifeline.wrapper_script(provider), encoding="utf-8")
    script.chmod(0o755)
    return script
