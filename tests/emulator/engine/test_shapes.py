"""Names and shapes: what the SDK says and what the bridge says become each other, both ways."""

import json
from typing import Any

import pytest
from google.protobuf import json_format, struct_pb2
from google.rpc import status_pb2
from hypothesis import given
from hypothesis import strategies as st
from pulumi.runtime.proto import provider_pb2

from nightshift.emulator.engine import schema, shapes, tokens, translate

ALARM = "aws:cloudwatch/metricAlarm:MetricAlarm"
DLM = "aws:dlm/lifecyclePolicy:LifecyclePolicy"
LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
SHAPED = sorted({row.token for row in shapes.DIFFERENCES})
VOLUME = "aws:ebs/volume:Volume"


def _struct(value: dict[str, Any]) -> struct_pb2.Struct:
    return json_format.ParseDict(value, struct_pb2.Struct())


def _plain(value: struct_pb2.Struct) -> dict[str, Any]:
    return json.loads(json_format.MessageToJson(value))


def _shape(token: str) -> shapes.Shape:
    shape = shapes.shape_of(token)
    assert shape is not None
    return shape


@pytest.mark.parametrize(
    ("token", "name", "bridge"),
    [
        ("aws:ec2/vpc:Vpc", "aws_vpc", "aws:index/vpc:Vpc"),
        (VOLUME, "aws_ebs_volume", "aws:index/ebsVolume:EbsVolume"),
        ("aws:s3/bucketObjectv2:BucketObjectv2", "aws_s3_object", "aws:index/s3Object:S3Object"),
        (
            "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule",
            "aws_vpc_security_group_ingress_rule",
            "aws:index/vpcSecurityGroupIngressRule:VpcSecurityGroupIngressRule",
        ),
        (
            "aws:index/getCallerIdentity:getCallerIdentity",
            "aws_caller_identity",
            "aws:index/getCallerIdentity:getCallerIdentity",
        ),
        (
            "aws:ebs/getEbsVolumes:getEbsVolumes",
            "aws_ebs_volumes",
            "aws:index/getEbsVolumes:getEbsVolumes",
        ),
    ],
)
def test_names_follow_by_rule(token: str, name: str, bridge: str) -> None:
    assert tokens.terraform_name(token) == name
    assert tokens.bridge_token(token) == bridge


def test_a_urn_loses_its_parents_and_takes_the_bridges_type() -> None:
    urn = "urn:pulumi:lab::nightshift::nightshift:infra:Network$aws:ec2/vpc:Vpc::net::a b"
    assert tokens.bridge_urn(urn) == "urn:pulumi:lab::nightshift::aws:index/vpc:Vpc::net::a b"
    other = "urn:pulumi:lab::nightshift::pulumi:providers:aws::default"
    assert tokens.bridge_urn(other) == other


def test_an_unknown_form_of_token_is_named() -> None:
    with pytest.raises(ValueError, match="'vpc'"):
        tokens.terraform_name("vpc")


def test_renamed_and_lifted_inputs_reach_the_bridge_in_its_form() -> None:
    inputs = _struct({"policyDetails": {"schedules": [{"createRule": {"times": "07:00", "interval": 24}}]}})
    shapes.to_bridge(inputs, _shape(DLM))
    assert _plain(inputs) == {
        "policyDetails": {"schedules": [{"createRule": {"times": ["07:00"], "interval": 24}}]}
    }


def test_a_secret_is_reached_into() -> None:
    secret = {
        shapes.SIGNATURE: "1b47061264138c4ac30d75fd1eb44270",
        "value": {"createRule": {"times": "07:00"}},
    }
    inputs = _struct({"policyDetails": {"schedules": [secret]}})
    shapes.to_bridge(inputs, _shape(DLM))
    inner = _plain(inputs)["policyDetails"]["schedules"][0]
    assert inner["value"] == {"createRule": {"times": ["07:00"]}}


def _values(shape: shapes.Shape) -> st.SearchStrategy[Any]:
    if not shape.below:
        return st.one_of(st.text(max_size=3), st.booleans(), st.integers(-5, 5))
    fields = {name: _values(child) for name, child in shape.below.items()}
    objects = st.fixed_dictionaries({}, optional=fields)
    return objects if shape.single else st.one_of(objects, st.lists(objects, max_size=2))


@pytest.mark.parametrize("token", SHAPED)
@given(data=st.data())
def test_inputs_come_back_as_they_went(token: str, data: st.DataObject) -> None:
    shape = _shape(token)
    fields = {name: _values(child) for name, child in shape.below.items()}
    given_inputs = data.draw(st.fixed_dictionaries({}, optional=fields))
    struct = _struct({"other": "kept", **given_inputs})
    before = _plain(struct)
    shapes.to_bridge(struct, shape)
    shapes.to_sdk(struct, shape)
    assert _plain(struct) == before


