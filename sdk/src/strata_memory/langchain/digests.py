"""What is worth keeping of what was said, without a language model. Pure, and the same each time.

Sentences of small talk are left out; of more than fit, those stay that later work needs: decisions,
preferences, ids, numbers. The words are English ones; in other languages nothing counts as small talk.
"""

import re
from collections.abc import Iterable

LONGEST = 400  # characters kept of what one speaker said
LONGEST_SUMMARY = 6_000
SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")
WORD = re.compile(r"[\w'\u2019-]+")
NOTABLE = re.compile(
    r"\d|\b(?:prefer|decid|agree|choose|chose|must|need|want|always|never|deadline|call me|my name|"
    r"instead|because|allerg|work(?:s|ing)? (?:at|for)|live[sd]? in|moved? to)",
    re.IGNORECASE,
)
SMALL_WORDS = """
    a again and anything are bye can certainly cool course day do done else evening fine glad good goodbye
    got great happy have hear hello help hey hi how i i'll i'm if is it know later let lot me morning much
    need nice night no noted of ok okay perfect please problem remember right see so sounds sure thank
    thanks that there this to today understood very welcome well what will worries you you're
"""
SMALL_TALK = frozenset(SMALL_WORDS.split())


def digest(said: Iterable[tuple[str, str]]) -> str:
    """A line for each speaker and text that tell something; empty when none does."""
    kept = ((speaker, _worth(text)) for speaker, text in said)
    return "\n".join(f"{speaker}: {text}" for speaker, text in kept if text)


def extend(summary: str, lines: str) -> str:
    """The summary with further lines, without the oldest ones that do not fit any more."""
    every = [*summary.splitlines(), *lines.splitlines()]
    size = sum(len(line) + 1 for line in every)
    first = 0
    while size > LONGEST_SUMMARY and first < len(every) - 1:
        size -= len(every[first]) + 1
        first += 1
    return "\n".join(every[first:])


def _worth(text: str) -> str:
    sentences = [one.strip() for one in SENTENCE_END.split(text.strip()) if not _is_small_talk(one)]
    chosen: set[int] = set()
    left = LONGEST
    for at in sorted(range(len(sentences)), key=lambda at: NOTABLE.search(sentences[at]) is None):
        if len(sentences[at]) <= left:
            chosen.add(at)
            left -= len(sentences[at]) + 1
    if sentences and not chosen:
        return sentences[0][: LONGEST - 1] + "…"
    return " ".join(sentences[at] for at in sorted(chosen))


def _is_small_talk(sentence: str) -> bool:
    return all(word in SMALL_TALK for word in WORD.findall(sentence.casefold().replace("\u2019", "'")))
