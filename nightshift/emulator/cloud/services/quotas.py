"""Service quotas of EC2 in vCPUs, and how much of each is in use. moto knows VPC quotas only.

Codes and names: EC2 On-Demand and Spot instance limits, read 2026-11."""

from __future__ import annotations

from typing import Any

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.services.backends import ec2
from nightshift.emulator.cloud.state import DEFAULT_VCPU_QUOTA, STATE, Handlers, Patch

NAMES = {
    "L-417A185B": "Running On-Demand P instances",
    "L-DB2E81BA": "Running On-Demand G and VT instances",
    "L-7212CCBC": "All P4, P3 and P2 Spot Instance Requests",
    "L-3819A6DF": "All G and VT Spot Instance Requests",
    "L-1216C47A": "Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances",
    "L-34B43A08": "All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests",
}
CODES = {
    ("p", False): "L-417A185B",
    ("g", False): "L-DB2E81BA",
    ("p", True): "L-7212CCBC",
    ("g", True): "L-3819A6DF",
}


def quota_code(instance_type: str, spot: bool) -> str:
    """Which quota an instance type counts against: P, G and VT apart, all else standard."""
    family = instance_type.split(".")[0].rstrip("0123456789").lower()
    kind = (
        "p" if instance_type.startswith("p") else "g" if instance_type.startswith(("g", "vt")) else family[:1]
    )
    return CODES.get((kind, spot), "L-34B43A08" if spot else "L-1216C47A")


def vcpus(instance_type: str) -> int:
    """vCPUs of a type; 0 for a type that the catalogue does not know."""
    from moto.ec2.models.instance_types import INSTANCE_TYPES

    return int(INSTANCE_TYPES.get(instance_type, {}).get("VCpuInfo", {}).get("DefaultVCpus", 0))


def limit(code: str) -> float:
    """The quota's value in vCPUs."""
    return STATE.quotas.get(code, DEFAULT_VCPU_QUOTA)


def used(region: str, code: str) -> int:
    """vCPUs of the running instances that count against a quota."""
    return sum(
        vcpus(i.instance_type)
        for i in ec2(region).all_instances()
        if i.state in {"pending", "running"} and quota_code(i.instance_type, i.lifecycle == "spot") == code
    )


def check_vcpus(region: str, instance_type: str, spot: bool, count: int = 1) -> None:
    """Raise AWS's error when `count` more instances would exceed their quota."""
    code = quota_code(instance_type, spot)
    wanted = used(region, code) + count * vcpus(instance_type)
    if wanted <= limit(code):
        return
    if spot:
        raise AwsError("MaxSpotInstanceCountExceeded", "Max spot instance count exceeded")
    raise AwsError(
        "VcpuLimitExceeded",
        f"You have requested more vCPU capacity than your current vCPU limit of {limit(code):g} "
        "allows for the "
        "instance bucket that the specified instance type belongs to. Please visit "
        "http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit.",
    )


def _row(region: str, code: str) -> dict[str, Any]:
    return {
        "ServiceCode": "ec2",
        "ServiceName": "Amazon Elastic Compute Cloud (Amazon EC2)",
        "QuotaArn": f"arn:aws:servicequotas:{region}:{ACCOUNT}:ec2/{code}",
        "QuotaCode": code,
        "QuotaName": NAMES[code],
        "Value": limit(code),
        "Unit": "None",
        "Adjustable": True,
        "GlobalQuota": False,
    }


def _get(call: Call) -> dict[str, Any]:
    code = call.params["QuotaCode"]
    if call.params["ServiceCode"] != "ec2" or code not in NAMES:
        raise AwsError(
            "NoSuchResourceException", "The request failed because the specified quota does not exist."
        )
    return {"Quota": _row(call.region, code)}


def _list(call: Call) -> dict[str, Any]:
    if call.params["ServiceCode"] != "ec2":
        raise AwsError(
            "NoSuchResourceException", "The request failed because the specified service does not exist."
        )
    return {"Quotas": [_row(call.region, code) for code in NAMES]}


HANDLERS: Handlers = {
    ("service-quotas", "GetServiceQuota"): _get,
    ("service-quotas", "GetAWSDefaultServiceQuota"): _get,
    ("service-quotas", "ListServiceQuotas"): _list,
    ("service-quotas", "ListAWSDefaultServiceQuotas"): _list,
}
PATCHES: tuple[Patch, ...] = ()
