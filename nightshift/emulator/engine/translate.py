"""Requests of the engine in the bridge's names, and the bridge's answers in the SDK's."""

from collections.abc import Callable, MutableSequence

from google.protobuf import struct_pb2
from google.protobuf.message import Message
from google.rpc import status_pb2
from pulumi.runtime.proto import provider_pb2

from nightshift.emulator.engine import shapes, tokens

_REQUEST_STRUCTS = ("olds", "news", "old_inputs", "old_outputs", "properties", "inputs")
_ANSWER_PATHS = ("replaces", "stables", "diffs")


def token_of(urn: str) -> str:
    """The type of the resource that a URN names."""
    return urn.split("::")[2].rsplit("$", 1)[-1]


def request(message: Message, shape: shapes.Shape | None) -> None:
    """Rewrite a resource request in place: URN, type, property names and paths."""
    message.urn = tokens.bridge_urn(message.urn)  # ty: ignore[missing-attribute]
    if getattr(message, "type", ""):
        message.type = tokens.bridge_token(message.type)  # ty: ignore[missing-attribute]
    for name in _REQUEST_STRUCTS:
        if _has(message, name):
            _files_to_paths(getattr(message, name))
    if shape is None:
        return
    for name in _REQUEST_STRUCTS:
        if _has(message, name):
            shapes.state_to_bridge(getattr(message, name), shape)
    _replace(
        getattr(message, "ignoreChanges", None),
        lambda path: shapes.path_to_bridge(path, shape),
    )


def answer(message: Message, shape: shapes.Shape | None) -> None:
    """Rewrite a resource answer in place: property names, paths of a diff, failures."""
    if shape is None:
        return
    if _has(message, "inputs"):
        shapes.to_sdk(message.inputs, shape)  # ty: ignore[missing-attribute]
    if _has(message, "properties"):
        shapes.state_to_sdk(message.properties, shape)  # ty: ignore[missing-attribute]
    for name in _ANSWER_PATHS:
        _replace(getattr(message, name, None), lambda path: shapes.path_to_sdk(path, shape))
    if isinstance(message, provider_pb2.DiffResponse):
        _rename_detailed(message, shape)
    if isinstance(message, provider_pb2.CheckResponse):
        for failure in message.failures:
            failure.property = shapes.path_to_sdk(failure.property, shape)


def status_details(raw: bytes, shape: shapes.Shape | None) -> bytes:
    """The details of a failed call, with a half-made resource's properties in the SDK's names."""
    if shape is None:
        return raw
    status = status_pb2.Status.FromString(raw)
    for detail in status.details:
        failed = provider_pb2.ErrorResourceInitFailed()
        if detail.Unpack(failed):
            answer(failed, shape)
            detail.Pack(failed)
    return status.SerializeToString()


def invoke_answer(token: str, message: provider_pb2.InvokeResponse) -> None:
    """Add to a look-up's answer what the SDK reads and the older provider calls otherwise."""
    returned = getattr(message, "return")
    for name, source in tokens.ADDED_OUTPUTS.get(token, {}).items():
        if name not in returned.fields and source in returned.fields:
            returned.fields[name].CopyFrom(returned.fields[source])


def _files_to_paths(struct: struct_pb2.Struct) -> None:
    """The bridge knows no file assets: where the Terraform provider wants a path, it gets the asset's."""
    for value in struct.fields.values():
        if value.HasField("struct_value"):
            fields = value.struct_value.fields
            if shapes.SIGNATURE in fields and "path" in fields:
                value.string_value = fields["path"].string_value
            else:
                _files_to_paths(value.struct_value)


def _has(message: Message, name: str) -> bool:
    descriptor = message.DESCRIPTOR
    return descriptor is not None and name in descriptor.fields_by_name and message.HasField(name)


def _replace(paths: MutableSequence[str] | None, change: Callable[[str], str]) -> None:
    if paths:
        paths[:] = [change(path) for path in paths]


def _rename_detailed(message: provider_pb2.DiffResponse, shape: shapes.Shape) -> None:
    renamed = {
        shapes.path_to_sdk(path, shape): difference for path, difference in message.detailedDiff.items()
    }
    copies = {
        path: provider_pb2.PropertyDiff.FromString(d.SerializeToString()) for path, d in renamed.items()
    }
    message.detailedDiff.clear()
    for path, difference in copies.items():
        message.detailedDiff[path].CopyFrom(difference)
