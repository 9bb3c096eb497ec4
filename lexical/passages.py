"""Which words of a text answer a query. Pure."""

import re
from dataclasses import dataclass

from lexical.analysis import analyse, is_stop_word

WORDS = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of text, and whether the query asks for it."""

    text: str
    found: bool


def mark_words(text: str, query: str) -> list[Passage]:
    """The whole text in runs: words that have a lexeme of the query, stop words apart, and what stands
    between them."""
    asked = {lexeme for lexeme in analyse(query) if not is_stop_word(lexeme)}
    passages: list[Passage] = []
    end = 0
    for match in WORDS.finditer(text) if asked else ():
        if asked.isdisjoint(analyse(match.group())):
            continue
        if match.start() > end:
            passages.append(Passage(text[end : match.start()], found=False))
        passages.append(Passage(match.group(), found=True))
        end = match.end()
    if end < len(text):
        passages.append(Passage(text[end:], found=False))
    return passages
