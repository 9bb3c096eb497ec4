"""Strange files are read by a process that they may ruin, never by this one."""

import os
import resource
import threading
import time

import pytest

from knowledge import sandbox
from knowledge.reading.blocks import Unreadable
from knowledge.reading.reader import HTML, MARKDOWN, PDF, TEXT
from knowledge.sandbox import HARMLESS, read_safely
from tenants.errors import Unavailable
from tests.knowledge import pdfs

SLOW = b"<!--" * 400_000  # takes the parser hours


@pytest.fixture(autouse=True)
def limits(settings):
    settings.DOCUMENT_PARSE_SECONDS = 1
    settings.DOCUMENT_PARSE_MEMORY_MB = 256


def refused(data: bytes, media_type: str) -> None:
    with pytest.raises(Unreadable):
        read_safely(data, media_type)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (pdfs.nested(1_000_000), PDF),
        (pdfs.inflating(300_000_000), PDF),
        (pdfs.inflating(60_000_000), PDF),
        (pdfs.many_pages(50_000), PDF),
        (pdfs.pages_within_pages(), PDF),
        (pdfs.forms_within_forms(60), PDF),
        (SLOW, HTML),
        (b"<b>" * 3_000_000 + b"x", HTML),
        (b"|" + b"a|" * 20_000 + b"\n|" + b"-|" * 20_000 + b"\n" + (b"|" * 20_000 + b"\n") * 50, MARKDOWN),
    ],
    ids=["nested", "inflating", "inflating less", "pages", "page tree", "forms", "comments", "tags", "table"],
)
def test_a_bomb_is_refused_in_time_and_this_process_stays_as_it_is(data, media_type):
    before, begun = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    refused(data, media_type)
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert time.monotonic() - begun < 60
    assert after.ru_utime - before.ru_utime < 0.5
    assert after.ru_maxrss - before.ru_maxrss < 50_000  # KiB


@pytest.mark.parametrize(
    ("data", "media_type"),
    [(pdfs.pdf(["Hello."]), PDF), (b"<p>Hello.</p>", HTML), (b"Hello.\n\n" * HARMLESS, TEXT)],
    ids=["pdf", "html", "long text"],
)
def test_a_good_file_is_read_as_it_would_be_here(data, media_type, settings):
    settings.DOCUMENT_PARSE_SECONDS = 20
    assert read_safely(data, media_type).pieces[0].text.startswith("Hello.")


def test_the_reason_comes_from_the_child(settings):
    settings.DOCUMENT_PARSE_SECONDS = 20
    with pytest.raises(Unreadable, match="encrypted"):
        read_safely(pdfs.encrypted(pdfs.pdf(["x"])), PDF)


def test_of_a_bomb_it_is_said_that_it_is_too_large(settings):
    settings.DOCUMENT_PARSE_SECONDS, settings.DOCUMENT_PARSE_MEMORY_MB = 20, 1024
    with pytest.raises(Unreadable, match=r"^Page 1 of the PDF is too large to be read\.$"):
        read_safely(pdfs.inflating(300_000_000), PDF)


def test_the_child_learns_no_secret(monkeypatch):
    monkeypatch.setenv("SECRET_KEY", "hush")
    assert "SECRET_KEY" in os.environ
    assert "SECRET_KEY" not in sandbox._environment()
    assert not any("DATABASE" in name for name in sandbox._environment())


def test_too_many_at_once_are_put_off(monkeypatch, settings):
    settings.DOCUMENT_PARSE_SECONDS = 20
    monkeypatch.setattr(sandbox, "WAITS", 0.05)
    monkeypatch.setattr(sandbox, "_slots", threading.BoundedSemaphore(1))
    begun, done = threading.Event(), threading.Event()

    def read_slowly(*_given):
        begun.set()
        done.wait(60)
        raise Unreadable("It took too long.")

    with monkeypatch.context() as patch:
        patch.setattr(sandbox, "_read_apart", read_slowly)
        busy = threading.Thread(target=refused, args=(SLOW, HTML))
        busy.start()
        assert begun.wait(60)
        with pytest.raises(Unavailable, match="try again"):
            read_safely(b"<p>Hello.", HTML)
        assert read_safely(b"Short text needs no child.", TEXT).pieces
        done.set()
        busy.join()
    assert read_safely(b"<p>Hello.", HTML).pieces
