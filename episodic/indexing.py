"""What an episode is found by beside its vector: its words, who said it, its place, whether it asks."""

import json
import re
from uuid import UUID, uuid5

from episodic.lexemes import corpus_of, index_text, mark_of
from episodic.models import Episode, EpisodeWords, MemoryType
from lexical.analysis import analyse
from lexical.hints import asks, tells_time

# A verbatim turn says who spoke: `Ana: I was there.`
_SPEAKER = re.compile(r"([^\W\d][^:\n]{0,38}): ")


def entry_of(episode: Episode) -> EpisodeWords:
    """The unsaved row of the index."""
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
        place=episode.covers_turns[0] if is_message and episode.covers_turns else None,
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


def index_again(episode: Episode) -> None:
    """Has it found by what it says now, in the open scope that changed it."""
    EpisodeWords.objects.filter(tenant_id=episode.tenant_id, id=episode.id).delete()
    entry_of(episode).save(force_insert=True)


def speaker_of(text: str) -> str:
    """The first lexeme of who said it; empty if the text does not tell."""
    found = _SPEAKER.match(text)
    return next(iter(analyse(found[1])), "") if found else ""
