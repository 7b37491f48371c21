"""A node's session heals: credentials that come late are taken when they come."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from botocore.credentials import Credentials
from botocore.exceptions import NoCredentialsError
from botocore.parsers import ResponseParserError

from bootstrap.aws_session import AwsError, Session
from tests.bootstrap.support import samples

CONFIG = replace(samples.CONFIG, endpoint="http://127.0.0.1:1")


def test_a_client_is_made_only_with_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    session = Session(CONFIG, "i-0abc")
    answers: list[Credentials | None] = [None, Credentials("AKID", "secret")]
    real: Any = session._session
    monkeypatch.setattr(real, "get_credentials", lambda: answers.pop(0))
    with pytest.raises(NoCredentialsError) as caught:
        session.client("s3")
    assert isinstance(caught.value, AwsError), "worth another try, as any error of AWS"
    made = session.client("s3")
    assert session.client("s3") is made


def test_what_a_portal_answers_in_place_of_aws_is_an_error_of_aws() -> None:
    assert issubclass(ResponseParserError, AwsError)


def test_a_slow_answer_of_the_metadata_service_is_waited_for() -> None:
    core: Any = Session(CONFIG, "i-0abc")._session
    settings = [
        core._session.get_config_variable(f"metadata_service_{name}") for name in ("timeout", "num_attempts")
    ]
    assert settings == [3, 3]
