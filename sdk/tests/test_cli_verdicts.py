"""What the doctor concludes from what it has found."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from strata_memory.cli.doctor.evidence import Decision, Evidence, Memory, Question, Search, Talk
from strata_memory.cli.doctor.verdicts import judge

QUESTION = Question("She lives in Oslo", "Where?", "ada", "talk", None, datetime(2026, 3, 1, tzinfo=UTC))
FINE = Evidence({"database": "ok"}, "ok", scopes=("read", "write"), restricted=False)
MEMORY = Memory("episode", "e1", "She lives in Oslo.", 1.0, "holds", None)
FOUND = Search(1, True, 5, 5, {"id": "e1"}, (), ({"name": "embed", "ms": 3, "status": "ok"},))
DECISION = Decision("d1", "skipped", "low_confidence", "home_city: Oslo", 0.5, True, "2026-03-01T09:00:00Z")
LIKE = replace(MEMORY, kind="entity", key="home_city", text="home_city: Oslo", share=0.4, says=False)
AT = "2026-02-01T09:00:00Z"


def late(rank: int | None, **more: Any) -> Search:
    return replace(FOUND, rank=rank, is_told=False, looked_at=200, **more)


@pytest.mark.parametrize(
    ("found", "fault", "said"),
    [
        (replace(FINE, status="unavailable", checks={"database": "away"}), "server", "database"),
        (replace(FINE, restricted=True, memories=(MEMORY,), search=FOUND), "restricted", "restricted"),
        (replace(FINE, memories=(MEMORY,), search=FOUND), "none", "rank 1"),
        (replace(FINE, memories=(MEMORY,), search=late(17)), "retrieval", "rank 17, and 5 are told"),
        (replace(FINE, memories=(MEMORY,), search=late(None)), "retrieval", "not among the 200"),
        (
            replace(FINE, memories=(replace(MEMORY, embedded=False),), search=late(None)),
            "retrieval",
            "its vector is still being made",
        ),
        (
            replace(
                FINE,
                memories=(MEMORY,),
                search=late(None, stages=({"name": "embed", "ms": 9, "status": "failed"},)),
            ),
            "retrieval",
            "embed failed",
        ),
        (
            replace(FINE, memories=(MEMORY,), search=FOUND, talk=Talk(True, told_at=AT)),
            "none",
            "was told it on 2026-02-01 09:00",
        ),
        (replace(FINE, memories=(replace(MEMORY, state="superseded"),)), "ttl", "another took its place"),
        (replace(FINE, memories=(replace(MEMORY, state="not yet", ended_at=AT),)), "write", "only from"),
        (replace(FINE, decisions=(DECISION,)), "write", "low_confidence"),
        (replace(FINE, decisions=(replace(DECISION, outcome="held"),)), "write", "held back"),
        (replace(FINE, talk=Talk(True, said_at=(3,), is_in_window=True)), "none", "in its window"),
        (replace(FINE, talk=Talk(True, said_at=(3,), first=1)), "ttl", "event 3"),
        (
            replace(FINE, talk=Talk(True, first=40), policy={"retention": {"events_days": 30}}),
            "unsure",
            "begins with event 40: what was said before has gone (retention.events_days is 30)",
        ),
        (replace(FINE, erased_at=AT), "unsure", "erased on 2026-02-01"),
        (replace(FINE, talk=Talk(False)), "write", "There is no session talk"),
        (FINE, "write", "never written: there is no memory"),
        (replace(FINE, looked_through=212), "write", "never written: none of 212 memories"),
        (replace(FINE, memories=(LIKE,), search=FOUND), "unsure", '(40% of its words): "home_city: Oslo"'),
        (replace(FINE, memories=(LIKE,), search=late(17)), "unsure", "at rank 17, and 5 are told"),
        (replace(FINE, memories=(LIKE,), search=late(None)), "unsure", "not among the 200"),
        (
            replace(FINE, memories=(replace(LIKE, by_meaning=True, share=0.83),), search=FOUND),
            "unsure",
            "(cosine 0.83)",
        ),
        (replace(FINE, memories=(replace(LIKE, state="retracted"),)), "unsure", "It is retracted."),
        (
            replace(FINE, decisions=(replace(DECISION, says=False),)),
            "unsure",
            'may have been of it was refused on 2026-03-01 09:00 (low_confidence): "home_city: Oslo"',
        ),
    ],
)
def test_each_finding_has_its_verdict(found: Evidence, fault: str, said: str) -> None:
    verdict = judge(QUESTION, found)
    assert verdict.fault == fault
    assert said in verdict.sentence
    assert verdict.next_step


def test_a_duplicate_is_no_reason_for_not_knowing() -> None:
    verdict = judge(QUESTION, replace(FINE, decisions=(replace(DECISION, reason="duplicate"),)))
    assert "never written" in verdict.sentence


def test_of_an_end_and_a_refusal_the_later_is_told() -> None:
    ended = replace(MEMORY, state="retracted", ended_at=AT)
    both = replace(FINE, memories=(ended,), decisions=(DECISION,))
    assert judge(QUESTION, both).fault == "write"
    before = replace(DECISION, created_at="2026-01-01T09:00:00Z")
    assert judge(QUESTION, replace(both, decisions=(before,))).fault == "ttl"


def test_what_is_certain_goes_before_what_is_only_like_the_fact() -> None:
    for certain, fault in (
        (replace(MEMORY, state="superseded"), "ttl"),
        (replace(MEMORY, state="pending", key="home_city"), "write"),
        (MEMORY, "none"),
    ):
        both = replace(FINE, memories=(certain, LIKE), search=FOUND)
        assert judge(QUESTION, both).fault == fault
    said = replace(FINE, memories=(LIKE,), search=FOUND, talk=Talk(True, said_at=(3,), is_in_window=True))
    assert judge(QUESTION, said).fault == "none"


def test_a_verdict_that_finds_no_fault_shows_the_memory_it_means() -> None:
    for memory in (MEMORY, replace(MEMORY, kind="entity", key="home_city")):
        for search in (FOUND, late(9)):
            verdict = judge(QUESTION, replace(FINE, memories=(memory,), search=search))
            assert verdict.fault == "retrieval" or '"She lives in Oslo."' in verdict.sentence


def test_a_memory_that_is_quoted_is_one_short_line() -> None:
    long = replace(MEMORY, text="one\ntwo \x1b[2J " + "word " * 100)
    sentence = judge(QUESTION, replace(FINE, memories=(long,), search=FOUND)).sentence
    assert not set("\n\x1b") & set(sentence)
    assert len(sentence) < 300


def test_a_slot_is_told_by_assemble_even_where_recall_comes_short() -> None:
    slot = replace(MEMORY, kind="entity", key="home_city")
    verdict = judge(QUESTION, replace(FINE, memories=(slot,), search=late(9)))
    assert verdict.fault == "none"
    assert "a slot: assemble and the start of a session tell it" in verdict.sentence
