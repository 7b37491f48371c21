"""Fetches the node agent and hands over to it, or gives the launch up with the reason.

This file's text is user data: one file, standard library of Python 3.8 and up, no import of ours. cloud-init
itself is Python, so an image that runs user data has one; the AWS command line not every image has.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
import io
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

IMDS = os.environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://169.254.169.254").rstrip("/")
ROOT = Path(os.environ.get("NIGHTSHIFT_ROOT", "/opt/nightshift"))
ETC = Path(os.environ.get("NIGHTSHIFT_ETC", "/etc/nightshift"))
PYTHONS = ("python3", "python3.13", "python3.12", "python3.11", "python3.10")
FORM = "application/x-www-form-urlencoded; charset=utf-8"
GIVEN_UP = 3
UTC = timezone.utc  # Python 3.8 has no other
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))
Node = Any
"""The fields of NodeConfig, as JSON gives them."""


class Failed(Exception):
    """Out of time, or nothing that time would mend."""


def say(text: str) -> None:
    print("nightshift: " + text, file=sys.stderr, flush=True)


def send(
    url: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
    method: str | None = None,
    timeout_s: int = 10,
) -> bytes:
    request = urllib.request.Request(url, data=body, headers=headers or {}, method=method)
    with OPENER.open(request, timeout=timeout_s) as answer:
        return answer.read()


def body_of(error: Exception) -> str:
    """What the service said, where it answered at all; can be read once."""
    return error.read()[:300].decode("utf-8", "replace") if isinstance(error, urllib.error.HTTPError) else ""


def retry(what: str, act: Callable[[], Any], within_s: float) -> Any:
    """A new role needs up to two minutes to be known everywhere."""
    deadline, pause_s = time.monotonic() + within_s, 1
    while True:
        try:
            return act()
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = f"{what}: {error} {body_of(error)}".strip()
        if time.monotonic() + pause_s > deadline:
            raise Failed(reason)
        say(f"{reason}; again in {pause_s} s")
        time.sleep(pause_s)
        pause_s = min(2 * pause_s, 15)


def imds(path: str) -> str:
    lifetime = {"X-aws-ec2-metadata-token-ttl-seconds": "300"}
    token = send(IMDS + "/latest/api/token", headers=lifetime, method="PUT", timeout_s=2).decode()
    headers = {"X-aws-ec2-metadata-token": token}
    return send(IMDS + "/latest/meta-data/" + path, headers=headers, timeout_s=2).decode()


def credentials() -> dict[str, str]:
    role = imds("iam/security-credentials/").split()[0]
    return json.loads(imds("iam/security-credentials/" + role))


def signed(
    keys: dict[str, str], region: str, service: str, method: str, url: str, body: bytes, at: datetime
) -> dict[str, str]:
    """Headers of AWS signature version 4 for a URL without a query."""
    stamp, place = at.strftime("%Y%m%dT%H%M%SZ"), urllib.parse.urlsplit(url)
    headers = {"host": place.netloc, "x-amz-date": stamp, "x-amz-security-token": keys["Token"]}
    headers["x-amz-content-sha256"] = hashlib.sha256(body).hexdigest()
    if method == "POST":
        headers["content-type"] = FORM
    names = ";".join(sorted(headers))
    lines = [f"{name}:{headers[name]}" for name in sorted(headers)]
    canonical = "\n".join([method, place.path, "", *lines, "", names, headers["x-amz-content-sha256"]])
    scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = ("AWS4" + keys["SecretAccessKey"]).encode()
    for part in [*scope.split("/"), f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{digest}"]:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    claim = f"Credential={keys['AccessKeyId']}/{scope}, SignedHeaders={names}, Signature={key.hex()}"
    return {**headers, "authorization": "AWS4-HMAC-SHA256 " + claim}


def s3_get(node: Node, key: str) -> bytes:
    host = f"https://{node['bucket']}.s3.{node['region']}.{node['suffix']}"
    base = f"{node['endpoint'].rstrip('/')}/{node['bucket']}" if node["endpoint"] else host
    url, now = f"{base}/{urllib.parse.quote(key)}", datetime.now(UTC)
    headers = signed(credentials(), node["region"], "s3", "GET", url, b"", now)
    return send(url, headers=headers, timeout_s=60)


def query(node: Node, service: str, fields: dict[str, str]) -> None:
    base = node["endpoint"].rstrip("/") or f"https://{service}.{node['region']}.{node['suffix']}"
    url, body, now = base + "/", urllib.parse.urlencode(fields).encode(), datetime.now(UTC)
    send(url, body, signed(credentials(), node["region"], service, "POST", url, body, now), "POST")


def count_failure(node: Node) -> None:
    metric = {"MetricName": "BootFailed", "Value": "1", "Unit": "Count"}
    for index, name in enumerate(("Site", "Group"), 1):
        metric[f"Dimensions.member.{index}.Name"] = name
        metric[f"Dimensions.member.{index}.Value"] = node[name.lower()]
    fields = {"MetricData.member.1." + name: value for name, value in metric.items()}
    call = {"Action": "PutMetricData", "Version": "2010-08-01", "Namespace": "Nightshift"}
    query(node, "monitoring", {**call, **fields})


def complete(node: Node) -> None:
    """End the launch; one that nobody waits for any more has ended already."""
    fields = {
        "Action": "CompleteLifecycleAction",
        "Version": "2011-01-01",
        "AutoScalingGroupName": node["group_name"],
        "LifecycleHookName": node["hook"],
        "LifecycleActionResult": "ABANDON",
        "InstanceId": imds("instance-id"),
    }
    try:
        query(node, "autoscaling", fields)
    except urllib.error.HTTPError as error:
        text = body_of(error)
        if "No active Lifecycle Action" not in text:
            raise ValueError(f"{error} {text}") from None


def abandon(node: Node, reason: str) -> None:
    """Count the failed boot, then end the launch. The count may fail, the end may not."""
    say("giving the launch up: " + reason)
    try:
        retry("count the failed boot", lambda: count_failure(node), min(15, node["deadline_s"]))
    except Failed as error:
        say(str(error))
    retry("complete the launching hook", lambda: complete(node), node["deadline_s"])


def artifact(node: Node) -> bytes:
    data = s3_get(node, node["artifact_key"])
    found = hashlib.sha256(data).hexdigest()
    if found != node["artifact_sha256"]:
        raise ValueError(f"sha256 is {found}, expected {node['artifact_sha256']}")
    return data


def unpack(data: bytes, folder: Path) -> None:
    """Whole or not at all: a folder of that name is complete."""
    if folder.is_dir():
        return
    partial = folder.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(data)) as bundle:
        bundle.extractall(partial)
    partial.rename(folder)


def python() -> str:
    """The image's first Python that the agent runs on."""
    probe = "import sys; sys.exit(sys.version_info < (3, 10))"
    for name in PYTHONS:
        path = shutil.which(name)
        if path and subprocess.run([path, "-c", probe], check=False).returncode == 0:
            return path
    raise Failed("the image has no Python of 3.10 or newer")


def hand_over(node: Node) -> None:
    folder = ROOT / node["artifact_sha256"]
    unpack(retry("fetch the agent", lambda: artifact(node), node["deadline_s"]), folder)
    ETC.mkdir(parents=True, exist_ok=True)
    (ETC / "node.json").write_text(json.dumps(node, sort_keys=True), encoding="utf-8")
    command = [python(), "-m", "bootstrap", "install", "--node", str(ETC / "node.json")]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PYTHONPATH": str(folder)}, check=False)
    if done.returncode:
        raise Failed(f"installing the agent failed with exit code {done.returncode}")


def main(arguments: list[str]) -> int:
    verb, node = arguments[0], json.loads(arguments[1])
    if verb == "abandon":
        abandon(node, arguments[2])
        return 0
    try:
        hand_over(node)
    except Exception as error:
        abandon(node, f"{type(error).__name__}: {error}")
        return GIVEN_UP
    say("the agent is installed and started")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
