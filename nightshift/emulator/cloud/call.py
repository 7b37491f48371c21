"""An AWS request as plain values: which service and operation, with which parameters, by whom."""

from __future__ import annotations

import io
import warnings
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from moto.core.model import OperationModel, ServiceModel
from moto.core.parse import PROTOCOL_PARSERS
from moto.core.request import Request, determine_request_protocol
from moto.core.routing import get_service_router
from moto.core.serialize import get_serializer_class
from moto.core.utils import get_service_model

Environ = dict[str, Any]
StartResponse = Callable[..., Any]
Answer = tuple[int, dict[str, str], bytes]

# Signing names that differ from the name of botocore's model.
MODEL_BY_SIGNING_NAME = {
    "monitoring": "cloudwatch",
    "servicequotas": "service-quotas",
    "tagging": "resourcegroupstaggingapi",
    "elasticloadbalancing": "elbv2",
    "states": "stepfunctions",
    "aws-marketplace": "marketplacecommerceanalytics",
}
QUERY_ERROR_STATUS = {"AccessDenied": 403, "UnauthorizedOperation": 403, "AccessDeniedException": 400}


class AwsError(Exception):
    """An error to serialise; not of moto's own package, whose look-up by package name would fail."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class Call:
    """One request. `operation` is None when the request fits no operation of the service's model."""

    service: str
    region: str
    access_key: str
    model: ServiceModel | None
    operation: OperationModel | None
    params: dict[str, Any] = field(default_factory=dict)
    protocol: str = ""
    content_type: str = ""

    @property
    def name(self) -> str:
        """The operation's name, such as `RunInstances`; empty when unknown."""
        return "" if self.operation is None else str(self.operation.name)

    @property
    def iam_action(self) -> str:
        """The name policies use, such as `ec2:RunInstances`."""
        return f"{self.service}:{self.name}"


def _scope(environ: Environ) -> tuple[str, str, str]:
    """Access key, region and signing name of the SigV4 scope; S3 in us-east-1 when unsigned."""
    auth = environ.get("HTTP_AUTHORIZATION", "")
    try:
        key, _, region, service, _ = auth.split("Credential=", 1)[1].split(",")[0].split("/")
    except (IndexError, ValueError):
        return "", "us-east-1", "s3"
    return key, region, service.lower()


def buffer_body(environ: Environ) -> bytes:
    """Read the whole body and put it back, so that it can be read again."""
    length = environ.get("CONTENT_LENGTH") or ""
    stream = environ["wsgi.input"]
    if length.isdigit():
        body = stream.read(int(length))
    else:
        body = stream.read() if environ.get("wsgi.input_terminated") else b""
    environ["wsgi.input"] = io.BytesIO(body)
    environ["CONTENT_LENGTH"] = str(len(body))
    return body


def _copy(environ: Environ, body: bytes) -> Environ:
    copied = dict(environ)
    if environ.get("HTTP_CONTENT_ENCODING") == "gzip":
        body = zlib.decompress(body, wbits=31)
        del copied["HTTP_CONTENT_ENCODING"]
    copied["wsgi.input"] = io.BytesIO(body)
    copied["CONTENT_LENGTH"] = str(len(body))
    return copied


def read_call(environ: Environ, body: bytes) -> Call:
    """Parse a request by the service's own model. Never raises for a request it can't read."""
    key, region, signing = _scope(environ)
    service = MODEL_BY_SIGNING_NAME.get(signing, signing)
    try:
        model = get_service_model(service)
    except Exception as error:  # botocore has one exception class per cause, with a common name only
        if type(error).__name__ != "UnknownServiceError":
            raise
        return Call(service, region, key, None, None)
    request = Request(_copy(environ, body))
    content_type = request.content_type or ""
    try:
        operation, uri_params = get_service_router(service).match(request)
        protocol = determine_request_protocol(model, content_type)
    except (LookupError, NotImplementedError, ValueError):
        return Call(service, region, key, model, None, content_type=content_type)
    except Exception as error:
        if type(error).__name__ not in {"NotFound", "MethodNotAllowed", "OperationNotFoundError"}:
            raise
        return Call(service, region, key, model, None, content_type=content_type)
    params = _parse(operation, protocol, request, uri_params)
    return Call(service, region, key, model, operation, params, protocol, content_type)


def _parse(
    operation: OperationModel, protocol: str, request: Request, uri_params: Mapping[str, Any]
) -> dict[str, Any]:
    parser = PROTOCOL_PARSERS[protocol](operation)
    streams = operation.has_streaming_input
    parsed: dict[str, Any] | None = parser.parse(
        {
            "method": request.method,
            "values": request.values,
            "headers": request.headers,
            "body": b"" if streams else request.get_data(),
            "url_path": request.path,
            "url_params": dict(uri_params),
        }
    )
    return parsed or {}


def result_answer(call: Call, result: Mapping[str, Any] | None) -> Answer:
    """A result in the protocol's own form."""
    assert call.operation is not None
    serializer = get_serializer_class(call.service, call.protocol)(operation_model=call.operation)
    answer = serializer.serialize(result)
    body = answer["body"]
    headers = {str(k): str(v) for k, v in answer["headers"].items()}
    return int(answer["status_code"]), headers, body if isinstance(body, bytes) else body.encode()


def error_answer(call: Call, code: str, message: str, status: int | None = None) -> Answer:
    """An AWS error in the protocol's own form. Without a status: 403 for denials, else what the model
    says, or 400."""
    assert call.model is not None
    operation = call.operation or OperationModel({}, call.model)
    protocol = call.protocol or str(call.model.protocol)
    serializer = get_serializer_class(call.service, protocol)(operation_model=operation)
    with warnings.catch_warnings():  # moto warns on codes that botocore's model does not list
        warnings.simplefilter("ignore")
        answer = serializer.serialize(AwsError(code, message))
    chosen = status or QUERY_ERROR_STATUS.get(code) or answer["status_code"]
    body = answer["body"]
    headers = {str(k): str(v) for k, v in answer["headers"].items()}
    return int(chosen), headers, body if isinstance(body, bytes) else body.encode()


def plain_error(message: str, code: str = "NotImplemented", status: int = 400) -> Answer:
    """An error for a request of which not even the protocol is known."""
    text = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
    return status, {"Content-Type": "application/xml"}, text.encode()


def send(answer: Answer, start_response: StartResponse) -> Iterable[bytes]:
    """Write an answer made here."""
    status, headers, body = answer
    fields = [(k, v) for k, v in headers.items() if k.lower() != "content-length"]
    start_response(
        f"{status} {'OK' if status < 400 else 'Error'}", [*fields, ("Content-Length", str(len(body)))]
    )
    return [body]
