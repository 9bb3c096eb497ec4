"""What is answered by something that is no Strata is told in a sentence, and what is odd is shown."""

import functools
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from strata_memory import StrataClient
from strata_memory.cli import program
from strata_memory.cli.doctor.evidence import Evidence
from strata_memory.cli.explaining import parts_of

AT = "2026-01-01T00:00:00Z"
SESSION = {
    "session_id": "s", "namespace": "", "user_id": None, "agent_id": None, "project": None,
    "metadata": {}, "turn_count": 900, "summary": None, "started_at": AT, "last_activity_at": AT,
    "ended_at": None,
}  # fmt: skip
COMMANDS = [
    ["recall", "q"],
    ["remember", "x"],
    ["sessions"],
    ["sessions", "a"],
    ["context", "q", "--session", "s"],
    ["doctor", "x"],
]
Run = Callable[..., int]


@pytest.fixture
def strata(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command against a server that is a function of the request."""

    def run(answer: Callable[[httpx.Request], Any], *argv: str) -> int:
        transport = httpx.MockTransport(lambda request: httpx.Response(200, json=answer(request)))
        client = functools.partial(StrataClient, transport=transport, retries=0)
        monkeypatch.setattr(program, "StrataClient", client)
        return program.main(["--url", "http://strata", *argv])

    return run


@pytest.mark.parametrize(
    "told", [{}, [], 3, {"results": [{}], "next": None, "stages": [], "query_used": "q"}], ids=str
)
@pytest.mark.parametrize("argv", COMMANDS, ids=" ".join)
def test_what_strata_does_not_answer_is_told_with_status_3(
    argv: list[str], told: Any, strata: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    assert strata(lambda _: told, *argv) == 3
    shown = capsys.readouterr()
    assert "is not what Strata answers" in " ".join((shown.out + shown.err).split())  # however it is folded


def test_messages_that_no_chat_api_knows_are_shown(strata: Run, capsys: pytest.CaptureFixture[str]) -> None:
    messages = [{}, {"role": 5, "content": [1], "tool_calls": 7}]
    told = {"messages": messages, "items": [], "tokens": 0, "stages": [], "query_used": "q"}

    def answer(request: httpx.Request) -> Any:
        return told if request.method == "POST" else SESSION

    assert strata(answer, "context", "q", "--session", "s") == 0
    assert "[1]" in capsys.readouterr().out


def test_the_newest_entries_are_shown_of_however_long_a_log(
    strata: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strata_memory.cli.sessions.LONGEST_LOG", 300)

    def answer(request: httpx.Request) -> Any:
        if not request.url.path.endswith("/events"):
            return SESSION
        first = int(request.url.params.get("cursor", "0"))
        last = min(900, first + int(request.url.params["limit"]))
        events = [
            {"event_id": None, "seq": seq, "event_type": "note", "role": None, "content": f"said {seq}",
             "metadata": {}, "timestamp": AT}
            for seq in range(first + 1, last + 1)
        ]  # fmt: skip
        return {"results": events, "next": str(last) if last < 900 else None}

    for limit, first in ((["--limit", "2"], 899), ([], 601)):
        assert strata(answer, "sessions", "s", *limit) == 0
        shown = capsys.readouterr().out.splitlines()[1:]
        assert (shown[0].split()[-1], shown[-1].split()[-1]) == (str(first), "900")


def test_numbers_of_a_policy_and_a_formula_are_taken_for_numbers_alone() -> None:
    odd = Evidence({}, "ok", policy={"session": {"ttl_seconds": "soon"}, "retention": 5})
    assert (odd.limit("session", "ttl_seconds"), odd.limit("retention", "events_days")) == (None, None)
    hit = {"kind": "episode", "score": 1.0, "signals": {"cosine": 1.0}}
    told = hit | {"explain": {"formula": "score = 1.2.3 · cosine"}}
    assert [part.name for part in parts_of(told)] == ["cosine"]
