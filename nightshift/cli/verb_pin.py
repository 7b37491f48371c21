"""Compare the stack's image with the newest published ones; --write edits that one line of the stack file.

A new image means new nodes at their next boot, with a new driver: try it on one group first.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from nightshift.cli.answer import Answer
from nightshift.cli.context import Context
from nightshift.cli.edit import line_of, replace_scalar
from nightshift.cli.errors import FINE, PROBLEM, CliError, UsageError
from nightshift.cli.images import KINDS, Image, Published, read_images, read_published
from nightshift.cli.site import arch_of
from nightshift.cli.text import table, wrap

if TYPE_CHECKING:
    from nightshift.cli.aws import Aws
    from nightshift.cli.project import StackFile
    from nightshift.settings.models import Stack

_PATH = ("config", "nightshift:site", "image")


@dataclass(frozen=True)
class Facts:
    """The pinned image (None: it no longer exists) and what is published for the architecture."""

    stack: Stack
    arch: str
    pinned: Image | None
    published: Sequence[Published]


def options(parser: argparse.ArgumentParser) -> None:
    """The verb's own options."""
    kinds = ", ".join(KINDS)
    parser.add_argument(
        "--kind",
        choices=KINDS,
        metavar="KIND",
        help=f"image to propose; default: the pinned one's kind; one of: {kinds}",
    )
    parser.add_argument("--write", action="store_true", help="edit the stack file's image line")


def run(args: argparse.Namespace, here: Context) -> Answer:
    """Read what is pinned and published; write if asked."""
    file = here.file(args.stack)
    stack = here.stack(file)
    facts = gather(here.connect(file, stack), stack)
    choice = propose(facts, args.kind)
    if not args.write:
        return answer(facts, choice)
    if choice is None:
        raise UsageError(f"nothing to write: say --kind with one of {', '.join(KINDS)}")
    return _write(file, facts, choice)


def gather(aws: Aws, stack: Stack) -> Facts:
    """Ask SSM and EC2."""
    arch = arch_of(stack)
    ec2 = aws.client("ec2")
    pinned = read_images(ec2, [stack.site.image]).get(stack.site.image)
    return Facts(stack, arch, pinned, read_published(aws.client("ssm"), ec2, arch))


def propose(facts: Facts, kind: str | None) -> Published | None:
    """The published image of the asked kind, or of the pinned one's family."""
    if kind is not None:
        found = next((one for one in facts.published if one.kind == kind), None)
        if found is None:
            raise CliError(f"{kind} isn't published for {facts.arch} in {facts.stack.region}")
        return found
    family = facts.pinned.family if facts.pinned else None
    return next((one for one in facts.published if one.image.family == family), None)


def answer(facts: Facts, choice: Published | None) -> Answer:
    """The comparison; status 1 when a newer image is proposed or the pinned one is gone."""
    current = facts.pinned is not None and choice is not None and choice.image.id == facts.pinned.id
    stale = not current and (choice is not None or facts.pinned is None)
    lines = [*_pinned(facts), "", *_published(facts), "", *_proposal(facts, choice, current)]
    return Answer(tuple(lines), _data(facts, choice), PROBLEM if stale else FINE)


def _pinned(facts: Facts) -> list[str]:
    if facts.pinned is None:
        return wrap(f"pinned: {facts.stack.site.image}, which doesn't exist in {facts.stack.region}", 2)
    ends = facts.pinned.deprecated
    until = f", deprecated from {ends:%Y-%m-%d}" if ends else ""
    return wrap(f"pinned: {facts.pinned.id} {facts.pinned.name} ({facts.pinned.created[:10]}{until})", 2)


def _published(facts: Facts) -> list[str]:
    if not facts.published:
        return wrap(f"no known image is published for {facts.arch} in {facts.stack.region}", 2)
    rows = [[one.image.id, one.image.created[:10], one.kind] for one in facts.published]
    return table(["NEWEST", "MADE", "KIND"], rows)


def _proposal(facts: Facts, choice: Published | None, current: bool) -> list[str]:
    if current:
        return ["the pinned image is the newest of its kind"]
    if choice is None:
        return wrap("no published image is of the pinned one's kind; --kind chooses another", 2)
    return [
        f"in stacks/Pulumi.{facts.stack.name}.yaml, under nightshift:site:",
        f"  image: {choice.image.id}",
        *_device(facts, choice),
        "`nightshift pin --write` makes this edit.",
    ]


def _device(facts: Facts, choice: Published) -> list[str]:
    if choice.image.root_device == facts.stack.site.image_root_device:
        return []
    return [f"  image_root_device: {choice.image.root_device}"]


def _write(file: StackFile, facts: Facts, choice: Published) -> Answer:
    """Edit the file. Raises CliError for what must not stand in it."""
    from nightshift.settings.advice import placeholder

    if placeholder(choice.image.id):
        raise CliError(
            f"this is an emulated AWS: {choice.image.id} exists in no account",
            "nothing is written; unset AWS_ENDPOINT_URL and the keys that came with it, and repeat",
        )
    if _device(facts, choice):
        raise CliError(
            f"{choice.image.id} has root device {choice.image.root_device}, the stack file says "
            f"{facts.stack.site.image_root_device}: edit image and image_root_device by hand"
        )
    before = file.path.read_bytes()
    after = replace_scalar(before, _PATH, choice.image.id)
    line = line_of(before, _PATH)
    if after == before:
        return Answer(("the pinned image is the newest of its kind",), _data(facts, choice))
    file.path.write_bytes(after)
    said = f"{file.path.relative_to(file.root)}:{line}: image is {choice.image.id} now"
    return Answer((said, "`pulumi up` brings it in; nodes take it at their next boot"), _data(facts, choice))


def _data(facts: Facts, choice: Published | None) -> dict[str, object]:
    return {
        "stack": facts.stack.name,
        "arch": facts.arch,
        "pinned": _image_data(facts.pinned)
        if facts.pinned
        else {"id": facts.stack.site.image, "exists": False},
        "published": [{"kind": one.kind, **_image_data(one.image)} for one in facts.published],
        "proposed": choice.image.id if choice else None,
    }


def _image_data(image: Image) -> dict[str, object]:
    return {
        "id": image.id,
        "exists": True,
        "name": image.name,
        "created": image.created,
        "deprecated": image.deprecated.isoformat() if image.deprecated else None,
        "root_device": image.root_device,
    }
