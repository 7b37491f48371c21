"""A shell on a node, its notebook, or an editor's way there: by AWS Systems Manager, with no port open.

It finds the group's node and goes on as `aws ssm start-session`. --print and --json show that command
instead.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nightshift.cli import connecting
from nightshift.cli.answer import Answer
from nightshift.cli.context import Context, profile_of
from nightshift.cli.errors import CliError, NotDeployed, UsageError
from nightshift.cli.live import LiveGroup, read_groups
from nightshift.cli.site import calendar, known_groups
from nightshift.cli.text import wrap
from nightshift.cli.when import ahead
from nightshift.plan import names
from nightshift.records.errors import Unreadable

if TYPE_CHECKING:
    from datetime import datetime

    from nightshift.cli.aws import Aws
    from nightshift.records.model import OverrideRecord
    from nightshift.records.notebook import Notebook
    from nightshift.records.store import Records
    from nightshift.settings.models import Stack

PROGRAMS = ("aws", "session-manager-plugin")
_PORTS = range(1, 65_536)


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    parser.add_argument("group", metavar="GROUP")
    parser.add_argument("--node", metavar="ID", help="which node; default: the leader, or the first")
    parser.add_argument("--as", dest="user", metavar="USER", help="as this login user of the group")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--notebook", action="store_true", help="the node's notebook, on this machine")
    what.add_argument("--ssh-config", action="store_true", help="a Host block for ssh and editors")
    parser.add_argument("--port", type=int, help="with --notebook: port on this machine; default: as there")
    parser.add_argument("--print", dest="show", action="store_true", help="show the command, don't run it")


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Find the node, see that it can be reached, go there."""
    file = here.file(args.stack)
    stack = here.stack(file)
    (group,) = known_groups(stack, [args.group])
    _check(args, stack, group)
    aws = here.connect(file, stack)
    profile = profile_of(file)
    chosen_by_env = here.env.get("AWS_PROFILE") or here.env.get("AWS_ACCESS_KEY_ID")
    reach = connecting.Reach(stack.region, None if chosen_by_env else profile)
    records = aws.records(stack.name)
    chosen = find(aws, records, stack, group, args.node, here.now())
    for line in wrap(f"{chosen.id}: {chosen.note}", 2) if chosen.note else ():
        here.say(line)
    managed(aws, stack, chosen.id)
    if args.ssh_config:
        return _ssh(args, here, stack, group, reach, chosen.id)
    if args.notebook:
        record = records.notebooks([chosen.id]).get(chosen.id)
        if isinstance(record, Unreadable):
            raise record
        found = connecting.notebook_of(stack, group, chosen.id, record, args.user)
        return _notebook(args, here, stack, group, reach, chosen.id, found)
    words = connecting.shell(reach, chosen.id, args.user)
    return _go(args, here, words, _data(stack, group, chosen.id, args.user, words))


def _check(args: argparse.Namespace, stack: Stack, group: str) -> None:
    """Raises UsageError for words that don't go together, or that the stack file can't answer."""
    if args.notebook:
        connecting.known_notebook(stack, group)
    if args.user is not None and not args.notebook:
        own = connecting.default_user(stack.site.image_root_device)
        if not (args.ssh_config and args.user == own):
            connecting.known_user(stack, group, args.user)
    if args.port is not None and not args.notebook:
        raise UsageError("--port is for --notebook")
    if args.port is not None and args.port not in _PORTS:
        raise UsageError(f"--port: given {args.port}, expected 1 to 65535")


def find(
    aws: Aws, records: Records, stack: Stack, group: str, wanted: str | None, now: datetime
) -> connecting.Chosen:
    """The node meant. Raises NotDeployed, CliError with the way to one when none is up."""
    asg = names.group_name(stack.name, group)
    live = read_groups(aws.client("autoscaling"), {group: asg}).get(group)
    if live is None:
        raise NotDeployed(stack.name, f"group {group}")
    leader = read_leader(aws.client("s3"), records.bucket, group) if len(live.nodes) > 1 else None
    chosen = connecting.choose(group, live, wanted, leader)
    if chosen is None:
        raise CliError(*_asleep(stack, group, live, records.override(group).record, now))
    return chosen


