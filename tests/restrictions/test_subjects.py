"""What the doors of a person's own page and of privacy officers ask of a person's memory."""

import pytest
from django.utils import timezone

from episodic.editing import list_revisions
from episodic.models import Entity, Episode
from ledger.feedback import Judged, put_feedback
from observations.models import Observation
from recall import subjects
from recall.subjects import (
    forget_memory,
    list_memories,
    list_subjects,
    list_uses,
    rectify_memory,
    summary_of,
)
from tenants.audit import list_entries
from tenants.errors import Forbidden, Invalid, NotFound
from tenants.models import AuditEntry
from tenants.restrictions import restrict_subject
from tenants.scope import restricted_shown, scope
from tests.conftest import Member, make_member
from tests.observations.notes import note
from tests.store.items import put

KINDS = subjects.KINDS


def remember(member: Member, user: str) -> None:
    """One memory of each kind."""
    member.http.post("/api/v1/episodes", json={"text": "likes tea", "user_id": user}).raise_for_status()
    path = f"/api/v1/entities/{user}/editor"
    member.http.put(path, json={"value": "vim"}).raise_for_status()
    note(member.caller, "uses tabs", user_id=user, project="p", session_id="talk")


def of_kind(member: Member, kind: str, user: str = "ann") -> subjects.Remembered:
    return list_memories(caller=member.caller, user_id=user, kinds=[kind], limit=1)[0]


@pytest.fixture(params=[False, True], ids=["", "restricted"])
def member(request, server) -> Member:
    """Acme remembers Ann and Bob; Ann's memory is restricted or not."""
    acme = make_member("acme", server)
    for user in ("ann", "bob"):
        remember(acme, user)
    if request.param:
        restrict_subject(caller=acme.caller, user_id="ann", reason="", now=timezone.now())
    return acme


def test_memories_of_all_kinds_are_listed_newest_first_page_by_page(member):
    whole = list_memories(caller=member.caller, user_id="ann", limit=10)
    assert {one.kind for one in whole} == set(KINDS)
    assert [one.created_at for one in whole] == sorted((one.created_at for one in whole), reverse=True)
    before, found = None, []
    while page := list_memories(caller=member.caller, user_id="ann", limit=1, before=before):
        found += page
        before = page[-1].place
    assert found == whole


def test_what_is_kept_under_their_name_is_listed_in_its_place(acme):
    for number in range(3):
        put(acme, ["users", "ann"], f"k{number}", {"text": f"item {number}"})
        remember(acme, "ann")
    put(acme, ["users", "bob"], "k", {"text": "bob's"})
    for _twice in range(2):
        whole = list_memories(caller=acme.caller, user_id="ann", kinds=["episode"], limit=10)
        assert [one.text for one in whole if one.is_kept_under] == ["item 2", "item 1", "item 0"]
        before, found = None, []
        while page := list_memories(
            caller=acme.caller, user_id="ann", kinds=["episode"], limit=1, before=before
        ):
            found += page
            before = page[-1].place
        assert found == whole
        assert summary_of(caller=acme.caller, user_id="ann").memories["episode"] == len(whole)
        restrict_subject(caller=acme.caller, user_id="ann", reason="", now=timezone.now())


