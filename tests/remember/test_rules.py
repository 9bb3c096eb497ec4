"""What the rules find in what people say, and what they do not."""

import string
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recall.remember.candidates import MOST_FACTS, Fact, without
from recall.remember.phrases import LONGEST_TERM
from recall.remember.rules import LONGEST_SUMMARY, extract
from tests.remember import changes
from tests.remember.no_statements import NOTHING
from tests.remember.sentences import CORRECTED, HEDGED, SAID, TOLD

GATE = 0.75


def slots(message):
    return {fact.key: fact.value for fact in extract(message).facts}


@pytest.mark.parametrize(("sentence", "expected"), [*SAID, *changes.FOUND])
def test_what_people_say_of_themselves_is_found(sentence, expected):
    assert slots(sentence) == expected
    assert min(fact.confidence for fact in extract(sentence).facts) >= GATE


@pytest.mark.parametrize("sentence", [*NOTHING, *changes.NOTHING])
def test_what_is_no_statement_about_its_writer_yields_nothing(sentence):
    found = extract(sentence)
    assert (found.facts, found.losers, found.summary) == ((), (), "")


def test_there_are_enough_examples():
    assert len({one for one, _ in SAID}) >= 60
    assert len(set(NOTHING)) >= 40


@pytest.mark.parametrize(("sentence", "key"), HEDGED)
def test_what_is_hedged_or_may_be_a_joke_stays_below_the_gate(sentence, key):
    (fact,) = extract(sentence).facts
    assert fact.key == key
    assert fact.confidence < GATE


@pytest.mark.parametrize(("message", "expected"), CORRECTED)
def test_a_correction_has_the_last_word(message, expected):
    assert slots(message) == expected
    assert extract(message).losers == ()


@pytest.mark.parametrize(("message", "lasting"), TOLD)
def test_what_happened_or_is_to_be_remembered_is_the_summary(message, lasting):
    found = extract(message)
    assert found.facts == ()
    assert found.summary.rstrip(".").lower() in message.lower()
    assert found.lasting is lasting


@pytest.mark.parametrize(
    "message",
    [
        "Should we decide to use PostgreSQL?",
        "I think we decided to use Rust.",
        "If we decided to move, I would pack.",
        "They decided to leave.",
        "Remember me?",
        "Remember that?",
    ],
)
def test_what_only_sounds_like_a_decision_is_no_summary(message):
    assert extract(message).summary == ""


def test_a_correction_that_does_not_say_of_what_names_the_wrong_value():
    (fact,) = extract("It's Rob, not Bob.").facts + extract("No, I meant Rob, not Bob.").facts[:0]
    assert (fact.key, fact.value, fact.replaces) == ("", "Rob", "Bob")


@pytest.mark.parametrize(("message", "facts"), changes.ENDED, ids=[one for one, _ in changes.ENDED])
def test_what_has_changed_ends_or_replaces(message, facts):
    found = extract(message)
    assert [(fact.key, fact.value, fact.how) for fact in found.facts] == facts
    assert found.losers == ()


@pytest.mark.parametrize(
    ("held", "less", "left"),
    [
        ("German, Spanish", "Spanish", "German"),
        ("German, Spanish, Dutch", "spanish, Dutch", "German"),
        ("Spanish", "Spanish", ""),
        ("German", "Spanish", None),
        ("", "Spanish", None),
        ("Mandarin", "Man", None),
    ],
)
def test_a_list_loses_the_members_that_no_longer_hold(held, less, left):
    assert without(held, less) == left


@pytest.mark.parametrize(
    ("message", "key", "value"),
    [
        ("I no longer live in Berlin.", "home_city", "Berlin"),
        ("I don't work at Acme anymore.", "employer", "Acme"),
        ("I left Google last month.", "employer", "Google"),
        ("I quit my job at Google.", "employer", "Google"),
        ("I resigned from Google.", "employer", "Google"),
    ],
)
def test_what_no_longer_holds_is_taken_back(message, key, value):
    (fact,) = extract(message).facts
    assert (fact.key, fact.value, fact.how) == (key, value, "retract")


