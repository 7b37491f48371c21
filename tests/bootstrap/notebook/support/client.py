"""Inside a node: asks a notebook as a browser does. `client.py PORT`, on standard input {"token", "code"}.

Prints JSON: `status` of the answer to a request for contents; with `code` also what a kernel prints for it.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
import uuid
from typing import Any

import websocket

LIMIT_S = 120


def status(base: str, token: str) -> int:
    """Of a request for the contents of the home; 0 when nobody listens."""
    request = urllib.request.Request(f"{base}/api/contents", headers={"Authorization": f"token {token}"})
    try:
        with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 0


def run(base: str, token: str, code: str) -> str:
    """What a new kernel prints, or its traceback."""
    headers = {"Authorization": f"token {token}"}
    request = urllib.request.Request(f"{base}/api/kernels", data=b"{}", headers=headers, method="POST")
    with urllib.request.urlopen(request, timeout=LIMIT_S) as answer:
        kernel = json.load(answer)["id"]
    channel = f"{base.replace('http', 'ws', 1)}/api/kernels/{kernel}/channels"
    socket = websocket.create_connection(channel, header=headers, timeout=LIMIT_S)
    asked = uuid.uuid4().hex
    header = {"msg_id": asked, "username": "", "session": uuid.uuid4().hex, "msg_type": "execute_request"}
    message = {
        "header": {**header, "version": "5.3"},
        "parent_header": {},
        "metadata": {},
        "channel": "shell",
    }
    socket.send(json.dumps({**message, "content": {"code": code, "silent": False}}))
    return "".join(said(socket, asked))


def said(socket: Any, asked: str) -> list[str]:
    """Everything until the kernel is idle again."""
    found: list[str] = []
    while True:
        told = json.loads(socket.recv())
        if told["parent_header"].get("msg_id") != asked:
            continue
        kind, content = told["msg_type"], told["content"]
        if kind == "stream":
            found.append(content["text"])
        elif kind == "error":
            found += content["traceback"]
        elif kind == "status" and content["execution_state"] == "idle":
            return found


def main() -> None:
    """See above."""
    given = json.load(sys.stdin)
    base, token = f"http://127.0.0.1:{sys.argv[1]}", given["token"]
    answer: dict[str, Any] = {"status": status(base, token)}
    if "code" in given:
        answer["said"] = run(base, token, given["code"])
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
