"""Start and stop the emulated AWS as a child process."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from nightshift.emulator.cloud import CONTROL

READY_SECONDS = 60.0
STOP_SECONDS = 5.0


class CloudError(RuntimeError):
    """The server did not come up, or refused a control call; the text says why and what to do."""


@dataclass(frozen=True)
class Cloud:
    """A running emulated AWS. `endpoint` is an `http://127.0.0.1:PORT` address for any AWS client."""

    endpoint: str
    process: subprocess.Popen[bytes]
    seconds_to_ready: float

    @property
    def pid(self) -> int:
        """Process id of the server."""
        return self.process.pid

    def stop(self) -> None:
        """End the server by its pid; killed after 5 s."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def control(self, path: str, body: Mapping[str, object] | None = None) -> dict[str, object]:
        """Call the control API: GET without a body, POST with one. Raises CloudError with the
        server's words."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.endpoint}{CONTROL}/{path.lstrip('/')}", data=data)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=30) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            raise CloudError(f"emulated AWS, {path}: {error.read().decode(errors='replace')}") from error


def _command(log: Path | None, images: Sequence[str], quotas: Mapping[str, float], plain: bool) -> list[str]:
    command = [sys.executable, "-m", "nightshift.emulator.cloud", "--port", "0", "--parent", str(os.getpid())]
    if log is not None:
        command += ["--log", str(log)]
    for image in images:
        command += ["--image", image]
    for code, value in quotas.items():
        command += ["--quota", f"{code}={value:g}"]
    return [*command, "--plain"] if plain else command


def _first_line(process: subprocess.Popen[bytes], deadline: float) -> bytes:
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        if not selector.select(max(0.0, deadline - time.monotonic())):
            return b""
    return process.stdout.readline()


@contextmanager
def start_cloud(
    *,
    log: Path | None = None,
    images: Sequence[str] = (),
    quotas: Mapping[str, float] | None = None,
    plain: bool = False,
) -> Generator[Cloud]:
    """Run the emulated AWS for the length of a `with` block.

    It also ends when this process, or the thread that started it, dies.

    `images` adds AMI ids (x86_64, /dev/sda1) to the built-in ones. `quotas` sets vCPU quotas by code.
    `plain` starts unchanged moto, for tests that show what the additions are worth.
    Raises CloudError when no ready line comes within 60 s.
    """
    started = time.monotonic()
    command = _command(log, images, quotas or {}, plain)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    line = _first_line(process, started + READY_SECONDS)
    try:
        endpoint = json.loads(line)["endpoint"]
    except (ValueError, KeyError) as error:
        process.kill()
        code = process.wait()
        raise CloudError(
            f"the emulated AWS gave no ready line (exit code {code}): run `{' '.join(command)}` to see why"
        ) from error
    cloud = Cloud(endpoint, process, time.monotonic() - started)
    try:
        yield cloud
    finally:
        cloud.stop()
