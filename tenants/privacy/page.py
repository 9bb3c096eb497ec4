"""An export as a page for the person it is about: one file without scripts or anything from elsewhere.

It is written as a stream, record by record. Whatever was stored is shown as text and nothing else: escaped,
each piece isolated from the direction of the text around it, with characters that would turn or hide text
named instead. Nothing stored ever becomes a link.
"""

import base64
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe

from tenants.privacy.archive import LONGEST
from tenants.privacy.registry import Record

STYLE = (Path(__file__).parent / "page.css").read_text()
_HASH = base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'sha256-{}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>What is remembered of {}</title>
<style>{}</style>
</head>
<body>
<h1>What is remembered of {}</h1>
<p>This is everything that was kept of this person by {} on {}. The same, field by field, for machines, is in
<i>memories.jsonl</i>.</p>
<nav aria-label="Contents"><ul>
{}
</ul></nav>
<main>
"""
# What turns the direction of text, hides, or does not print: all but tabs and ends of lines.
UNSEEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
WHOSE = {"user_id", "namespace"}  # the same on all of the page, or of no meaning to people
DEEPEST = 4  # levels of what is shown as a list; below, as JSON


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: which stores are in it, by the names of their handlers."""

    anchor: str
    title: str
    says: str
    stores: tuple[str, ...]


SECTIONS = (
    Section("known", "What is known of you", "Single facts, with what held before.", ("entity",)),
    Section(
        "remembered",
        "What is remembered",
        "Memories of what happened, oldest first, and how they read before somebody changed them.",
        ("episode", "episode_revision", "summary_partition"),
    ),
    Section(
        "noted",
        "What was noted",
        "Decisions, discoveries and the like, and how they read before.",
        ("observation", "observation_revision"),
    ),
    Section(
        "conversations",
        "Your conversations",
        "Word by word, as far as they are still kept, and what was held for their time.",
        ("session", "event", "session_state", "checkpoint", "session_key"),
    ),
    Section(
        "used",
        "Where it was used",
        "What an agent was told in which conversation, how often, and whether it served.",
        ("injection", "episode_access", "feedback"),
    ),
    Section("documents", "Your documents", "Texts that are kept for you alone.", ("document", "chunk")),
    Section(
        "decisions",
        "What was not kept",
        "What could have been remembered and was refused or waits for a decision, and why.",
        ("write_decision",),
    ),
)
REST = Section("other", "Everything else", "Keys, work in progress, and what recall is measured with.", ())
# By kind: what is read first, what stands above it, and when it was.
TEXT = {
    "event": ("content",), "turn": ("content",), "entity": ("value",), "injection": ("value",),
    "checkpoint": ("value",), "working_memory": ("data",), "session": ("summary",),
    "document": ("title", "source"), "observation": ("title", "content"),
    "observation_revision": ("title", "content"), "evaluation_query": ("text",), "feedback": ("note",),
    "session_state": ("data", "memories"), "summary_partition": ("summary",),
}  # fmt: skip
NAMED = {
    "event": ("role", "event_type"), "turn": ("role",), "entity": ("key", "status"),
    "observation": ("type", "project"), "injection": ("item_key", "session"),
    "write_decision": ("outcome", "reason"), "chunk": ("heading",), "feedback": ("verdict",),
    "api_key": ("name", "key_id"), "job": ("job_kind", "state"), "checkpoint": ("session_id",),
    "working_memory": ("session_id",), "episode": ("memory_type", "session"),
    "session_state": ("session_id",), "summary_partition": ("group",),
}  # fmt: skip
WHEN = ("event_date", "marked_at", "recorded_at", "started_at", "replaced_at", "created_at", "updated_at",
        "computed_at")  # fmt: skip


