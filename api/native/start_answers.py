"""How the start of a session is shown."""

from typing import Any

from api.native import answers
from api.native.entity_answers import entity
from recall.start import StartedSession


def started(one: StartedSession) -> dict[str, Any]:
    """What a session begins with."""
    return {
        "session": answers.session(one.session),
        "entities": [entity(slot) for slot in one.entities.slots],
        "entities_left_out": one.entities.left_out,
        "episodes": [{**answers.episode(found.episode), "score": found.score} for found in one.episodes],
        "procedures": [
            {"name": each.name, "version": each.version, "body": each.body} for each in one.procedures
        ],
    }
