"""What cloud-init does with user data: once per instance, noted before it runs, never again."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from pathlib import Path

BASE = "http://169.254.169.254/latest/"
FOLDER = Path("/var/lib/cloud")
MOST_WAIT_S, TIMEOUT_S = 120.0, 10.0
"""How long cloud-init waits for the metadata service, and for one answer."""
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def fetch(path: str) -> bytes:
    """An answer of the metadata service. Raises OSError."""
    asked = {"X-aws-ec2-metadata-token-ttl-seconds": "60"}
    request = urllib.request.Request(BASE + "api/token", headers=asked, method="PUT")
    with _OPENER.open(request, timeout=TIMEOUT_S) as answer:
        token = answer.read().decode()
    request = urllib.request.Request(BASE + path, headers={"X-aws-ec2-metadata-token": token})
    with _OPENER.open(request, timeout=TIMEOUT_S) as answer:
        return answer.read()


def waited(path: str, within_s: float) -> bytes | None:
    """The same, for as long as cloud-init waits; None when nothing came."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        try:
            return fetch(path)
        except OSError as error:
            print(f"cloud-init: {path}: {error}", flush=True)
            time.sleep(1)
    return None


def main(within_s: float = MOST_WAIT_S) -> int:
    """Run this instance's user data if it never was. Exit code of its script."""
    instance = waited("meta-data/instance-id", within_s)
    if instance is None:
        print("cloud-init: no data source: no user data is run", flush=True)
        return 1
    folder = FOLDER / "instances" / instance.decode()
    mark = folder / "sem" / "config_scripts_user"
    if mark.exists():
        print("cloud-init: user data has run on this instance before", flush=True)
        return 0
    data = waited("user-data", within_s)
    if data is None:
        return 1
    script = folder / "scripts" / "part-001"
    for each in (mark, script):
        each.parent.mkdir(parents=True, exist_ok=True)
    script.write_bytes(data)
    script.chmod(0o700)
    mark.touch()
    code = subprocess.run([str(script)], check=False).returncode
    print(f"cloud-init: user data ended with {code}", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
