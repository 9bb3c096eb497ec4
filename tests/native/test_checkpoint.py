import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.native.shapes import problem

PATH = "/api/v1/sessions/s/checkpoint"
LIMIT = 16_777_216


def put(member, value, path=PATH, **headers):
    content = value if isinstance(value, bytes | str) else json.dumps(value)
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return member.http.put(path, content=content, headers=named)


def get(member, path=PATH, **headers):
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return member.http.get(path, headers=named)


LETTERS = [
    '{"b": 1,  "a":\t[1.0, 1.00, 1e2, -0, 0.1000]}', '{"a":1,"a":2}', "12345678901234567890.123456789",
    '"\\u00e9 é 💡 \\/ \\ud83d\\ude00"', "null", "true", "0", '""', "[]", "{}", " [1] \n",
    "1E200",
]  # fmt: skip


@pytest.mark.parametrize("text", LETTERS)
def test_any_json_is_kept_to_the_letter(acme, text):
    assert put(acme, text).status_code == 201
    answer = get(acme)
    assert answer.status_code == 200
    assert answer.content == text.encode()
    assert answer.headers["content-type"] == "application/json"


def test_a_byte_order_mark_is_no_part_of_it(acme):
    put(acme, b"\xef\xbb\xbf[1]")
    assert get(acme).content == b"[1]"


def test_each_write_has_a_version_and_its_entity_tag(acme):
    first = put(acme, {"step": 1})
    assert (first.status_code, first.json()["version"], first.headers["etag"]) == (201, 1, '"1"')
    second = put(acme, {"step": 2})
    assert (second.status_code, second.json()["version"], second.headers["etag"]) == (200, 2, '"2"')
    assert get(acme).headers["etag"] == '"2"'
    assert get(acme).json() == {"step": 2}, "without a condition, the last writer wins"


def test_there_is_none_at_first(acme):
    problem(get(acme), 404)
    acme.http.post("/api/v1/sessions", json={"session_id": "s"})
    problem(get(acme), 404)


def test_it_creates_a_session_that_is_new(acme):
    put(acme, 1)
    assert acme.http.get("/api/v1/sessions/s").status_code == 200


@pytest.mark.parametrize("tag", ['"2"', 'W/"2"', '"1", "2"', '"x" , W/"2"', "*", '"2","9"'])
def test_what_the_client_has_is_not_sent_again(acme, tag):
    put(acme, 1)
    put(acme, 2)
    answer = get(acme, If_None_Match=tag)
    assert (answer.status_code, answer.content, answer.headers["etag"]) == (304, b"", '"2"')


@pytest.mark.parametrize("tag", ['"1"', '"3"', '"x"', '"02x"', 'W/"1"', '""', '"99999999999999999999999"'])
def test_what_the_client_has_not_is_sent(acme, tag):
    put(acme, 1)
    put(acme, 2)
    assert get(acme, If_None_Match=tag).json() == 2


@pytest.mark.parametrize("tag", ['"1"', "*", '"7", "1"', '"1","7"'])
def test_a_condition_that_holds_lets_it_through(acme, tag):
    put(acme, 1)
    assert put(acme, 2, If_Match=tag).json()["version"] == 2


@pytest.mark.parametrize("tag", ['"2"', '"0"', 'W/"1"', '"x"', '""', '"2", "3"', '"99999999999999999999"'])
def test_a_condition_that_does_not_hold_is_412_and_changes_nothing(acme, tag):
    put(acme, 1)
    problem(put(acme, 2, If_Match=tag), 412)
    assert (get(acme).json(), get(acme).headers["etag"]) == (1, '"1"')


def test_what_is_not_there_matches_nothing(acme):
    problem(put(acme, 1, If_Match="*"), 412)
    problem(put(acme, 1, If_Match='"1"'), 412)
    problem(get(acme), 404)


def test_only_the_first_may_be_asked_for(acme):
    assert put(acme, 1, If_None_Match="*").status_code == 201
    problem(put(acme, 2, If_None_Match="*"), 412)
    assert get(acme).json() == 1


def test_both_conditions_at_once_cannot_hold(acme):
    problem(put(acme, 1, If_Match="*", If_None_Match="*"), 412)
    put(acme, 1)
    problem(put(acme, 2, If_Match='"1"', If_None_Match="*"), 412)


