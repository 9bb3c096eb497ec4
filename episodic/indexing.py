"""What an episode is found by beside its vector: its words, who said it, its place, whether it asks."""

import json
import re
from uuid import UUID, uuid5

from episodic.lexemes import corpus_of, index_text, mark_of
from episodic.models import Episode, EpisodeWords, MemoryType, Origin
from episodic.rows import put_rows
from lexical.analysis import analyse
from lexical.hints import asks, tells_time

# A verbatim turn says who spoke: `Ana: I was there.`
_SPEAKER = re.compile(r"([^\W\d][^:\n]{0,38}): ")


def entry_of(episode: Episode, *, place: int | None = None) -> EpisodeWords:
    """The unsaved row of the index. `place` is the turn's among those that were spoken in its session; if it
    is not known, the first of `covers_turns` stands for it."""
    is_message = episode.memory_type == MemoryType.MESSAGE
    words = index_text(
        [episode.text, " ".join(episode.topics), " ".join(episode.entities), episode.outcome],
        mark_of(episode.tenant_id, corpus_of(episode.user_id, episode.agent_id)),
    )
    return EpisodeWords(
        id=episode.id,
        tenant_id=episode.tenant_id,
        user_id=episode.user_id,
        agent_id=episode.agent_id,
        thread=thread_of(episode),
        place=place or (episode.covers_turns[0] if is_message and episode.covers_turns else None),
        speaker=speaker_of(episode.text) if is_message else "",
        names=[*episode.entities, *episode.topics],
        asks=asks(episode.text),
        tells_time=tells_time(episode.text),
        happened_at=episode.event_date or episode.created_at,
        created_at=episode.created_at,
        valid_to=episode.valid_to,
        length=words.length,
        lexemes=words.vector,
    )


def thread_of(episode: Episode) -> UUID | None:
    """What stands for the episode's session: the same for all of its episodes, short, and nobody else's."""
    if not episode.session:
        return None
    return uuid5(episode.tenant_id, json.dumps([episode.user_id, episode.namespace, episode.session]))


def index_again(*episodes: Episode) -> None:
    """Has them found by what they say now, where they stood, in the open scope that changed them."""
    put_rows([entry_of(one) for one in episodes], kept=("place",))


def newest_place(
    *, tenant_id: UUID, session: str, namespace: str, user_id: str, before: int
) -> tuple[int, int]:
    """The number and the place of a turn of the session that stands in the index already, of those before
    `before` the one that was written last; zeros if there is none. In the open scope."""
    turns = Episode.objects.filter(
        tenant_id=tenant_id,
        session=session,
        namespace=namespace,
        user_id=user_id,
        memory_type=MemoryType.MESSAGE,
        origin=Origin.SESSION,
        covers_turns__0__lt=before,
    )
    newest = turns.order_by("-created_at", "-id").first()
    if newest is None or not newest.covers_turns:
        return 0, 0
    entry = EpisodeWords.objects.filter(tenant_id=tenant_id, id=newest.id).first()
    number = newest.covers_turns[0]
    return number, (entry.place if entry is not None and entry.place else number)


def speaker_of(text: str) -> str:
    """The first lexeme of who said it; empty if the text does not tell."""
    found = _SPEAKER.match(text)
    return next(iter(analyse(found[1])), "") if found else ""
