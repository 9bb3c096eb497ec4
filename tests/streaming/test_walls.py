"""Nobody is told what the key does not reach."""

import pytest

from tests.native.shapes import problem
from tests.privacy.people import erase
from tests.streaming.server import PATH, Listening, append


def contents(listening, count):
    found = [one["content"] for one in listening.heard(count)]
    listening.leave()
    return found


@pytest.mark.parametrize("after", [{}, {"after": "0"}], ids=["live", "replayed"])
def test_globex_is_not_told_what_happens_at_acme(streams, acme, globex, after):
    if not after:
        listening = Listening(streams, globex)
    append(acme, "s", "theirs")
    append(globex, "s", "ours")
    if after:
        listening = Listening(streams, globex, **after)
    assert contents(listening, 1) == ["ours"]


@pytest.mark.parametrize("is_live", [True, False], ids=["live", "replayed"])
@pytest.mark.parametrize("binding", ["user_id", "agent_id", "project"])
def test_a_bound_key_is_told_of_its_own_sessions(streams, acme, binding, is_live):
    theirs, others = acme.with_key(**{binding: "mine"}), acme.with_key(**{binding: "others"})

    def happen():
        append(others, "s1", "not mine")
        append(acme, "s2", "nobody's")
        append(theirs, "s3", "mine")

    if is_live:
        listening = Listening(streams, theirs)
        happen()
    else:
        happen()
        listening = Listening(streams, theirs, after="0")
    assert contents(listening, 1) == ["mine"]


@pytest.mark.parametrize("binding", ["user_id", "agent_id"])
def test_a_bound_key_may_not_name_another(streams, acme, binding):
    bound = acme.with_key(**{binding: "mine"})
    for url in (f"{streams.url}{PATH}", PATH):
        problem(bound.http.get(url, params={binding: "others"}), 403)


def test_a_key_is_needed_and_scope_read_with_it(streams, acme):
    writer = acme.with_key(scopes=("write",))
    for url in (f"{streams.url}{PATH}", PATH):
        problem(writer.http.get(url), 403)
        problem(writer.http.get(url, headers={"Authorization": "Bearer mem_no"}), 401)
        problem(writer.http.get(url, headers={"Authorization": ""}), 401)
        by_header = {"Authorization": "", "X-API-Key": acme.key}
        assert acme.http.head(url, headers=by_header).status_code == 200


def test_an_erased_persons_events_are_not_replayed(streams, acme):
    append(acme, "s1", "hers", user_id="alice")
    append(acme, "s2", "his", user_id="bob")
    erase(acme, "alice")
    assert contents(Listening(streams, acme, after="0"), 1) == ["his"]


def test_a_restricted_persons_events_are_not_told(streams, acme):
    able = acme.with_key(scopes=("read", "write", "privacy"))
    append(acme, "s1", "hers", user_id="alice")
    append(acme, "s2", "his", user_id="bob")
    able.http.post("/api/v1/subjects/alice/restrict", json={}).raise_for_status()
    assert contents(Listening(streams, acme, after="0"), 1) == ["his"]
