"""The summary in a language model's words: after the end, once, and never against what happened meanwhile."""

import json
import threading
import time

import pytest
from django.db import connections
from django.utils import timezone
from django_redis import get_redis_connection

from episodic.models import Episode, EpisodeEmbedding
from recall.asking import TRIES
from recall.rewriting import REWRITE
from recall.sessions import delete_session, end_session
from tenants import usage
from tenants.jobs import runner
from tenants.models import Job, ProviderUsage
from tenants.privacy.erasure import request_erasure
from tenants.scope import scope
from tests.recall.faults import try_again
from tests.working.conversation import S, append, contents, reference, state, turn, window
from tests.working.idleness import IDLE, let_pass
from working import keys
from working.sessions import access_session
from working.types import SessionAddress

ANN = SessionAddress("s", "ann")
SAID = "My dog is called Rex and order 4711 has not arrived."


@pytest.fixture
def caller(acme):
    return acme.caller


def end(caller, address=S):
    return end_session(caller=caller, address=address, now=timezone.now())


def jobs(caller, kind=REWRITE):
    with scope(caller.tenant_id):
        return list(Job.objects.filter(tenant_id=caller.tenant_id, kind=kind))


def run_jobs():
    while runner.run_jobs(slow=True):
        pass


def episodes(caller):
    with scope(caller.tenant_id):
        return list(Episode.objects.filter(tenant_id=caller.tenant_id).order_by("created_at"))


def summary(caller, address=S):
    return access_session(caller=caller, address=address).summary


def test_without_a_model_there_is_no_job(caller):
    append(caller, turn("user", SAID))
    end(caller)
    assert jobs(caller) == []


def test_the_end_answers_at_once_and_the_model_improves_it_afterwards(caller, llm):
    append(caller, turn("user", SAID), turn("assistant", "I am on it."))
    ended = end(caller)
    assert ended.summary.startswith("Session with 2 messages.")
    assert llm.count("/v1/chat/completions") == 0
    (job,) = jobs(caller)
    assert set(job.payload) == {"session", "episode"}
    run_jobs()
    (episode,) = episodes(caller)
    assert episode.id == ended.episode_id
    assert episode.text != ended.summary
    assert episode.metadata["deterministic"] == ended.summary
    assert episode.metadata["provider"] == "openai"
    assert episode.metadata["model"] == "gpt-4.1-mini"
    assert episode.metadata["prompt"] == "session_summary.v1"
    assert (episode.metadata["kind"], episode.metadata["message_count"]) == ("session_summary", 2)
    assert summary(caller) == window(caller).summary == episode.text
    assert end(caller).summary == episode.text
    assert jobs(caller) == []


def test_the_model_sees_the_turns_and_its_use_is_counted_as_the_tenants(caller, llm):
    append(caller, turn("user", SAID), turn("tool", "42", tool_call_id="x"))
    end(caller)
    run_jobs()
    (request,) = [one for one in llm.requests if one["path"] == "/v1/chat/completions"]
    assert f"user: {SAID}" in json.dumps(request["body"])
    usage.flush()
    with scope(caller.tenant_id):
        used = ProviderUsage.objects.get(tenant_id=caller.tenant_id, purpose="session_summary")
    assert (used.calls, used.failures) == (1, 0)
    assert used.input_tokens > 0


def test_the_new_words_are_found_and_the_old_vector_is_gone(acme, llm):
    append(acme.caller, turn("user", SAID))
    end(acme.caller)
    (before,) = vectors(acme.caller)
    run_jobs()
    (after,) = vectors(acme.caller)
    assert list(after) != list(before)
    (episode,) = episodes(acme.caller)
    assert episode.embed_pending is False


def vectors(caller):
    with scope(caller.tenant_id):
        found = EpisodeEmbedding.objects.filter(tenant_id=caller.tenant_id)
        return list(found.values_list("embedding", flat=True))


def test_a_reader_meanwhile_sees_one_of_the_two_and_then_the_new_one(caller, llm):
    append(caller, turn("user", SAID))
    first = end(caller).summary
    assert window(caller).summary == first, "the list is in Redis again, with the old summary"
    run_jobs()
    assert not [name for name in state(caller) if name.startswith("d:")], "and no mark is left"
    assert window(caller).summary == episodes(caller)[0].text != first
    assert contents(caller) == [SAID]


def test_a_session_that_went_on_and_ended_again_keeps_its_newer_summary(caller, llm):
    append(caller, turn("user", "first part"))
    end(caller)
    append(caller, turn("user", "second part"))
    newer = end(caller)
    with scope(caller.tenant_id):
        Job.objects.filter(kind=REWRITE, payload__episode=str(newer.episode_id)).delete()
    run_jobs()
    first, second = episodes(caller)
    assert "model" in first.metadata
    assert "model" not in second.metadata
    assert summary(caller) == window(caller).summary == second.text == newer.summary


