"""Whether the signer of a call may make it. Operators may do all that bucket policies don't deny;
role sessions only what their role allows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from moto.s3.models import s3_backends

from nightshift.emulator.cloud import ACCOUNT
from nightshift.emulator.cloud.call import AwsError, Call
from nightshift.emulator.cloud.gate import Refusal
from nightshift.emulator.cloud.iam import Ask, judge
from nightshift.emulator.cloud.resources import Need, needs
from nightshift.emulator.cloud.sessions import Principal, principal

OPERATOR = f"arn:aws:iam::{ACCOUNT}:root"
# Error code and status by service where they differ from those of its protocol.
DENIALS = {"ec2": ("UnauthorizedOperation", 403), "sns": ("AuthorizationError", 403)}
JSON_PROTOCOLS = frozenset({"json", "rest-json", "smithy-rpc-v2-cbor"})
# Answered to everyone, whatever a policy says.
OPEN = frozenset({("sts", "GetCallerIdentity")})
# These mend a policy that shut its owner out.
BUCKET_POLICY_CALLS = frozenset({"GetBucketPolicy", "PutBucketPolicy", "DeleteBucketPolicy"})


def _denied(call: Call, who: str, need: Need | None, why: str) -> Refusal:
    action = need.action if need is not None else call.iam_action
    resource = need.arns[0] if need is not None else "*"
    text = f"User: {who} is not authorized to perform: {action} on resource: {resource} because {why}"
    if call.service in DENIALS:
        code, status = DENIALS[call.service]
        lead = "You are not authorized to perform this operation. " if call.service == "ec2" else ""
        return Refusal(code, lead + text, status, "authority")
    json_form = call.protocol in JSON_PROTOCOLS and not (call.model and call.model.is_query_compatible)
    code, status = ("AccessDeniedException", 400) if json_form else ("AccessDenied", 403)
    return Refusal(code, text, status, "authority")


def _bucket_documents(call: Call) -> list[Mapping[str, Any]]:
    bucket = (
        s3_backends[ACCOUNT]["aws"].buckets.get(call.params.get("Bucket", ""))
        if call.service == "s3"
        else None
    )
    if bucket is None or not bucket.policy:
        return []
    return [json.loads(bucket.policy)]


def authority(call: Call) -> Refusal | None:
    """The judge of permissions."""
    if (call.service, call.name) in OPEN:
        return None
    try:
        who = principal(call.access_key)
    except AwsError as error:
        return Refusal(error.code, error.message, 403)
    if who is None:
        return _operator(call)
    if who.expired:
        code = "ExpiredToken" if call.service == "s3" else "ExpiredTokenException"
        code = "RequestExpired" if call.service == "ec2" else code
        return Refusal(code, "The security token included in the request is expired", 403)
    wanted = needs(call)
    if wanted is None:
        why = "the emulated AWS can't resolve the resources of this operation, and so refuses it to roles"
        return _denied(call, who.arn, None, why)
    for need in wanted:
        refusal = _need(call, who, need)
        if refusal is not None:
            return refusal
    return _hidden(call, who)


def _operator(call: Call) -> Refusal | None:
    documents = _bucket_documents(call) if call.name not in BUCKET_POLICY_CALLS else []
    if not documents:
        return None
    for need in needs(call) or ():
        context = {"aws:SecureTransport": ["true"], "aws:PrincipalArn": [OPERATOR], **need.context}
        if any(judge(documents, Ask(need.action, arn, context, OPERATOR)) == "deny" for arn in need.arns):
            return _denied(call, OPERATOR, need, "of an explicit deny in a resource-based policy")
    return None


def _asks(call: Call, who: Principal, need: Need) -> list[Ask]:
    region: dict[str, Sequence[str]] = {"aws:RequestedRegion": [call.region], "ec2:Region": [call.region]}
    context = who.context() | region | dict(need.context)
    return [Ask(need.action, arn, context, who.arn) for arn in need.arns]


def _need(call: Call, who: Principal, need: Need) -> Refusal | None:
    own, bucket = who.documents(), _bucket_documents(call)
    verdicts = [(judge(own, ask), judge(bucket, ask)) for ask in _asks(call, who, need)]
    if any(mine == "deny" for mine, _ in verdicts):
        return _denied(call, who.arn, need, "of an explicit deny in an identity-based policy")
    if any(theirs == "deny" for _, theirs in verdicts):
        return _denied(call, who.arn, need, "of an explicit deny in a resource-based policy")
    if any("allow" in pair for pair in verdicts):
        return None
    return _denied(call, who.arn, need, f"no identity-based policy allows the {need.action} action")


def _hidden(call: Call, who: Principal) -> Refusal | None:
    """S3 hides that an object is missing from whoever may not list the bucket: 403 instead of 404."""
    if call.service != "s3" or call.name not in {"GetObject", "HeadObject"}:
        return None
    bucket = s3_backends[ACCOUNT]["aws"].buckets.get(call.params["Bucket"])
    if bucket is None or call.params["Key"] in bucket.keys:
        return None
    return _need(call, who, Need("s3:ListBucket", (f"arn:aws:s3:::{call.params['Bucket']}",)))
