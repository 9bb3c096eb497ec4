"""What privacy officers look at, and nobody else."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.utils import timezone

from episodic.episodes import store_episode
from episodic.types import NewEpisode
from tenants.errors import Forbidden, NotFound
from tenants.privacy.erasure import request_erasure
from tenants.privacy.export import request_export
from tenants.privacy.requests import (
    access_erasure,
    access_receipt,
    blast_radius,
    exports_of,
    find_left,
    list_all_receipts,
    open_requests,
)
from tenants.restrictions import restrict_subject
from tests.recall.talking import run_jobs


@pytest.fixture
def officer(acme):
    return acme.with_key(scopes=("read", "privacy")).caller


@pytest.fixture
def stranger(globex):
    return globex.with_key(scopes=("read", "privacy")).caller


def remember(member, text="Ann drinks tea.", user="ann"):
    new = NewEpisode(text=text, user_id=user)
    return store_episode(caller=member.caller, new=new, now=timezone.now()).id


def later():
    return timezone.now() + timedelta(seconds=1)


def test_the_blast_radius_is_what_an_erasure_takes(acme, globex, officer):
    remember(acme)
    remember(acme, "Ann lives in Oslo.")
    remember(acme, "Ben drinks tea.", user="ben")
    remember(globex)
    counts = blast_radius(caller=officer, user_id="ann", now=later())
    assert counts["episode"] == 2
    job = request_erasure(caller=officer, user_id="ann", now=later())
    run_jobs()
    done = access_erasure(caller=officer, job_id=job.id)
    assert done.result["erased"]["episode"] == 2
    assert blast_radius(caller=officer, user_id="ann", now=later()).get("episode") is None
    receipt = access_receipt(caller=officer, receipt_id=done.result["id"])
    assert receipt in list_all_receipts(caller=officer, limit=5)


def test_exports_are_seen_by_every_officer_also_of_the_restricted(acme, officer):
    remember(acme)
    job = request_export(caller=officer, user_id="ann", now=timezone.now())
    assert [one.id for one in open_requests(caller=officer, limit=5)] == [job.id]
    assert exports_of(caller=officer, user_id="ann", now=timezone.now())[0].is_waiting
    run_jobs()
    restrict_subject(caller=officer, user_id="ann", reason="", now=timezone.now())
    second = acme.with_key(scopes=("privacy",)).caller
    (found,) = exports_of(caller=second, user_id="ann", now=timezone.now())
    assert found.link is not None
    assert blast_radius(caller=second, user_id="ann", now=later())["episode"] == 1
    assert open_requests(caller=officer, limit=5) == []


def test_a_neighbour_and_a_lesser_key_see_nothing(acme, officer, stranger):
    remember(acme)
    request_export(caller=officer, user_id="ann", now=timezone.now())
    job = request_erasure(caller=officer, user_id="ben", now=timezone.now())
    assert blast_radius(caller=stranger, user_id="ann", now=later()) == {}
    assert exports_of(caller=stranger, user_id="ann", now=timezone.now()) == []
    assert open_requests(caller=stranger, limit=5) == []
    assert list_all_receipts(caller=stranger, limit=5) == []
    for receipt_id in (list_all_receipts(caller=officer, limit=1)[0].id, uuid4()):
        with pytest.raises(NotFound):
            access_receipt(caller=stranger, receipt_id=receipt_id)
    with pytest.raises(NotFound):
        access_erasure(caller=stranger, job_id=job.id)
    for caller in (acme.caller, acme.with_key(scopes=("privacy",), user_id="ann").caller):
        with pytest.raises(Forbidden):
            open_requests(caller=caller, limit=5)
        with pytest.raises(Forbidden):
            list_all_receipts(caller=caller, limit=5)


def test_what_was_left_is_told_to_an_officer_who_names_the_person(acme, officer, stranger):
    new = NewEpisode(text="Tea.", user_id="ben", metadata={"friend": "ann"})
    mine = store_episode(caller=acme.caller, new=new, now=timezone.now()).id
    request_erasure(caller=officer, user_id="ann", now=later())
    run_jobs()
    (receipt,) = list_all_receipts(caller=officer, limit=1)
    asked = {"receipt": receipt, "things": {"agent_episodes": "id"}}
    found = find_left(caller=officer, user_id="ann", **asked)
    assert found.rows == {"agent_episodes.metadata": [str(mine)]}
    assert find_left(caller=officer, user_id="ben", **asked) is None
    assert find_left(caller=stranger, user_id="ann", **asked) is None
    for caller in (acme.caller, acme.with_key(scopes=("read", "privacy"), user_id="ann").caller):
        with pytest.raises(Forbidden):
            find_left(caller=caller, user_id="ann", **asked)
