"""Which call a request is, and which fault befalls it."""

from __future__ import annotations

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from nightshift.emulator.sandbox.calls import step_of
from nightshift.emulator.sandbox.faults import Faults
from nightshift.emulator.sandbox.imds import _listed

FORM = b"Action=AttachVolume&Version=2016-11-15&VolumeId=vol-0abc"


def signed(service: str, method: str, url: str, body: bytes = b"", **headers: str) -> dict[str, str]:
    request = AWSRequest(
        method, url, data=body, headers={name.replace("_", "-"): text for name, text in headers.items()}
    )
    SigV4Auth(Credentials("AKID", "secret"), service, "us-east-1").add_auth(request)
    return dict(request.headers.items())


@pytest.mark.parametrize(
    ("service", "method", "target", "body", "headers", "step"),
    [
        ("ec2", "POST", "/", FORM, {}, "ec2.AttachVolume"),
        ("autoscaling", "POST", "/", b"Version=1&Action=Complete", {}, "autoscaling.Complete"),
        ("logs", "POST", "/", b"{}", {"X_Amz_Target": "Logs_20140328.PutLogEvents"}, "logs.PutLogEvents"),
        (
            "monitoring",
            "POST",
            "/service/Granite/operation/PutMetricData",
            b"",
            {},
            "monitoring.PutMetricData",
        ),
        ("s3", "GET", "/artifacts/groups/vit.json", b"", {}, "s3.GetObject:groups/vit.json"),
        ("s3", "PUT", "/data/a%20b", b"x", {}, "s3.PutObject:a b"),
        ("s3", "GET", "/data?list-type=2&prefix=runtimes%2F", b"", {}, "s3.ListObjectsV2"),
        ("s3", "PUT", "/data/big?partNumber=1&uploadId=u", b"", {}, "s3.UploadPart:big"),
        ("s3", "POST", "/data/big?uploads", b"", {}, "s3.CreateMultipartUpload:big"),
        ("s3", "POST", "/data/big?uploadId=u", b"", {}, "s3.CompleteMultipartUpload:big"),
    ],
)
def test_a_signed_request_is_told_by_what_it_asks(
    service: str, method: str, target: str, body: bytes, headers: dict[str, str], step: str
) -> None:
    given_headers = signed(service, method, f"http://127.0.0.1:5000{target}", body, **headers)
    assert step_of(method, target, given_headers, body) == step


def test_what_nobody_signed_is_told_by_its_method() -> None:
    assert step_of("GET", "/nightshift-emulator/log", {}, b"") == "unsigned.GET"


@given(st.text(), st.text(), st.binary())
def test_any_request_has_a_step(method: str, target: str, body: bytes) -> None:
    headers = {"Authorization": "AWS4-HMAC-SHA256 Credential=A/20260101/us-east-1/ec2/aws4_request, x"}
    assert step_of(method, target.replace("[", "").replace("]", ""), headers, body).startswith("ec2.")


@given(
    st.lists(st.sampled_from(["ec2.AttachVolume", "ec2.DetachVolume", "s3.GetObject:a"])), st.integers(0, 5)
)
def test_a_fault_befalls_its_step_as_often_as_it_says(steps: list[str], times: int) -> None:
    faults = Faults()
    rule = faults.add("ec2.*", "error", times=times)
    hit = [step for step in steps if faults.take(step) is not None]
    assert hit == [step for step in steps if step.startswith("ec2.")][:times]
    assert (rule.hits, faults.steps) == (len(hit), steps)


def test_a_fault_without_an_end_lasts_until_it_is_cleared() -> None:
    faults = Faults()
    faults.add("s3.GetObject:*", "hang")
    assert all(faults.take("s3.GetObject:a") for _ in range(50))
    faults.clear()
    assert faults.take("s3.GetObject:a") is None


@pytest.mark.parametrize(
    ("path", "text"),
    [("a", b"b/\nc"), ("a/", b"b/\nc"), ("a/c", b"2"), ("a/d", None), ("", b"a/"), ("ab", None)],
)
def test_metadata_is_a_tree(path: str, text: bytes | None) -> None:
    assert _listed({"a/b/x": "1", "a/c": "2", "a/d": None}, path) == text


def test_a_fault_wakes_with_a_step_lasts_and_spares(monkeypatch: pytest.MonkeyPatch) -> None:
    faults, now = Faults(), [100.0]
    monkeypatch.setattr("nightshift.emulator.sandbox.faults.time.monotonic", lambda: now[0])
    faults.add("*", "reset", after="b*", lasting=5).spares = "c"
    assert [faults.take(step) is not None for step in ("a", "b1", "c", "a")] == [False, True, False, True]
    now[0] += 6
    assert faults.take("a") is None


def test_the_first_fault_that_matches_befalls_a_step() -> None:
    faults = Faults()
    once = faults.add("a", "error", times=1)
    always = faults.add("*", "hang")
    assert [faults.take("a"), faults.take("a"), faults.take("b")] == [once, always, always]
