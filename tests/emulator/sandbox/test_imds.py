"""The metadata service: version 2 alone, the instance's own credentials, and what befalls it."""

from __future__ import annotations

import json
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nightshift.emulator.sandbox.faults import How
from nightshift.emulator.sandbox.imds import LIFETIME, TOKEN, Identity, Imds
from nightshift.emulator.sandbox.network import Network

pytestmark = pytest.mark.node
ROOT = Path(__file__).parents[3]
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Client:
    """Asks as a node does, beside the node's own code."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.url = f"http://{address[0]}:{address[1]}/latest/"

    def send(self, path: str, method: str = "GET", **headers: str) -> tuple[int, str]:
        given = {name.replace("_", "-"): text for name, text in headers.items()}
        request = urllib.request.Request(self.url + path, headers=given, method=method)
        try:
            with OPENER.open(request, timeout=2) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def token(self, seconds: str = "60") -> str:
        return self.send("api/token", "PUT", **{LIFETIME: seconds})[1]

    def get(self, path: str) -> tuple[int, str]:
        return self.send(path, **{TOKEN: self.token()})


class Source:
    """Gives credentials that last for some time, and counts."""

    def __init__(self, lasting: timedelta) -> None:
        self.lasting, self.asked = lasting, 0

    def __call__(self, instance_id: str) -> dict[str, str]:
        self.asked += 1
        end = datetime.now(UTC) + self.lasting
        return {
            "Code": "Success",
            "AccessKeyId": f"ASIA{self.asked}",
            "SecretAccessKey": "secret",
            "Token": instance_id,
            "Expiration": f"{end:%Y-%m-%dT%H:%M:%SZ}",
            "RoleArn": "arn:aws:iam::123456789012:role/nightshift-lab-us-east-1-vit",
        }


@pytest.fixture
def imds() -> Iterator[Imds]:
    made = Imds(Identity("i-0abc", "g5.xlarge", "eu-west-1b"), Source(timedelta(hours=6)))
    yield made
    made.close()


@pytest.fixture
def client(imds: Imds) -> Client:
    return Client(imds.listen(None, ("127.0.0.1", 0)))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("instance-id", "i-0abc"),
        ("instance-type", "g5.xlarge"),
        ("placement/availability-zone", "eu-west-1b"),
        ("placement/region", "eu-west-1"),
        ("placement/", "availability-zone\nregion"),
        ("autoscaling/target-lifecycle-state", "InService"),
        ("iam/security-credentials/", "nightshift-lab-us-east-1-vit"),
    ],
)
def test_it_says_who_the_instance_is(client: Client, path: str, text: str) -> None:
    assert client.get(f"meta-data/{path}") == (200, text)


def test_version_1_is_refused(client: Client) -> None:
    assert client.send("meta-data/instance-id")[0] == 401
    assert client.send("meta-data/instance-id", **{TOKEN: "made-up"})[0] == 401


@pytest.mark.parametrize("seconds", ["0", "21601", "-1", "soon", ""])
def test_a_token_needs_a_lifetime_in_bounds(client: Client, seconds: str) -> None:
    assert client.send("api/token", "PUT", **{LIFETIME: seconds})[0] == 400


def test_a_token_is_asked_for_with_put_and_directly(client: Client) -> None:
    assert client.send("api/token", **{LIFETIME: "60"})[0] == 401
    assert client.send("api/token", "PUT", X_Forwarded_For="10.0.0.1", **{LIFETIME: "60"})[0] == 403


def test_a_token_runs_out(client: Client) -> None:
    token = client.token("1")
    assert client.send("meta-data/instance-id", **{TOKEN: token})[0] == 200
    time.sleep(1.1)
    assert client.send("meta-data/instance-id", **{TOKEN: token})[0] == 401


def test_the_identity_document_agrees_with_the_rest(client: Client) -> None:
    told = json.loads(client.get("dynamic/instance-identity/document")[1])
    assert (told["instanceId"], told["region"], told["instanceType"]) == ("i-0abc", "eu-west-1", "g5.xlarge")


def test_notices_are_absent_until_they_are_given(client: Client, imds: Imds) -> None:
    for path in ("spot/instance-action", "spot/termination-time", "events/recommendations/rebalance"):
        assert client.get(f"meta-data/{path}")[0] == 404
    imds.notice_spot(after_s=120)
    imds.notice_rebalance()
    imds.target_lifecycle_state = "Terminated"
    action = json.loads(client.get("meta-data/spot/instance-action")[1])
    assert action["action"] == "terminate"
    assert client.get("meta-data/spot/termination-time")[1] == action["time"]
    assert "noticeTime" in json.loads(client.get("meta-data/events/recommendations/rebalance")[1])
    assert client.get("meta-data/autoscaling/target-lifecycle-state")[1] == "Terminated"


@pytest.mark.parametrize(("minutes", "asked"), [(14, 2), (16, 1)])
def test_credentials_are_renewed_before_they_run_out(minutes: int, asked: int) -> None:
    source = Source(timedelta(minutes=minutes))
    imds = Imds(Identity("i-0abc"), source)
    client = Client(imds.listen(None, ("127.0.0.1", 0)))
    try:
        path = "meta-data/iam/security-credentials/nightshift-lab-us-east-1-vit"
        keys = [json.loads(client.get(path)[1])["AccessKeyId"] for _ in range(2)]
    finally:
        imds.close()
    assert source.asked == asked
    assert keys[-1] == f"ASIA{asked}"


def test_down_refuses_and_up_serves_again_with_its_tokens(client: Client, imds: Imds) -> None:
    address = ("127.0.0.1", int(client.url.split(":")[2].split("/")[0]))
    imds.listen(None, address)
    token = client.token()
    imds.down()
    with pytest.raises(urllib.error.URLError, match="refused"):
        client.get("meta-data/instance-id")
    imds.up()
    assert client.send("meta-data/instance-id", **{TOKEN: token}) == (200, "i-0abc")


@pytest.mark.parametrize(
    ("how", "error"),
    [("reset", ConnectionResetError), ("lost", ConnectionResetError), ("hang", TimeoutError)],
)
def test_a_step_fails_as_told_and_as_often(
    client: Client, imds: Imds, how: How, error: type[OSError]
) -> None:
    imds.faults.add("imds.token", how, times=1)
    with pytest.raises((error, urllib.error.URLError)):
        client.token()
    assert client.get("meta-data/instance-id") == (200, "i-0abc")
    assert imds.faults.steps == ["imds.token", "imds.token", "imds.meta-data/instance-id"]


def test_an_error_is_an_answer(client: Client, imds: Imds) -> None:
    imds.faults.add("imds.meta-data/*", "error")
    assert client.get("meta-data/instance-id")[0] == 500
    imds.faults.clear()
    assert client.get("meta-data/instance-id")[0] == 200


def test_answers_go_no_further_than_the_hop_limit(client: Client, imds: Imds) -> None:
    assert imds._server is not None
    assert imds._server.socket.getsockopt(socket.IPPROTO_IP, socket.IP_TTL) == 1


def test_the_nodes_own_code_reads_it_at_its_own_address(net: Network) -> None:
    node = net.node("i-0abc", zone="us-west-2c", type="p5.48xlarge")
    ask = "from bootstrap.imds import read_instance; print(read_instance())"
    said = node.run([sys.executable, "-c", ask], cwd=ROOT).stdout
    assert said == "Instance(id='i-0abc', type='p5.48xlarge', zone='us-west-2c')\n"
