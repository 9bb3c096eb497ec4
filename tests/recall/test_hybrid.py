"""The default ranking: words, meaning, the turns around, speakers and times; as many as asked for."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from django.utils import timezone

from episodic import keyword, search
from episodic.embedding import embed_pending
from episodic.episodes import build_episode
from episodic.inserting import insert_episodes
from episodic.record_tests import FieldTest
from episodic.retraction import retract_episode
from episodic.types import EpisodeFilter, NewEpisode
from ledger.feedback import Judged, put_feedback
from recall import hybrid
from recall.hybrid import candidates_for
from recall.ranking.signals import SIGNALS
from recall.recall import recall
from recall.types import RecallQuery
from tenants.errors import Unavailable
from tenants.scope import scope
from tests.conftest import make_member
from tests.recall.talking import decide
from tests.recall.vectors import fill, unit_vectors

TALK = [
    "Ana: The garden looks wonderful this year.",
    "Bo: Which colour did you paint the shed?",
    "Ana: Dark green, like the door.",
    "Bo: I still want to repair the old bicycle.",
    "Ana: We drove to the lake and swam until noon.",
    "Bo: My sister sings in a choir in Leeds.",
    "Ana: The tomatoes did not ripen at all.",
]


def say(caller, *texts, user_id="u1", session="s1", first=1, day=None, insert=True, **more):
    """Verbatim turns of one session, as a policy that indexes turns keeps them; without vectors."""
    now = timezone.now()
    episodes = [
        build_episode(
            caller=caller,
            now=now + timedelta(microseconds=place),
            new=NewEpisode(
                text=text, user_id=user_id, session_id=session, memory_type="message",
                covers_turns=(place, place), event_date=day, **more,
            ),
        )
        for place, text in enumerate(texts, start=first)
    ]  # fmt: skip
    if insert:
        with scope(caller.tenant_id):
            insert_episodes(episodes)
    return episodes


@pytest.fixture
def talk(caller):
    say(caller, *TALK)
    embed_pending()
    return caller


def away():
    raise Unavailable("The model is away.")


def ask(caller, text, *, top_k=3, profile="hybrid", embedding=None, user_id="u1", **where):
    query = RecallQuery(text, EpisodeFilter(user_id=user_id, **where), top_k, profile)
    return recall(caller=caller, query=query, embedding=embedding)


def texts(found):
    return [hit.episode.text for hit in found.hits]


def signals(caller, text, of, **where):
    """The signals of one text among the candidates."""
    found = candidates_for(
        caller=caller, text=text, where=EpisodeFilter(user_id="u1", **where), now=timezone.now()
    )
    with scope(caller.tenant_id):
        from episodic.querysets import by_id

        rows = by_id(tenant_id=caller.tenant_id, ids=list(found.ids))
    row = next(place for place, one in enumerate(found.ids) if rows[one].text == of)
    return dict(zip(SIGNALS, found.signals[row].tolist(), strict=True))


def test_the_answer_to_a_question_is_found_by_the_question_s_words(talk):
    found = ask(talk, "What colour is the shed?", top_k=2)
    assert set(texts(found)) == {TALK[1], TALK[2]}
    answer = signals(talk, "What colour is the shed?", TALK[2])
    assert (answer["words"], answer["answers"]) == (0.0, 1.0)
    assert answer["words_around"] > 0


def test_the_turns_around_are_admitted_among_what_is_nobodys_too(caller, monkeypatch):
    for name in ("EACH", "TIMES", "NEWEST"):  # so that the answer is no candidate by itself
        monkeypatch.setattr(hybrid, name, 1)
    mine = {one.id: one.text for one in say(caller, *TALK, user_id="", agent_id="ada")}
    say(caller, *TALK, user_id="u2", agent_id="ada")
    embed_pending()
    nobodys = EpisodeFilter(agent_id="ada", tests=(FieldTest("user_id", "eq", ""),))
    question = {"text": "What colour is the shed?", "now": timezone.now(), "wanted": 1}
    found = candidates_for(caller=caller, where=nobodys, **question)
    assert set(found.ids) <= set(mine)
    assert TALK[2] in {mine[one] for one, is_in in zip(found.ids, found.admitted, strict=True) if is_in}


def test_who_is_named_is_found_by_their_turns(talk):
    assert signals(talk, "What does Ana grow?", TALK[6])["speaker"] == 1
    assert signals(talk, "What does Ana grow?", TALK[5])["speaker"] == 0
    assert signals(talk, "Is it Bo's bicycle?", TALK[3])["speaker"] == 1


def test_a_time_that_is_named_draws_what_was_said_then(caller):
    may, june = datetime(2025, 5, 10, tzinfo=UTC), datetime(2025, 6, 10, tzinfo=UTC)
    say(caller, "Ana: I bought a boat.", session="may", day=may)
    say(caller, "Ana: I bought a bike.", session="june", day=june)
    embed_pending()
    assert texts(ask(caller, "What was bought in May 2025?", top_k=1)) == ["Ana: I bought a boat."]
    assert texts(ask(caller, "What was bought in June 2025?", top_k=1)) == ["Ana: I bought a bike."]
    assert texts(ask(caller, "What was bought in June?", top_k=1)) == ["Ana: I bought a bike."]


def test_with_the_model_away_words_find_it_and_the_stages_say_so(talk):
    found = ask(talk, "Whose sister sings in a choir?", embedding=away, top_k=1)
    assert texts(found) == [TALK[5]]
    assert {one.name: one.status for one in found.stages}["embed"] == "failed"


def test_with_the_model_away_and_nothing_to_look_for_it_is_unavailable(talk):
    with pytest.raises(Unavailable):
        ask(talk, "🐳 ?!", embedding=away)


def test_what_has_no_vector_yet_is_found_by_its_words(caller):
    say(caller, *TALK)
    assert texts(ask(caller, "Did the tomatoes ripen?", top_k=1)) == [TALK[6]]


def test_a_turn_of_another_user_in_a_session_of_the_same_name_stands_beside_nothing(talk):
    say(talk, "Eve: Which colour did you paint the shed?", "Eve: It is pink.", user_id="u2")
    embed_pending()
    found = ask(talk, "What colour is the shed?", top_k=20)
    assert {hit.episode.user_id for hit in found.hits} == {"u1"}
    assert len(found.hits) == len(TALK)


def test_globex_is_never_among_the_candidates(talk, globex):
    say(globex.caller, *TALK)
    embed_pending()
    mine = candidates_for(
        caller=globex.caller, text="shed colour", where=EpisodeFilter(user_id="u1"), now=timezone.now()
    )
    theirs = candidates_for(
        caller=talk, text="shed colour", where=EpisodeFilter(user_id="u1"), now=timezone.now()
    )
    assert mine.ids
    assert not set(mine.ids) & set(theirs.ids)


def test_what_stands_beside_but_is_not_asked_for_only_lends(caller):
    say(caller, TALK[1], topics=("question",))
    say(caller, TALK[2], first=2, topics=("answer",))
    embed_pending()
    found = ask(caller, "What colour is the shed?", topics=("answer",))
    assert texts(found) == [TALK[2]]
    assert found.hits[0].added["answers"] > 0


def test_a_turn_that_was_retracted_is_neither_answered_nor_lends(caller):
    first, _second = say(caller, TALK[1], TALK[2])
    embed_pending()
    retract_episode(caller=caller, episode_id=first.id, now=timezone.now())
    found = ask(caller, "What colour is the shed?", top_k=5)
    assert texts(found) == [TALK[2]]
    assert "answers" not in found.hits[0].added


def test_what_held_at_a_moment_is_found_as_it_was(caller):
    (turn,) = say(caller, TALK[3])
    embed_pending()
    before = timezone.now()
    retract_episode(caller=caller, episode_id=turn.id, now=timezone.now())
    assert texts(ask(caller, "old bicycle")) == []
    assert texts(ask(caller, "old bicycle", as_of=before)) == [TALK[3]]


@pytest.fixture(scope="module")
def many(server):
    caller = make_member("acme", server).caller
    fill(
        caller, unit_vectors(300), user_id="u1", agent_id=lambda n: f"a{n % 2}",
        topics=lambda n: ["rare"] if n % 10 == 0 else [],
    )  # fmt: skip
    return caller


@pytest.mark.parametrize("k", [1, 5, 20, 200])
def test_k_are_answered_where_k_match(many, k):
    query = unit_vectors(1, seed=9)[0]
    for text in ("episode", "nothing of that", "episode 7 and episode 8"):
        found = ask(many, text, top_k=k, embedding=lambda: query)
        assert len({hit.episode.id for hit in found.hits}) == k, text
        scores = [hit.score for hit in found.hits]
        assert scores == sorted(scores, reverse=True)
        assert len(ask(many, text, top_k=k, topics=("rare",), embedding=lambda: query).hits) == min(k, 30)


def test_the_words_of_all_users_of_an_agent_are_looked_for(caller, monkeypatch):
    for number in range(5):
        say(caller, f"Ana: Number {number} likes herring.", user_id=f"u{number}", agent_id="ada")
    asked = {"user_id": None, "agent_id": "ada", "embedding": lambda: unit_vectors(1)[0], "top_k": 5}
    assert len(ask(caller, "herring", **asked).hits) == 5, "they have no vectors: words alone find them"
    monkeypatch.setattr(keyword, "MOST_CORPORA", 4)
    for profile in ("hybrid", "keyword"):
        found = ask(caller, "herring", profile=profile, **asked)
        assert found.hits == (), "too many users to look for the words of each"
        assert {one.name: one.status for one in found.stages}["words"] == "skipped"


def test_weights_are_the_policy_s(talk):
    usual = ask(talk, "What colour is the shed?")
    decide(talk, recall={"weights": {"answers": 50.0}})
    assert ask(talk, "What colour is the shed?").hits[0].added["answers"] == 50.0
    assert usual.hits[0].added.get("answers", 0.0) < 50.0


def test_what_is_new_wins_between_equals(caller):
    old, new = timezone.now() - timedelta(days=400), timezone.now()
    say(caller, "Ana: The code word is heron.", session="old", day=old)
    say(caller, "Ana: The code word is heron.", session="new", day=new)
    embed_pending()
    first, second = ask(caller, "What is the code word?").hits
    assert (first.episode.session, second.episode.session) == ("new", "old")
    assert first.score > second.score
    assert first.score - (second.score - second.added["echo"]) == pytest.approx(0.5, abs=0.01)


def test_only_what_was_written_lately_is_recalled_where_the_policy_says_so(caller):
    fill(caller, unit_vectors(3), user_id="u1")  # months ago
    say(caller, *TALK)
    embed_pending()
    decide(caller, recall={"session_recency_days": 7})
    assert set(texts(ask(caller, "episode 1 of the garden", top_k=20))) == set(TALK)


def test_the_parts_of_a_score_add_up(talk):
    for hit in ask(talk, "What colour is the shed that Ana painted in May?", top_k=7).hits:
        assert sum(hit.added.values()) == pytest.approx(hit.score)
        assert np.isfinite(hit.score)


def test_they_add_up_with_what_was_thought_of_it_too(talk):
    decide(talk, recall={"feedback_weight": 0.1})
    (first, *_rest) = ask(talk, "What colour is the shed?").hits
    judged = Judged("episode", str(first.episode.id), "u1")
    put_feedback(caller=talk, judged=judged, verdict="helpful", note="", now=timezone.now())
    hits = ask(talk, "What colour is the shed?", top_k=7).hits
    assert hits[0].added["feedback"] == hits[0].signals["feedback"] > 0
    for hit in hits:
        assert sum(hit.added.values()) == pytest.approx(hit.score)
    assert all(hit.added == {} for hit in ask(talk, "shed", profile="similarity").hits), "no sum of parts"


def test_a_question_in_a_recorded_conversation_is_an_echo_that_leads_to_its_answer(talk):
    first, second = ask(talk, "Which colour did you paint the shed?", top_k=2).hits
    assert first.episode.text == TALK[2]
    assert first.added["answers"] > 0
    every = ask(talk, "Which colour did you paint the shed?", top_k=7)
    assert texts(every)[-1] == TALK[1]
    assert every.hits[-1].added["echo"] < 0
    assert "echo" not in second.added


def test_k_are_answered_although_all_of_them_say_the_same(caller):
    say(caller, *["Ana: Is it blue?"] * 60)
    embed_pending()
    for profile in ("hybrid", "keyword"):
        found = ask(caller, "Is it blue?", top_k=10, profile=profile)
        assert len({hit.episode.id for hit in found.hits}) == 10
        assert all(hit.added["echo"] < 0 for hit in found.hits)


def test_what_was_kept_on_purpose_is_found_by_its_own_words(caller):
    (kept, *_rest) = say(caller, "Rex is a dog.", *TALK)
    with scope(caller.tenant_id):
        type(kept).objects.filter(id=kept.id).update(memory_type="semantic")
    embed_pending()
    assert texts(ask(caller, "Rex is a dog", top_k=1)) == ["Rex is a dog."]


def test_without_echoes_what_is_answered_is_read_once(talk, monkeypatch):
    read = []
    real = search.episodes_by_id
    monkeypatch.setattr(search, "episodes_by_id", lambda **given: read.append(given["ids"]) or real(**given))
    ask(talk, "What colour is the shed?", top_k=3)
    assert [len(ids) for ids in read] == [3]


def test_of_equal_scores_what_was_written_last_comes_first(caller):
    for number, low in enumerate((3, 1, 2)):  # ids that do not ascend with time
        (one,) = say(caller, f"Ana: The code word is heron {number}.", session=f"s{number}", first=number + 1,
                     day=datetime(2025, 1, 1, tzinfo=UTC), insert=False)  # fmt: skip
        one.id = UUID(int=low)
        with scope(caller.tenant_id):
            insert_episodes([one])
    found = ask(caller, "heron", profile="keyword", top_k=3)
    assert len({round(hit.score, 9) for hit in found.hits}) == 1
    assert [hit.episode.session for hit in found.hits] == ["s2", "s1", "s0"]
