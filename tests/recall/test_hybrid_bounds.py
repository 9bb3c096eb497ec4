"""What a query may cost, and the moments that it may ask about, whatever is asked and remembered."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

from episodic.inserting import insert_episodes
from episodic.types import EpisodeFilter
from recall import hybrid
from recall.fusion import LONGEST
from recall.ranking import echoes
from recall.recall import recall
from recall.types import PROFILES, RecallQuery
from tenants.scope import scope
from tests.recall.talking import decide
from tests.recall.test_hybrid import ask, say, texts
from tests.recall.vectors import unit_vectors

FAR_EAST, FAR_WEST = timezone(timedelta(hours=14)), timezone(timedelta(hours=-12))
EARLY = [datetime(1, 1, 1, tzinfo=UTC), datetime(1, 1, 15, tzinfo=UTC), datetime(1, 1, 2, tzinfo=FAR_EAST)]
LATE = [datetime(9999, 12, 31, 23, 59, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=FAR_WEST)]


def vector():
    return unit_vectors(1)[0]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("as_of", [*EARLY, *LATE], ids=str)
def test_any_moment_may_be_asked_about(caller, profile, as_of):
    decide(caller, recall={"session_recency_days": 7})
    say(caller, "Ana: The boat left last month.", day=datetime(1, 1, 3, tzinfo=UTC))
    for text in ("Which boat left last month?", "Did the boat leave this weekend?", "the boat in December"):
        query = RecallQuery(text, EpisodeFilter(user_id="u1", as_of=as_of), 3, profile)
        assert recall(caller=caller, query=query, embedding=vector).hits == ()


def test_what_was_written_shortly_before_an_early_moment_is_recalled(caller):
    """A week before it there was no calendar yet."""
    decide(caller, recall={"session_recency_days": 7})
    day = datetime(1, 1, 3, tzinfo=UTC)
    (turn,) = say(caller, "Ana: The boat is green.", insert=False)
    turn.created_at = day
    with scope(caller.tenant_id):
        insert_episodes([turn])
    found = ask(caller, "green boat", as_of=day + timedelta(days=1), embedding=vector)
    assert texts(found) == ["Ana: The boat is green."]


def test_a_month_costs_no_more_for_a_memory_of_all_times(caller, monkeypatch):
    looked_for = []
    real = hybrid.named_spans
    monkeypatch.setattr(
        hybrid,
        "named_spans",
        lambda *given, **named: looked_for.append(real(*given, **named)) or looked_for[-1],
    )
    for year in (1, 2024, 9999):
        say(caller, f"Ana: The boat left in {year}.", session=str(year), day=datetime(year, 1, 2, tzinfo=UTC))
    found = ask(caller, "boat " + "May " * 490, embedding=vector)
    assert len(found.hits) == 3
    assert [len(spans) <= 200 for spans in looked_for] == [True]


def test_a_long_query_is_compared_with_names_by_its_beginning(caller, monkeypatch):
    say(caller, "Ana: The boat is green.", topics=("a",))
    searched = []
    real = hybrid.Searched.of
    monkeypatch.setattr(hybrid.Searched, "of", lambda text: searched.append(len(text)) or real(text))
    for profile in ("hybrid", "fused"):
        assert ask(caller, "a" * 1_000_000, profile=profile, embedding=vector) is not None
    assert max(searched) == LONGEST


def test_a_long_query_is_read_no_more_often_for_being_put_often(caller, monkeypatch):
    query = "Is the boat green" + "?" * 10_000
    say(caller, *["Is the boat green?"] * 30, metadata={"role": "user"})
    say(caller, "Ana: It is.", first=31)
    read = []
    real = echoes.bare
    monkeypatch.setattr(echoes, "bare", lambda text: read.append(text) or real(text))
    assert texts(ask(caller, query, top_k=1, embedding=vector)) == ["Ana: It is."]
    assert read.count(query) <= 3
