"""What AWS allows, as named constants with their source.

Sources: BC is botocore 1.44.8's service models; the guides are AWS's user guides as read on the date.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """One number of AWS's, its unit, and where it stands."""

    value: int
    unit: str
    source: str


@dataclass(frozen=True)
class Range:
    """Least and most of a value, both allowed."""

    least: int
    most: int
    unit: str
    source: str

    def __contains__(self, value: int) -> bool:
        return self.least <= value <= self.most


_BC = "botocore 1.44.8"
_ASG = "EC2 Auto Scaling User Guide, quotas, 2023-06"

SCHEDULED_ACTIONS_PER_GROUP = Limit(125, "actions", _ASG)
SCHEDULED_ACTION_LATENESS_S = Limit(120, "seconds", "EC2 Auto Scaling User Guide, scheduled scaling, 2023-06")
SCHEDULED_ACTIONS_PER_BATCH = Limit(50, "actions", _ASG)
RECURRENCE_CHARS = Range(1, 255, "characters", f"{_BC} PutScheduledUpdateGroupAction")
HOOKS_PER_GROUP = Limit(50, "hooks", _ASG)
HOOK_HEARTBEAT_S = Range(30, 7200, "seconds", f"{_BC} LifecycleHook")
HOOK_TOTAL_S = Limit(48 * 3600, "seconds", "EC2 Auto Scaling User Guide, lifecycle hooks, 2023-06")
HOOK_TOTAL_HEARTBEATS = Limit(100, "heartbeats", "EC2 Auto Scaling User Guide, lifecycle hooks, 2023-06")
GROUPS_PER_REGION = Limit(500, "groups", _ASG)
MIXED_TYPES = Limit(40, "instance types", f"{_BC} LaunchTemplateOverrides")
USER_DATA_BYTES = Limit(16384, "bytes before base64", "EC2 User Guide, user data, 2023-06")
TEMPLATE_NAME_CHARS = Range(3, 128, "characters", f"{_BC} CreateLaunchTemplate")
TEMPLATE_VERSIONS = Limit(10_000, "versions", "EC2 User Guide, launch templates, 2023-06")
TEMPLATES_PER_REGION = Limit(5_000, "templates", "EC2 User Guide, launch templates, 2023-06")
HOP_LIMIT = Range(1, 64, "hops", f"{_BC} HttpPutResponseHopLimit")
GROUP_NAME_CHARS = Range(1, 255, "characters", f"{_BC} CreateAutoScalingGroup")
PLACEMENT_GROUP_NAME_CHARS = Range(1, 255, "characters", "EC2 User Guide, placement groups, 2023-06")
ROLE_NAME_CHARS = Range(1, 64, "characters", f"{_BC} CreateRole")
INSTANCE_PROFILE_NAME_CHARS = Range(1, 128, "characters", f"{_BC} CreateInstanceProfile")
BUCKET_NAME_CHARS = Range(3, 63, "characters", "S3 User Guide, bucket naming rules, 2023-06")
LOG_GROUP_NAME_CHARS = Range(1, 512, "characters", f"{_BC} CreateLogGroup")
TOPIC_NAME_CHARS = Range(1, 256, "characters", f"{_BC} SNS CreateTopic")
ALARM_NAME_CHARS = Range(1, 255, "characters", f"{_BC} PutMetricAlarm")
DASHBOARD_NAME_CHARS = Range(1, 255, "characters", "CloudWatch PutDashboard reference, 2023-06")
BUDGET_NAME_CHARS = Range(1, 100, "characters", f"{_BC} Budgets BudgetName")
TAGS_PER_RESOURCE = Limit(50, "tags", "EC2 User Guide, tag restrictions, 2023-06")
TAG_KEY_CHARS = Range(1, 128, "characters", "EC2 User Guide, tag restrictions, 2023-06")
TAG_VALUE_CHARS = Range(0, 256, "characters", "EC2 User Guide, tag restrictions, 2023-06")

GP3_SIZE_GIB = Range(1, 65_536, "GiB", f"{_BC} CreateVolume")
GP3_IOPS = Range(3_000, 80_000, "IOPS", f"{_BC} CreateVolume")
GP3_THROUGHPUT = Range(125, 2_000, "MiB/s", f"{_BC} CreateVolume")
GP3_IOPS_PER_GIB = Limit(500, "IOPS per GiB", "EBS User Guide, general purpose volumes")
GP3_IOPS_PER_THROUGHPUT = Limit(
    4, "IOPS per MiB/s (0.25 MiB/s per IOPS)", "EBS User Guide, general purpose volumes"
)
IO2_SIZE_GIB = Range(4, 65_536, "GiB", f"{_BC} CreateVolume")
IO2_IOPS = Range(100, 256_000, "IOPS", f"{_BC} CreateVolume")
IO2_IOPS_PER_GIB = Limit(1_000, "IOPS per GiB", "EBS User Guide, provisioned IOPS volumes")
VOLUME_MODIFICATIONS_PER_DAY = Limit(
    4, "modifications per rolling 24 h", f"{_BC} ModifyVolume, since 2026-01"
)

DLM_POLICIES_PER_REGION = Limit(100, "policies", "EBS User Guide, Data Lifecycle Manager quotas, 2023-06")
DLM_SCHEDULES_PER_POLICY = Range(1, 4, "schedules", f"{_BC} dlm")
DLM_RETAIN_COUNT = Range(1, 1_000, "snapshots", f"{_BC} dlm")
DLM_INTERVAL_HOURS = (1, 2, 3, 4, 6, 8, 12, 24)
DLM_START_WITHIN_S = Limit(3_600, "seconds", "EBS User Guide, Data Lifecycle Manager, 2023-06")
DLM_DESCRIPTION_CHARS = Range(1, 500, "characters of [0-9A-Za-z _-]", f"{_BC} dlm")
DLM_SCHEDULE_NAME_CHARS = Range(1, 120, "characters of [0-9A-Za-z _-]", f"{_BC} dlm")

CAPACITY_BLOCK_RECLAIM_MIN = Limit(30, "minutes before its end", "EC2 User Guide, Capacity Blocks")
SPOT_NOTICE_S = Limit(120, "seconds", "EC2 User Guide, spot interruption notices")
