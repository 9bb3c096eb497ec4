"""What a call does with servers that are away, slow, broken or not Strata."""

import logging
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from strata_memory import StrataClient, transport
from strata_memory.errors import (
    ConnectionFailed,
    InvalidAnswer,
    NotFound,
    ServerError,
    StrataError,
    Unauthenticated,
)

from sdk.tests.clients import BOTH, KEY, left_at_its_deadline
from sdk.tests.sockets import HEAD, answering, closed_port, dribbling, flooding, serving, silent

SLOW = {
    "silent": silent,
    "headers": dribbling(b"HTTP/1.1 200 OK\r\nX-Long: ", b"a"),
    "status": dribbling(b"", b"H"),
    "body": dribbling(HEAD + b'Content-Length: 1000000\r\n\r\n"', b"a"),
    "chunks": dribbling(HEAD + b"Transfer-Encoding: chunked\r\n\r\n5;", b"a"),
}
NOT_STRATA = {
    "garbage": HEAD + b'Content-Length: 9\r\n\r\n{"half": ',
    "list": HEAD + b"Content-Length: 2\r\n\r\n[]",
    "page": b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>",
    "nothing": b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
}


def session(client: Any) -> Any:
    return client.sessions.get("s")


@pytest.mark.parametrize("asked", BOTH)
@pytest.mark.parametrize("slow", SLOW)
def test_a_slow_server_does_not_hold_a_call_beyond_its_deadline(asked: Callable[..., Any], slow: str) -> None:
    with serving(SLOW[slow]) as (url, _requests):
        assert left_at_its_deadline(asked, session, url).reached_server


@pytest.mark.parametrize("asked", BOTH)
def test_a_server_that_is_away_got_nothing_of_the_request(asked: Callable[..., Any]) -> None:
    with pytest.raises(ConnectionFailed) as raised:
        asked(session, closed_port())
    assert not raised.value.reached_server


@pytest.mark.parametrize("asked", BOTH)
def test_a_connection_that_is_cut_may_have_brought_the_request(asked: Callable[..., Any]) -> None:
    cut = answering(HEAD + b'Content-Length: 100\r\n\r\n{"a"')
    with serving(cut) as (url, requests), pytest.raises(ConnectionFailed) as raised:
        asked(session, url, retries=1)
    assert raised.value.reached_server
    assert len(requests) == 2


@pytest.mark.parametrize("asked", BOTH)
@pytest.mark.parametrize("answer", NOT_STRATA)
def test_what_strata_does_not_answer_is_no_answer(asked: Callable[..., Any], answer: str) -> None:
    with serving(answering(NOT_STRATA[answer])) as (url, requests), pytest.raises(InvalidAnswer):
        asked(session, url)
    assert len(requests) == 1


@pytest.mark.parametrize("asked", BOTH)
@pytest.mark.parametrize("body", [b"404 page not found", b"[]", b'"No."', b""])
def test_a_404_that_strata_did_not_write_does_not_say_that_there_is_no_such_thing(
    asked: Callable[..., Any], body: bytes
) -> None:
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with serving(answering(answer)) as (url, _requests), pytest.raises(InvalidAnswer) as raised:
        asked(session, url)
    assert raised.value.status == 404


@pytest.mark.parametrize("asked", BOTH)
@pytest.mark.parametrize("kind", [b"text/html", b"application/json", b""])
def test_a_page_is_not_taken_for_a_file(asked: Callable[..., Any], kind: bytes, tmp_path: Path) -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: 6\r\n\r\n<html>" % kind
    with serving(answering(page)) as (url, _requests), pytest.raises(InvalidAnswer, match="zip"):
        asked(lambda client: client.jobs.download("j", to=tmp_path / "export.zip"), url)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("asked", BOTH)
@pytest.mark.parametrize("kind", [b"application/zip", b"application/octet-stream; charset=binary"])
def test_a_file_is_written_as_it_came(asked: Callable[..., Any], kind: bytes, tmp_path: Path) -> None:
    whole = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: 4\r\n\r\nPK\x03\x04" % kind
    with serving(answering(whole)) as (url, _requests):
        assert asked(lambda client: client.jobs.download("j", to=tmp_path / "export.zip"), url) == 4
    assert (tmp_path / "export.zip").read_bytes() == b"PK\x03\x04"


@pytest.mark.parametrize("asked", BOTH)
def test_the_page_of_a_proxy_is_a_server_error_with_its_beginning(asked: Callable[..., Any]) -> None:
    page = b"<html>" + b"Bad Gateway " * 100
    answer = b"HTTP/1.1 502 Bad Gateway\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s" % (
        len(page),
        page,
    )
    with (
        serving(answering(answer)) as (url, requests),
        pytest.raises(ServerError, match="<html>Bad") as raised,
    ):
        asked(session, url, retries=2)
    assert raised.value.status == 502
    assert len(str(raised.value)) < 300
    assert len(requests) == 3


