"""The site's two buckets, the node agent's artifact and each group's boot manifest.

`artifacts` goes with the stack. `data` holds checkpoints, records and runtimes and stays when the stack goes.
Neither is versioned: nodes renew leases and records all the time, and without an expiry rule every former
version would be billed for ever; checkpoints are files of their own, so nothing is overwritten that counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pulumi
from pulumi_aws import s3

from bootstrap.artifact import Artifact
from infra.live import LiveSite
from infra.options import SiteContext, child, tags
from infra.policies import bucket_policy, to_json
from nightshift.plan import names

BucketKind = Literal["data", "artifacts"]


@dataclass(frozen=True)
class ArtifactsSpec:
    """Bucket names, the built artifact, and the text of each group's manifest."""

    data_bucket: str
    artifacts_bucket: str
    artifact: Artifact
    manifests: Mapping[str, str]


def artifacts_spec(site: SiteContext, artifact: Artifact, manifests: Mapping[str, str]) -> ArtifactsSpec:
    """Names follow from site, account and region, so that a lost state finds the same data again."""
    return ArtifactsSpec(
        data_bucket=names.bucket_name(site.name, "data", site.account, site.region),
        artifacts_bucket=names.bucket_name(site.name, "artifacts", site.account, site.region),
        artifact=artifact,
        manifests=manifests,
    )


def manifest_key(group: str) -> str:
    """Where a group's manifest lies in the artifacts bucket; its nodes may read no other group's."""
    return f"groups/{group}/manifest.json"


class Artifacts(pulumi.ComponentResource):
    """Both buckets, closed to the public and to plain HTTP, and what a node fetches at boot."""

    data_bucket: pulumi.Output[str]
    data_bucket_arn: pulumi.Output[str]
    artifacts_bucket: pulumi.Output[str]
    artifact_key: str
    artifact_sha256: str
    ready: tuple[pulumi.Resource, ...]

    def __init__(
        self,
        name: str,
        spec: ArtifactsSpec,
        *,
        site: SiteContext,
        live: LiveSite,
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("nightshift:infra:Artifacts", name, None, opts)
        data = self._bucket(name, "data", spec.data_bucket, site, live)
        artifacts = self._bucket(name, "artifacts", spec.artifacts_bucket, site, live)
        self.artifact_key, self.artifact_sha256 = spec.artifact.key, spec.artifact.sha256
        self.ready = (
            self._artifact(name, spec.artifact, artifacts),
            *(self._manifest(name, *item, artifacts) for item in sorted(spec.manifests.items())),
        )
        self.data_bucket, self.data_bucket_arn = data.bucket, data.arn
        self.artifacts_bucket = artifacts.bucket
        self.register_outputs({"data_bucket": data.bucket, "artifacts_bucket": artifacts.bucket})

    def _bucket(
        self, name: str, kind: BucketKind, bucket_name: str, site: SiteContext, live: LiveSite
    ) -> s3.Bucket:
        part, keep = f"bucket-{kind}", kind == "data"
        bucket = s3.Bucket(
            f"{name}-{kind}",
            bucket=bucket_name,
            force_destroy=not keep,
            tags=tags(site, part),
            opts=child(self, import_id=live.import_id(part), retain=keep or None),
        )
        self._closed(f"{name}-{kind}", bucket, bucket_policy(bucket_name, site.partition), keep)
        return bucket

    def _closed(self, name: str, bucket: s3.Bucket, policy: dict[str, object], keep: bool) -> None:
        """What guards a bucket stays or goes with it.

        S3 answers 409 when the policy and the public access block of a bucket are set at the same time.
        """
        stays, goes = (True, None) if keep else (None, bucket)
        public = s3.BucketPublicAccessBlock(
            f"{name}-public",
            bucket=bucket.id,
            block_public_acls=True,
            block_public_policy=True,
            ignore_public_acls=True,
            restrict_public_buckets=True,
            opts=child(self, retain=stays, deleted_with=goes),
        )
        owner = s3.BucketOwnershipControls(
            f"{name}-owner",
            bucket=bucket.id,
            rule=s3.BucketOwnershipControlsRuleArgs(object_ownership="BucketOwnerEnforced"),
            opts=child(self, depends_on=(public,), retain=stays, deleted_with=goes),
        )
        s3.BucketServerSideEncryptionConfiguration(
            f"{name}-encryption",
            bucket=bucket.id,
            rules=[_ENCRYPTED],
            opts=child(self, retain=stays, deleted_with=goes),
        )
        s3.BucketPolicy(
            f"{name}-tls",
            bucket=bucket.id,
            policy=to_json(policy),
            opts=child(self, depends_on=(public, owner), retain=stays, deleted_with=goes),
        )

    def _artifact(self, name: str, artifact: Artifact, bucket: s3.Bucket) -> s3.BucketObjectv2:
        """Kept on replacement: a node that boots right now may still ask for the former one."""
        return s3.BucketObjectv2(
            f"{name}-bootstrap",
            bucket=bucket.id,
            key=artifact.key,
            source=pulumi.FileAsset(str(artifact.path)),
            content_type="application/zip",
            opts=child(self, retain=True),
        )

    def _manifest(self, name: str, group: str, text: str, bucket: s3.Bucket) -> s3.BucketObjectv2:
        return s3.BucketObjectv2(
            f"{name}-manifest-{group}",
            bucket=bucket.id,
            key=manifest_key(group),
            content=text,
            content_type="application/json",
            opts=child(self, deleted_with=bucket),
        )


_ENCRYPTED = s3.BucketServerSideEncryptionConfigurationRuleArgs(
    apply_server_side_encryption_by_default=(
        s3.BucketServerSideEncryptionConfigurationRuleApplyServerSideEncryptionByDefaultArgs(
            sse_algorithm="AES256"
        )
    )
)
