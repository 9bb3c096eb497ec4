"""The page of an export: whole, readable, and harmless whatever was stored."""

import re
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest
from uuid_utils.compat import uuid7

from tenants.privacy import archive, page
from tenants.privacy.page import SECTIONS, Page, article, interleaved
from tenants.privacy.registry import Rows, handlers

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
OVERRIDE = "safe \u202etxt.exe"


class Reader(HTMLParser):
    """What a browser would make of it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.links, self.handlers, self.text = [], [], [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in {"href", "src", "action"}]
        self.handlers += [name for name, _value in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.text += data


def shown(user_id="ann", **stores):
    made = Page(
        tenant="acme", user_id=user_id, at=NOW, stores={name: iter(rows) for name, rows in stores.items()}
    )
    return b"".join(made.pieces()).decode()


HOSTILE = [
    "<script>alert(1)</script>",
    "</style></p><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "[click](javascript:alert(1))",
    "javascript:alert(1)",
    "<svg onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<!--",
    "&lt;script&gt;",
    "{0} {} %s",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_whatever_was_stored_is_only_text(text):
    records = {
        "episode": [
            {"kind": "episode", "text": text, "metadata": {text: [text, {"x": text}]}, "topics": [text]}
        ],
        "entity": [{"kind": "entity", "key": text, "value": {text: text}}],
        "session": [{"kind": "session", "id": uuid7(), "external_id": text, "summary": text}],
        "new_store": [{"kind": text, text: text}],
    }
    read = Reader(shown(text, **records))
    calm = Reader(shown("ann", **{name: [] for name in records}))
    assert set(read.tags) <= set(calm.tags) | {"article", "details", "summary", "dl", "dt", "dd", "h3"}
    assert read.links == calm.links
    assert all(link.startswith("#") for link in read.links)
    assert read.handlers == []
    assert read.text.count(text) >= 10


def test_nothing_on_it_can_run_or_be_fetched():
    text = shown()
    assert re.search(
        r"<meta http-equiv=\"Content-Security-Policy\"\s+content=\"default-src 'none'; style-src 'sha256-",
        text,
    )
    assert "unsafe-inline" not in text
    assert "<script" not in text
    assert "http://" not in text.replace("http-equiv", "")
    assert "https://" not in text


def test_what_would_turn_or_hide_text_is_named_and_all_of_it_isolated():
    text = shown(OVERRIDE, episode=[{"kind": "episode", "text": OVERRIDE + "\u200b\u2066"}])
    assert not page.UNSEEN.search(text)
    assert text.count(">U+202E</span>") >= 2
    assert ">U+200B</span>" in text
    assert re.search(r'<p class="text"><bdi>safe <span class="hidden"[^>]*>U\+202E</span>txt.exe', text)


def test_every_store_that_is_exported_has_its_part_and_an_unknown_one_the_last():
    listed = [name for section in SECTIONS for name in section.stores]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(handlers())
    assert all(one.exported for name, one in handlers().items() if name in listed and isinstance(one, Rows))
    text = shown(diary=[{"kind": "diary", "text": "dear diary"}])
    assert text.index("Everything else</h2>") < text.index("dear diary")


def test_a_part_without_anything_says_so():
    text = shown(episode=[{"kind": "episode", "text": "one"}])
    assert text.count('class="none"') == len(SECTIONS)
    assert "Entries: 1<" in text


def test_each_conversation_stands_with_its_turns():
    sessions = [{"kind": "session", "id": uuid7(), "external_id": f"talk {n}"} for n in range(3)]
    of = [(0, "a"), (0, "b"), (2, "c")]
    events = [{"kind": "event", "session_id": sessions[n]["id"], "role": "user", "content": x} for n, x in of]
    late = {"kind": "event", "session_id": uuid7(), "content": "of a session made just now"}
    found = list(interleaved(iter(sessions), iter([*events, late])))
    assert found == [sessions[0], *events[:2], sessions[1], sessions[2], events[2], late]
    text = shown(session=sessions, event=[*events, late])
    places = [text.index(part) for part in ("talk 0", ">a<", ">b<", "talk 1", "talk 2", ">c<", "just now")]
    assert places == sorted(places)


@pytest.mark.parametrize("value", [0, False, True, 1.5, "", None, [], {}, [1, [2, [3, [4, [5, [6]]]]]],
                                   {"a": {"b": {"c": {"d": {"e": {"f": 1}}}}}}, ["x", {"y": None}],
                                   "2026-99-99T99:99:99Z", datetime.max.replace(tzinfo=UTC)])  # fmt: skip
def test_any_value_can_be_shown(value):
    text = article({"kind": "entity", "key": "k", "value": value, "created_at": NOW})
    assert "4 March 2026, 05:06 UTC" in text
    assert "<dt><bdi>Key</bdi></dt>" in text


def test_what_is_longer_than_browsers_open_ends_with_a_word(monkeypatch):
    monkeypatch.setattr(page, "LONGEST", 20_000)
    rows = ({"kind": "episode", "text": "x" * 1_000} for _n in range(1_000))
    text = shown(episode=rows)
    assert len(text) < 30_000
    assert "does not fit on a page" in text
    assert text.endswith("</html>\n")


def test_lines_past_the_longest_member_are_in_another(monkeypatch):
    monkeypatch.setattr(archive, "LONGEST", 25)
    pieces = [bytes([48 + n]) * 10 for n in range(5)] + [b"x" * 40, b"y"]
    members = [(name, list(found)) for name, found in archive.in_parts("m", ".jsonl", iter(pieces))]
    assert [name for name, _found in members] == [
        "m.jsonl",
        "m-2.jsonl",
        "m-3.jsonl",
        "m-4.jsonl",
        "m-5.jsonl",
    ]
    assert [piece for _name, found in members for piece in found] == pieces
    assert [name for name, found in archive.in_parts("m", ".jsonl", iter([])) if not list(found)] == [
        "m.jsonl"
    ]
