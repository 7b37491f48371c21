"""`python -m bootstrap runtime build|verify`: the same by hand, on any Linux machine."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from bootstrap.runtime.ensure import RuntimePlace, ensure
from bootstrap.runtime.exclusive import exclusive
from bootstrap.runtime.mark import boot_id
from bootstrap.runtime.presets import preset
from bootstrap.runtime.problem import RuntimeProblem
from bootstrap.runtime.standing import Folders, looked_at
from bootstrap.runtime.store import RuntimeStore
from bootstrap.runtime.where import runtimes_folder
from nightshift.catalog.runtimes import NEWEST, RUNTIMES

_WAIT_S = 3000.0
StoreOf = Callable[[str], RuntimeStore]
"""The store of a data bucket's name."""


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add `runtime` with its verbs."""
    parser = verbs.add_parser("runtime", help="build a runtime, or verify the one that stands")
    what = parser.add_subparsers(dest="what", required=True)
    build = what.add_parser("build", help="unpack or build it, if it doesn't stand already")
    build.add_argument("--bucket", help="data bucket that holds packs; without it nothing is fetched or kept")
    verify = what.add_parser("verify", help="compare it with its seal and change nothing")
    verify.add_argument("--full", action="store_true", help="read every byte, not only the libraries'")
    for each in (build, verify):
        each.add_argument("--preset", choices=tuple(RUNTIMES), default=NEWEST, help=f"default: {NEWEST}")
        usual = "default: on the instance store, else /opt/nightshift/runtimes"
        each.add_argument("--folder", type=Path, help=usual)


def main(given: argparse.Namespace, store_of: StoreOf | None = None) -> int:
    """Exit code: 0 when it stands, 1 when not; says why on standard error."""
    try:
        if given.what == "build":
            return _build(given, store_of(given.bucket) if store_of and given.bucket else None)
        return _verify(given)
    except (RuntimeProblem, OSError) as problem:
        print(f"nightshift: {problem}", file=sys.stderr)
        return 1


def _build(given: argparse.Namespace, store: RuntimeStore | None) -> int:
    place = RuntimePlace(given.folder or runtimes_folder(), flush="now")
    made = ensure(given.preset, platform.machine(), place, store, _say, lambda: None)
    print(made.python)
    return 0


def _verify(given: argparse.Namespace) -> int:
    wanted = preset(given.preset, platform.machine())
    root = (given.folder or runtimes_folder()).resolve()
    folders = Folders(root, root, wanted.id)
    if not folders.tree.exists():
        remedy = "`python -m bootstrap runtime build` makes it"
        raise RuntimeProblem(f"{wanted.name} in {folders.tree}", "nothing", remedy)
    with exclusive(folders.lock, _WAIT_S, _say, lambda: None):
        found = looked_at(folders, wanted.id, boot_id(), lambda: None, given.full)
    for each in found.damage:
        print(f"{each}", file=sys.stderr)
    if not found.stands or found.seal is None:
        remedy = "`python -m bootstrap runtime build` makes it anew"
        print(f"nightshift: {folders.tree}: {len(found.damage)} damaged; {remedy}", file=sys.stderr)
        return 1
    how = "every byte" if given.full or found.trust == "full" else "sizes, times and libraries"
    print(f"{folders.tree}: {len(found.seal.files)} files as sealed ({how})")
    return 0


def _say(text: str) -> None:
    print(f"nightshift: {text}", file=sys.stderr, flush=True)
