"""The SDK's inputs against the bridge's, recursively: what differs stands in a table, or fails by name."""

import importlib
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any, Union, get_args, get_origin

import pytest
from pulumi import _types

from nightshift.emulator.engine import schema, shapes, tokens

NEWER_THAN_THE_BRIDGE = frozenset(
    """
    autoscaling/group instanceLifecyclePolicy
    budgets/budget billingViewArn
    budgets/budget filterExpression
    budgets/budget metrics
    cloudwatch/logGroup deletionProtectionEnabled
    cloudwatch/metricAlarm evaluationCriteria
    cloudwatch/metricAlarm evaluationInterval
    cloudwatch/metricAlarm evaluationWindow
    cloudwatch/metricAlarm warmUpConfiguration
    dlm/lifecyclePolicy defaultPolicy
    dlm/lifecyclePolicy policyDetails.copyTags
    dlm/lifecyclePolicy policyDetails.createInterval
    dlm/lifecyclePolicy policyDetails.exclusions
    dlm/lifecyclePolicy policyDetails.extendDeletion
    dlm/lifecyclePolicy policyDetails.parameters.excludeDataVolumeTags
    dlm/lifecyclePolicy policyDetails.policyLanguage
    dlm/lifecyclePolicy policyDetails.resourceType
    dlm/lifecyclePolicy policyDetails.retainInterval
    dlm/lifecyclePolicy policyDetails.schedules[].archiveRule
    dlm/lifecyclePolicy policyDetails.schedules[].createRule.scripts
    dlm/lifecyclePolicy policyDetails.schedules[].crossRegionCopyRules[].targetRegion
    ebs/volume volumeInitializationRate
    ec2/launchTemplate cpuOptions.nestedVirtualization
    ec2/launchTemplate networkInterfaces[].enaQueueCount
    ec2/launchTemplate networkPerformanceOptions
    ec2/launchTemplate placement.groupId
    ec2/launchTemplate secondaryInterfaces
    ec2/natGateway availabilityMode
    ec2/natGateway availabilityZoneAddresses
    ec2/natGateway vpcId
    ec2/route odbNetworkArn
    ec2/routeTable routes[].odbNetworkArn
    ec2/subnet ipv4IpamPoolId
    ec2/subnet ipv4NetmaskLength
    ec2/subnet ipv6IpamPoolId
    ec2/subnet ipv6NetmaskLength
    ec2/vpcEndpoint dnsOptions.privateDnsPreference
    ec2/vpcEndpoint dnsOptions.privateDnsSpecifiedDomains
    s3/bucket bucketNamespace
    s3/bucket serverSideEncryptionConfiguration.rule.blockedEncryptionTypes
    s3/bucketPublicAccessBlock skipDestroy
    s3/bucketServerSideEncryptionConfiguration rules[].blockedEncryptionTypes
    sns/topic maximumMessageSize
    """.strip().split("\n    ")
)
"""Inputs of SDK 7.51 that provider 5.100 lacks: a program that sets one is refused by name."""


def _module(name: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(name)


def _page(service: str, name: str, member: str) -> ModuleType:
    """One resource's module. Its service is loaded when first asked for something, and is asked first:
    a page imported before leaves the service half empty for everybody in this process."""
    assert hasattr(_module(f"pulumi_aws.{service}"), member)
    return _module(f"pulumi_aws.{service}.{name}")


def _arguments(token: str) -> type:
    _, path, member = token.split(":")
    service, name = path.split("/")
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    module = _page(service, snake, member)
    return getattr(module, f"{member}InitArgs", None) or getattr(module, f"{member}Args")


def _fields(cls: type) -> dict[str, Any]:
    names, types = _types.input_type_py_to_pulumi_names(cls), _types.input_type_types(cls)
    return {pulumi: types.get(python, types.get(pulumi)) for python, pulumi in names.items()}


def _members(annotation: Any) -> list[Any]:
    plain = _types.unwrap_type(annotation)
    if get_origin(plain) is Union:
        return [m for m in get_args(plain) if m is not type(None)]
    return [plain]


def _input_class(annotation: Any) -> type | None:
    found = (m for m in _members(annotation) if isinstance(m, type) and _types.is_input_type(m))
    return next(found, None)


def _item(annotation: Any) -> Any | None:
    for member in _members(annotation):
        if get_origin(member) in (list, Sequence):
            return get_args(member)[0]
    return None


def _differences(annotation: Any, tree: schema.Tree, shape: shapes.Shape | None, path: str) -> Iterator[str]:
    item = _item(annotation)
    single = shape is not None and shape.single
    if isinstance(tree, list):
        if item is None and not single:
            yield f"{path} is one value in the SDK and a list in the bridge"
        elif item is not None and single:
            yield f"{path} is said to be one value but is a list in the SDK"
        below = annotation if item is None else item
        yield from _differences_below(below, tree[0], shape, path if item is None else f"{path}[]")
    elif item is not None:
        yield f"{path} is a list in the SDK and not in the bridge"
    else:
        yield from _differences_below(annotation, tree, shape, path)


def _differences_below(
    annotation: Any, tree: schema.Tree, shape: shapes.Shape | None, path: str
) -> Iterator[str]:
    cls = _input_class(annotation)
    if isinstance(tree, dict):
        if cls is None:
            yield f"{path} is an object in the bridge only"
        else:
            yield from _of_object(_fields(cls), tree, shape, f"{path}.")


def _of_object(
    fields: Mapping[str, Any], tree: Mapping[str, schema.Tree], shape: shapes.Shape | None, prefix: str
) -> Iterator[str]:
    for name, annotation in fields.items():
        below = shape.below.get(name) if shape else None
        known = tree.get(below.bridge_name if below else name)
        if known is None:
            yield f"{prefix}{name}"
        else:
            yield from _differences(annotation, known, below, f"{prefix}{name}")


def _short(token: str) -> str:
    return token.split(":")[1]


@pytest.mark.parametrize("token", tokens.RESOURCES, ids=_short)
def test_the_sdks_inputs_are_the_bridges_or_stand_in_a_table(token: str) -> None:
    fields = _fields(_arguments(token))
    found = set(_of_object(fields, schema.bridge_inputs()[token], shapes.shape_of(token), ""))
    known = {line.split(" ", 1)[1] for line in NEWER_THAN_THE_BRIDGE if line.split(" ")[0] == _short(token)}
    assert found - {"region"} == known


@pytest.mark.parametrize("row", shapes.DIFFERENCES, ids=lambda row: f"{_short(row.token)}-{row.path}")
def test_every_row_of_the_table_is_needed_and_true(row: shapes.Difference) -> None:
    tree: schema.Tree = schema.bridge_inputs()[row.token]
    shape = shapes.shape_of(row.token)
    for name in row.path.replace("[]", "").split("."):
        assert shape is not None
        tree = tree[0] if isinstance(tree, list) else tree
        assert isinstance(tree, dict)
        shape = shape.below[name]
        same_name = name in tree
        tree = tree[shape.bridge_name]
    assert not same_name or row.single
    assert isinstance(tree, list) or not row.single


@pytest.mark.parametrize("token", tokens.INVOKES, ids=_short)
def test_every_look_up_in_use_is_one_of_the_sdks(token: str) -> None:
    _, path, member = token.split(":")
    service = path.split("/")[0]
    module = _module("pulumi_aws" if service == "index" else f"pulumi_aws.{service}")
    assert hasattr(module, re.sub(r"(?<!^)(?=[A-Z])", "_", member).lower())
