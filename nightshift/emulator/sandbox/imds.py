"""The instance metadata service of one node, version 2 only, at its own address inside the node."""

from __future__ import annotations

import json
import secrets
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from email.utils import formatdate
from typing import Any

from nightshift.emulator.sandbox.faults import Faults
from nightshift.emulator.sandbox.kernel import listener
from nightshift.emulator.sandbox.serving import Handler, Reply, Server

ADDRESS = ("169.254.169.254", 80)
LIFETIME, TOKEN = "X-aws-ec2-metadata-token-ttl-seconds", "X-aws-ec2-metadata-token"
LEAST_TTL, MOST_TTL = 1, 21_600
EARLY = timedelta(minutes=15)
"""New role credentials are there this long before the old ones end."""
_VERSION = "latest"
Credentials = Callable[[str], Mapping[str, str] | None]


@dataclass(frozen=True)
class Identity:
    """What an instance is. The defaults are of the emulated AWS."""

    instance_id: str
    type: str = "g6.12xlarge"
    zone: str = "us-east-1a"
    image: str = "ami-0abc0000000000001"
    account: str = "123456789012"
    arch: str = "x86_64"
    address: str = "10.77.0.10"
    lifecycle: str = "on-demand"
    started: str = "2026-01-01T00:00:00Z"

    @property
    def region(self) -> str:
        """The zone's region."""
        return self.zone.rstrip("abcdefghijklmnopqrstuvwxyz")

    @property
    def hostname(self) -> str:
        """Its private DNS name."""
        return f"ip-{self.address.replace('.', '-')}.ec2.internal"

    def at(self, address: str) -> Identity:
        """The same, at another address."""
        return replace(self, address=address)

    def document(self) -> dict[str, Any]:
        """The instance identity document."""
        return {
            "accountId": self.account,
            "architecture": self.arch,
            "availabilityZone": self.zone,
            "imageId": self.image,
            "instanceId": self.instance_id,
            "instanceType": self.type,
            "pendingTime": self.started,
            "privateIp": self.address,
            "region": self.region,
            "version": "2017-09-30",
        }


class Imds:
    """Set what it says while it runs: lifecycle state, spot action, rebalance, credentials, user data.

    `down()` and `up()`: nobody listens, and again. `faults`: by step, such as `imds.token` or
    `imds.meta-data/instance-id`. `ttl`: how many hops an answer goes. `follow` tells the lifecycle
    state that the group wants; None: the attribute here does.
    """

    def __init__(
        self, identity: Identity, credentials: Credentials | None, faults: Faults | None = None
    ) -> None:
        self.identity = identity
        self.faults = faults or Faults()
        self.target_lifecycle_state: str | None = "InService"
        self.follow: Callable[[str], str | None] | None = None
        self.spot_action: dict[str, str] | None = None
        self.rebalance: str | None = None
        self.user_data: bytes | None = None
        self.role: str | None = None
        self.given: Mapping[str, str] | None = None
        self.ttl = 1
        self._source = credentials
        self._kept: Mapping[str, str] | None = None
        self._tokens: dict[str, float] = {}
        self._lock = threading.Lock()
        self._pid: int | None = None
        self._server: Server | None = None

    def notice_spot(self, action: str = "terminate", after_s: float = 120) -> None:
        """EC2 takes the instance back in `after_s` seconds."""
        when = datetime.now(UTC) + timedelta(seconds=after_s)
        self.spot_action = {"action": action, "time": f"{when:%Y-%m-%dT%H:%M:%SZ}"}

    def notice_rebalance(self) -> None:
        """The instance is at elevated risk."""
        self.rebalance = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"

    def listen(self, pid: int | None, address: tuple[str, int] = ADDRESS) -> tuple[str, int]:
        """Serve in the network of `pid` (None: this process's own); where."""
        self._pid, self._address = pid, address
        self.up()
        assert self._server is not None
        host, port = self._server.socket.getsockname()
        return str(host), int(port)

    def up(self) -> None:
        """Somebody listens."""
        if self._server is not None:
            return
        service = self

        class Metadata(_Metadata):
            imds = service

        listening = listener(self._pid, self._address)
        listening.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, self.ttl)
        self._server = Server(listening, Metadata)

    def down(self) -> None:
        """Nobody listens: connections are refused."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def close(self) -> None:
        """Down; all tokens are void."""
        self.down()
        self._tokens.clear()

    def token(self, seconds: int) -> str:
        """A new session token."""
        made = secrets.token_urlsafe(40)
        with self._lock:
            self._tokens[made] = time.monotonic() + seconds
        return made

    def admits(self, token: str | None) -> bool:
        """Whether the token is one of ours and hasn't run out."""
        with self._lock:
            return token is not None and self._tokens.get(token, 0) > time.monotonic()

    def credentials(self) -> Mapping[str, str] | None:
        """The role's credentials; fetched anew before the old ones run out. Raises OSError."""
        if self.given is not None:
            return self.given
        if self._source is None:
            return None
        with self._lock:
            if self._kept is None or _runs_out(self._kept):
                self._kept = self._source(self.identity.instance_id)
            return self._kept

    def read(self, path: str) -> bytes | None:
        """The answer at a path below /latest/, None when there's none."""
        if path == "dynamic/instance-identity/document":
            return json.dumps(self.identity.document(), indent=2).encode()
        if path == "user-data":
            return self.user_data
        if not path.startswith("meta-data/"):
            return None
        return _listed(self._tree(path), path.removeprefix("meta-data/"))

    def _tree(self, path: str) -> dict[str, str | None]:
        me = self.identity
        tree: dict[str, str | None] = {
            "ami-id": me.image,
            "autoscaling/target-lifecycle-state": self._target(path),
            "events/recommendations/rebalance": self._rebalance(),
            "hostname": me.hostname,
            "instance-id": me.instance_id,
            "instance-life-cycle": me.lifecycle,
            "instance-type": me.type,
            "local-hostname": me.hostname,
            "local-ipv4": me.address,
            "placement/availability-zone": me.zone,
            "placement/region": me.region,
            "services/domain": "amazonaws.com",
            "services/partition": "aws",
            "spot/instance-action": json.dumps(self.spot_action) if self.spot_action else None,
            "spot/termination-time": self.spot_action["time"] if self.spot_action else None,
        }
        if path.startswith("meta-data/iam"):
            tree |= self._role_tree()
        return tree

    def _target(self, path: str) -> str | None:
        """What the group wants of it, where there's a group to follow. Raises OSError."""
        if self.follow is None or not path.startswith("meta-data/autoscaling"):
            return self.target_lifecycle_state
        return self.follow(self.identity.instance_id)

    def _rebalance(self) -> str | None:
        return json.dumps({"noticeTime": self.rebalance}) if self.rebalance else None

    def _role_tree(self) -> dict[str, str | None]:
        keys = self.credentials()
        if keys is None:
            return {}
        role = self.role or str(keys.get("RoleArn", "/node")).rpartition("/")[2]
        shown = ("Code", "LastUpdated", "Type", "AccessKeyId", "SecretAccessKey", "Token", "Expiration")
        text = json.dumps({name: keys[name] for name in shown if name in keys}, indent=2)
        return {f"iam/security-credentials/{role}": text}


