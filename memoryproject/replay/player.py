"""Plays a transcript through the API: turns, memories, session ends; then asks its questions."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from memoryproject.replay.client import MemoryClient
from memoryproject.replay.errors import ReplayError, ServerBusy
from memoryproject.replay.score import TOP_K
from memoryproject.replay.transcripts import Question, Session, Transcript, Turn

AGENT = "replay"
BATCH = 50  # turns per request
EMBEDDING_PATIENCE = 60.0  # seconds until every memory must have its vector
POLL = 0.5  # seconds between looks
RESUMES = 5  # times a session is taken up again after a 503

Key = tuple[str, str]  # the server's session id and the turn's id: turn ids repeat between conversations


@dataclass(frozen=True)
class Played:
    """What playing came to."""

    turns: int  # of the transcript
    stored: int
    skipped: int  # stored by an earlier run
    sessions_ended: int
    sessions_skipped: int  # ended by an earlier run
    foreign: int  # messages of this user and agent that are not in the transcript
    seconds: float


@dataclass(frozen=True)
class Hit:
    """One memory that came back."""

    rank: int
    score: float
    session_id: str
    turn_id: str | None  # None: not of this transcript
    text: str


@dataclass(frozen=True)
class Answered:
    """A question with what came back."""

    question: Question
    hits: tuple[Hit, ...]
    stages: tuple[Any, ...]
    seconds: float


def _nothing(_done: int) -> None:
    """Progress that nobody watches."""


@dataclass
class Player:
    """Plays one transcript for one user. Playing again adds only what is missing."""

    client: MemoryClient
    transcript: Transcript
    user: str
    profile: str = ""  # of recall; empty: the server's own
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    advance: Callable[[int], object] = _nothing  # told how many turns were stored or found
    _stored: set[Key] = field(default_factory=set)
    _ended: set[str] = field(default_factory=set)  # the server's ids of sessions that have a summary

    def session_id(self, session: Session) -> str:
        """The server's id: unique between users and between conversations of one user."""
        owner = self.user if self.user == self.transcript.id else f"{self.user}-{self.transcript.id}"
        return f"{owner}-{session.id}"

    def keys(self) -> dict[Key, str]:
        """The turn ids of the transcript by what the server identifies them with."""
        return {
            (self.session_id(session), turn.id): turn.id
            for session in self.transcript.sessions
            for turn in session.turns
        }

    def play(self) -> Played:
        """Store what is not stored yet; return when all of it can be found.

        Raises ReplayError.
        """
        began = self.clock()
        self._look()
        skipped, already_ended = len(self._stored & self.keys().keys()), len(self._ended)
        sessions = [session for session in self.transcript.sessions if session.turns]
        for session in sessions:
            self._play_patiently(session)
        self._await_embeddings()
        return Played(
            turns=len(self.transcript.turns),
            stored=len(self._stored & self.keys().keys()) - skipped,
            skipped=skipped,
            sessions_ended=len(self._ended) - already_ended,
            sessions_skipped=already_ended,
            foreign=len(self._stored - self.keys().keys()),
            seconds=self.clock() - began,
        )

    def _look(self) -> None:
        """Learn what the server holds: the only way to know whether a write cut short was carried out."""
        self._note({_key(episode) for episode in self._messages()})
        ours = {self.session_id(session) for session in self.transcript.sessions}
        summaries = self.client.episodes(self.user, AGENT, "episodic")
        self._ended |= ours & {str(episode.get("session_id")) for episode in summaries}

    def _messages(self) -> Iterator[dict[str, Any]]:
        return self.client.episodes(self.user, AGENT, "message")

    def _note(self, found: set[Key]) -> None:
        self.advance(len((found - self._stored) & self.keys().keys()))
        self._stored |= found

    def _play_patiently(self, session: Session) -> None:
        for _ in range(RESUMES):
            try:
                return self._play_session(session)
            except ServerBusy as busy:
                self.sleep(busy.wait)
                self._look()
        return self._play_session(session)

    def _play_session(self, session: Session) -> None:
        name = self.session_id(session)
        missing = [turn for turn in session.turns if (name, turn.id) not in self._stored]
        if not missing and name in self._ended:
            return  # sending its turns again would open it again
        for first in range(0, len(session.turns), BATCH):
            batch = session.turns[first : first + BATCH]
            self.client.add_turns(name, self.user, AGENT, [_turn_body(turn) for turn in batch])
        places = {turn.id: place for place, turn in enumerate(session.turns, start=1)}
        for turn in missing:
            self.client.add_episode(self._episode_body(name, turn, places[turn.id]))
            self._note({(name, turn.id)})
        self.client.end_session(name, self.user)
        self._ended.add(name)

    def _episode_body(self, session_id: str, turn: Turn, place: int) -> dict[str, Any]:
        return {
            "text": turn.message,
            "user_id": self.user,
            "agent_id": AGENT,
            "session_id": session_id,
            "memory_type": "message",
            "event_date": _iso(turn),
            "covers_turns": [place, place],
            "metadata": {"turn_id": turn.id},
        }

    def _await_embeddings(self) -> None:
        """A memory without a vector cannot be recalled by meaning; the server normally embeds at once."""
        deadline = self.clock() + EMBEDDING_PATIENCE
        while waiting := sum(not episode.get("embedded") for episode in self._messages()):
            if self.clock() >= deadline:
                raise ReplayError(
                    f"{waiting} messages still have no embedding after {EMBEDDING_PATIENCE:.0f} s: "
                    "is the server's worker running?"
                )
            self.sleep(POLL)

    def ask(self, questions: tuple[Question, ...]) -> Iterator[Answered]:
        """Recall for one question after the other."""
        keys = self.keys()
        for question in questions:
            began = self.clock()
            asked = {
                "query": question.text,
                "user_id": self.user,
                "agent_id": AGENT,
                "memory_type": ["message"],
                "top_k": TOP_K,
                "count_access": False,
            }
            found = self.client.recall(asked | ({"profile": self.profile} if self.profile else {}))
            hits = tuple(
                _hit(rank, item, keys) for rank, item in enumerate(found.get("results", []), start=1)
            )
            yield Answered(question, hits, tuple(found.get("stages") or ()), self.clock() - began)


def _turn_body(turn: Turn) -> dict[str, Any]:
    return {"id": turn.id, "role": turn.role, "content": turn.content, "created_at": _iso(turn)}


def _iso(turn: Turn) -> str:
    return turn.at.isoformat().replace("+00:00", "Z")


def _key(item: dict[str, Any]) -> Key:
    metadata = item.get("metadata") or {}
    return str(item.get("session_id")), str(metadata.get("turn_id"))


def _hit(rank: int, item: dict[str, Any], keys: dict[Key, str]) -> Hit:
    session_id, _ = key = _key(item)
    return Hit(rank, float(item.get("score") or 0.0), session_id, keys.get(key), str(item.get("text", "")))
