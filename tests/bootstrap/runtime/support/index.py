"""A package index on loopback that can fail on purpose: refuse, stop in the midst of a file, or hang."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Faults:
    """What is to go wrong from now on. `cut` after that many bytes of a wheel, `times` often; no wheel comes
    while `held`."""

    refuse: bool = False
    cut: int | None = None
    times: int = 1_000_000
    held: bool = False
    asked: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Index:
    """`url` for UV_DEFAULT_INDEX."""

    url: str
    faults: Faults


@contextmanager
def serving(folder: Path) -> Generator[Index]:
    """Serve the wheels in `folder`."""
    faults = Faults()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

        def do_GET(self) -> None:
            faults.asked.append(self.path)
            if faults.refuse:
                return self.send_error(503)
            name = self.path.strip("/").rpartition("/")[2]
            if self.path.startswith("/simple/"):
                links = "".join(f'<a href="/files/{each.name}">{each.name}</a>' for each in _of(folder, name))
                return self._answer(f"<!DOCTYPE html><html><body>{links}</body></html>".encode(), "text/html")
            return self._answer((folder / name).read_bytes(), "application/octet-stream", wheel=True)

        def _answer(self, data: bytes, kind: str, wheel: bool = False) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            while wheel and faults.held:
                time.sleep(0.02)
            if wheel and faults.cut is not None and faults.cut < len(data) and faults.times > 0:
                faults.times -= 1
                data = data[: faults.cut]
                self.close_connection = True
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield Index(f"http://127.0.0.1:{server.server_port}/simple", faults)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _of(folder: Path, name: str) -> list[Path]:
    return sorted(folder.glob(f"{name}-*.whl"))
