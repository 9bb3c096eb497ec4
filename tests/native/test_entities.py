"""`/api/v1/entities`: what the domain does, as clients see it."""

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from tests.api.test_ids import ODD
from tests.native.shapes import problem

URL = "/api/v1/entities"
MAIL = f"{URL}/kim/email"
CITY = f"{URL}/kim/city"
FIELDS = {
    "id", "user_id", "key", "value", "confidence", "status", "valid_from", "valid_to", "superseded_by",
    "source", "source_session", "source_turn", "agent_id", "pinned", "embedded", "created_at", "updated_at",
}  # fmt: skip


def put(member, value, url=CITY, *, status=201, **named):
    answer = member.http.put(url, json={"value": value, **named})
    assert answer.status_code == status, answer.text
    return answer.json()


def listed(member, query=""):
    answer = member.http.get(f"{URL}?{query}")
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def ago(**span):
    return (datetime.now(UTC) - timedelta(**span)).isoformat()


@pytest.fixture
def agent(acme):
    """The same tenant, by the key of an agent."""
    return acme.with_key(agent_id="ada")


def test_every_part_of_a_slot_comes_back(acme):
    said = {
        "confidence": 0.8, "source": "form", "source_session": "s", "source_turn": 3, "agent_id": "ada",
        "valid_from": "2026-01-02T03:04:05Z",
    }  # fmt: skip
    stored = put(acme, {"street": ["Via Po", 1]}, f"{URL}/kim/Home%20Address", **said)
    assert stored.keys() == FIELDS
    assert said.items() <= stored.items()
    assert (stored["user_id"], stored["key"]) == ("kim", "home_address")
    assert (stored["value"], stored["status"]) == ({"street": ["Via Po", 1]}, "current")
    assert (stored["valid_to"], stored["superseded_by"], stored["pinned"]) == (None, None, False)
    assert stored["embedded"]
    assert acme.http.get(f"{URL}/kim/HOME_address/").json() == stored
    assert listed(acme) == [stored]


def test_the_status_tells_what_became_of_it(acme):
    first = put(acme, "Turin")
    assert put(acme, "Turin", status=200)["id"] == first["id"]
    assert put(acme, "Turin", status=200, confidence=0.1)["confidence"] == 1.0
    second = put(acme, "Oslo", status=200)
    assert second["id"] != first["id"]
    assert put(acme, "Rome", valid_from="2020-01-01T00:00:00Z")["status"] == "superseded"
    assert acme.http.get(CITY).json() == second


def test_as_of_answers_what_held_then(acme):
    for days, city in ((30, "Turin"), (20, "Oslo"), (10, "Bern")):
        put(acme, city, valid_from=ago(days=days), status=201 if city == "Turin" else 200)
    for days, city in ((25, "Turin"), (15, "Oslo"), (5, "Bern")):
        moment = {"as_of": ago(days=days)}
        assert acme.http.get(CITY, params=moment).json()["value"] == city
        (only,) = acme.http.get(URL, params={"user_id": "kim", **moment}).json()["results"]
        assert only["value"] == city
    problem(acme.http.get(CITY, params={"as_of": ago(days=40)}), 404)
    history = acme.http.get(f"{CITY}/history").json()
    assert ([one["value"] for one in history["results"]], history["next"]) == (
        ["Bern", "Oslo", "Turin"],
        None,
    )


def test_a_history_comes_in_pages(acme):
    for number in range(5):
        put(acme, number, status=200 if number else 201)
    seen, cursor = [], ""
    while cursor is not None:
        page = acme.http.get(f"{CITY}/history", params={"limit": 2, "cursor": cursor}).json()
        seen += [one["value"] for one in page["results"]]
        cursor = page["next"]
    assert seen == [4, 3, 2, 1, 0]


def test_lists_come_in_pages(acme):
    for number in range(5):
        put(acme, number, f"{URL}/kim/k{number}")
    seen, cursor = [], ""
    while cursor is not None:
        page = acme.http.get(URL, params={"user_id": "kim", "limit": 2, "cursor": cursor}).json()
        seen += [one["value"] for one in page["results"]]
        cursor = page["next"]
    assert seen == [4, 3, 2, 1, 0]


