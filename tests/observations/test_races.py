"""Very many writers of one topic or one content: one row, right counters, no error (contract §1.4)."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta

import pytest
from django.db import connections
from django.utils import timezone

from observations.embedding import embed_batch
from tenants.errors import Conflict, NotFound
from tests.observations.notes import delete, edit, embed, note, restore, revisions, rows_left, search, stored
from tests.working.conversation import at_once

WRITERS = 32


@pytest.fixture(autouse=True)
def _a_connection_each(_database: None) -> Iterator[None]:
    """As several processes have together: nobody waits for the pool, all of them for PostgreSQL's locks."""
    pool = connections["default"].pool
    before = pool.max_size
    pool.resize(1, WRITERS + 8)
    yield
    pool.resize(1, before)


def rush(*writes):
    """All at once, each on a connection of its own; how often each tier was taken."""
    actions = [saved.action for saved in at_once(*writes)]
    return {action: actions.count(action) for action in sorted(set(actions))}


def test_many_writers_of_one_topic_leave_one_row_that_counts_them(caller):
    done = rush(*(lambda n=n: note(caller, f"Version {n}.", topic_key="t") for n in range(WRITERS)))
    assert done == {"created": 1, "updated": WRITERS - 1}
    (row,) = stored(caller)
    assert (row.revision_count, row.duplicate_count) == (WRITERS, 1)
    history = revisions(caller, row.id)
    assert [one.number for one in history] == list(range(WRITERS - 1, 0, -1))
    said = {one.content for one in history} | {row.content}
    assert said == {f"Version {n}." for n in range(WRITERS)}, "no version is lost"
    assert len(search(caller, "version", limit=50)) == 1


def test_many_writers_of_one_content_leave_one_row_that_counts_them(caller):
    done = rush(*(lambda n=n: note(caller, "Blue.", session_id=f"s{n}") for n in range(WRITERS)))
    assert done == {"created": 1, "deduplicated": WRITERS - 1}
    (row,) = stored(caller)
    assert (row.revision_count, row.duplicate_count) == (1, WRITERS)


def test_writers_with_clocks_that_differ_meet_all_the_same(caller):
    now = timezone.now()
    skew = [timedelta(milliseconds=37 * (n % 9 - 4)) for n in range(WRITERS)]
    rush(*(lambda by=by: note(caller, "Blue.", now=now + by) for by in skew))
    assert [row.duplicate_count for row in stored(caller)] == [WRITERS]


def test_writers_who_share_topics_and_contents_crosswise_never_lock_each_other_up(caller):
    """Each topic is written with each content: every pair of locks is taken by somebody."""
    topics, contents = ("a", "b", "c", ""), ("One.", "Two.", "Three.")
    writes = [
        lambda t=topics[n % 4], c=contents[n % 3]: note(caller, c, topic_key=t, user_id="ann")
        for n in range(2 * WRITERS)
    ]
    done = rush(*writes)
    rows = stored(caller)
    keys = [row.topic_key for row in rows if row.topic_key]
    assert len(keys) == len(set(keys)), "one row for each topic"
    assert done["created"] == len(rows)
    assert sum(row.revision_count - 1 for row in rows) == done.get("updated", 0)
    assert sum(row.duplicate_count - 1 for row in rows) == done.get("deduplicated", 0)
    assert rows_left(caller)["SearchEntry"] == len(rows)


def until(stop, job):
    """Runs the job again and again; what it meets on the way is not the matter."""
    try:
        while not stop.is_set():
            with suppress(Conflict, NotFound):
                job()
    finally:
        connections.close_all()


def edited(caller, content, change):
    edit(caller, note(caller, content).observation.id, content=change)


def test_writers_editors_trashers_and_the_embedder_leave_what_agrees(caller):
    first = note(caller, "Blue.", topic_key="t").observation.id
    stop = threading.Event()

    def write(seed):
        for n in range(12):
            note(caller, f"Say {seed} {n}.", topic_key="t")

    def change(seed):
        for n in range(12):
            edited(caller, f"mine {seed}", f"mine {seed} {n}")

    def shake():
        delete(caller, first)
        restore(caller, first)

    with ThreadPoolExecutor(2) as pool:
        beside = [
            pool.submit(until, stop, shake),
            pool.submit(until, stop, lambda: embed_batch(caller.tenant_id)),
        ]
        try:
            at_once(*(lambda n=n: write(n) for n in range(3)), *(lambda n=n: change(n) for n in range(3)))
        finally:
            stop.set()
        for one in beside:
            one.result(30)
    embed(caller)
    live = [row for row in stored(caller) if row.deleted_at is None]
    assert sum(row.topic_key == "t" for row in live) <= 1
    left = rows_left(caller)
    assert left["SearchEntry"] == left["ObservationEmbedding"] == len(live)
    assert not any(row.embed_pending for row in live)