def test_state_comes_back_word_for_word_even_where_the_sdks_form_loses_something() -> None:
    told = {"rules": [{"expirations": [], "filters": [{"ands": [], "prefix": None}]}]}
    state = _struct(told)
    shapes.state_to_sdk(state, _shape(LIFECYCLE))
    shown = _plain(state)
    assert shown["rules"] == [{"filter": {"prefix": None}}]
    shapes.state_to_bridge(state, _shape(LIFECYCLE))
    assert _plain(state) == told


@pytest.mark.parametrize(
    ("token", "ours", "theirs"),
    [
        (ALARM, "name", "alarmName"),
        (
            DLM,
            "policyDetails.schedules[0].createRule.times",
            "policyDetails.schedules[0].createRule.times[0]",
        ),
        (
            LIFECYCLE,
            "rules[1].noncurrentVersionExpiration.noncurrentDays",
            "rules[1].noncurrentVersionExpirations[0].noncurrentDays",
        ),
        (LIFECYCLE, 'rules[1].filter.and.tags["a.b"]', 'rules[1].filters[0].ands[0].tags["a.b"]'),
    ],
)
def test_paths_of_properties_follow(token: str, ours: str, theirs: str) -> None:
    assert shapes.path_to_bridge(ours, _shape(token)) == theirs
    assert shapes.path_to_sdk(theirs, _shape(token)) == ours


def test_a_diff_speaks_the_sdks_names_throughout() -> None:
    diff = provider_pb2.DiffResponse(
        replaces=["alarmName"],
        stables=["alarmName"],
        diffs=["alarmName", "period"],
        detailedDiff={"alarmName": provider_pb2.PropertyDiff(kind=provider_pb2.PropertyDiff.UPDATE_REPLACE)},
    )
    translate.answer(diff, _shape(ALARM))
    assert (list(diff.replaces), list(diff.stables), list(diff.diffs)) == (
        ["name"],
        ["name"],
        ["name", "period"],
    )
    assert diff.detailedDiff["name"].kind == provider_pb2.PropertyDiff.UPDATE_REPLACE
    assert list(diff.detailedDiff) == ["name"]


def test_ignored_changes_and_failed_checks_are_renamed() -> None:
    request = provider_pb2.DiffRequest(
        urn=f"urn:pulumi:lab::p::{ALARM}::boot",
        type=ALARM,
        ignoreChanges=["name"],
        news=_struct({"name": "x"}),
    )
    translate.request(request, _shape(ALARM))
    assert list(request.ignoreChanges) == ["alarmName"]
    assert request.type == "aws:index/cloudwatchMetricAlarm:CloudwatchMetricAlarm"
    assert _plain(request.news) == {"alarmName": "x"}
    failed = provider_pb2.CheckResponse(
        failures=[provider_pb2.CheckFailure(property="alarmName", reason="bad")]
    )
    translate.answer(failed, _shape(ALARM))
    assert failed.failures[0].property == "name"


def test_a_half_made_resource_in_an_errors_details_is_renamed() -> None:
    status = status_pb2.Status(code=2)
    made = provider_pb2.ErrorResourceInitFailed(
        id="x", properties=_struct({"alarmName": "x"}), reasons=["slow"]
    )
    status.details.add().Pack(made)
    back = status_pb2.Status.FromString(translate.status_details(status.SerializeToString(), _shape(ALARM)))
    read = provider_pb2.ErrorResourceInitFailed()
    assert back.details[0].Unpack(read)
    assert read.properties.fields["name"].string_value == "x"
    assert list(read.reasons) == ["slow"]


def test_the_region_that_the_sdk_reads_is_given_by_the_look_up() -> None:
    answer = provider_pb2.InvokeResponse()
    getattr(answer, "return").CopyFrom(_struct({"name": "us-east-1"}))
    translate.invoke_answer("aws:index/getRegion:getRegion", answer)
    assert getattr(answer, "return").fields["region"].string_value == "us-east-1"


def test_an_input_that_the_bridge_lacks_is_named_by_its_path() -> None:
    inputs = _struct(
        {"availabilityZone": "a", "volumeInitializationRate": 100, "region": "x", "tags": {"any": "y"}}
    )
    assert schema.unknown_inputs(VOLUME, inputs) == ("region", "volumeInitializationRate")
    nested = _struct({"rules": [{"id": "x", "filter": {"prefix": "", "age": 1}, "expiration": {"days": 3}}]})
    assert schema.unknown_inputs(LIFECYCLE, nested) == ("rules[0].filter.age",)
    assert schema.unknown_inputs(VOLUME, _struct({"__defaults": [], "region": None})) == ()


def test_every_resource_in_use_has_its_inputs_in_the_snapshot() -> None:
    assert sorted(schema.bridge_inputs()) == sorted(tokens.RESOURCES)
