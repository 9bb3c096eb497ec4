"""A worker that is killed in the midst of what follows from a write loses nothing and does nothing twice."""

import json
import time

import pytest

from episodic.models import Episode, EpisodeRevision
from recall.promotion import PROMOTE
from recall.rewriting import REWRITE
from tenants.scope import scope
from tests.jobs.dying import die_at, points
from tests.recall.faults import jobs_of
from tests.recall.talking import episodes, run_jobs, session_of
from tests.recall.whole_sessions import put
from tests.working.workspaces import said, seen

pytestmark = pytest.mark.processes
RECORDS = (
    {"id": "tea", "text": "Ann likes green tea.", "memory_type": "semantic"},
    {"id": "bike", "text": "The bicycle stands in Oslo.", "memory_type": "episodic"},
)
MADE = "They count messages."


def wait_for_another(caller, kind):
    """Until somebody else has done it, after the lease of who was killed."""
    until = time.monotonic() + 90
    while jobs_of(caller, kind):
        assert time.monotonic() < until, [one.error for one in jobs_of(caller, kind)]
        run_jobs()
        time.sleep(0.1)


def records(caller):
    with scope(caller.tenant_id):
        mine = Episode.objects.filter(tenant_id=caller.tenant_id).exclude(external_id="")
        return list(mine.order_by("external_id"))


@pytest.mark.parametrize("point", points(PROMOTE))
def test_records_of_a_session_are_saved_once(caller, point):
    put(caller, memories=RECORDS)
    die_at(point, kind=PROMOTE, session=session_of(caller))
    saved, noted = len(records(caller)), [bool(one.get("persisted_at")) for one in seen(caller).memories]
    assert saved == (0 if point == "claimed" else 2)
    assert noted == [point == "committed"] * 2
    wait_for_another(caller, PROMOTE)
    assert [(one.external_id, one.version) for one in records(caller)] == [("bike", 1), ("tea", 1)]
    assert all(one["persisted_at"] for one in seen(caller).memories)


@pytest.mark.parametrize("point", points(REWRITE))
def test_a_summary_is_put_in_the_model_s_words_once(caller, llm, point):
    llm.control(says=json.dumps({"summary": MADE, "topics": [], "outcome": ""}))
    told = put(caller, *said(*(f"m{n}" for n in range(51)))).context
    die_at(point, kind=REWRITE, session=session_of(caller), llm=llm)
    assert seen(caller).context == (MADE if point == "committed" else told)
    wait_for_another(caller, REWRITE)
    (episode,) = episodes(caller)
    assert seen(caller).context == episode.text == MADE
    assert episode.metadata["deterministic"] == told
    with scope(caller.tenant_id):
        assert EpisodeRevision.objects.filter(tenant_id=caller.tenant_id).count() <= 1
