"""The buckets: closed, encrypted, TLS only; what's kept is kept with its guards, what goes goes whole."""

from __future__ import annotations

import functools
import json

import pytest

from infra.live_ec2 import LivePart
from tests.infra.recorder import Recorder
from tests.infra.support.samples import ARTIFACT, declare, nothing_alive, parts

DATA, ARTIFACTS = "nightshift-lab-data-eb805c6c", "nightshift-lab-artifacts-eb805c6c"
GUARDS = (
    "BucketPublicAccessBlock",
    "BucketOwnershipControls",
    "BucketServerSideEncryptionConfiguration",
    "BucketPolicy",
)


@functools.cache
def deployed() -> Recorder:
    return declare()


def test_two_buckets_are_declared_under_names_that_a_lost_state_finds_again() -> None:
    found = {each.name: each.inputs["bucket"] for each in deployed().all("Bucket")}
    assert found == {"artifacts-data": DATA, "artifacts-artifacts": ARTIFACTS}


def test_the_data_bucket_outlives_the_stack_and_never_empties_itself() -> None:
    bucket = deployed().one("Bucket", "artifacts-data")
    assert bucket.inputs["forceDestroy"] is False
    assert bucket.request.retainOnDelete is True


def test_the_artifacts_bucket_goes_with_the_stack_whatever_is_in_it() -> None:
    bucket = deployed().one("Bucket", "artifacts-artifacts")
    assert bucket.inputs["forceDestroy"] is True
    assert bucket.request.retainOnDelete is False


@pytest.mark.parametrize("kind", GUARDS)
def test_each_bucket_is_guarded_and_the_guard_shares_its_fate(kind: str) -> None:
    kept, gone = (deployed().all(kind)[index] for index in (0, 1))
    assert {kept.inputs["bucket"], gone.inputs["bucket"]} == {"artifacts-data-id", "artifacts-artifacts-id"}
    kept, gone = sorted((kept, gone), key=lambda each: each.inputs["bucket"], reverse=True)
    assert (kept.request.retainOnDelete, kept.request.deletedWith) == (True, "")
    assert gone.request.retainOnDelete is False
    assert gone.request.deletedWith.endswith("::artifacts-artifacts")


def test_nothing_of_a_bucket_is_public() -> None:
    for block in deployed().all("BucketPublicAccessBlock"):
        assert {key: value for key, value in block.inputs.items() if key != "bucket"} == {
            "blockPublicAcls": True,
            "blockPublicPolicy": True,
            "ignorePublicAcls": True,
            "restrictPublicBuckets": True,
        }


def test_the_bucket_s_owner_owns_what_is_written_and_it_is_encrypted() -> None:
    for owner in deployed().all("BucketOwnershipControls"):
        assert owner.inputs["rule"] == {"objectOwnership": "BucketOwnerEnforced"}
    for encryption in deployed().all("BucketServerSideEncryptionConfiguration"):
        assert encryption.inputs["rules"] == [
            {"applyServerSideEncryptionByDefault": {"sseAlgorithm": "AES256"}}
        ]


def test_plain_http_is_refused_on_each_bucket_and_its_objects() -> None:
    resources = [json.loads(each.inputs["policy"])["Statement"] for each in deployed().all("BucketPolicy")]
    assert sorted(statement["Resource"][1] for (statement,) in resources) == [
        f"arn:aws:s3:::{ARTIFACTS}/*",
        f"arn:aws:s3:::{DATA}/*",
    ]
    assert all(statement["Effect"] == "Deny" for (statement,) in resources)


def test_the_policy_waits_for_the_public_access_block_since_s3_takes_one_at_a_time() -> None:
    policy = deployed().one("BucketPolicy", "artifacts-data-tls")
    assert {"artifacts-data-public", "artifacts-data-owner"} <= policy.depends_on


def test_the_artifact_lies_under_its_hash_and_a_former_one_stays_for_nodes_that_boot_now() -> None:
    bundle = deployed().one("BucketObjectv2", "artifacts-bootstrap")
    assert bundle.inputs["key"] == f"bootstrap/{'0' * 64}.zip"
    assert bundle.inputs["bucket"] == "artifacts-artifacts-id"
    assert bundle.inputs["source"].path == str(ARTIFACT.path)
    assert bundle.request.retainOnDelete is True


def test_each_group_has_its_manifest_where_only_its_nodes_may_read() -> None:
    manifests = {
        each.inputs["key"]: json.loads(each.inputs["content"])["group"]
        for each in deployed().all("BucketObjectv2")
        if each.name != "artifacts-bootstrap"
    }
    assert manifests == {"groups/desk/manifest.json": "desk", "groups/vit/manifest.json": "vit"}


def test_buckets_that_stand_are_taken_over() -> None:
    found = parts(LivePart("bucket-data", DATA, "Bucket"), LivePart("bucket-artifacts", ARTIFACTS, "Bucket"))
    recorder = declare(live=nothing_alive(parts=found))
    assert recorder.one("Bucket", "artifacts-data").request.importId == DATA
    assert recorder.one("Bucket", "artifacts-artifacts").request.importId == ARTIFACTS
    assert deployed().one("Bucket", "artifacts-data").request.importId == ""
