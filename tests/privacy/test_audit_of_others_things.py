"""The audit log of a person also has what was done to a memory or a session of theirs."""

import pytest
from django.utils import timezone

from observations.reassigning import Owner, reassign_observation
from recall.viewing import view_transcript
from tenants.scope import scope
from tests.observations.notes import note
from working.models import Session


@pytest.fixture
def officer(acme):
    return acme.with_key(scopes=("privacy",))


def actions(member, **query):
    return [one["action"] for one in member.http.get("/api/v1/audit", params=query).json()["results"]]


def test_a_memory_that_was_given_to_another_person_is_found_for_both(acme, officer):
    caller = acme.with_key(scopes=("admin",)).caller
    mine = note(caller, "Likes the night train.", user_id="ann").observation
    nobodys = note(caller, "Likes the day train.", user_id="cat").observation
    for one, user in ((mine, "bob"), (nobodys, "")):
        reassign_observation(caller=caller, observation_id=one.id, owner=Owner(user, ""), now=timezone.now())
    for user in ("ann", "bob", "cat"):
        assert actions(officer, user_id=user) == ["memory.reassign"], user
        bound = acme.with_key(scopes=("privacy",), user_id=user)
        assert actions(bound) == ["memory.reassign"]
    assert actions(officer, user_id="dan") == []
    assert actions(officer, user_id="ann", action="subject.erase") == []
    assert "night train" not in officer.http.get("/api/v1/audit", params={"user_id": "ann"}).text


def test_a_conversation_that_was_looked_at_is_found_for_its_person(acme, officer):
    acme.http.post("/api/v1/sessions", json={"session_id": "s", "user_id": "ann"}).raise_for_status()
    with scope(acme.tenant.id):
        row = Session.objects.get(external_id="s")
    view_transcript(caller=acme.with_key(scopes=("admin",)).caller, row_id=row.id)
    assert actions(officer, user_id="ann")
    assert actions(officer, user_id="bob") == []
