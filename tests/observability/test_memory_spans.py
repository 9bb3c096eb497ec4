"""Spans of what is done with memories: names, attributes and events of the AgentOps contract (§3.3)."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.db import OperationalError
from django.utils import timezone

from observations.editing import edit_observation
from observations.figures import read_figures
from observations.observations import access_observation, list_observations
from observations.sessions import begin_session, recent_sessions
from observations.timeline import read_timeline
from observations.transfer import ImportedObservation
from observations.trash import delete_observation
from observations.types import Changes, NewObservation, ObservationFilter
from observations.validation import InvalidObservation
from recall import transfer
from recall.sessions import end_session
from recall.start import start_session
from recall.transcripts import Message, end_with_transcript
from recall.transfer import export_memory, import_memory
from tenants import telemetry
from tests.observability.recorded import attributes
from tests.observations.notes import note
from working.listing import list_sessions
from working.transfer import ImportedSession
from working.types import SessionAddress


def test_saving_is_a_span_with_its_store_inside(caller, spans):
    saved = note(caller, title="A title", tags=("a",))
    assert spans.names() == ["store.add_observation", "memory.add_observation"]
    outer, inner = spans.one("memory.add_observation"), spans.one("store.add_observation")
    assert attributes(outer) == {
        "memory.operation": "add_observation",
        "memory.project": "orders",
        "memory.session.id": "s1",
        "memory.observation.type": "decision",
        "memory.observation.action": "created",
        "memory.observation.id": saved.observation.id,
    }
    assert attributes(inner) == {"memory.operation": "add_observation", "memory.project": "orders"}
    assert inner.parent is not None
    assert inner.parent.span_id == outer.context.span_id
    note(caller)
    assert [attributes(one)["memory.observation.action"] for one in spans.all()[1::2]] == [
        "created",
        "deduplicated",
    ]


def test_what_is_done_with_one_observation(caller, spans):
    one = note(caller).observation.id
    now, about = timezone.now(), {"memory.project": "orders", "memory.observation.id": one}
    typed = about | {"memory.observation.type": "decision"}
    spans.clear()
    access_observation(caller=caller, observation_id=one)
    edit_observation(caller=caller, observation_id=one, changes=Changes(title="New"), now=now)
    read_timeline(caller=caller, observation_id=one, before=1, after=1)
    delete_observation(caller=caller, observation_id=one, hard=False, now=now)
    delete_observation(caller=caller, observation_id=one, hard=True, now=now)
    assert [(span.name, attributes(span)) for span in spans.all()] == [
        ("memory.get_observation", typed | {"memory.operation": "get_observation"}),
        ("memory.update_observation", typed | {"memory.operation": "update_observation"}),
        ("memory.timeline", about | {"memory.operation": "timeline"}),
        (
            "memory.delete_observation",
            typed | {"memory.operation": "delete_observation", "memory.observation.hard_delete": False},
        ),
        (
            "memory.delete_observation",
            typed | {"memory.operation": "delete_observation", "memory.observation.hard_delete": True},
        ),
    ]


def test_lists_and_figures(caller, spans):
    list_observations(caller=caller, where=ObservationFilter(project="Orders", type="config"), limit=5)
    recent_sessions(caller=caller, project="Orders", limit=5)
    list_sessions(caller=caller, project="orders", limit=5)
    read_figures(caller=caller, project="Orders")
    about = {"memory.project": "orders"}
    assert [(span.name, attributes(span)) for span in spans.all()] == [
        (
            "memory.recent_observations",
            about | {"memory.operation": "recent_observations", "memory.observation.type": "config"},
        ),
        ("memory.recent_sessions", about | {"memory.operation": "recent_sessions"}),
        ("memory.recent_sessions", about | {"memory.operation": "recent_sessions"}),
        ("memory.stats", about | {"memory.operation": "stats"}),
    ]


def test_a_session_from_its_beginning_to_its_end(caller, spans):
    now = timezone.now()
    begin_session(caller=caller, session_id="s1", project="Orders", now=now)
    said = [Message("user", "Deploy it."), Message("assistant", "Done.")]
    end_with_transcript(caller=caller, address=SessionAddress("s1"), messages=said, now=now)
    start_session(caller=caller, address=SessionAddress("s2"), agent_id=None, query=None, now=now)
    end_session(caller=caller, address=SessionAddress("s2"), now=now)
    first, second = {"memory.session.id": "s1"}, {"memory.session.id": "s2"}
    begun, ended = {"memory.operation": "create_session"}, {"memory.operation": "end_session"}
    assert [(span.name, attributes(span)) for span in spans.all()] == [
        ("memory.create_session", first | begun | {"memory.project": "orders"}),
        ("memory.end_session", first | ended | {"memory.session.message_count": 2}),
        ("memory.create_session", second | begun),
        ("memory.end_session", second | ended | {"memory.project": "", "memory.session.message_count": 0}),
    ]


def imported(place: str, **more: str) -> ImportedObservation:
    given = {"session_id": "s9", "type": "decision", "title": place, "content": place, "project": "orders"}
    return ImportedObservation(place, NewObservation(**(given | more)), timezone.now(), timezone.now())


def test_an_import_tells_what_it_added_also_before_a_refusal(caller, spans, monkeypatch):
    session = ImportedSession(place="", session_id="s9", project="orders", started_at=timezone.now())
    import_memory(caller=caller, rows=[session, imported("a"), imported("b")], now=timezone.now())
    about = {"memory.operation": "import", "memory.import.sessions": 1, "memory.import.observations": 2}
    assert attributes(spans.one("memory.import")) == about
    spans.clear()
    monkeypatch.setattr(transfer, "BATCH", 1)
    rows = [replace(session, session_id="s8"), imported("c"), imported("d", type=" ")]
    with pytest.raises(InvalidObservation):
        import_memory(caller=caller, rows=rows, now=timezone.now())
    counts = {"memory.import.observations": 1, "error.type": "validation_error"}
    assert attributes(spans.one("memory.import")) == about | counts


def test_an_export_is_one_span_until_it_is_read(caller, spans):
    note(caller)
    spans.clear()
    with spans.tracer.start_as_current_span("request") as request:
        export = export_memory(caller=caller, project="Orders")
    assert spans.names() == ["request"]
    assert len(list(export.sessions)) == len(list(export.observations)) == 1
    span = spans.one("memory.export")
    assert attributes(span) == {"memory.operation": "export", "memory.project": "orders"}
    assert span.parent is not None
    assert span.parent.span_id == request.get_span_context().span_id


@pytest.mark.parametrize("taken", [0, 1])
def test_an_export_that_nobody_reads_on_ends_its_span(caller, spans, taken):
    note(caller, session_id="s1")
    note(caller, "Another.", session_id="s2")
    export = export_memory(caller=caller, project="orders")
    if taken:
        list(export.sessions)
    reading = export.observations if taken else export.sessions
    next(reading)
    reading.close()
    assert "memory.export" in spans.names()


def test_an_export_that_fails_says_so(spans):
    def failing() -> Iterator[int]:
        yield 1
        raise OperationalError("away")

    first, _last = telemetry.span_while_read("export", failing(), iter(()), project="orders")
    with pytest.raises(OperationalError):
        list(first)
    assert attributes(spans.one("memory.export"))["error.type"] == "error"


def test_every_operation_of_the_contract_has_its_span():
    named = set(telemetry.Operation.__args__)
    assert named == {
        "create_session", "end_session", "recent_sessions", "add_observation", "recent_observations",
        "get_observation", "update_observation", "delete_observation", "search", "fetch_context", "timeline",
        "stats", "export", "import",
    }  # fmt: skip