@pytest.mark.parametrize("asked", BOTH)
def test_an_endless_body_is_not_read_to_its_end(
    asked: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "LONGEST_ANSWER", 1 << 20)
    with (
        serving(flooding) as (url, _requests),
        pytest.raises(InvalidAnswer, match="longer than 1048576 bytes"),
    ):
        asked(session, url, timeout=600)


@pytest.mark.parametrize("asked", BOTH)
def test_a_redirect_is_not_followed_and_the_key_goes_nowhere_else(asked: Callable[..., Any]) -> None:
    with serving(answering(HEAD + b"\r\n{}")) as (elsewhere, there):
        moved = f"HTTP/1.1 307 Moved\r\nLocation: {elsewhere}/api\r\nContent-Length: 0\r\n\r\n".encode()
        with (
            serving(answering(moved)) as (url, requests),
            pytest.raises(InvalidAnswer, match="307, a redirect"),
        ):
            asked(session, url)
        assert len(requests) == 1
        assert there == []


@pytest.mark.parametrize(
    "behave",
    [silent, answering(b"not HTTP"), answering(HEAD + b"\r\n{"), answering(b"HTTP/1.1 404 No\r\n\r\nNo.")],
)
@pytest.mark.parametrize("asked", BOTH)
def test_no_error_log_or_variable_shows_the_key(
    asked: Callable[..., Any], behave: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    with serving(behave) as (url, requests):
        error = failure(asked, behave, url)
    shown = traceback.TracebackException.from_exception(error, capture_locals=True)
    ours = [frame for frame in shown.stack if "strata_memory" in frame.filename]
    assert len(ours) >= 3
    assert KEY.encode() in requests[-1]
    assert KEY not in repr([frame.locals for frame in ours]) + caplog.text + repr(vars(error))
    assert KEY not in "".join(traceback.format_exception(error))


@pytest.mark.parametrize("asked", BOTH)
@pytest.mark.parametrize(
    "cut", [b"not HTTP", HEAD + b"Content-Length: 9\r\n\r\n{", HEAD + b"Content-Encoding: gzip\r\n\r\n{}"]
)
def test_an_error_leads_to_no_request_with_the_key_in_it(asked: Callable[..., Any], cut: bytes) -> None:
    with serving(answering(cut)) as (url, _requests), pytest.raises(StrataError) as raised:
        asked(session, url, retries=0)
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None


def failure(asked: Callable[..., Any], behave: Any, url: str) -> StrataError:
    if behave is silent:
        return left_at_its_deadline(asked, session, url)
    with pytest.raises(StrataError) as raised:
        asked(session, url, timeout=600)
    return raised.value


@pytest.mark.parametrize("key", ["two words", "line\n", "kéy", KEY + "\0", " "])
def test_what_cannot_be_a_key_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(ValueError, match="characters that no key has") as raised:
        StrataClient("http://127.0.0.1", key)
    assert not key.strip() or key not in str(raised.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://h?", "http://h#", "http://@h", "http://ana:pw@h", "http://ho st", "http://h\\x", "http://h\n",
        "http://h\t", " http://h", "http://h\u200b", "http://h/a?b", "//h", "h:8002", "ftp://h", "http:///x",
        "http://h:65536", "http://[h",
    ],
)  # fmt: skip
def test_what_cannot_be_the_address_of_a_server_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(ValueError, match="address of the server") as raised:
        StrataClient(url, KEY)
    assert url not in str(raised.value)


REFUSED = b'HTTP/1.1 401 Unauthorized\r\nContent-Length: 22\r\n\r\n{"detail": "Not you."}\n'


@pytest.mark.parametrize("asked", BOTH)
@pytest.mark.parametrize("key", [None, ""])
def test_without_a_key_none_is_sent_and_a_401_says_so(asked: Callable[..., Any], key: str | None) -> None:
    with serving(answering(REFUSED)) as (url, requests), pytest.raises(Unauthenticated) as raised:
        asked(session, url, key)
    assert b"authorization" not in requests[0].lower()
    assert str(raised.value) == "401: Not you. The client was given no API key."


@pytest.mark.parametrize("asked", BOTH)
def test_a_key_that_is_refused_is_not_told_to_be_missing(asked: Callable[..., Any]) -> None:
    with serving(answering(REFUSED)) as (url, _requests), pytest.raises(Unauthenticated) as raised:
        asked(session, url)
    assert str(raised.value) == "401: Not you."


def test_a_problem_document_is_told_field_by_field() -> None:
    body = b'{"detail": "Wrong.", "errors": [{"field": "turns.0.role", "message": "No.", "code": "x"}, 1]}'
    answer = b"HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\n\r\n" + body
    with serving(answering(answer)) as (url, _requests), pytest.raises(NotFound) as raised:
        BOTH[0](session, url)
    assert raised.value.detail == "Wrong."
    assert [one.field for one in raised.value.errors] == ["turns.0.role"]