class Page:
    """The page of one export. `stores` has each store's records, which are read once."""

    def __init__(
        self, *, tenant: str, user_id: str, at: datetime, stores: Mapping[str, Iterable[Record]]
    ) -> None:
        self._tenant, self._user_id, self._at, self._stores = tenant, user_id, at, stores
        self._room = LONGEST // 2

    def pieces(self) -> Iterator[bytes]:
        """In UTF-8, a record or less at a time. Past a size that no browser opens, it says so and ends."""
        named = {name for section in SECTIONS for name in section.stores}
        rest = tuple(name for name in self._stores if name not in named)
        sections = (*SECTIONS, Section(REST.anchor, REST.title, REST.says, rest))
        yield self._head(sections).encode()
        for section in sections:
            yield format_html(
                '<section id="{0}">\n<h2>{1}</h2>\n<p>{2}</p>\n', section.anchor, section.title, section.says
            ).encode()
            yield from self._section(section)
            yield b"</section>\n"
        yield b"</main>\n</body>\n</html>\n"

    def _head(self, sections: Iterable[Section]) -> str:
        contents = mark_safe(  # noqa: S308  made of escaped pieces
            "\n".join(format_html('<li><a href="#{}">{}</a></li>', one.anchor, one.title) for one in sections)
        )
        who = shown(self._user_id)
        plain = UNSEEN.sub("", self._user_id)
        moment, style = _moment(self._at), mark_safe(STYLE)  # noqa: S308  a file of ours
        return format_html(HEAD, _HASH, plain, style, who, shown(self._tenant), moment, contents)

    def _section(self, section: Section) -> Iterator[bytes]:
        count = 0
        for record in self._records(section):
            if self._room < 0:
                yield b'<p class="none">The rest does not fit on a page: it is in memories.jsonl.</p>\n'
                break
            piece = article(record).encode()
            self._room -= len(piece)
            count += 1
            yield piece
        if count:
            yield format_html('<p class="count">{}</p>\n', f"Entries: {count:,}").encode()
        else:
            yield b'<p class="none">Nothing.</p>\n'

    def _records(self, section: Section) -> Iterator[Record]:
        names = [name for name in section.stores if name in self._stores]
        if {"session", "event"} <= set(names):
            yield from interleaved(self._stores["session"], self._stores["event"])
            names = [name for name in names if name not in {"session", "event"}]
        yield from chain.from_iterable(self._stores[name] for name in names)


def interleaved(sessions: Iterable[Record], events: Iterable[Record]) -> Iterator[Record]:
    """Each session followed by its events. Both come in the order of the sessions' ids, so that neither has
    to be held; events of a session that has just been made follow at the end."""
    waiting = iter(events)
    event = next(waiting, None)
    for session in sessions:
        yield session
        while event is not None and event["session_id"] <= session["id"]:
            yield event
            event = next(waiting, None)
    while event is not None:
        yield event
        event = next(waiting, None)


def article(record: Record) -> SafeString:
    """One record: what it says, when, and behind a fold all of its fields."""
    kind = record["kind"]
    fields = {name: value for name, value in record.items() if name not in WHOSE | {"kind"} and _says(value)}
    texts = [fields[name] for name in TEXT.get(kind, ("text",)) if name in fields]
    named = [str(fields[name]) for name in NAMED.get(kind, ()) if name in fields]
    title = ": ".join([_worded(kind), *([", ".join(named)] if named else [])])
    when = next((fields[name] for name in WHEN if name in fields), None)
    if kind == "session":
        title = f"Conversation {fields.get('external_id', '')}"
    elif kind in {"event", "turn"} and named:
        title = _worded(named[0])
    heading = "<h3>{}</h3>\n" if kind == "session" else '<p class="who">{}</p>\n'
    return format_html(
        "<article>\n" + heading + "{}{}<details><summary>All fields</summary>\n{}</details>\n</article>\n",
        shown(title),
        mark_safe("".join(format_html('<p class="text">{}</p>\n', told(one)) for one in texts)),  # noqa: S308
        format_html('<p class="when">{}</p>\n', told(when)) if when else "",
        _list(fields, 0),
    )


def told(value: object, depth: int = 0) -> SafeString:
    """A value in words, as far as JSON has words."""
    if isinstance(value, datetime):
        return _moment(value)
    if isinstance(value, dict | list) and value:
        return _several(value, depth)
    if isinstance(value, bool):
        value = "yes" if value else "no"
    return shown(str(value))


def _several(value: dict[str, object] | list[object], depth: int) -> SafeString:
    if isinstance(value, list):
        if not any(isinstance(one, dict | list) for one in value):
            return shown(", ".join(map(str, value)))
        value = {str(number): one for number, one in enumerate(value, 1)}
    if depth < DEEPEST:
        return _list(value, depth + 1)
    return shown(json.dumps(value, ensure_ascii=False, default=str))


def shown(text: str) -> SafeString:
    """Any text, harmless."""
    seen = UNSEEN.sub(_named, escape(text))
    return mark_safe(f"<bdi>{seen}</bdi>")  # noqa: S308  escaped just above


def _named(found: re.Match[str]) -> str:
    return f'<span class="hidden" title="A character that is not seen">U+{ord(found[0]):04X}</span>'


def _list(fields: Record, depth: int) -> SafeString:
    rows = (
        format_html("<dt>{}</dt><dd>{}</dd>\n", shown(_worded(str(name)) if not depth else str(name)),
                    told(value, depth))
        for name, value in fields.items()
    )  # fmt: skip
    return mark_safe("<dl>\n" + "".join(rows) + "</dl>\n")  # noqa: S308  made of escaped pieces


def _worded(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _moment(value: datetime) -> SafeString:
    moment = value.astimezone(UTC)
    return format_html(
        '<time datetime="{}">{}</time>', moment.isoformat(), f"{moment.day} {moment:%B %Y, %H:%M} UTC"
    )


def _says(value: object) -> bool:
    return value is not None and value not in ("", [], {}, ())