def test_what_an_agent_says_of_a_high_impact_key_waits_until_somebody_confirms_it(acme, agent):
    waiting = put(agent, "kim@x", MAIL, status=202)
    assert (waiting["status"], waiting["agent_id"]) == ("pending", "ada")
    problem(acme.http.get(MAIL), 404)
    assert listed(acme, "user_id=kim") == []
    assert listed(acme, "status=pending") == [waiting]
    later = put(agent, "kim@y", MAIL, status=202)
    problem(agent.http.post(f"{MAIL}/confirm"), 403)
    confirmed = acme.http.post(f"{MAIL}/confirm").json()
    assert (confirmed["id"], confirmed["status"], confirmed["confidence"]) == (later["id"], "current", 1.0)
    assert acme.http.get(MAIL).json() == confirmed
    problem(acme.http.post(f"{MAIL}/confirm"), 404)
    told = acme.http.get(f"{MAIL}/history").json()["results"]
    assert [(one["value"], one["status"]) for one in told] == [("kim@y", "current"), ("kim@x", "superseded")]


def test_a_pinned_slot_is_no_agent_s_to_change(acme, agent):
    put(acme, "Turin")
    assert acme.http.post(f"{CITY}/pin").json()["pinned"]
    problem(agent.http.put(CITY, json={"value": "Oslo"}), 409)
    for verb in ("pin", "unpin"):
        problem(agent.http.post(f"{CITY}/{verb}"), 403)
    for query in ("", "?hard=true"):
        problem(agent.http.delete(f"{CITY}{query}"), 403)
    assert put(acme, "Bern", status=200)["pinned"]
    assert not acme.http.post(f"{CITY}/unpin").json()["pinned"]
    assert put(agent, "Oslo", status=200)["value"] == "Oslo"
    problem(agent.http.delete(f"{CITY}?hard=true"), 403)
    assert agent.http.delete(CITY).status_code == 204


def test_a_deleted_slot_is_history_and_a_removed_one_is_not(acme):
    put(acme, "Turin", valid_from=ago(days=2))
    assert acme.http.delete(CITY).status_code == 204
    problem(acme.http.get(CITY), 404)
    problem(acme.http.delete(CITY), 404)
    assert acme.http.get(CITY, params={"as_of": ago(days=1)}).json()["status"] == "retracted"
    assert [one["value"] for one in listed(acme, "status=retracted")] == ["Turin"]
    assert acme.http.delete(f"{CITY}?hard=true").status_code == 204
    for url in (CITY, f"{CITY}/history", f"{CITY}?as_of=2026-01-01T00:00:00Z"):
        problem(acme.http.get(url), 404)


def test_a_question_finds_the_slots_of_a_user_that_are_nearest(acme):
    for key, value in (("pet", "a grey cat"), ("job", "train driver"), ("food", "pizza")):
        put(acme, value, f"{URL}/kim/{key}")
    put(acme, "a kitten", f"{URL}/lee/pet")
    answer = acme.http.get(URL, params={"user_id": "kim", "query": "kitten", "limit": 2}).json()
    assert (answer["results"][0]["key"], len(answer["results"])) == ("pet", 2)
    assert answer["results"][0].keys() == FIELDS | {"score"}
    assert answer["next"] is None
    problem(acme.http.get(f"{URL}?query=kitten"), 422, "user_id")
    problem(acme.http.get(f"{URL}?query=kitten&user_id=kim&status=superseded"), 422, "status")