def test_off_schema_is_a_dead_letter_in_the_end_and_the_deterministic_text_stays(caller, llm):
    llm.control(off_schema=-1)
    append(caller, turn("user", SAID))
    ended = end(caller)
    for attempts in range(TRIES):
        try_again(caller, REWRITE, attempts=attempts)
    (job,) = jobs(caller)
    assert (job.state, job.error.partition(":")[0]) == ("failed", "The answer is no valid SessionSummary")
    assert SAID not in job.error
    assert episodes(caller)[0].text == summary(caller) == ended.summary


def test_a_refusal_is_a_dead_letter_in_the_end(caller, llm):
    llm.control(refusal=-1)
    append(caller, turn("user", SAID))
    end(caller)
    try_again(caller, REWRITE, attempts=TRIES - 1)
    assert [job.state for job in jobs(caller)] == ["failed"]


def test_a_model_that_is_away_is_asked_again(caller, llm):
    llm.control(wrong=1)
    append(caller, turn("user", SAID))
    ended = end(caller)
    run_jobs()
    (job,) = jobs(caller)
    assert (job.state, job.attempts) == ("queued", 1)
    assert episodes(caller)[0].text == ended.summary
    with scope(caller.tenant_id):
        Job.objects.filter(id=job.id).update(run_at=timezone.now())
    run_jobs()
    assert jobs(caller) == []
    assert "model" in episodes(caller)[0].metadata


def test_a_job_done_twice_asks_once(caller, llm):
    append(caller, turn("user", SAID))
    end(caller)
    (job,) = jobs(caller)
    run_jobs()
    with scope(caller.tenant_id):
        job.state = "queued"
        job.save(force_insert=True)
    run_jobs()
    assert llm.count("/v1/chat/completions") == 1


def test_an_idle_session_gets_the_models_words_too(caller, llm):
    from recall.lifecycle import end_idle_session

    append(caller, turn("user", SAID))
    let_pass(caller, IDLE * 1.1)
    session = access_session(caller=caller, address=S)
    end_idle_session(tenant_id=caller.tenant_id, session_id=session.id, now=timezone.now())
    run_jobs()
    assert "model" in episodes(caller)[0].metadata


def test_without_a_vector_it_is_embedded_later(caller, llm, monkeypatch):
    from episodic.embedding import embed_pending
    from recall import rewriting

    append(caller, turn("user", SAID))
    end(caller)
    with monkeypatch.context() as broken:
        broken.setattr(rewriting, "try_embed", lambda texts, **given: None)
        run_jobs()
    assert (episodes(caller)[0].embed_pending, vectors(caller)) == (True, [])
    embed_pending()
    assert episodes(caller)[0].embed_pending is False
    assert len(vectors(caller)) == 1


def test_a_vector_of_the_former_words_is_not_stored(caller, llm):
    """Somebody has embedded the deterministic text while the model wrote another."""
    from episodic.embedding import store_vectors
    from tenants.embedding import try_embed

    append(caller, turn("user", SAID))
    end(caller)
    (stale,) = episodes(caller)
    run_jobs()
    with scope(caller.tenant_id):
        EpisodeEmbedding.objects.filter(tenant_id=caller.tenant_id).delete()
        Episode.objects.filter(tenant_id=caller.tenant_id).update(embed_pending=True)
    found = try_embed([stale.text], tenant_id=caller.tenant_id)
    with scope(caller.tenant_id):
        store_vectors([stale], found)
    assert (episodes(caller)[0].embed_pending, vectors(caller)) == (True, [])


def in_flight(llm, meanwhile):
    """Runs the job, and `meanwhile` while the model thinks."""
    llm.control(slow=1.5)

    def work():
        try:
            run_jobs()
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    until = time.monotonic() + 60
    while not llm.count("/v1/chat/completions"):
        assert time.monotonic() < until
        time.sleep(0.02)
    meanwhile()
    thread.join()


def test_a_person_erased_while_the_model_thinks_leaves_nothing(caller, llm):
    append(caller, turn("user", SAID), address=ANN)
    end(caller, ANN)
    window(caller, ANN)

    def erase():
        request_erasure(caller=caller, user_id="ann", now=timezone.now())
        llm.control(slow=0.0)
        run_jobs()
        assert episodes(caller) == []

    in_flight(llm, erase)
    assert episodes(caller) == []
    assert vectors(caller) == []
    assert jobs(caller) == []
    left = get_redis_connection().scan_iter(f"*{caller.tenant_id.hex}*ann*", count=10_000)
    assert list(left) == []


def test_a_session_deleted_while_the_model_thinks_stays_deleted(caller, llm):
    append(caller, turn("user", SAID))
    end(caller)
    ref = reference(caller)
    in_flight(llm, lambda: delete_session(caller=caller, address=S, now=timezone.now()))
    (episode,) = episodes(caller)
    assert "model" in episode.metadata, "what became long-term stays, and may be improved"
    assert get_redis_connection().exists(*keys.all_of(ref)) == 0