def test_a_name_that_is_said_outright_outdoes_one_in_passing():
    found = extract("My name is Ada Lovelace. I'm Batman.")
    assert [(fact.key, fact.value) for fact in found.facts] == [("name", "Ada Lovelace")]
    assert [fact.value for fact in found.losers] == ["Batman"]


def test_a_word_that_is_spelled_in_two_ways_is_one_slot():
    assert slots("My favorite color is red.").keys() == slots("My favourite colour is red.").keys()


def test_one_more_language_is_added():
    (fact,) = extract("I also speak Italian.").facts
    assert (fact.key, fact.value, fact.how) == ("language", "Italian", "add")


def test_two_statements_that_contradict_each_other_leave_neither():
    found = extract("My name is Ada. My name is Bob.")
    assert found.facts == ()
    assert {fact.value for fact in found.losers} == {"Ada", "Bob"}


def test_a_fact_knows_the_sentence_that_it_comes_from():
    found = extract("Hello! By the way, my name is Ada. What can you do?")
    assert [fact.words for fact in found.facts] == ["By the way, my name is Ada."]


@pytest.mark.parametrize("opposite", ["I love cilantro.", "I hate cilantro.", "I don't like cilantro."])
def test_a_taste_that_changes_stays_in_its_slot(opposite):
    assert list(slots(opposite)) == ["preference:cilantro"]


def test_a_preference_between_two_things_has_one_slot_whichever_way_it_goes():
    one, other = slots("I prefer oats over rye."), slots("I prefer rye over oats.")
    assert one.keys() == other.keys() == {"preference:oats_or_rye"}
    assert one != other


@pytest.mark.parametrize(
    "message",
    [
        "Please translate the following: my name is Bob. I live in Rome.",
        "```\nmy name is Bob\n```",
        "> my name is Bob\nwhat do you make of this?",
        "Kim wrote: I live in Rome.",
        "MY NAME IS BOB AND THIS IS A HEADLINE",
    ],
)
def test_other_peoples_texts_are_not_statements(message):
    assert slots(message) == {}


def test_a_text_that_somebody_pastes_yields_a_bounded_number_of_facts():
    found = extract(" ".join(f"I like thing{number}." for number in range(500)))
    assert len(found.facts) <= MOST_FACTS


VOCABULARY = """
I I'm my name is live in Berlin not but actually no , . ? ! prefer tea over coffee to call me don't please
never always from Ada we decided remember that " ' ``` > : ; speak German and also hate it's 3 May
"""
WORDS = st.sampled_from(VOCABULARY.split())


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=300), st.lists(WORDS, max_size=40).map(" ".join)))
def test_any_text_is_read_and_what_is_found_is_bounded(message):
    found = extract(message)
    assert len(found.summary) <= LONGEST_SUMMARY
    for fact in (*found.facts, *found.losers):
        assert isinstance(fact, Fact)
        assert 0 < fact.confidence <= 1
        assert 0 < len(fact.value) <= max(LONGEST_TERM, 200)
        assert len(fact.key) <= 255
        assert not set(fact.key) & set(string.whitespace + "/")


PIECES = (
    "I live in ", "I am a. ", "my name is\n", '"I ', "'I ", "```", "not a but ", "I,", "- ", "ok so well ",
    "I like x, and I ", "a", " ", "“I ", "I prefer a over ", "If ", "I'm ", "my wife ", "Mr. ", "call me ",
)  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_a_megabyte_takes_no_longer_than_its_length_explains(piece):
    def seconds(size):
        text = piece * (size // len(piece))
        began = time.process_time()
        extract(text)
        return time.process_time() - began

    # Ten times is linear, a hundred the square.
    assert seconds(1_000_000) < 40 * max(seconds(100_000), 0.05)
