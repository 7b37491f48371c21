"""pulumi_aws warns of its own old names while a module of it is first used; what we use is still an error."""

from __future__ import annotations

import warnings

import pulumi_aws

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    FIRST_USED = (pulumi_aws.s3.Bucket, pulumi_aws.ec2.Vpc, pulumi_aws.iam.Role)
