"""The gate before moto: every AWS request is read, judged, then passed on, and what became of it is
logged."""

from __future__ import annotations

import json
import re
import sys
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import RLock
from typing import Any

from moto.core.exceptions import ServiceException
from moto.core.utils import utcnow
from werkzeug.exceptions import HTTPException

from nightshift.emulator.cloud import CONTROL
from nightshift.emulator.cloud.call import (
    Answer,
    AwsError,
    Call,
    Environ,
    StartResponse,
    buffer_body,
    error_answer,
    plain_error,
    read_call,
    result_answer,
    send,
)
from nightshift.emulator.cloud.state import STATE, Handler

KEPT_LOG_ENTRIES = 100_000


@dataclass(frozen=True)
class Refusal:
    """A refusal in AWS's own terms. `rule` names the part of the emulator, or the row of the table."""

    code: str
    message: str
    status: int | None = None
    rule: str = ""


@dataclass(frozen=True)
class Entry:
    """One line of the request log. `by` is the access key; `error` is empty when the call went through;
    `rule` says what refused it before it reached the service, or that it was `repeated` and done before."""

    at: str
    service: str
    operation: str
    region: str
    status: int
    error: str
    message: str
    by: str
    rule: str = ""


Judge = Callable[[Call], Refusal | None]
Wsgi = Callable[[Environ, StartResponse], Iterable[bytes]]


class Log:
    """What was asked and how it ended, the newest 100 000 requests, and a file if one is named."""

    def __init__(self, path: Path | None) -> None:
        self._entries: deque[Entry] = deque(maxlen=KEPT_LOG_ENTRIES)
        self._file = None if path is None else path.open("a", encoding="utf-8")

    def add(self, entry: Entry) -> None:
        """Keep and write one entry."""
        self._entries.append(entry)
        if self._file is not None:
            self._file.write(json.dumps(asdict(entry)) + "\n")
            self._file.flush()

    def entries(self) -> list[Entry]:
        """All kept entries, oldest first."""
        return list(self._entries)

    def clear(self) -> None:
        """Forget the kept entries."""
        self._entries.clear()


