"""Renders user data: a small fetcher that carries nothing that a shift edit changes. Pure text."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from bootstrap.start.config import NodeConfig

LIMIT = 16_384
"""Bytes of raw user data, before base64 (EC2 User Guide)."""
_SUFFIXES = {"aws": "amazonaws.com", "aws-us-gov": "amazonaws.com", "aws-cn": "amazonaws.com.cn"}


class UserDataTooLong(ValueError):
    """More than EC2 takes."""


def dns_suffix(partition: str) -> str:
    """Domain of the partition's service endpoints. Raises KeyError for one that isn't known."""
    return _SUFFIXES[partition]


def render_user_data(node: NodeConfig) -> str:
    """User data of a group's nodes: fetch, check, install, start; ABANDON on any error.

    Exit code 3 of the fetcher: it gave up by itself. Where even giving up fails, the machine turns itself
    off: a stopped node costs no GPU, and the hook's timeout ends it. Raises UserDataTooLong.
    """
    fetch = (Path(__file__).parent / "fetch.py").read_text(encoding="utf-8")
    settings = json.dumps(asdict(node), separators=(",", ":"), sort_keys=True)
    text = _SCRIPT.replace("@FETCH@", fetch.rstrip("\n")).replace("@NODE@", _quoted(settings))
    size = len(text.encode())
    if size > LIMIT:
        raise UserDataTooLong(f"user data has {size} bytes, EC2 takes {LIMIT}")
    return text


def _quoted(text: str) -> str:
    """One word for bash, whatever is in it."""
    return "'" + text.replace("'", "'\\''") + "'"


_SCRIPT = """#!/bin/bash
set -Eeuo pipefail
umask 022
root="${NIGHTSHIFT_ROOT:-/opt/nightshift}"
fetcher="$root/fetch.py"
node=@NODE@

give_up() {
  trap - ERR
  if [ "$1" -ne 3 ]; then
    python3 "$fetcher" abandon "$node" "$2" || "${NIGHTSHIFT_POWEROFF:-poweroff}"
  fi
  exit 1
}
trap 'give_up "$?" "user data failed in line $LINENO"' ERR

mkdir -p "$root"
cat > "$fetcher" <<'END_OF_FETCHER'
@FETCH@
END_OF_FETCHER
python3 "$fetcher" install "$node"
"""
