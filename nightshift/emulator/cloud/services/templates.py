"""Launch templates: what a version holds is what was asked, from the first version on."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from moto.core.types import Base64EncodedString

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import Call
from nightshift.emulator.cloud.services.backends import ec2, spec_tags, tag_rows
from nightshift.emulator.cloud.state import Handlers, Patch


def find(region: str, params: dict[str, Any]) -> Any:
    """The template that a call names by id or by name; moto's errors when there is none."""
    backend = ec2(region)
    if params.get("LaunchTemplateId"):
        return backend.get_launch_template(params["LaunchTemplateId"])
    return backend.get_launch_template_by_name(params["LaunchTemplateName"])


def _data(given: dict[str, Any]) -> dict[str, Any]:
    data = deepcopy(given)
    if data.get("UserData"):
        data["UserData"] = Base64EncodedString(data["UserData"])
    return data


def _shown(template: Any) -> dict[str, Any]:
    return {
        "CreateTime": template.create_time,
        "CreatedBy": f"arn:aws:iam::{ACCOUNT}:root",
        "DefaultVersionNumber": template.default_version_number,
        "LatestVersionNumber": template.latest_version_number,
        "LaunchTemplateId": template.id,
        "LaunchTemplateName": template.name,
        "Tags": tag_rows(dict(template.ec2_backend.tags.get(template.id, {}))),
    }


def _create(call: Call) -> dict[str, Any]:
    template = ec2(call.region).create_launch_template(
        call.params["LaunchTemplateName"],
        call.params.get("VersionDescription"),
        _data(call.params["LaunchTemplateData"]),
        {"launch-template": spec_tags(call.params.get("TagSpecifications"), "launch-template")},
    )
    return {"LaunchTemplate": _shown(template)}


def _describe(call: Call) -> dict[str, Any]:
    filters = {f["Name"]: f.get("Values", []) for f in call.params.get("Filters", ())}
    ids, names = call.params.get("LaunchTemplateIds"), call.params.get("LaunchTemplateNames")
    backend = ec2(call.region)
    for template_id in ids or ():
        backend.get_launch_template(template_id)
    for name in names or ():
        backend.get_launch_template_by_name(name)
    found = backend.describe_launch_templates(names, ids, filters)
    return {"LaunchTemplates": [_shown(template) for template in found]}


def _create_version(call: Call) -> dict[str, Any]:
    template = find(call.region, call.params)
    source = call.params.get("SourceVersion")
    base = deepcopy(template.get_version(source).data) if source else {}
    version = template.create_version(
        base | _data(call.params["LaunchTemplateData"]), call.params.get("VersionDescription")
    )
    return {
        "LaunchTemplateVersion": {
            "CreateTime": version.create_time,
            "CreatedBy": f"arn:aws:iam::{ACCOUNT}:root",
            "DefaultVersion": template.is_default(version),
            "LaunchTemplateData": version.data,
            "LaunchTemplateId": template.id,
            "LaunchTemplateName": template.name,
            "VersionDescription": version.description,
            "VersionNumber": version.number,
        }
    }


HANDLERS: Handlers = {
    ("ec2", "CreateLaunchTemplate"): _create,
    ("ec2", "CreateLaunchTemplateVersion"): _create_version,
    ("ec2", "DescribeLaunchTemplates"): _describe,
}
PATCHES: tuple[Patch, ...] = ()
