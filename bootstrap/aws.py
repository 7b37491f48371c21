"""The node's only edge to AWS: each call that the role allows, by what it is for.

boto3 is imported by the modules `aws*` of this package and by no other.
"""

from __future__ import annotations

from bootstrap.aws_data import DataCalls
from bootstrap.aws_group import GroupCalls
from bootstrap.aws_session import AwsError, refusal
from bootstrap.aws_volumes import VolumeCalls


class NodeAws(VolumeCalls, GroupCalls, DataCalls):
    """AWS for one node. Every method raises one of AwsError when AWS refuses or can't be reached."""


__all__ = ["AwsError", "NodeAws", "refusal"]
