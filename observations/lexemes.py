"""What is searched for among observations, as `tsquery`: a corpus is a project. Pure."""

from collections.abc import Iterable, Sequence
from itertools import combinations

from lexical.tsvector import IndexedText, in_any, index_text, mark_of, term

__all__ = ["IndexedText", "all_of", "any_or_two", "in_any", "index_text", "mark_of", "term"]


def all_of(phrases: Iterable[Sequence[str]], mark: str) -> str:
    """The `tsquery` of texts in one corpus that hold every phrase."""
    return " & ".join("(" + " <-> ".join(term(lexeme, mark) for lexeme in phrase) + ")" for phrase in phrases)


def any_or_two(alone: Sequence[str], paired: Sequence[str], mark: str) -> str:
    """The `tsquery` of texts in one corpus that hold one lexeme of `alone`, or two of `paired`."""
    single = [term(lexeme, mark) for lexeme in alone]
    pairs = combinations([term(lexeme, mark) for lexeme in paired], 2)
    return " | ".join([*single, *(f"({first} & {second})" for first, second in pairs)])
