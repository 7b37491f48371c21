"""`nightshift VERB`: finds the verb, loads that verb alone, prints its answer."""

from __future__ import annotations

import argparse
import errno
import gc
import io
import os
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from nightshift.cli.late import put_off_metadata

if TYPE_CHECKING:
    from nightshift.cli.answer import Answer
    from nightshift.cli.context import Context
    from nightshift.cli.errors import CliError

VERBS: Mapping[str, str] = {
    "check": "read the stack file, say every problem and warning",
    "shifts": "coming events, local and UTC, with the week as a picture",
    "forecast": "hours and money of a month, against running all the time",
    "status": "what runs now, what comes next",
    "connect": "a shell on a node, its notebook, an editor's way there",
    "logs": "what a group's jobs printed",
    "hold": "keep groups down until a time",
    "wake": "bring a group up now, until a time",
    "sleep": "take groups down now, until the next shift or a time",
    "resume": "end an override: the shifts speak again",
    "retire": "snapshot a volume for the last time, then delete it",
    "restore": "the way back to a snapshot of a volume, or a drill",
    "pin": "propose a newer image, or write it into the stack file",
    "doctor": "what this machine, the account and its quotas lack",
    "rehearse": "deploy the stack to an emulated cloud and inspect what stands",
}
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})
EPILOG = "Exit status: 0 fine, 1 found a problem, 2 wrong use. VERB --help says more."


def main(argv: Sequence[str] | None = None) -> int:
    """The exit status of a command line; the shell's own when none is given, and then it ends the process."""
    if argv is not None:
        return _guarded(list(argv))
    # Of a short run, pydantic's search for plugins, the collector and the tear-down take a third.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    put_off_metadata()
    gc.disable()
    _take_any_letter()
    os._exit(_guarded(sys.argv[1:]))


def _take_any_letter() -> None:
    """A locale without the letters of a user's file gets them escaped; a closed stream swallows all."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _guarded(argv: list[str]) -> int:
    try:
        code = run(argv)
        sys.stdout.flush()
        sys.stderr.flush()
        return code
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if error.filename is not None or error.errno not in _FULL:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print(f"nightshift: the answer can't be written: {error.strerror}", file=sys.stderr)
        return 1


class _Parser(argparse.ArgumentParser):
    """A verb's words; wrong ones are an error like any other, so that it can be JSON too."""

    def __init__(self, verb: str, says: str | None) -> None:
        super().__init__(
            f"nightshift {verb}",
            description=says,
            epilog=EPILOG,
            formatter_class=lambda prog: argparse.HelpFormatter(prog, width=80),
        )

    def error(self, message: str) -> NoReturn:
        """Raises UsageError."""
        from nightshift.cli.errors import UsageError

        raise UsageError(f"{message}", f"see `{self.prog} --help`")


def run(argv: list[str], context: Context | None = None) -> int:
    """One verb, from its words to its exit status."""
    verb = argv[0] if argv else ""
    if verb not in VERBS:
        return _no_verb(verb, "--json" in argv)
    module = import_module(f"nightshift.cli.verb_{verb}")
    if verb == "rehearse":
        gc.enable()
    parser = _Parser(verb, module.__doc__)
    parser.add_argument("-s", "--stack", help="stack name; default: the selected or only one")
    parser.add_argument("--json", action="store_true", help="the answer as JSON on stdout")
    module.options(parser)
    from nightshift.cli.context import Context
    from nightshift.cli.errors import CliError

    try:
        args = parser.parse_args(argv[1:])
    except CliError as error:
        return _failed(error, "--json" in argv)
    try:
        here = context or Context(cwd=_folder())
        answer: Answer = module.run(args, here)
    except CliError as error:
        return _failed(error, args.json)
    except Exception as error:
        known = _known(error)
        if known is None:
            raise
        return _failed(known, args.json)
    return _print(answer, args.json, here.env)


def _folder() -> Path:
    from nightshift.cli.errors import UsageError

    try:
        return Path.cwd()
    except FileNotFoundError:
        raise UsageError("the current folder is gone: go to the project's folder") from None


def _no_verb(verb: str, as_json: bool) -> int:
    width = max(map(len, VERBS)) + 2
    listed = "\n".join(f"  {name:<{width}}{says}" for name, says in VERBS.items())
    if verb in {"-h", "--help", "help"}:
        print(f"usage: nightshift VERB [--stack STACK] [--json] ...\n\n{listed}\n\n{EPILOG}")
        return 0
    if verb in {"-V", "--version"}:
        from importlib.metadata import version

        print(f"nightshift {version('nightshift')}")
        return 0
    said = _said(verb)
    if as_json:
        from nightshift.cli.errors import UsageError

        return _failed(UsageError(said, f"verbs: {', '.join(VERBS)}"), as_json)
    print(f"nightshift: {said}\n\n{listed}\n\n{EPILOG}", file=sys.stderr)
    return 2


def _said(verb: str) -> str:
    from difflib import get_close_matches

    if not verb:
        return "which verb?"
    if verb.startswith("-"):
        return f"which verb? It stands before {verb}"
    close = get_close_matches(verb, VERBS, 1)
    return f"no verb {verb!r}{f'; did you mean {close[0]}?' if close else ''}"


def _known(error: Exception) -> CliError | None:
    """Failures that aren't our bugs, as one of our own errors."""
    from nightshift.cli.errors import CliError, UsageError
    from nightshift.cli.failures import from_aws
    from nightshift.plan.errors import PlanError
    from nightshift.records.errors import RecordsError

    if isinstance(error, PlanError):
        return UsageError(*error.problems)
    if isinstance(error, RecordsError):
        return CliError(str(error))
    if isinstance(error, OSError) and error.filename is not None:
        return CliError(f"{error.filename}: {error.strerror}")
    return from_aws(error)


def _failed(error: CliError, as_json: bool) -> int:
    if as_json:
        import json

        print(json.dumps({"error": {"kind": error.kind, "lines": list(error.lines)}}, indent=2))
        return error.code
    from nightshift.cli.text import safe, wrap

    first, *others = error.lines
    for line in wrap(f"nightshift: {first}", 4):
        print(safe(line), file=sys.stderr)
    for other in others:
        for line in wrap(other, 4, "  "):
            print(safe(line), file=sys.stderr)
    return error.code


def _print(answer: Answer, as_json: bool, env: Mapping[str, str]) -> int:
    from nightshift.cli.text import paint, safe, wants_colour

    for note in answer.notes:
        print(safe(note), file=sys.stderr)
    if as_json:
        import json

        print(json.dumps(answer.data, indent=2, sort_keys=True))
        return answer.code
    colour = wants_colour(sys.stdout, env)
    for line in answer.lines:
        print(paint(safe(line)) if colour else safe(line))
    sys.stdout.flush()
    return answer.code


if __name__ == "__main__":
    sys.exit(main())
