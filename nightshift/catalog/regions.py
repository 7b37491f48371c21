"""Regions and how their zones are named. Regions are those of the offers dump of 2026-10 and those that
opened since; a region that isn't listed is allowed with a warning, since AWS opens new ones."""

from __future__ import annotations

import re

REGION = re.compile(r"(?:[a-z]{2}|us-gov|us-iso[bef]?|eu-isoe)-[a-z]+-\d")
ZONE = re.compile(rf"(?P<region>{REGION.pattern})[a-z]")
ZONE_ID = re.compile(r"[a-z]{2,4}\d?-az\d+")

REGIONS = frozenset(
    [
        "af-south-1",
        "ap-east-1",
        "ap-east-2",
        "ap-northeast-1",
        "ap-northeast-2",
        "ap-northeast-3",
        "ap-south-1",
        "ap-south-2",
        "ap-southeast-1",
        "ap-southeast-2",
        "ap-southeast-3",
        "ap-southeast-4",
        "ap-southeast-5",
        "ap-southeast-6",
        "ap-southeast-7",
        "ca-central-1",
        "ca-west-1",
        "eu-central-1",
        "eu-central-2",
        "eu-north-1",
        "eu-south-1",
        "eu-south-2",
        "eu-west-1",
        "eu-west-2",
        "eu-west-3",
        "il-central-1",
        "me-central-1",
        "me-south-1",
        "mx-central-1",
        "sa-east-1",
        "us-east-1",
        "us-east-2",
        "us-west-1",
        "us-west-2",
    ]
)


def zone_problem(zone: str, region: str) -> str | None:
    """Why `zone` isn't an availability zone of `region`, or None when it can be one."""
    found = ZONE.fullmatch(zone)
    if found and found["region"] == region:
        return None
    if found:
        return (
            f'given "{zone}", which is in {found["region"]}; expected a zone of {region} such as "{region}a"'
        )
    if ZONE_ID.fullmatch(zone):
        return f'given the zone id "{zone}"; expected the account\'s name for it, such as "{region}a"'
    return f'given "{zone}", expected an availability zone of {region} such as "{region}a"'


def region_problem(region: str) -> str | None:
    """Why `region` can't be a region, or None when it can; one not listed but well formed passes."""
    if REGION.fullmatch(region):
        return None
    from nightshift.catalog.suggest import unknown

    return unknown("region", region, REGIONS, "AWS")
