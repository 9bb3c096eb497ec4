"""What is searched for among episodes, as `tsquery`: a corpus is what is known of one user, or, of what is
nobody's, by one agent. Pure."""

from lexical.tsvector import IndexedText, in_any, index_text, mark_of, term

__all__ = ["IndexedText", "corpus_of", "in_any", "index_text", "mark_of", "term"]


def corpus_of(user_id: str, agent_id: str) -> str:
    """The name of the corpus that an episode belongs to."""
    return f"episodes of user {user_id}" if user_id else f"episodes of agent {agent_id}"
