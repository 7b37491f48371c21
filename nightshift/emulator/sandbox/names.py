"""A node's place on the network, and the names by which its neighbours know it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

_CABLES = itertools.count(1)
DOMAIN = "ec2.internal"
_RESOLV = "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"
"""Nobody answers there: a name that isn't in /etc/hosts fails at once."""


@dataclass(frozen=True)
class Port:
    """A node's place on the network. `ip` runs the `ip` command on the hub's side."""

    number: int
    address: str
    gateway: str
    ip: Callable[..., None]

    @property
    def mac(self) -> str:
        """The same at each boot, so that neighbours find it at once."""
        return f"02:4e:53:00:00:{self.number:02x}"

    def plug(self, pid: int) -> str:
        """Lay a cable from the bridge to eth0 of the network of `pid`; its name on the hub. A killed node's
        cable takes a while to go, so no two have the same name."""
        name = f"cable{next(_CABLES)}"
        peer = ("peer", "name", "eth0", "address", self.mac, "netns", str(pid))
        self.ip("link", "add", name, "type", "veth", *peer)
        self.ip("link", "set", name, "master", "br0", "up")
        return name


def host_name(address: str) -> str:
    """As EC2 names a private address."""
    return f"ip-{address.replace('.', '-')}"


def hosts(address: str) -> str:
    """/etc/hosts with every address of the subnet, so that nobody's name costs a look-up."""
    subnet = address.rpartition(".")[0]
    lines = ["127.0.0.1 localhost"]
    for number in range(1, 255):
        name = host_name(f"{subnet}.{number}")
        lines.append(f"{subnet}.{number} {name}.{DOMAIN} {name}")
    return "\n".join(lines) + "\n"


def etc(address: str) -> dict[str, str]:
    """Files of /etc that names come from."""
    return {"hosts": hosts(address), "hostname": f"{host_name(address)}\n", "resolv.conf": _RESOLV}