def test_only_the_kinds_named_are_listed(member):
    assert [
        one.text for one in list_memories(caller=member.caller, user_id="ann", kinds=["entity"], limit=9)
    ] == ["editor: vim"]
    with pytest.raises(Invalid):
        list_memories(caller=member.caller, user_id="ann", kinds=["secret"], limit=9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_memory_is_rectified_and_what_it_said_before_kept(kind, member):
    one = of_kind(member, kind)
    done = rectify_memory(
        caller=member.caller, user_id="ann", kind=kind, id=one.id, text="what is right", now=timezone.now()
    )
    assert "what is right" in done.text
    assert "what is right" in of_kind(member, kind).text
    with restricted_shown(), scope(member.tenant.id):
        assert Entity.objects.filter(user_id="ann", value="vim").exists()
        entry = AuditEntry.objects.get(action="memory.rectify")
    assert "right" not in str(entry.details)
    assert entry.details["memory"] == one.id
    if kind == "episode":
        with restricted_shown():
            (before,) = list_revisions(caller=member.caller, episode_id=Episode(id=one.id).id, limit=5)
        assert before.text == "likes tea"


@pytest.mark.parametrize("kind", KINDS)
def test_a_memory_is_forgotten_for_good(kind, member):
    one = of_kind(member, kind)
    forget_memory(caller=member.caller, user_id="ann", kind=kind, id=one.id, now=timezone.now())
    assert list_memories(caller=member.caller, user_id="ann", kinds=[kind], limit=9) == []
    with restricted_shown(), scope(member.tenant.id):
        model = {"episode": Episode, "entity": Entity, "observation": Observation}[kind]
        assert not model.objects.filter(user_id="ann").exists()
        assert model.objects.filter(user_id="bob").exists()
        assert AuditEntry.objects.filter(action="memory.forget").count() == 1


def test_the_audit_log_tells_of_both_under_the_persons_name(member):
    one, now = of_kind(member, "episode"), timezone.now()
    named = {"caller": member.caller, "user_id": "ann", "kind": "episode", "id": one.id, "now": now}
    rectify_memory(**named, text="what is right")
    forget_memory(**named)
    officer = member.with_key(scopes=("privacy",)).caller
    found = [entry.action for entry in list_entries(caller=officer, limit=2, subject="ann")]
    assert found == ["memory.forget", "memory.rectify"]
    assert list_entries(caller=officer, limit=2, subject="bob") == []


@pytest.mark.parametrize("kind", KINDS)
def test_anothers_memory_is_not_found(kind, member):
    one, now = of_kind(member, kind, "bob"), timezone.now()
    named = {"caller": member.caller, "user_id": "ann", "kind": kind, "now": now}
    for memory_id in (one.id, "no id"):
        with pytest.raises(NotFound):
            rectify_memory(**named, id=memory_id, text="x")
        with pytest.raises(NotFound):
            forget_memory(**named, id=memory_id)
    assert of_kind(member, kind, "bob") == one


def test_a_key_that_is_bound_to_a_part_of_the_memory_is_refused(member):
    for bound in ({"agent_id": "coder"}, {"project": "p"}, {"user_id": "bob"}):
        caller = member.with_key(**bound).caller
        with pytest.raises(Forbidden):
            list_memories(caller=caller, user_id="ann", limit=1)
        with pytest.raises(Forbidden):
            summary_of(caller=caller, user_id="ann")


def test_uses_tell_where_a_memory_was_told_and_what_was_thought_of_it(acme):
    remember(acme, "ann")
    one, now = of_kind(acme, "episode"), timezone.now()
    acme.http.post(
        "/ledger/talk/mark", params={"user_id": "ann"}, json={"item_key": f"episode:{one.id}", "value": "v"}
    ).raise_for_status()
    judged = Judged(kind="episode", memory_id=one.id, user_id="ann", session="talk")
    put_feedback(caller=acme.caller, judged=judged, verdict="helpful", note="", now=now)
    acme.http.post(
        "/ledger/other/mark", params={"user_id": "ann"}, json={"item_key": "episode:another", "value": "v"}
    ).raise_for_status()
    restrict_subject(caller=acme.caller, user_id="ann", reason="", now=now)
    found = list_uses(caller=acme.caller, user_id="ann", limit=9)
    assert [(use.session, use.verdict) for use in found] == [("other", None), ("talk", "helpful")]
    (use,) = list_uses(caller=acme.caller, user_id="ann", kind="episode", id=one.id, limit=9)
    assert (use.memory_id, use.session) == (one.id, "talk")
    later = list_uses(caller=acme.caller, user_id="ann", limit=9, before=(found[0].used_at, found[0].id))
    assert later == [use]


def test_the_summary_counts_what_there_is(member):
    summary = summary_of(caller=member.caller, user_id="ann")
    assert summary.memories == {"entity": 1, "episode": 1, "observation": 1}
    assert summary.first_seen_at <= summary.last_seen_at
    assert (summary.sessions, summary.erasures) == (1, 0)
    nobody = summary_of(caller=member.caller, user_id="nobody")
    assert (sum(nobody.memories.values()), nobody.first_seen_at) == (0, None)


def test_people_are_listed_in_the_order_of_ids_page_by_page(member):
    people = list_subjects(caller=member.caller, limit=9)
    assert [(one.user_id, one.episodes, one.entities, one.observations) for one in people] == [
        ("ann", 1, 1, 1),
        ("bob", 1, 1, 1),
    ]
    assert [one.user_id for one in list_subjects(caller=member.caller, limit=9, after="ann")] == ["bob"]
    assert [one.user_id for one in list_subjects(caller=member.caller, limit=1)] == ["ann"]
    assert [one.user_id for one in list_subjects(caller=member.caller, query="bo", limit=9)] == ["bob"]
    assert list_subjects(caller=member.caller, query="%", limit=9) == []
    bound = member.with_key(user_id="bob").caller
    assert [one.user_id for one in list_subjects(caller=bound, limit=9)] == ["bob"]


def test_another_tenants_people_are_not_listed(member, globex):
    assert list_subjects(caller=globex.caller, limit=9) == []
