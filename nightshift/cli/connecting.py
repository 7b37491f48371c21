"""Which node a session goes to, and the command that opens it. Decides only.

Names and parameters of the session documents: AWS Systems Manager User Guide, "Starting a session" and
"Allow and control permissions for SSH connections", read 2026-12.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from nightshift.cli.errors import CliError, UsageError

if TYPE_CHECKING:
    from nightshift.cli.live import LiveGroup, LiveNode
    from nightshift.records.notebook import Notebook, NotebookRecord
    from nightshift.settings.models import Stack

COMMAND = "AWS-StartInteractiveCommand"
PORTS = "AWS-StartPortForwardingSession"
SSH = "AWS-StartSSHSession"
LEAVING = ("Terminated", "Detached")
COMING = "Pending"
ONLINE = "Online"


@dataclass(frozen=True)
class Chosen:
    """The node meant; `note` says which of several it is, and how to say another."""

    id: str
    note: str = ""


@dataclass(frozen=True)
class Reach:
    """Where the AWS CLI has to ask. `profile` None: whatever the environment says."""

    region: str
    profile: str | None = None


def choose(group: str, live: LiveGroup, wanted: str | None, leader: str | None = None) -> Chosen | None:
    """The node asked for, else the leader, else the first in service; None when none is.

    Raises UsageError for a node that isn't the group's.
    """
    there = [node for node in live.nodes if not node.state.startswith(LEAVING)]
    if wanted is not None:
        if all(node.id != wanted for node in there):
            listed = _listed(there) or "none now"
            raise UsageError(f"--node: given {wanted}, which isn't a node of {group}; it has {listed}")
        return Chosen(wanted)
    serving = [node.id for node in live.nodes if node.state == "InService"]
    if not serving:
        return None
    chosen = leader if leader in serving else serving[0]
    if len(serving) == 1:
        return Chosen(chosen)
    which = "the leader" if chosen == leader else "the first"
    others = ", ".join(node for node in serving if node != chosen)
    return Chosen(chosen, f"{group} has {len(serving)} nodes: this is {which}; --node says another: {others}")


def _listed(nodes: Sequence[LiveNode]) -> str:
    return ", ".join(f"{node.id} ({node.state})" for node in nodes)


def starting(group: str, live: LiveGroup) -> list[str]:
    """What to say of nodes that are there and not in service: a node can be looked at while it boots."""
    there = [node for node in live.nodes if not node.state.startswith(LEAVING)]
    there.sort(key=lambda node: not node.state.startswith(COMING))
    if not there:
        return []
    return [f"{group} has {_listed(there)}: --node {there[0].id} goes there all the same"]


def known_user(stack: Stack, group: str, user: str) -> str:
    """A login user of the group. Raises UsageError with those that there are."""
    users = stack.groups[group].users
    if user in users:
        return user
    if not users:
        raise UsageError(
            f"--as: given {user!r}, and {group} has no users: name them in the stack file, "
            f"groups.{group}.users; without --as the shell is the SSM agent's own user, who may sudo"
        )
    raise UsageError(f"--as: given {user!r}, expected one of {', '.join(users)} (groups.{group}.users)")


def known_notebook(stack: Stack, group: str) -> None:
    """Raises UsageError for a group that never has one, awake or not."""
    if not stack.groups[group].notebook:
        raise UsageError(f"{group} has no notebook: write `notebook: true` under groups.{group} and deploy")


def notebook_of(
    stack: Stack, group: str, node: str, record: NotebookRecord | None, user: str | None
) -> Notebook:
    """The notebook meant. Raises UsageError for a wrong question, CliError for one that doesn't run."""
    known_notebook(stack, group)
    if record is None:
        raise CliError(
            f"{node} hasn't said yet where its notebook listens",
            "it says so once it is ready: wait a minute, see `nightshift status`, repeat",
        )
    if not record.notebooks:
        raise CliError(f"{node} has ended its notebooks: it drains")
    users = ", ".join(each.user for each in record.notebooks)
    found = record.of(user) if user is not None else record.notebooks[0]
    if found is None:
        raise UsageError(f"--as: given {user!r}, expected one of those with a notebook: {users}")
    if user is None and len(record.notebooks) > 1:
        raise UsageError(f"{node} has {len(record.notebooks)} notebooks: say whose with --as: {users}")
    if found.problem:
        raise CliError(f"the notebook of {found.user} on {node} doesn't run: {found.problem}")
    return found


def notebook_url(port: int, token: str) -> str:
    """What a browser on this machine opens while the port is forwarded."""
    return f"http://127.0.0.1:{port}/lab?token={quote(token, safe='')}"