def read_leader(s3: Any, bucket: str, group: str) -> str | None:
    """The node that leads a group of several, as its lease says; None where there is no readable one."""
    try:
        body = s3.get_object(Bucket=bucket, Key=f"groups/{group}/leader.json")["Body"].read()
        leader = json.loads(body)["leader"]
    except s3.exceptions.ClientError as error:
        if error.response["Error"]["Code"] in {"NoSuchKey", "NoSuchBucket"}:
            return None
        raise
    except (ValueError, KeyError, TypeError):
        return None
    return leader if isinstance(leader, str) else None


def _asleep(
    stack: Stack, group: str, live: LiveGroup, override: OverrideRecord | None, now: datetime
) -> list[str]:
    one = calendar(stack, group, override)
    event = one.next_event(now)
    lines = [f"{group}: no node is in service"]
    if event is not None and event.kind == "up":
        lines[0] += f"; it wakes {event.local}, in {ahead(event.at - now)}"
    if live.desired:
        lines.append("one is wanted and on its way, or AWS has none: see `nightshift status`")
        return lines + connecting.starting(group, live)
    return [*lines, f"to have one now: nightshift wake {group} --for 3h -s {stack.name}"]


def managed(aws: Aws, stack: Stack, node: str) -> None:
    """Return when the node's agent answers. Raises CliError with what to do when it doesn't."""
    from nightshift.settings.site import OwnNetwork

    ssm = aws.client("ssm")
    try:
        answer = ssm.describe_instance_information(Filters=[{"Key": "InstanceIds", "Values": [node]}])
    except ssm.exceptions.InvalidInstanceId:
        answer = {"InstanceInformationList": []}
    found = answer["InstanceInformationList"]
    ping = str(found[0]["PingStatus"]) if found else None
    if ping != connecting.ONLINE:
        raise connecting.unmanaged(node, ping, isinstance(stack.site.network, OwnNetwork))


def _ssh(
    args: argparse.Namespace, here: Context, stack: Stack, group: str, reach: connecting.Reach, node: str
) -> Answer:
    user = args.user or connecting.default_user(stack.site.image_root_device)
    block = connecting.ssh_block(stack.name, group, reach, node, user)
    needs = [*connecting.ssh_needs(stack, group, user), *connecting.lacking(_programs(here))]
    data = {"stack": stack.name, "group": group, "node": node, "user": user, "ssh_config": block}
    notes = tuple(line for says in needs for line in wrap(f"# {says}", 2))
    return Answer(tuple(block), {**data, "command": None, "url": None, "needs": needs}, notes=notes)


def _notebook(
    args: argparse.Namespace,
    here: Context,
    stack: Stack,
    group: str,
    reach: connecting.Reach,
    node: str,
    found: Notebook,
) -> Answer:
    port = args.port or found.port
    if not (args.show or args.json):
        port = free_port(port, chosen=args.port is not None)
    words = connecting.forward(reach, node, found.port, port)
    url = connecting.notebook_url(port, found.token)
    data = {**_data(stack, group, node, found.user, words), "url": url}
    return _go(args, here, words, data, (f"{found.user}: {url}", "it answers while the session stands"))


def free_port(wanted: int, *, chosen: bool) -> int:
    """`wanted` if nothing here listens on it, else any that is free. Raises UsageError for a chosen one."""
    import socket

    for port in (wanted, 0):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                if chosen:
                    raise UsageError(f"--port: {port} is taken here, or isn't yours: say another") from None
                continue
            return int(probe.getsockname()[1])
    raise CliError("no port of this machine is free")


def _data(stack: Stack, group: str, node: str, user: str | None, words: Sequence[str]) -> dict[str, object]:
    told: dict[str, object] = {"stack": stack.name, "group": group, "node": node, "user": user}
    return {**told, "command": list(words), "url": None, "ssh_config": None, "needs": []}


def _programs(here: Context) -> dict[str, str | None]:
    return {name: shutil.which(name, path=here.env.get("PATH")) for name in PROGRAMS}


def _go(
    args: argparse.Namespace,
    here: Context,
    words: list[str],
    data: dict[str, object],
    before: tuple[str, ...] = (),
) -> Answer:
    """Become the AWS CLI, unless the command is only to be shown."""
    found = _programs(here)
    missing = connecting.lacking(found)
    if args.show or args.json:
        notes = () if args.json else (*before, *(line for one in missing for line in wrap(one, 2)))
        return Answer(tuple(connecting.shown(words)), {**data, "needs": missing}, notes=notes)
    program = found["aws"]
    if missing or program is None:
        raise CliError("this machine can't open a session yet", *missing)
    for line in before:
        here.put(line)
    here.become([program, *words[1:]], here.env)
    return Answer((), data)