def _runs_out(keys: Mapping[str, str]) -> bool:
    end = datetime.fromisoformat(keys["Expiration"].replace("Z", "+00:00"))
    return end - datetime.now(UTC) < EARLY


def _listed(tree: Mapping[str, str | None], path: str) -> bytes | None:
    """A leaf's text, or the names below a folder."""
    if path in tree:
        text = tree[path]
        return None if text is None else text.encode()
    folder = path if path.endswith("/") or not path else f"{path}/"
    there = [name for name, text in tree.items() if text is not None and name.startswith(folder)]
    parts = [name.removeprefix(folder).partition("/") for name in there]
    names = sorted({head + slash for head, slash, _ in parts})
    return "\n".join(names).encode() if names else None


class _Metadata(Handler):
    """One connection to it."""

    imds: Imds

    def _path(self) -> str | None:
        version, _, path = self.path.lstrip("/").partition("/")
        return path if version == _VERSION else None

    def do_PUT(self) -> None:
        """A session token: only for who asks directly, with a lifetime."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self._path() != "api/token":
            return self._say(404)
        fault = self.imds.faults.take("imds.token")
        wrong = self.suffer(fault)
        if wrong is not None:
            return self.give(wrong)
        if self.headers.get("X-Forwarded-For"):
            return self._say(403)
        asked = self.headers.get(LIFETIME, "")
        if not asked.isdigit() or not LEAST_TTL <= int(asked) <= MOST_TTL:
            return self._say(400)
        headers = {LIFETIME: asked, "Content-Type": "text/plain"}
        return self.give(Reply(200, self.imds.token(int(asked)).encode(), headers), fault)

    def do_GET(self) -> None:
        """An answer, for who brings a token: version 1 is off."""
        path = self._path()
        fault = self.imds.faults.take(f"imds.{path}")
        wrong = self.suffer(fault)
        if wrong is not None:
            return self.give(wrong)
        if not self.imds.admits(self.headers.get(TOKEN)):
            return self._say(401)
        try:
            body = self.imds.read(path) if path is not None else None
        except OSError:
            return self._say(500)
        if body is None:
            return self._say(404)
        kind = "application/json" if body[:1] == b"{" else "text/plain"
        return self.give(Reply(200, body, {"Content-Type": kind}), fault)

    def do_POST(self) -> None:
        """Nothing is posted here."""
        self.close_connection = True
        self._say(405)

    def _say(self, status: int) -> None:
        title = self.responses.get(status, ("", ""))[0]
        text = f"<?xml version='1.0'?><html><head><title>{status} - {title}</title></head></html>\n"
        headers = {"Content-Type": "text/html", "Server": "EC2ws", "Date": formatdate(usegmt=True)}
        self.give(Reply(status, text.encode(), headers))
