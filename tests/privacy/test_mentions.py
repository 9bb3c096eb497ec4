"""Other people's rows stay without the person's id in their lists; a word that means another thing is not
the person's."""

from django.utils import timezone

from episodic.models import Episode, EpisodeRevision, EpisodeWords
from observations.models import Observation, ObservationRevision
from tenants.models import StoredAnswer
from tenants.scope import scope
from tests.api.bodies import AGENT
from tests.isolation.tables import FACTORIES, store
from tests.observations.notes import note
from tests.privacy import people
from tests.store.items import BATCH, put
from webhooks.models import Delivery

ZUZ = "zuzana42"


def episode(member, text="Met her.", *, key=None, **more):
    body = {"text": text, "user_id": "bob"} | more
    headers = {"Idempotency-Key": key} if key else {}
    answer = member.http.post("/api/v1/episodes", json=body, headers=headers)
    answer.raise_for_status()
    return answer.json()["id"]


def test_ids_in_lists_of_others_go_and_their_prose_stays(acme):
    one = episode(acme, f"{ZUZ} came.", entities=[ZUZ, "oslo"], topics=["tea", ZUZ], key="k1")
    acme.http.patch(f"/api/v1/episodes/{one}", json={"outcome": "fine"}).raise_for_status()
    note(acme.caller, "Green tea.", user_id="bob", tags=(ZUZ, "tea"))
    aegis = {"agent_id": "coder", "conversation_id": "c", "summary": "x", "entities_mentioned": [ZUZ, "oslo"]}
    acme.http.post("/episodic/store", json=aegis).raise_for_status()
    old = FACTORIES[ObservationRevision](acme.tenant.id)
    old.tags = [ZUZ, "tea"]
    store(old)
    receipt = people.erase(acme, ZUZ).receipt
    assert receipt["residue"] == {}
    assert receipt["erased"] | {
        "episode_mention": 2, "episode_revision_mention": 1, "observation_mention": 1,
        "observation_revision_mention": 1, "stored_answer_mention": 1,
    } == receipt["erased"]  # fmt: skip
    with scope(acme.tenant.id):
        kept = Episode.objects.get(id=one)
        assert (kept.text, kept.entities, kept.topics) == (f"{ZUZ} came.", ["oslo"], ["tea"])
        assert EpisodeRevision.objects.get(episode_id=one).entities == ["oslo"]
        assert EpisodeWords.objects.get(id=one).names == ["oslo", "tea"]
        assert Observation.objects.get(user_id="bob").tags == ["tea"]
        assert Episode.objects.get(agent_id="coder").entities_mentioned == ["oslo"]
        assert ZUZ in StoredAnswer.objects.get(key="k1").body  # in the prose


def test_a_kept_answer_that_says_the_id_elsewhere_is_emptied(acme):
    """The write that it was for is not done a second time."""
    named = episode(acme, metadata={"friend": {"who": ZUZ}}, key="k2")
    episode(acme, metadata={"project": ZUZ}, key="k3")
    acme.http.delete(f"/api/v1/episodes/{named}").raise_for_status()
    receipt = people.erase(acme, ZUZ).receipt
    assert receipt["erased"]["stored_answer_mention"] == 1
    assert "tenants_storedanswer.body" not in receipt["residue"]
    with scope(acme.tenant.id):
        emptied = StoredAnswer.objects.get(key="k2")
        assert (emptied.body, emptied.headers) == ("", {})
        assert ZUZ in StoredAnswer.objects.get(key="k3").body  # a project of that name
    body = {"text": "Met her.", "user_id": "bob", "metadata": {"friend": {"who": ZUZ}}}
    again = acme.http.post("/api/v1/episodes", json=body, headers={"Idempotency-Key": "k2"})
    assert (again.status_code, "was done before" in again.text) == (409, True)


def test_a_kept_answer_that_shows_what_nobody_keeps_under_the_name_is_emptied(acme):
    put(acme, ["users", ZUZ], "k", {"text": "She drinks tea."})
    put(acme, ["users"], "k", {"text": "They drink tea.", "with": [ZUZ]})
    for key, namespace in (("k4", ["users", ZUZ]), ("k5", ["users"])):
        operations = [
            {"op": "get", "namespace": namespace, "key": "k"},
            {"op": "namespaces"},
            {"op": "put", "namespace": ["users"], "key": key, "value": {"n": 1}},
        ]
        headers = {"Idempotency-Key": key}
        acme.http.post(BATCH, json={"operations": operations}, headers=headers).raise_for_status()
    receipt = people.erase(acme, ZUZ).receipt
    assert receipt["erased"]["stored_answer_mention"] == 2
    with scope(acme.tenant.id):
        assert StoredAnswer.objects.get(key="k4").body == ""
        kept = StoredAnswer.objects.get(key="k5").body
    assert ("They drink tea." in kept, ZUZ in kept) == (True, False)


def test_words_of_the_index_are_made_anew(acme):
    one = episode(acme, entities=[ZUZ])
    found = {"query": ZUZ, "user_id": "bob"}
    with scope(acme.tenant.id):
        before = EpisodeWords.objects.get(id=one).length
    people.erase(acme, ZUZ)
    with scope(acme.tenant.id):
        assert EpisodeWords.objects.get(id=one).length == before - 1
    assert acme.http.post("/api/v1/recall", json=found).is_success


def test_what_is_listed_after_the_request_stays(acme):
    tombstone = people.erase(acme, ZUZ)
    one = episode(acme, entities=[ZUZ])
    assert tombstone.erased_at < timezone.now()
    people.run_jobs()
    with scope(acme.tenant.id):
        assert Episode.objects.get(id=one).entities == [ZUZ]


def test_ids_that_are_words_of_another_kind_leave_a_clean_verdict(acme):
    """A project, a type, an agent, a scope: all of them are in use, and somebody is called like each."""
    admin = acme.with_key(scopes=("read", "write", "ingest", "admin"))
    admin.http.put("/api/v1/agents/coder", json=AGENT).raise_for_status()
    told = FACTORIES[Delivery](acme.tenant.id)
    told.data = {"kind": "observation", "agent_id": "coder", "project": "p1", "user_id": "bob"}
    store(told)
    headers = {"Idempotency-Key": "w"}
    body = {"session_id": "s", "type": "decision", "title": "Tea", "content": "Green tea.", "project": "p1"}
    acme.http.post("/observations", json=body, headers=headers).raise_for_status()
    note(acme.caller, topic_key="pot", user_id="bob", project="p1")
    episode(acme, agent_id="coder", metadata={"type": "decision", "project": "p1"})
    for who in ("p1", "decision", "coder", "project", "pot", "observation", "episode"):
        receipt = people.erase(acme, who).receipt
        assert (who, receipt["residue"]) == (who, {})
    places = people.erase(acme, "p1").receipt["coincidences"]
    assert {"observations_observation.project", "observation_search.corpus"} <= set(places)
    assert "tenants_agent.name" in people.erase(acme, "coder").receipt["coincidences"]


def test_the_same_word_under_another_key_is_the_persons(acme):
    episode(acme, metadata={"project": "p1", "friend": "p1"})
    receipt = people.erase(acme, "p1").receipt
    assert receipt["residue"] == {"agent_episodes.metadata": 1}
    assert "agent_episodes.metadata" not in receipt["coincidences"]
