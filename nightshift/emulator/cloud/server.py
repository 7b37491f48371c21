"""Assemble and serve the emulated AWS."""

from __future__ import annotations

import contextlib
import ctypes
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nightshift.emulator.cloud import ACCOUNT

PR_SET_PDEATHSIG = 1
HANG_UP_SECONDS = 1.0
"""What a client gets to close its end, before we do."""


@dataclass(frozen=True)
class Options:
    """What the server was started with; quotas in vCPUs by quota code."""

    port: int = 0
    log: Path | None = None
    images: tuple[str, ...] = ()
    quotas: Mapping[str, float] | None = None
    parent: int | None = None
    plain: bool = False


def _environment(plain: bool) -> None:
    """moto reads these when it is imported."""
    os.environ["MOTO_ACCOUNT_ID"] = ACCOUNT
    os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
    os.environ["MOTO_DISABLE_GLOBAL_CORS"] = "true"
    if not plain:
        os.environ["MOTO_AMIS_PATH"] = str(Path(__file__).with_name("images.json"))


def _die_with_parent(parent: int | None) -> None:
    """Linux tells the child when its parent ends; a parent already gone is noticed too."""
    if parent is None:
        return
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(0)


def build(options: Options) -> Any:
    """The WSGI application: moto alone when plain, else moto behind the gate and the control API."""
    _environment(options.plain)
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app

    if options.plain:
        return DomainDispatcherApplication(create_backend_app)

    def create(service: Any) -> Any:
        if service is None:
            raise NotImplementedError("moto has no such service")
        return create_backend_app(service)

    moto = DomainDispatcherApplication(create)
    from nightshift.emulator.cloud.assemble import assemble

    return assemble(moto, options)


def _handler() -> Any:
    """moto's request handler, but the client hangs up first.

    werkzeug ends every connection with its answer. A Go client on a busy machine may see the end before the
    answer, take it for lost and send the request again, which makes things twice.
    """
    from moto.moto_server.werkzeug_app import MotoRequestHandler

    class Patient(MotoRequestHandler):
        protocol_version = "HTTP/1.1"

        def finish(self) -> None:
            super().finish()
            self.connection.settimeout(HANG_UP_SECONDS)
            with contextlib.suppress(OSError):
                while self.connection.recv(1024):
                    continue

    return Patient


def serve(options: Options) -> None:
    """Serve on 127.0.0.1 until SIGTERM or SIGINT; the ready line is one JSON object on stdout."""
    _die_with_parent(options.parent)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    app = build(options)
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", options.port, app, threaded=True, request_handler=_handler())
    print(json.dumps({"endpoint": f"http://127.0.0.1:{server.server_port}"}), flush=True)
    server.serve_forever()
