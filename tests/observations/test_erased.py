"""What was in flight when a person was erased cannot come back."""

import pytest
from django.utils import timezone

from observations import saving
from tenants.tombstones import Erased
from tests.observations.notes import delete, edit, note, restore, rows_left, stored
from tests.privacy import people
from tests.working.conversation import at_once


@pytest.mark.parametrize("known", [False, True])
def test_a_write_that_was_begun_before_the_erasure_is_refused(acme, known):
    if known:
        note(acme.caller, "sesame", user_id="ann")
    began = timezone.now()
    people.erase(acme, "ann")
    with pytest.raises(Erased):
        note(acme.caller, "sesame", user_id="ann", now=began)
    assert not any(people.belongings(acme.tenant.id, "ann").values())
    assert rows_left(acme.caller) == {}
    assert note(acme.caller, "sesame", user_id="ann").action == "created", "a returning person starts anew"


def test_one_whose_session_is_found_before_the_erasure_is_refused_after_it(acme, monkeypatch):
    note(acme.caller, "sesame", user_id="ann")
    find = saving._session_of

    def erase_meanwhile(*named):
        session = find(*named)
        people.erase(acme, "ann")
        return session

    monkeypatch.setattr(saving, "_session_of", erase_meanwhile)
    with pytest.raises(Erased):
        note(acme.caller, "poppy")  # of the only session of that id: hers
    assert rows_left(acme.caller) == {}


def test_changes_and_restores_that_were_begun_before_it_are_refused(acme):
    one = note(acme.caller, "sesame", user_id="ann").observation
    trashed = note(acme.caller, "poppy", user_id="ann").observation
    delete(acme.caller, trashed.id)
    began = timezone.now()
    # A tombstone alone: the rows are still there, as they are for a moment.
    from tenants.scope import scope
    from tenants.tombstones import bury

    with scope(acme.tenant.id):
        bury(tenant_id=acme.tenant.id, user_id="ann", requested_by="test", now=timezone.now())
    with pytest.raises(Erased):
        edit(acme.caller, one.id, content="changed", now=began)
    with pytest.raises(Erased):
        restore(acme.caller, trashed.id, now=began)
    assert [row.content for row in stored(acme.caller)] == ["sesame", "poppy"]


def test_writers_racing_with_the_erasure_leave_nothing_from_before_it(acme):
    def write(n):
        began = timezone.now()
        try:
            note(acme.caller, f"sesame {n % 3}", user_id="ann", topic_key=("", "t")[n % 2], now=began)
        except Erased:
            return None
        return began

    results = at_once(*(lambda n=n: write(n) for n in range(12)), lambda: people.erase(acme, "ann"))
    erased_at = results[-1].erased_at
    assert all(row.created_at > erased_at for row in stored(acme.caller))


def test_what_is_nobodys_is_never_refused(acme):
    began = timezone.now()
    people.erase(acme, "ann")
    assert note(acme.caller, "sesame", now=began).action == "created"
