"""The watch over the keys of all listeners."""

from dataclasses import replace

import pytest
from django.db import OperationalError

from api.native.streaming import Asked
from memoryproject.streaming.credentials import Credentials
from memoryproject.streaming.hub import _shut_out
from memoryproject.streaming.listener import Listener
from working.live_types import Wanted


@pytest.fixture
def listeners(acme, monkeypatch):
    """Of keys by what comes of looking them up: a caller, nobody, or an error; and which were looked up."""
    looked_up, answers = [], {}

    def caller(credentials):
        looked_up.append(credentials.sent)
        answer = answers[credentials.sent]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def listener(name, answer):
        answers[name,] = answer
        return Listener(Asked(acme.caller, Wanted(), None), Credentials((name,), None))

    monkeypatch.setattr(Credentials, "caller", caller)
    return listener, looked_up


def test_a_key_that_cannot_be_looked_up_holds_up_no_other(acme, listeners):
    listener, _looked_up = listeners
    changed = replace(acme.caller, user_id="ana")
    failing, revoked = listener("failing", OperationalError()), listener("revoked", None)
    staying, bound = listener("staying", acme.caller), listener("bound", changed)
    assert _shut_out([failing, revoked, staying, bound]) == [revoked, bound]


def test_a_key_of_many_listeners_is_looked_up_once(acme, listeners):
    listener, looked_up = listeners
    crowd = [listener(name, answer) for name, answer in (("a", None), ("b", acme.caller)) for _ in range(9)]
    assert _shut_out(crowd) == crowd[:9]
    assert looked_up == [("a",), ("b",)]
