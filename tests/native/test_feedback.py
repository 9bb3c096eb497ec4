import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from episodic.models import Entity
from ledger.feedback import helpful_rate
from ledger.models import Feedback
from tenants.privacy.erasure import begin_erasure
from tests.api.things import noted
from tests.isolation.tables import FACTORIES, store
from tests.native.shapes import problem
from tests.native.test_recall import ask
from tests.native.test_start import until_known

URL = "/api/v1/feedback"


def judge(member, memory_id, verdict="helpful", kind="episode", **more):
    return member.http.post(URL, json={"kind": kind, "memory_id": str(memory_id), "verdict": verdict, **more})


def judged(member, *args, **named):
    answer = judge(member, *args, **named)
    assert answer.status_code == 201, answer.text
    return answer.json()


def episode(member, text="Ann likes tea.", **named):
    answer = member.http.post("/api/v1/episodes", json={"user_id": "ann", "text": text, **named})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def slot(member, user="ann"):
    row = FACTORIES[Entity](member.tenant.id)
    row.user_id = user
    return str(store(row).id)


def listed(member, **query):
    answer = member.http.get(URL, params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()["results"]


def injected(member, item_key, session="s", value="1"):
    member.http.post(f"/ledger/{session}/mark", json={"item_key": item_key, "value": value})
    found = member.http.get("/api/v1/injections", params={"prefix": item_key}).json()["results"]
    return found[0]["id"]


def test_a_verdict_is_kept_with_whose_memory_it_is(acme):
    memory = episode(acme, agent_id="coder")
    kept = judged(acme, memory, "not_helpful", note="out of date", session_id="s")
    assert kept | {"id": 0, "created_at": 0} == {
        "id": 0, "kind": "episode", "memory_id": memory, "injection_id": None, "session_id": "s",
        "user_id": "ann", "agent_id": "coder", "verdict": "not_helpful", "note": "out of date",
        "judge": acme.caller.principal, "created_at": 0,
    }  # fmt: skip
    assert listed(acme) == [kept]


def test_each_kind_of_memory_can_be_judged(acme):
    for kind, memory in (("episode", episode(acme)), ("entity", slot(acme)), ("observation", noted(acme))):
        assert judged(acme, memory, kind=kind)["memory_id"] == str(memory)


def test_what_an_injection_told_is_judged_by_its_id(acme):
    memory = episode(acme)
    injection = injected(acme, f"episode:{memory}")
    answer = acme.http.post(URL, json={"injection_id": injection, "verdict": "harmful"})
    kept = answer.json()
    assert (answer.status_code, kept["memory_id"], kept["kind"]) == (201, memory, "episode")
    assert (kept["injection_id"], kept["session_id"], kept["user_id"]) == (injection, "s", "ann")


def test_an_injection_that_told_no_memory_is_refused(acme):
    injection = injected(acme, "skill:deploy")
    answer = acme.http.post(URL, json={"injection_id": injection, "verdict": "helpful"})
    problem(answer, 422, "injection_id")


@pytest.mark.parametrize(
    ("kind", "memory"),
    [
        ("episode", uuid.uuid4()), ("episode", "7"), ("episode", "no id"), ("entity", uuid.uuid4()),
        ("observation", 10**17), ("observation", 10**19), ("observation", 0), ("observation", "x"),
        ("observation", "٣"),
    ],
)  # fmt: skip
def test_a_memory_that_does_not_exist_is_404(acme, kind, memory):
    problem(judge(acme, memory, kind=kind), 404)


def test_an_injection_that_does_not_exist_is_404(acme, globex):
    theirs = injected(globex, f"episode:{episode(globex)}")
    for injection in (theirs, str(uuid.uuid4())):
        problem(acme.http.post(URL, json={"injection_id": injection, "verdict": "helpful"}), 404)


def test_the_injection_of_a_memory_that_is_gone_is_404(acme):
    injection = injected(acme, f"episode:{uuid.uuid4()}")
    problem(acme.http.post(URL, json={"injection_id": injection, "verdict": "helpful"}), 404)


def test_globex_cannot_judge_acme_memories_nor_see_its_verdicts(acme, globex):
    for kind, memory in (("episode", episode(acme)), ("entity", slot(acme)), ("observation", noted(acme))):
        problem(judge(globex, memory, kind=kind), 404)
        judged(acme, memory, kind=kind)
    assert listed(globex) == []


@pytest.mark.parametrize("binding", [{"user_id": "bob"}, {"agent_id": "spy"}, {"project": "zeus"}])
def test_a_bound_key_cannot_judge_nor_see_what_it_does_not_reach(acme, binding):
    memory = episode(acme)
    judged(acme, memory)
    bound = acme.with_key(**binding)
    problem(judge(bound, memory), 404)
    assert listed(bound) == []
    if "user_id" in binding:
        problem(judge(bound, slot(acme), kind="entity"), 404)
        problem(bound.http.get(URL, params={"user_id": "ann"}), 403)


def test_a_bound_key_judges_and_sees_its_own(acme):
    for binding in ({"user_id": "ann"}, {"agent_id": "coder"}, {"project": "zeus"}):
        bound = acme.with_key(**binding)
        memory = bound.http.post("/api/v1/episodes", json={"text": "mine"}).json()["id"]
        judged(acme, memory)
        kept = judged(bound, memory)
        assert [one["judge"] for one in listed(bound)] == [bound.caller.principal, acme.caller.principal]
        assert listed(bound)[0] == kept


def test_of_one_judge_the_newest_verdict_counts(acme):
    memory = episode(acme)
    first = judged(acme, memory, "helpful", note="yes")
    second = judged(acme, memory, "harmful")
    assert listed(acme) == [second]
    assert (second["id"], second["verdict"], second["note"]) == (first["id"], "harmful", None)
    assert second["created_at"] > first["created_at"]


def test_another_judge_and_another_session_count_as_well(acme):
    memory = episode(acme)
    judged(acme, memory)
    judged(acme, memory, session_id="t")
    judged(acme.with_key(), memory)
    assert len(listed(acme)) == 3


def test_the_list_is_filtered_newest_first_and_goes_on(acme):
    mine, other = episode(acme), episode(acme, user_id="bob")
    judged(acme, mine, session_id="a")
    judged(acme, other, "harmful", session_id="b")
    judged(acme, mine, "not_helpful", session_id="c")

    def sessions(**query):
        return "".join(one["session_id"] for one in listed(acme, **query))

    assert sessions() == "cba"
    assert sessions(user_id="ann") == "ca"
    assert sessions(memory_id=other) == "b"
    assert sessions(verdict="harmful") == "b"
    assert sessions(session_id="a") == "a"
    assert sessions(kind="observation") == ""
    middle = listed(acme)[1]["created_at"]
    assert sessions(since=middle) == "cb"
    first = acme.http.get(URL, params={"limit": 2}).json()
    rest = acme.http.get(URL, params={"limit": 2, "cursor": first["next"]}).json()
    assert [one["session_id"] for one in first["results"] + rest["results"]] == ["c", "b", "a"]
    assert rest["next"] is None


@pytest.mark.parametrize(("query", "field"), [
    ({"kind": "dream"}, "kind"), ({"verdict": "nice"}, "verdict"), ({"since": "soon"}, "since"),
    ({"cursor": "x"}, "cursor"), ({"limit": "0"}, "limit"),
])  # fmt: skip
def test_what_is_not_valid_in_a_list_is_named(acme, query, field):
    problem(acme.http.get(URL, params=query), 422, field)


@pytest.mark.parametrize(("body", "fields"), [
    ({"verdict": "nice", "kind": "episode", "memory_id": "1"}, ["verdict"]),
    ({"kind": "episode", "memory_id": "1"}, ["verdict"]),
    ({"verdict": "helpful"}, ["kind", "memory_id"]),
    ({"verdict": "helpful", "kind": "episode"}, ["memory_id"]),
    ({"verdict": "helpful", "kind": "dream", "memory_id": "1"}, ["kind"]),
    ({"verdict": "helpful", "injection_id": "x"}, ["injection_id"]),
    ({"verdict": "helpful", "injection_id": str(uuid.uuid4()), "kind": "episode"}, ["kind"]),
    ({"verdict": "helpful", "kind": "episode", "memory_id": "1", "note": "x" * 1_001}, ["note"]),
    ({"verdict": "helpful", "kind": "episode", "memory_id": "1", "colour": 1}, ["colour"]),
])  # fmt: skip
def test_what_is_not_valid_is_named(acme, body, fields):
    problem(acme.http.post(URL, json=body), 422, *fields)


def test_what_was_asked_before_an_erasure_is_not_kept(acme):
    from recall.feedback import NewFeedback, give_feedback
    from tenants.tombstones import Erased

    began, memory = timezone.now(), episode(acme)
    begin_erasure(tenant_id=acme.tenant.id, user_id="ann", actor="test", now=timezone.now())
    new = NewFeedback("helpful", kind="episode", memory_id=memory)
    with pytest.raises(Erased):
        give_feedback(caller=acme.caller, new=new, now=began)
    assert listed(acme) == []


def test_the_share_of_helpful_verdicts_is_that_of_all_tenants_of_late(acme, globex):
    Feedback.objects.using("admin").all().delete()
    now = timezone.now()
    assert helpful_rate(now=now) is None
    for member, verdict in ((acme, "helpful"), (acme, "harmful"), (globex, "helpful"), (globex, "helpful")):
        judged(member, episode(member), verdict)
    assert helpful_rate(now=timezone.now()) == 0.75
    assert helpful_rate(now=timezone.now() + timedelta(days=8)) is None
    assert helpful_rate(now=timezone.now() + timedelta(days=8), days=9) == 0.75


def weigh(member, weight):
    admin = member.with_key(scopes=("read", "write", "admin"))
    changed = admin.http.patch("/api/v1/policy", json={"document": {"recall": {"feedback_weight": weight}}})
    assert changed.status_code == 200, changed.text


QUESTION = "What does Ann drink?"
DRINKS = ("Ann drinks tea in the morning.", "Ann drinks coffee in the morning.", "Ann has a red car.")


def test_without_a_weight_verdicts_move_nothing(acme):
    first, second, _third = remember(acme)
    for _session in range(3):
        judged(acme, second["id"], session_id=str(_session))
    assert [one["id"] for one in ask(acme, QUESTION, user_id="ann", top_k=2)["results"]] == [
        first["id"], second["id"],
    ]  # fmt: skip


def test_with_a_weight_they_move_a_memory_a_little_also_from_behind_the_last_that_is_answered(acme):
    first, second, third = remember(acme)
    for session in range(40):
        judged(acme, second["id"], session_id=str(session))
        judged(acme, third["id"], session_id=str(session))
    judged(acme, first["id"], "harmful")
    weigh(acme, 0.1)
    until_known(lambda: "feedback" in ask(acme, QUESTION, user_id="ann")["results"][0]["signals"])
    answer = ask(acme, QUESTION, user_id="ann", top_k=1, explain=True, profile="fused")
    (best,) = answer["results"]
    assert best["id"] == second["id"], "it was second without the verdicts"
    assert best["signals"]["feedback"] == pytest.approx(0.1 * 40 / 43)
    fused = 0.75 * best["signals"]["cosine"] + 0.25 * best["signals"]["recency"]
    assert best["score"] == pytest.approx(fused + best["signals"]["feedback"])
    assert best["explain"]["formula"] == "score = 0.75 · cosine + 0.25 · recency + entity + feedback"
    assert [one["name"] for one in answer["stages"]] == ["embed", "slots", "vector", "fusion", "feedback"]
    worst = ask(acme, QUESTION, user_id="ann", profile="fused")["results"][-1]
    assert worst["id"] == third["id"], "what has nothing to do with it stays behind"


def remember(member):
    """The episodes as recall ranks them without verdicts."""
    for text in DRINKS:
        episode(member, text)
    return ask(member, QUESTION, user_id="ann", profile="fused")["results"]
