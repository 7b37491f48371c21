"""Where the SDK and the bridge disagree about a property: its name, or one value against a list of one.

pulumi-aws overrides some names and lifts some lists of one; the bridge shows Terraform's own. DIFFERENCES has
each place once, by the SDK's path; the rest is the same on both sides. Values are protobuf's.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache

from google.protobuf import struct_pb2

SIGNATURE = "4dabf18193072939515e22adb298388d"
"""The engine's mark of a wrapped value (a secret, an output): the wrapped one stands under `value`."""


KEPT = "__nightshift_bridge_state"
"""Where a resource's state keeps the bridge's own form of it."""


@dataclass(frozen=True)
class Difference:
    """One place: the SDK's path, the bridge's name of its last part, and if it has a list of one."""

    token: str
    path: str
    bridge_name: str
    single: bool = False


_LIFECYCLE = "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration"
_DLM = "aws:dlm/lifecyclePolicy:LifecyclePolicy"

DIFFERENCES: tuple[Difference, ...] = (
    Difference("aws:cloudwatch/metricAlarm:MetricAlarm", "name", "alarmName"),
    Difference("aws:sns/topicSubscription:TopicSubscription", "topic", "topicArn"),
    Difference("aws:ec2/securityGroup:SecurityGroup", "ingress", "ingresses"),
    Difference("aws:ec2/securityGroup:SecurityGroup", "egress", "egresses"),
    Difference("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "ingress", "ingresses"),
    Difference("aws:ec2/defaultSecurityGroup:DefaultSecurityGroup", "egress", "egresses"),
    Difference(_DLM, "policyDetails.resourceLocations", "resourceLocations", single=True),
    Difference(_DLM, "policyDetails.schedules[].createRule.times", "times", single=True),
    Difference(
        _LIFECYCLE, "rules[].abortIncompleteMultipartUpload", "abortIncompleteMultipartUploads", single=True
    ),
    Difference(_LIFECYCLE, "rules[].expiration", "expirations", single=True),
    Difference(_LIFECYCLE, "rules[].filter", "filters", single=True),
    Difference(_LIFECYCLE, "rules[].filter.and", "ands", single=True),
    Difference(_LIFECYCLE, "rules[].filter.tag", "tags", single=True),
    Difference(
        _LIFECYCLE, "rules[].noncurrentVersionExpiration", "noncurrentVersionExpirations", single=True
    ),
)


@dataclass
class Shape:
    """What differs at and below one property, keyed by the SDK's names."""

    bridge_name: str
    single: bool = False
    below: dict[str, "Shape"] = field(default_factory=dict)

    def by_bridge_name(self) -> dict[str, tuple[str, "Shape"]]:
        """The same children keyed by the bridge's names, with the SDK's beside them."""
        return {shape.bridge_name: (name, shape) for name, shape in self.below.items()}


@cache
def shape_of(token: str) -> Shape | None:
    """The differences of one type, or None when both sides agree on all of it."""
    root = Shape("")
    for row in DIFFERENCES:
        if row.token == token:
            _graft(root, row)
    return root if root.below else None


def _graft(root: Shape, row: Difference) -> None:
    names = row.path.replace("[]", "").split(".")
    here = root
    for name in names[:-1]:
        here = here.below.setdefault(name, Shape(name))
    leaf = here.below.setdefault(names[-1], Shape(names[-1]))
    leaf.bridge_name, leaf.single = row.bridge_name, row.single


def to_bridge(properties: struct_pb2.Struct, shape: Shape) -> None:
    """Rename and wrap in place, from the SDK's form to the bridge's."""
    for name, child in shape.below.items():
        if name in properties.fields:
            value = _take(properties, name)
            _each_object(value, child, to_bridge)
            properties.fields[child.bridge_name].CopyFrom(_wrapped(value) if child.single else value)


def to_sdk(properties: struct_pb2.Struct, shape: Shape) -> None:
    """Rename and unwrap in place, from the bridge's form to the SDK's. An empty list of one goes away."""
    for bridge_name, (name, child) in shape.by_bridge_name().items():
        if bridge_name in properties.fields:
            value = _take(properties, bridge_name)
            _each_object(value, child, to_sdk)
            lifted = _lifted(value) if child.single else value
            if lifted is not None:
                properties.fields[name].CopyFrom(lifted)


def state_to_sdk(state: struct_pb2.Struct, shape: Shape) -> None:
    """An answer's state in the SDK's form, the bridge's own beside it.

    The bridge keeps in its state how each value was spelled (an empty list, a null): a round trip through the
    SDK's form loses that, and the bridge refuses the state. So its own form travels along, word for word.
    """
    kept = struct_pb2.Struct()
    kept.CopyFrom(state)
    to_sdk(state, shape)
    state.fields[KEPT].struct_value.CopyFrom(kept)


def state_to_bridge(state: struct_pb2.Struct, shape: Shape) -> None:
    """A request's state in the bridge's form: the one it gave, or else the SDK's, rewritten."""
    if KEPT in state.fields:
        kept = struct_pb2.Struct()
        kept.CopyFrom(state.fields[KEPT].struct_value)
        state.CopyFrom(kept)
    else:
        to_bridge(state, shape)


def _take(properties: struct_pb2.Struct, name: str) -> struct_pb2.Value:
    value = struct_pb2.Value()
    value.CopyFrom(properties.fields[name])
    del properties.fields[name]
    return value


def _each_object(
    value: struct_pb2.Value, shape: Shape, change: Callable[[struct_pb2.Struct, Shape], None]
) -> None:
    inner = unwrap(value)
    kind = inner.WhichOneof("kind")
    if kind == "struct_value":
        change(inner.struct_value, shape)
    elif kind == "list_value":
        for item in inner.list_value.values:
            _each_object(item, shape, change)


def unwrap(value: struct_pb2.Value) -> struct_pb2.Value:
    """The value itself, or what a secret or output wraps."""
    fields = value.struct_value.fields if value.WhichOneof("kind") == "struct_value" else {}
    return unwrap(fields["value"]) if SIGNATURE in fields and "value" in fields else value


def _wrapped(value: struct_pb2.Value) -> struct_pb2.Value:
    if value.WhichOneof("kind") == "null_value":
        return value
    return struct_pb2.Value(list_value=struct_pb2.ListValue(values=[value]))


def _lifted(value: struct_pb2.Value) -> struct_pb2.Value | None:
    if value.WhichOneof("kind") != "list_value":
        return value
    return value.list_value.values[0] if value.list_value.values else None


_STEP = re.compile(r'\["(?P<quoted>(?:[^"\\]|\\.)*)"\]|\[(?P<index>[^\]]*)\]|\.?(?P<name>[^.\[]+)')


def path_to_bridge(path: str, shape: Shape) -> str:
    """A property path such as `rules[0].expiration.days` in the bridge's names."""
    return "".join(_bridge_steps(path, shape))


def path_to_sdk(path: str, shape: Shape) -> str:
    """A property path of the bridge in the SDK's names; the index of a list of one falls away."""
    return "".join(_sdk_steps(path, shape))


def _bridge_steps(path: str, shape: Shape | None) -> Iterator[str]:
    for step in _STEP.finditer(path):
        name = step["name"]
        if name is None:
            yield step[0]
            continue
        shape = shape.below.get(name) if shape else None
        dot = "." if step[0].startswith(".") else ""
        yield dot + (shape.bridge_name if shape else name) + ("[0]" if shape and shape.single else "")


def _sdk_steps(path: str, shape: Shape | None) -> Iterator[str]:
    swallow = False
    for step in _STEP.finditer(path):
        name = step["name"]
        if name is None:
            if not (swallow and step["index"] is not None):
                yield step[0]
            swallow = False
            continue
        found = shape.by_bridge_name().get(name) if shape else None
        dot = "." if step[0].startswith(".") else ""
        yield dot + (found[0] if found else name)
        shape = found[1] if found else None
        swallow = bool(shape and shape.single)
