"""The scope of one node's policy, as group `vit` of site `lab` has it."""

from __future__ import annotations

from infra.policies import NodeScope

ACCOUNT, REGION = "123456789012", "us-east-1"
SCOPE = NodeScope(
    site="lab",
    group="vit",
    region=REGION,
    account=ACCOUNT,
    group_name="nightshift-lab.vit",
    data_bucket="nightshift-lab-data-00000000",
    artifacts_bucket="nightshift-lab-artifacts-00000000",
    log_group="/nightshift/lab",
    volumes=("imagenet", "runs"),
    secrets=("lab/wandb",),
)


def arn(service: str, resource: str) -> str:
    return f"arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}"
