"""Facts in words, and what texts are about."""

import pytest

from recall.extracting.wording import names_in, shorten, text_of, topics_of, within_words
from recall.remember.rules import extract


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I live in Oslo.", "User's home city: Oslo"),
        ("My name is Ada.", "User's name: Ada"),
        ("I prefer vim as my editor.", "User's preferred editor: vim"),
        ("I hate cilantro.", "User dislikes cilantro"),
        ("My favorite color is blue.", "User's favorite color: blue"),
        ("Please never use emojis.", "User wishes: do not use emojis"),
        ("My wife is called Anna.", "User's wife: Anna"),
        ("My manager is called Bob.", "User's manager: Bob"),
        ("I have a dog named Rex.", "User's dog: Rex"),
        ("I don't eat pork.", "User's diet: does not eat pork"),
    ],
)
def test_a_fact_stands_alone(said, told):
    assert [text_of(fact) for fact in extract(said).facts] == [told]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("We flew to New York with Ada.", ("New York", "Ada")),
        ("The Boeing 747 landed. Then I left.", ("Boeing 747",)),
        ("Yesterday I met Öykü, and I'm glad.", ("Öykü",)),
        ("nothing here 4711", ()),
        ("", ()),
    ],
)
def test_names_are_what_is_written_with_capitals_within_a_sentence(text, names):
    assert names_in(text) == names


def test_topics_are_the_words_that_stand_there_most_often():
    text = "The database is slow. We moved the database to Oslo since the backups of that were slow there."
    assert topics_of(text)[:2] == ("database", "slow")
    assert "oslo" not in topics_of(text)
    assert topics_of("it is what it is") == ()


def test_a_text_is_cut_behind_its_last_whole_sentence():
    assert shorten("One. Two. Three.", 16) == "One. Two. Three."
    assert shorten("One. Two. Three.", 9) == "One. Two."
    assert shorten("One. Two. Three.", 8) == "One."
    assert shorten("v1.2 is out and about", 12) == "v1.2 is out…"
    assert shorten("x" * 30, 10) == "x" * 9 + "…"
    assert within_words("One two. Three four. Five.", 4) == "One two. Three four."
    assert within_words("One two. Three four. Five.", 5) == "One two. Three four. Five."
    assert within_words("one two three four", 2) == "one…"
