"""What an observation must look like (AgentOps contract, §1.3). Pure. Lengths are in bytes of UTF-8."""

from collections.abc import Iterator, Sequence

from tenants.errors import Invalid

LONGEST = {"type": 50, "title": 500, "content": 50_000, "project": 200, "scope": 50, "topic_key": 200}
LONGEST_SESSION_ID = 255  # characters: of the column
SESSION_IDS = ("id", "session_id")
REQUIRED = (*SESSION_IDS, "type", "title", "content", "project")
MOST_TAGS, LONGEST_TAG = 20, 100


class InvalidObservation(Invalid):
    """Everything that is wrong with it, in one sentence."""


def check(*, tags: Sequence[str] = (), **fields: str) -> None:
    """Raises InvalidObservation when one of the given fields is blank that must not be, or too long."""
    problems = [*_field_problems(fields), *_tag_problems(tags)]
    if problems:
        raise InvalidObservation("validation failed: " + "; ".join(problems))


def _field_problems(fields: dict[str, str]) -> Iterator[str]:
    for name in (*REQUIRED, "scope", "topic_key"):
        if name not in fields:
            continue
        value = fields[name]
        if name in REQUIRED and not value.strip():
            yield f"{name} is required"
        elif name in LONGEST and len(value.encode()) > LONGEST[name]:
            yield f"{name} exceeds {LONGEST[name]} chars"
        elif name in SESSION_IDS and len(value) > LONGEST_SESSION_ID:
            yield f"{name} exceeds {LONGEST_SESSION_ID} chars"


def _tag_problems(tags: Sequence[str]) -> Iterator[str]:
    if len(tags) > MOST_TAGS:
        yield f"tags exceed {MOST_TAGS} items"
    if any(len(tag.encode()) > LONGEST_TAG for tag in tags):
        yield f"tag exceeds {LONGEST_TAG} chars"
