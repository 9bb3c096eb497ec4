"""What is kept of what was said, without a language model."""

from strata_memory.langchain.digests import LONGEST_SUMMARY, digest, extend


def test_small_talk_is_left_out() -> None:
    said = [("Human", "Hi there! I prefer dark mode. Thank you so much!"), ("AI", "Noted. You're welcome!")]

    assert digest(said) == "Human: I prefer dark mode."


def test_nothing_but_small_talk_leaves_nothing() -> None:
    assert digest([("Human", "Hello!"), ("AI", "Hi, how can I help you today?")]) == ""


def test_what_is_short_is_kept_to_the_letter_addresses_and_numbers_too() -> None:
    asked = "Please write to ada.b@example.org or call +47 22 33 44 55. Could you book it?"
    answered = "I have found three hotels. The Grand costs 120 EUR."

    kept = digest([("Human", f"Hi there! {asked}"), ("AI", f"Sure! {answered}")])

    assert kept == f"Human: {asked}\nAI: {answered}"


def test_other_languages_are_kept_whole() -> None:
    assert digest([("Human", "Danke schön! Ich wohne in Köln.")]) == "Human: Danke schön! Ich wohne in Köln."


def test_of_too_much_the_notable_sentences_stay_in_their_order() -> None:
    padding = "The weather was somewhat grey over the hills and the train went slowly along the river bank. "
    text = f"{padding * 3}We decided on plan B. {padding * 3}The budget is 40,000 EUR."

    kept = digest([("Human", text)])

    assert len(kept) < 420
    assert kept.index("plan B") < kept.index("40,000")


def test_one_endless_sentence_is_cut() -> None:
    kept = digest([("Human", "word " * 500)])

    assert len(kept) < 420
    assert kept.endswith("…")


def test_a_summary_that_grows_too_long_loses_its_oldest_lines() -> None:
    summary = ""
    for number in range(1_000):
        summary = extend(summary, f"Human: fact number {number}")

    assert len(summary) <= LONGEST_SUMMARY
    assert summary.endswith("fact number 999")
    assert "fact number 0\n" not in summary
