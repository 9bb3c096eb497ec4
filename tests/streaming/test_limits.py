"""How many streams one key, and one tenant, may have open."""

import httpx
import pytest
import yaml

from memoryproject.streaming.places import Places
from tenants.errors import TooMany
from tests.native.shapes import problem
from tests.plugin import HOME
from tests.streaming.server import PATH, Listening, StreamServer, append, until


@pytest.fixture(scope="module")
def narrow(_database):
    server = StreamServer(HOME / "web.log", STREAMS_PER_KEY="2", STREAMS_PER_TENANT="3")
    yield server
    server.stop()


def refused(server, member):
    headers = {"Authorization": f"Bearer {member.key}"}
    with (
        httpx.Client(base_url=server.url, timeout=60) as http,
        http.stream("GET", PATH, headers=headers) as answer,
    ):
        if answer.status_code == 200:
            return None
        answer.read()
        assert int(answer.headers["retry-after"]) > 0
        assert answer.headers["x-request-id"]
        return problem(answer, 429)["detail"]


def test_one_more_than_a_key_may_have_is_told_to_come_back(narrow, acme, globex):
    mine = [Listening(narrow, acme) for _ in range(2)]
    assert refused(narrow, acme) == "This key has 2 streams open."
    other, others = acme.with_key(), Listening(narrow, globex)
    mine.append(Listening(narrow, other))
    assert refused(narrow, other) == "This tenant has 3 streams open."
    append(acme, "s", 1)
    for listening in mine:
        assert [one["content"] for one in listening.heard(1)] == [1]
    mine[0].leave()
    assert until(lambda: refused(narrow, other) is None), "there is room again"
    for listening in (*mine[1:], others):
        listening.leave()


def test_what_is_refused_for_another_reason_takes_no_place(narrow, acme):
    for _ in range(5):
        answer = httpx.get(
            f"{narrow.url}{PATH}?after=nowhere", headers={"Authorization": f"Bearer {acme.key}"}, timeout=60
        )
        assert answer.status_code == 422
    Listening(narrow, acme).leave()


def test_a_thread_that_comes_after_its_client_has_left_takes_no_place(acme, settings):
    settings.STREAMS_PER_KEY = 1
    places = Places()
    with places.one() as late:
        pass
    late(acme.caller)
    with places.one() as take:
        take(acme.caller)
        with places.one() as another, pytest.raises(TooMany):
            another(acme.caller)


def test_that_it_may_be_refused_is_described(acme):
    document = yaml.safe_load(acme.http.get("/api/schema/").text)
    described = document["paths"]["/api/v1/events/stream/"]["get"]
    assert {"200", "422", "429"} <= described["responses"].keys()
