"""A time that a query names draws what happened then: by `event_date`, or without one by `created_at`."""

from datetime import UTC, datetime, timedelta

import pytest

from episodic.embedding import embed_pending
from episodic.episodes import build_episode
from episodic.inserting import insert_episodes
from episodic.types import EpisodeFilter, NewEpisode
from recall.recall import recall
from recall.types import RecallQuery
from tenants.scope import scope
from tests.recall.test_hybrid import texts

NOW = datetime(2026, 6, 24, 12, tzinfo=UTC)  # a Wednesday; three weeks ago it was June, too
DAYS = {
    "today": 0, "yesterday": 1, "last week": 8, "three weeks ago": 21, "last month": 34, "in February": 120,
    "last year": 400,
}  # fmt: skip


def keep(caller, *, by_event):
    """One memory that is the same but for its day, of each of `DAYS`."""
    episodes = [
        build_episode(
            caller=caller,
            now=NOW if by_event else NOW - timedelta(days=days),
            new=NewEpisode(
                text="Bo paid for the boat.", user_id="u1", session_id=name,
                event_date=NOW - timedelta(days=days) if by_event else None,
            ),
        )
        for name, days in DAYS.items()
    ]  # fmt: skip
    with scope(caller.tenant_id):
        insert_episodes(episodes)
    embed_pending()


@pytest.fixture(scope="module", params=["event_date", "created_at"])
def boats(request, server):
    from tests.conftest import make_member

    caller = make_member("acme", server).caller
    keep(caller, by_event=request.param == "event_date")
    return caller


def best(caller, text):
    query = RecallQuery(text, EpisodeFilter(user_id="u1"), 1)
    (hit,) = recall(caller=caller, query=query, now=NOW, counted=False).hits
    return hit.episode.session


@pytest.mark.parametrize("named", DAYS)
def test_what_happened_then_comes_first(boats, named):
    assert best(boats, f"Who paid for the boat {named}?") == named


def test_an_iso_day_is_that_day_and_not_its_year(boats):
    assert best(boats, "Who paid for the boat on 2026-06-03?") == "three weeks ago"


def test_without_a_time_the_newest_comes_first(boats):
    assert best(boats, "Who paid for the boat?") == "today"


def test_the_window_is_soft(boats):
    """Of nothing that happened then, the nearest in time comes first, and the rest is still answered."""
    query = RecallQuery("Who paid for the boat on 27 May?", EpisodeFilter(user_id="u1"), 20)
    found = recall(caller=boats, query=query, now=NOW, counted=False)
    assert found.hits[0].episode.session in {"three weeks ago", "last month"}
    assert len(texts(found)) == len(DAYS)
