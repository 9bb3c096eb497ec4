"""What is searched for among observations, as `tsquery`: a corpus is a project. Pure."""

from lexical.tsvector import IndexedText, in_any, index_text, mark_of, term

__all__ = ["IndexedText", "in_any", "index_text", "mark_of", "term"]