@pytest.mark.parametrize(("body", "field"), [
    ({}, "value"), ({"value": 1, "confidence": 1.1}, "confidence"),
    ({"value": 1, "confidence": "1"}, "confidence"),
    ({"value": 1, "confidence": True}, "confidence"), ({"value": 1, "confidence": None}, "confidence"),
    ({"value": 1, "confidence": 10**400}, "confidence"), ({"value": 1, "source": "x" * 65}, "source"),
    ({"value": 1, "source_turn": -1}, "source_turn"), ({"value": 1, "source_turn": 2**63}, "source_turn"),
    ({"value": 1, "valid_from": "2026-01-01T00:00:00"}, "valid_from"),
    ({"value": 1, "valid_from": "2999-01-01T00:00:00Z"}, "valid_from"),
    ({"value": 1, "valid_from": "0001-01-01T00:00:00+14:00"}, "valid_from"),
    ({"value": 1, "valid_from": "soon"}, "valid_from"), ({"value": 1, "colour": "red"}, "colour"),
])  # fmt: skip
def test_what_is_not_valid_is_named(acme, body, field):
    problem(acme.http.put(CITY, json=body), 422, field)
    assert listed(acme) == []


@pytest.mark.parametrize("query", [
    "limit=0", "limit=201", "limit=x", "cursor=x", "cursor=MHww", "status=dreamt", "key=%2F", "user_id=%00",
    "as_of=soon", "as_of=2026-01-01T00:00:00", "as_of=0001-01-01T00:00:00%2B14:00", "query=" + "x" * 256,
])  # fmt: skip
def test_what_is_not_valid_in_the_query_is_named(acme, query):
    problem(acme.http.get(f"{URL}?{query}"), 422, query.split("=")[0])


def test_an_option_of_deletion_has_to_be_one(acme):
    put(acme, "Turin")
    problem(acme.http.delete(f"{CITY}?hard=maybe"), 422, "hard")
    assert acme.http.get(CITY).is_success


@pytest.mark.parametrize(
    "key", ["x" * 256, "%20", "a%07b", "history", "CONFIRM", "pin", "%F0%9F%92%A1" * 256]
)
def test_what_can_be_no_key_is_refused(acme, key):
    for answer in (
        acme.http.put(f"{URL}/kim/{key}", json={"value": 1}),
        acme.http.get(f"{URL}/kim/{key}"),
        acme.http.delete(f"{URL}/kim/{key}"),
        acme.http.post(f"{URL}/kim/{key}/confirm"),
    ):
        problem(answer, 422, "key")


def test_a_value_of_a_megabyte_is_413(acme):
    for size in (4_095, 1_000_000, 2_000_000):
        problem(acme.http.put(CITY, json={"value": "x" * size}), 413)
    assert listed(acme) == []


def test_a_slot_too_many_is_409_and_says_why(acme):
    admin = acme.with_key(scopes=("admin",))
    admin.http.patch("/api/v1/policy", json={"document": {"limits": {"entities_per_user": 2}}})
    for key in ("a", "b"):
        put(acme, 1, f"{URL}/kim/{key}")
    assert "2 slots" in problem(acme.http.put(f"{URL}/kim/c", json={"value": 1}), 409)["detail"]
    put(acme, 2, f"{URL}/kim/a", status=200)
    put(acme, 1, f"{URL}/lee/c")


def test_a_key_that_the_policy_does_not_allow_is_422(acme):
    admin = acme.with_key(scopes=("admin",))
    admin.http.patch("/api/v1/policy", json={"document": {"entities": {"allowed_keys": ["name"]}}})
    problem(acme.http.put(CITY, json={"value": 1}), 422, "key")
    put(acme, "Kim", f"{URL}/kim/name")


def test_any_text_is_a_user(acme):
    users = [one for one in ODD[::3] if one not in (".", "..")] + ["a/b", "a/b/history", "/", "a/"]
    users = list(dict.fromkeys(users))
    urls = {user: f"{URL}/{quote(user, safe='')}/pin_code" for user in users}
    named = {user: f"?user_id={quote(user, safe='')}" if "/" in user else "" for user in users}
    for position, user in enumerate(users):
        put(acme, position, f"{urls[user]}{named[user]}")
    for position, user in enumerate(users):
        found = acme.http.get(f"{urls[user]}/{named[user]}").json()
        assert (found["user_id"], found["value"]) == (user, position)
        told = acme.http.get(f"{urls[user]}/history{named[user]}").json()["results"]
        assert told == [found]