def session(reach: Reach, node: str, document: str | None = None, **parameters: str) -> list[str]:
    """The words after `aws`; without a document it is the shell of the account's session preferences."""
    words = ["aws", "ssm", "start-session", "--target", node, "--region", reach.region]
    if reach.profile:
        words += ["--profile", reach.profile]
    if document:
        words += ["--document-name", document]
    if parameters:
        lists = {key: [value] for key, value in parameters.items()}
        words += ["--parameters", json.dumps(lists, separators=(",", ":"))]
    return words


def shell(reach: Reach, node: str, user: str | None) -> list[str]:
    """A shell: the agent's own user, or one of the group's."""
    if user is None:
        return session(reach, node)
    return session(reach, node, COMMAND, command=f"sudo -iu {shlex.quote(user)}")


def forward(reach: Reach, node: str, there: int, here: int) -> list[str]:
    """The node's loopback port `there` as this machine's loopback port `here`."""
    return session(reach, node, PORTS, portNumber=str(there), localPortNumber=str(here))


def shown(words: Sequence[str]) -> list[str]:
    """A command to copy, an option a line."""
    lines, line = [], ""
    for word in words:
        if word.startswith("--") and line:
            lines.append(f"{line} \\")
            line = "  "
        line += shlex.quote(word) if line in {"", "  "} else f" {shlex.quote(word)}"
    return [*lines, line]


def default_user(root_device: str) -> str:
    """Who cloud-init lets in by key: Ubuntu's images have /dev/sda1, Amazon Linux's /dev/xvda."""
    return "ubuntu" if root_device == "/dev/sda1" else "ec2-user"


def ssh_block(stack: str, group: str, reach: Reach, node: str, user: str) -> list[str]:
    """A Host block of ~/.ssh/config. ssh itself puts host and port in for %h and %p."""
    words = ["aws", "ssm", "start-session", "--target", "%h", "--region", reach.region]
    if reach.profile:
        words += ["--profile", shlex.quote(reach.profile).replace("%", "%%")]
    words += ["--document-name", SSH, "--parameters", "portNumber=%p"]
    return [
        f"Host {stack}.{group}",
        f"  HostName {node}",
        f"  User {user}",
        "  StrictHostKeyChecking accept-new",
        f"  ProxyCommand {' '.join(words)}",
    ]


def ssh_needs(stack: Stack, group: str, user: str) -> list[str]:
    """What a connection by this block wants besides the AWS CLI and its plugin."""
    own = user == default_user(stack.site.image_root_device)
    says = [
        f"{stack.name}.{group} is this shift's node: print the block anew in the next one, such as "
        f"`nightshift connect {group} -s {stack.name} --ssh-config > ~/.ssh/nightshift-{group}`, with "
        f"`Include ~/.ssh/nightshift-{group}` on top of ~/.ssh/config"
    ]
    if stack.site.ssh and own:
        return [*says, f"it needs the private key of the key pair {stack.site.ssh.key} (site.ssh.key)"]
    why = "site.ssh names no key pair" if own else "a key pair is for the image's own user only"
    return [
        *says,
        f"it needs your public key on the node ({why}): in a shell there, "
        f"`sudo -iu {user} sh -c 'mkdir -p ~/.ssh && cat >> ~/.ssh/authorized_keys'`, paste it, Ctrl-D",
    ]


def unmanaged(node: str, ping: str | None, own_network: bool) -> CliError:
    """Why Systems Manager doesn't reach a node, and what to do."""
    if ping is not None:
        return CliError(
            f"the SSM agent of {node} doesn't answer (AWS calls it {ping})",
            "the node may hang, be out of memory or just be going: see `nightshift status`, wait a minute, "
            f"and look at `aws ec2 get-console-output --latest --instance-id {node}`",
        )
    ways = (
        "its own network has a way out, so wait a minute or two after its boot and repeat"
        if own_network
        else "site.network.subnet must reach ssm, ssmmessages and ec2messages of the region, by NAT or by "
        "endpoints; after a boot it takes a minute or two besides"
    )
    return CliError(
        f"AWS Systems Manager doesn't know {node}: its agent hasn't registered",
        ways,
        "an image without the SSM agent never does: `nightshift pin` proposes one that has it",
    )


def lacking(found: Mapping[str, str | None]) -> list[str]:
    """What to install of the two programs, a line each."""
    guide = "https://docs.aws.amazon.com"
    pages = {
        "aws": f"the AWS CLI 2: {guide}/cli/latest/userguide/getting-started-install.html",
        "session-manager-plugin": "the Session Manager plugin: "
        f"{guide}/systems-manager/latest/userguide/session-manager-working-with-install-plugin.html",
    }
    return [f"install {page}" for name, page in pages.items() if found.get(name) is None]