@pytest.mark.parametrize("text", ["", "1", "x", '"1', '"1" "2"', '"1",', ",", "w/", '*, "1"'])
@pytest.mark.parametrize(("send", "name"), [(get, "If-None-Match"), (put, "If-Match")])
def test_a_header_that_is_no_list_of_tags_is_422(acme, send, name, text):
    put(acme, 1)
    arguments = (acme,) if send is get else (acme, 2)
    problem(send(*arguments, **{name: text}), 422, name)
    assert get(acme).json() == 1


def test_a_write_cannot_ask_for_another_version(acme):
    problem(put(acme, 1, If_None_Match='"1"'), 422, "If-None-Match")


def test_of_many_writers_with_one_version_exactly_one_wins(acme):
    put(acme, 0)
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda n: put(acme, n, If_Match='"1"'), range(1, 13)))
    assert sorted(one.status_code for one in answers) == [200] + [412] * 11
    (winner,) = [n for n, one in enumerate(answers, 1) if one.status_code == 200]
    assert get(acme).json() == winner


def test_of_many_first_writers_exactly_one_wins(acme):
    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda n: put(acme, n, If_None_Match="*"), range(12)))
    assert sorted(one.status_code for one in answers) == [201] + [412] * 11


def test_without_conditions_every_writer_has_a_version_of_its_own(acme):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: put(acme, n), range(16)))
    assert sorted(one.json()["version"] for one in answers) == list(range(1, 17))


def test_a_checkpoint_is_written_while_its_session_is_deleted_again_and_again(acme):
    with ThreadPoolExecutor(8) as pool:
        writes = [pool.submit(put, acme, n) for n in range(24)]
        deletions = [pool.submit(acme.http.delete, "/api/v1/sessions/s") for _ in range(12)]
    assert {one.result().status_code for one in writes} <= {200, 201}
    assert {one.result().status_code for one in deletions} == {204}


def test_sixteen_mebibytes_fit_and_not_a_byte_more(acme):
    fits = b'"' + b"x" * (LIMIT - 2) + b'"'
    assert put(acme, fits).status_code == 201
    assert get(acme).content == fits
    problem(put(acme, fits + b" "), 413)
    chunked = acme.http.put(PATH, content=(fits[start : start + 2**20] for start in range(0, LIMIT, 2**20)))
    assert chunked.status_code == 200
    too_long = acme.http.put(PATH, content=iter([fits, b" "]))
    problem(too_long, 413)
    assert get(acme).headers["etag"] == '"2"'


@pytest.mark.parametrize(
    "text", [b"", b"NaN", b"[Infinity]", b"1e999", b"{", b"{} {}", b'"\xff"', b"[" * 200 + b"]" * 200,
             '{"a": 1}'.encode("utf-16")]
)  # fmt: skip
def test_what_is_no_json_is_422_and_changes_nothing(acme, text):
    put(acme, 1)
    problem(put(acme, text), 422)
    assert get(acme).json() == 1


def test_it_goes_with_its_session(acme):
    put(acme, 1)
    acme.http.delete("/api/v1/sessions/s")
    problem(get(acme), 404)
    assert put(acme, 2).json()["version"] == 1


def test_it_outlives_the_end(acme):
    put(acme, 1)
    acme.http.post("/api/v1/sessions/s/end", json={})
    assert get(acme).json() == 1


def test_each_users_session_has_its_own(acme, globex):
    for user in ("ann", "bob"):
        put(acme, [user], path=f"{PATH}?user_id={user}")
    assert get(acme, path=f"{PATH}?user_id=ann").json() == ["ann"]
    problem(get(acme), 409)
    problem(get(globex, path=f"{PATH}?user_id=ann"), 404)
    problem(get(acme.with_key(user_id="bob"), path=f"{PATH}?user_id=ann"), 403)
    assert get(acme.with_key(user_id="bob")).json() == ["bob"]


def test_a_repeated_write_with_a_key_is_done_once(acme):
    first = put(acme, 1, Idempotency_Key="k")
    second = put(acme, 1, Idempotency_Key="k")
    assert (second.status_code, second.json(), second.headers["etag"]) == (201, first.json(), '"1"')
    assert get(acme).headers["etag"] == '"1"'
    problem(put(acme, 2, Idempotency_Key="k"), 409)


def test_keeping_a_checkpoint_keeps_the_session_from_being_idle(acme):
    from tests.working.idleness import moment
    from working.types import SessionRef

    put(acme, 1)
    assert moment(SessionRef(acme.tenant.id, "", "", "s")) is not None