def test_a_slash_in_a_key_leads_to_no_other_user(acme):
    """The server's gateway decodes `%2F` before anybody can see it."""
    whose, body = f"{URL}/zed/bad%2Fkey", {"value": 1}
    answers = [
        member.http.request(method, f"{whose}{below}", json=body if method == "PUT" else None)
        for member in (acme, acme.with_key(user_id="zed"))
        for method, below in (("PUT", ""), ("GET", ""), ("DELETE", ""), ("GET", "/history"), ("POST", "/pin"))
    ]
    for answer in answers:
        problem(answer, 422, "user_id")
    problem(acme.http.put(f"{whose}?user_id=zed", json=body), 422, "key")
    problem(acme.http.put(f"{whose}?user_id=lee", json=body), 422, "user_id")
    problem(acme.http.put(f"{URL}/zed/key?user_id=ze", json=body), 422, "user_id")
    assert listed(acme) == []


def test_a_user_with_a_slash_is_named_by_the_query_or_by_the_key_s_binding(acme):
    whose = f"{URL}/zed%2Fbad/key"
    by_query = put(acme, 1, f"{whose}?user_id=zed%2Fbad")
    assert (by_query["user_id"], by_query["key"]) == ("zed/bad", "key")
    bound = acme.with_key(user_id="zed/bad")
    assert bound.http.get(whose).json() == by_query
    assert put(bound, 2, whose, status=200)["value"] == 2
    problem(bound.http.put(f"{URL}/zed%2Fother/key?user_id=zed%2Fother", json={"value": 1}), 403)
    assert put(acme, 1, f"{URL}/zed/key?user_id=zed")["user_id"] == "zed"


def test_globex_reaches_no_slot_of_acme(acme, globex):
    put(acme, "Turin")
    for answer in (
        globex.http.get(CITY),
        globex.http.get(f"{CITY}/history"),
        globex.http.delete(f"{CITY}?hard=true"),
        *(globex.http.post(f"{CITY}/{verb}") for verb in ("confirm", "pin", "unpin")),
    ):
        problem(answer, 404)
    assert listed(globex, "user_id=kim") == listed(globex, "user_id=kim&query=Turin") == []
    put(globex, "Oslo")
    assert acme.http.get(CITY).json()["value"] == "Turin"


def test_a_key_that_is_bound_to_a_user_reaches_that_user_s_slots_only(acme):
    put(acme, "Turin")
    lee = acme.with_key(user_id="lee")
    for answer in (
        lee.http.get(CITY),
        lee.http.get(f"{CITY}/history"),
        lee.http.put(CITY, json={"value": "Oslo"}),
        lee.http.delete(CITY),
        *(lee.http.post(f"{CITY}/{verb}") for verb in ("confirm", "pin", "unpin")),
        lee.http.get(f"{URL}?user_id=kim"),
        lee.http.get(f"{URL}?user_id=kim&query=Turin"),
    ):
        problem(answer, 403)
    assert listed(lee) == []
    mine = put(lee, "Bern", f"{URL}/lee/city")
    assert listed(lee) == [mine]
    assert listed(lee, "query=Bern") == [mine | {"score": listed(lee, "query=Bern")[0]["score"]}]
    assert acme.http.get(CITY).json()["value"] == "Turin"


def test_a_read_only_key_reads_and_does_not_write(acme):
    put(acme, "Turin")
    reader = acme.with_key(scopes=("read",))
    assert reader.http.get(CITY).is_success
    for answer in (
        reader.http.put(CITY, json={"value": 1}),
        reader.http.delete(CITY),
        *(reader.http.post(f"{CITY}/{verb}") for verb in ("confirm", "pin", "unpin")),
    ):
        problem(answer, 403)


def test_a_write_that_is_sent_again_is_answered_again(acme, agent):
    for member, url, body, status in (
        (acme, CITY, {"value": "Turin"}, 201),
        (agent, MAIL, {"value": "kim@x"}, 202),
    ):
        answers = [member.http.put(url, json=body, headers={"Idempotency-Key": "k"}) for _time in range(2)]
        assert [one.status_code for one in answers] == [status] * 2
        assert answers[0].json() == answers[1].json()
        assert len(acme.http.get(f"{url}/history").json()["results"]) == 1