class _Inner:
    """Collects what the inner application answers."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: list[tuple[str, str]] = []

    def __call__(self, status: str, headers: list[tuple[str, str]], _info: object = None) -> None:
        self.status = int(status.split()[0])
        self.headers = headers


class Gate:
    """WSGI application: judges in order, first refusal wins; one request at a time, since moto has no
    locks."""

    def __init__(
        self,
        inner: Wsgi,
        handlers: Mapping[tuple[str, str], Handler],
        judges: Sequence[Judge],
        log: Log,
        control: Callable[[str, str, bytes], Answer],
    ) -> None:
        self._inner = inner
        self._control = control
        self._handlers = handlers
        self._judges = judges
        self.log = log
        self.lock = RLock()

    def __call__(self, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        body = buffer_body(environ)
        with self.lock:
            if environ.get("PATH_INFO", "").startswith(CONTROL):
                answer = self._control(environ["REQUEST_METHOD"], environ["PATH_INFO"], body)
                return send(answer, start_response)
            chunks = self._answer(environ, body, start_response)
        return [] if environ["REQUEST_METHOD"] == "HEAD" else chunks

    def _answer(self, environ: Environ, body: bytes, start_response: StartResponse) -> Iterable[bytes]:
        call = read_call(environ, body)
        try:
            refusal = self._judge(call)
        except Exception as error:  # a fault of a judge must not let the call through, nor end the connection
            return self._fault(call, error, start_response)
        if refusal is not None:
            return self._refuse(call, refusal, start_response)
        token = call.params.get("ClientToken")
        if call.service == "ec2" and token:
            return self._once((call.region, call.name, token), call, environ, start_response)
        return self._do(call, environ, start_response)

    def _do(self, call: Call, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        handler = self._handlers.get((call.service, call.name))
        if handler is not None:
            return self._handle(call, handler, start_response)
        return self._pass_on(call, environ, start_response)

    def _once(
        self, key: tuple[str, str, str], call: Call, environ: Environ, start_response: StartResponse
    ) -> Iterable[bytes]:
        """EC2 does what carries a client token once and answers its repetitions alike (EC2 API Reference,
        Ensuring idempotency)."""
        kept = STATE.answered.get(key)
        if kept is None:
            answer = _Inner()
            body = b"".join(self._do(call, environ, answer))
            kept = answer.status, answer.headers, body
            if answer.status < 400:
                STATE.answered[key] = kept
        else:
            self._record(call, kept[0], "", "", "repeated")
        status, headers, body = kept
        start_response(f"{status} {'OK' if status < 400 else 'Error'}", headers)
        return [body]

    def _handle(self, call: Call, handler: Handler, start_response: StartResponse) -> Iterable[bytes]:
        try:
            answer = result_answer(call, handler(call))
        except (AwsError, ServiceException) as error:
            return self._refuse(call, Refusal(error.code, error.message), start_response)
        except HTTPException as error:
            code = str(getattr(error, "error_type", None) or error.code)
            text = str(getattr(error, "message", None) or error.description)
            return self._refuse(call, Refusal(code, text), start_response)
        except (
            Exception
        ) as error:  # a fault of the emulator must reach the client at once, not as a retried 500
            return self._fault(call, error, start_response)
        self._record(call, answer[0], "", "")
        return send(answer, start_response)

    def _fault(self, call: Call, error: Exception, start_response: StartResponse) -> Iterable[bytes]:
        traceback.print_exc(file=sys.stderr)
        text = f"fault in the emulated AWS: {call.service}.{call.name}: {type(error).__name__}: {error}"
        return self._refuse(call, Refusal("EmulatorFault", text), start_response)

    def _judge(self, call: Call) -> Refusal | None:
        if call.model is None:
            return Refusal("NotImplemented", f"NotImplemented in the emulated AWS: service {call.service}")
        for judge in self._judges:
            refusal = judge(call)
            if refusal is not None:
                return refusal
        return None

    def _pass_on(self, call: Call, environ: Environ, start_response: StartResponse) -> Iterable[bytes]:
        answer = _Inner()
        try:
            body = b"".join(self._inner(environ, answer))
        except NotImplementedError:
            return self._refuse(call, _not_implemented(call), start_response)
        except (
            Exception
        ) as error:  # a fault of the emulator must reach the client at once, not as a retried 500
            return self._fault(call, error, start_response)
        if _is_moto_dead_end(answer, body):
            return self._refuse(call, _not_implemented(call), start_response)
        self._record(call, answer.status, *_error_of(answer, body))
        start_response(f"{answer.status} {'OK' if answer.status < 400 else 'Error'}", answer.headers)
        return [body]

    def _refuse(self, call: Call, refusal: Refusal, start_response: StartResponse) -> Iterable[bytes]:
        self._record(call, refusal.status or 400, refusal.code, refusal.message, refusal.rule)
        return send(_refused(call, refusal), start_response)

    def _record(self, call: Call, status: int, error: str, message: str, rule: str = "") -> None:
        at = utcnow().isoformat(timespec="milliseconds") + "Z"
        self.log.add(
            Entry(at, call.service, call.name, call.region, status, error, message, call.access_key, rule)
        )


def _refused(call: Call, refusal: Refusal) -> Answer:
    if call.model is None:
        return plain_error(refusal.message, refusal.code)
    return error_answer(call, refusal.code, refusal.message, refusal.status)


def _not_implemented(call: Call) -> Refusal:
    name = call.name or "unknown operation"
    return Refusal("NotImplemented", f"NotImplemented in the emulated AWS: {call.service}.{name}")


def _is_moto_dead_end(answer: _Inner, body: bytes) -> bool:
    """moto answers an unknown path with an HTML page, and an unknown action with an empty 404."""
    html = body[:200].lstrip().lower().startswith((b"<!doctype html", b"<html"))
    return html and answer.status in {404, 405, 500, 501}


def _error_of(answer: _Inner, body: bytes) -> tuple[str, str]:
    if answer.status < 400:
        return "", ""
    text = body.decode(errors="replace")
    code: Any = re.search(r"<Code>([^<]*)</Code>", text) or re.search(
        r'"(?:__type|code)"\s*:\s*"([^"]*)"', text
    )
    message: Any = re.search(r"<Message>([^<]*)</Message>", text) or re.search(
        r'"[mM]essage"\s*:\s*"([^"]*)"', text
    )
    return (code[1] if code else str(answer.status)), (message[1] if message else "")
