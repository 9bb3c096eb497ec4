"""What each signal of a score says, in plain words."""

from typing import NamedTuple


class Meaning(NamedTuple):
    """A short label, and a sentence."""

    label: str
    sentence: str


MEANINGS = {
    "words": Meaning("Same words", "It holds words of the query, rare ones counting most (BM25)."),
    "words_around": Meaning("Words beside it", "The turns just around it hold words that it lacks itself."),
    "answers": Meaning("Answers a question", "The turn before is a question that holds words of the query."),
    "meaning": Meaning("Same meaning", "It means something like the query (cosine of their vectors)."),
    "meaning_around": Meaning(
        "Meaning beside it", "The turns before and after mean something like the query."
    ),
    "session_words": Meaning("Words in its session", "Something in the same session has the query's words."),
    "session_meaning": Meaning("Meaning in its session", "Something in the same session is like the query."),
    "speaker": Meaning("Speaker is named", "It was said by somebody whom the query names."),
    "length": Meaning(
        "Long enough",
        "The logarithm of how many words it has that are searched for, up to 64: a longer text says more.",
    ),
    "asks": Meaning(
        "Is a question", "It ends as a question; that usually counts against it, for it answers nothing."
    ),
    "date": Meaning(
        "Said at that time",
        "It was said at the time that the query names, or near it, rather after than before.",
    ),
    "time_told": Meaning("Tells a time", "The query asks when, and it holds a word of time."),
    "recency": Meaning(
        "New",
        "1 for what is new, fading with its age; the slider λ says how fast where the profile knows it.",
    ),
    "entity": Meaning(
        "Names it exactly",
        "Query and memory share an exact name or a value of one of the user's slots; of a slot, the query "
        "names its whole key. A fixed boost.",
    ),
    "echo": Meaning("Says the query itself", "It repeats the query, or a better one: put behind all others."),
    "feedback": Meaning("Judged before", "People or agents said that it helped, or that it did not."),
    "cosine": Meaning(
        "Like in meaning",
        "The cosine of query and memory. Of observations, from 0 to 1 among those that were found for this "
        "query.",
    ),
    "bm25": Meaning(
        "Words, of observations",
        "How well its words match (BM25), from 0 to 1 among those that were found for this query.",
    ),
    "topic_key": Meaning(
        "Topic key", "The query has a slash and stands in the observation's topic key: before all others."
    ),
}
