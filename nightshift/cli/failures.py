"""What went wrong between here and AWS, said once for every verb."""

from __future__ import annotations

from collections.abc import Iterable
from traceback import walk_tb

from nightshift.cli.endpoints import masked
from nightshift.cli.errors import AwsError, CliError

_OURS = {"botocore", "boto3", "urllib3", "s3transfer"}
_NO_CREDENTIALS = {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError"}
_PROFILE = {"ProfileNotFound", "ConfigParseError", "ConfigNotFound", "InvalidConfigError"}
_LOGIN = {
    "SSOError",
    "SSOTokenLoadError",
    "UnauthorizedSSOTokenError",
    "TokenRetrievalError",
    "LoginRefreshRequired",
}
_NETWORK = {
    "EndpointConnectionError",
    "ConnectionError",
    "ConnectTimeoutError",
    "ReadTimeoutError",
    "HTTPClientError",
    "ConnectionClosedError",
    "ProxyConnectionError",
    "SSLError",
    "ResponseStreamingError",
    "IncompleteReadError",
}
_MISREAD = (ValueError, TypeError, AttributeError, KeyError)
_UNREADABLE = (
    "the AWS credentials can't be read: see what the profile's credential_process prints "
    "(`aws configure list`), and the files in ~/.aws"
)
_NOBODY = (
    "the AWS profile asks for an MFA code (mfa_serial), and nobody is at a terminal to type it",
    "repeat the verb at a terminal, or set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN "
    "from `aws sts assume-role` with a code",
)
_REGION = {"NoRegionError", "InvalidRegionError", "UnknownRegionError"}
_THROTTLED = {
    "Throttling",
    "ThrottlingException",
    "ThrottledException",
    "RequestLimitExceeded",
    "RequestThrottled",
    "TooManyRequestsException",
    "SlowDown",
    "PriorRequestNotComplete",
    "ResourceContention",
}
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "RequestExpired"}
_REJECTED = {
    "InvalidClientTokenId",
    "UnrecognizedClientException",
    "AuthFailure",
    "SignatureDoesNotMatch",
    "InvalidAccessKeyId",
    "IncompleteSignature",
    "InvalidToken",
}
_DENIED = {
    "AccessDenied",
    "AccessDeniedException",
    "UnauthorizedOperation",
    "AuthorizationError",
    "UnauthorizedAccess",
    "AllAccessDisabled",
}


def from_aws(error: BaseException) -> CliError | None:
    """The same failure in words, or None when it isn't one of the AWS SDK's."""
    if type(error).__module__.partition(".")[0] not in _OURS:
        return _inside(error)
    response = getattr(error, "response", None)
    if isinstance(response, dict):
        detail = response.get("Error", {})
        return AwsError(*_refused(str(detail.get("Code", "")), str(detail.get("Message", "")), _call(error)))
    return AwsError(*_unasked({kind.__name__ for kind in type(error).__mro__}, masked(str(error))))


def _inside(error: BaseException) -> CliError | None:
    """Python's own errors, raised while the SDK reads what people and their programs gave it."""
    rooms = [frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__)]
    if "botocore.credentials" in rooms:
        if isinstance(error, EOFError):
            return AwsError(*_NOBODY)
        if isinstance(error, _MISREAD):
            return AwsError(_UNREADABLE, type(error).__name__)
    if isinstance(error, ValueError) and rooms[-1:] == ["urllib.parse"] and _sdks(rooms):
        return AwsError("an address of AWS is no URL: see endpoint_url in ~/.aws/config, HTTPS_PROXY")
    if isinstance(error, ValueError) and rooms[-1:] == ["botocore.endpoint"]:
        return AwsError("an address of AWS is no URL: see AWS_ENDPOINT_URL, endpoint_url in ~/.aws/config")
    return None


def _sdks(rooms: Iterable[str]) -> bool:
    return any(room.partition(".")[0] in _OURS for room in rooms)


def passing(error: BaseException) -> str | None:
    """In words why a call is worth repeating, or None when repeating it won't help."""
    if type(error).__module__.partition(".")[0] not in _OURS:
        return None
    response = getattr(error, "response", None)
    if not isinstance(response, dict):
        kinds = {kind.__name__ for kind in type(error).__mro__}
        return "AWS can't be reached" if kinds & _NETWORK else None
    code = str(response.get("Error", {}).get("Code", ""))
    if code in _THROTTLED:
        return "AWS asks for fewer calls"
    status = response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return "AWS has trouble of its own" if int(status) >= 500 else None


def _call(error: BaseException) -> str:
    return str(getattr(error, "operation_name", "the call"))


def _unasked(kinds: set[str], said: str) -> tuple[str, ...]:
    if kinds & _NO_CREDENTIALS:
        return ("no AWS credentials: set AWS_PROFILE, or run `aws configure sso` and `aws sso login`", said)
    if kinds & _LOGIN:
        return ("the AWS login has run out: run `aws sso login`", said)
    if kinds & _PROFILE:
        return ("the AWS profile can't be used: see AWS_PROFILE, aws:profile, ~/.aws/config", said)
    if kinds & _REGION:
        return ("the region can't be used: see aws:region in the stack file", said)
    if kinds & _NETWORK:
        return ("AWS can't be reached: is the network up, is AWS_ENDPOINT_URL right?", said)
    return ("the AWS SDK gave up", said)


def _refused(code: str, message: str, call: str) -> tuple[str, ...]:
    said = f"{call}: {code}: {message}"
    if code in _THROTTLED:
        return ("AWS asks for fewer calls: wait a minute and repeat the verb", said)
    if code in _EXPIRED:
        return ("the AWS credentials have run out: log in again", said)
    if code in _REJECTED:
        return ("AWS doesn't accept the credentials: wrong or deleted key, or another partition", said)
    if code in _DENIED:
        return ("the credentials may not do this: ask the account's owner for the action", said)
    if code == "RequestTimeTooSkewed":
        return ("this machine's clock is wrong: set it", said)
    if code == "OptInRequired":
        return ("the account isn't signed up for this service or region", said)
    return ("AWS refused", said)
