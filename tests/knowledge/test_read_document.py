"""What each format is read into."""

import pytest

from knowledge.reading.blocks import Limits, Unreadable
from knowledge.reading.reader import HTML, MARKDOWN, PDF, TEXT, media_type_of, read_document
from tests.knowledge.pdfs import encrypted, many_pages, pdf

LIMITS = Limits(characters=10_000, pages=20)


def text_of(data: bytes | str, media_type: str) -> str:
    data = data.encode() if isinstance(data, str) else data
    return "\n\n".join(piece.text for piece in read_document(data, media_type, LIMITS).pieces)


def refusal(data: bytes, media_type: str) -> str:
    with pytest.raises(Unreadable) as caught:
        read_document(data, media_type, LIMITS)
    return str(caught.value)


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<p>Seen</p><script>alert('x')</script><style>p {}</style><template>t</template>", "Seen"),
        ("<p>Seen<!-- not --></p><noscript>n</noscript><iframe>f</iframe>", "Seen"),
        ("<p>Seen</p><p hidden>h</p><div style='color:red; DISPLAY : none'><p>d</p></div>", "Seen"),
        ("<p>Seen</p><p style='visibility:hidden'>v</p><p aria-hidden=TRUE>a</p>", "Seen"),
        ("<p>Seen</p><p style='font-size:0px'>f</p><p style='opacity:0'>o</p>", "Seen"),
        ("<p style='opacity:0.9;font-size:0.5em'>Seen</p>", "Seen"),
        ("<h2>Head</h2><p>One <b>bold</b>\n word</p><p>Two</p>", "## Head\n\nOne bold word\n\nTwo"),
        ("<ul><li>a<li>b<ul><li>c</ul></ul>", "- a\n- b\n  - c"),
        ("<ol><li><p>a</p></li><li>b<br>more</li></ol>", "- a\n- b\nmore"),
        ("<table><tr><th>k<th>v<tr><td>1<td><p>2</p></table>", "k | v\n1 | 2"),
        ("<pre>a\n  b</pre>c", "a\n  b\n\nc"),
        ("<div>a<div>b</div>c</div>", "a\n\nb\n\nc"),
        ("a &amp; b &lt;c&gt;", "a & b <c>"),
        ("<table><tr><td><h1>Old page</h1><p>Text</p></td></tr></table>", "# Old page\n\nText"),
        ("<h1><h2>Twice</h2></h1><p>x", "## Twice\n\nx"),
        ("<p>not closed <div>nor this", "not closed\n\nnor this"),
    ],
)
def test_of_a_page_what_is_seen_is_read(page, text):
    assert text_of(page, HTML) == text


def test_the_title_of_a_page_is_its_own():
    read = read_document(b"<title> My\n page</title><h1>Head</h1>x", HTML, LIMITS)
    assert (read.title, read.pieces[0].text) == ("My page", "# Head\n\nx")
    assert read_document(b"<h1>Head</h1>x", HTML, LIMITS).title == "Head"


def test_a_page_tells_its_encoding_unless_whoever_sent_it_knows_better():
    page = "<meta charset='latin-1'><p>caf\u00e9</p>"
    assert text_of(page.encode("latin-1"), HTML) == "café"
    read = read_document(page.encode(), HTML, LIMITS, encoding="utf-8")
    assert read.pieces[0].text == "café"


def test_markdown_is_kept_as_it_is_written():
    text = (
        "---\ntitle: x\n---\n\n# Head *of* all\n\nSome **bold** [link](http://x).\n\n[a]: http://y\n\n> said"
    )
    read = read_document(text.encode(), MARKDOWN, LIMITS)
    assert read.pieces[0].text.split() == text.split()
    assert read.title == "Head *of* all"


def test_a_heading_may_be_underlined():
    (piece,) = read_document(b"Head\n====\n\nx", MARKDOWN, LIMITS).pieces
    assert (piece.heading, piece.text) == ("Head", "Head\n====\n\nx")


def test_what_looks_like_a_heading_inside_code_is_none():
    (piece,) = read_document(b"# A\n\n```\n# not\n```\n", MARKDOWN, LIMITS).pieces
    assert piece.heading == "A"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_may_be_utf_8_or_marked_utf_16(encoding):
    assert text_of("Grüße\r\nan\rÖmür".encode(encoding), TEXT) == "Grüße\nan\nÖmür"


def test_what_cannot_be_stored_is_replaced():
    assert text_of(b"a\x00b", TEXT) == "a\ufffdb"


def test_a_pdf_has_pages_and_a_title():
    read = read_document(
        pdf(["Page one.\nMore.", "Page (two)."] + ["Long page. " * 100] * 2, title="Book"), PDF, LIMITS
    )
    assert read.title == "Book"
    assert [piece.page for piece in read.pieces][:3] == [1, 2, 3]
    assert [piece.text for piece in read.pieces[:2]] == ["Page one.\nMore.", "Page (two)."]
    assert read.pieces[-1].page == 4


@pytest.mark.parametrize(
    ("data", "media_type", "told"),
    [
        (b"", TEXT, "no text"),
        (b" \n\t", MARKDOWN, "no text"),
        (b"<script>x</script>", HTML, "no text"),
        (b"\xff\x00\x80", TEXT, "not UTF-8"),
        (b"word " * 3_000, TEXT, "longer than 10000 characters"),
        (b"<p>" + b"word " * 3_000, HTML, "longer than 10000 characters"),
        (pdf(["word " * 1_500] * 2), PDF, "longer than 10000 characters"),
        (b"", PDF, "not a PDF"),
        (b"%PDF-1.7 and nothing else", PDF, "not a PDF"),
        (pdf(["", ""]), PDF, "may be scanned"),
        (pdf([]), PDF, "no pages"),
        (encrypted(pdf(["secret"])), PDF, "encrypted"),
        (many_pages(21), PDF, "more than 20 pages"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_cannot_be_read_is_refused_with_the_reason(data, media_type, told):
    assert told in refusal(data, media_type)


@pytest.mark.parametrize(
    ("named", "filename", "data", "found"),
    [
        ("text/markdown", "x.html", b"", MARKDOWN),
        ("Text/HTML; charset=utf-8", "", b"", HTML),
        ("application/xhtml+xml", "", b"", HTML),
        ("application/octet-stream", "a.PDF", b"", PDF),
        ("", "notes.md", b"<html>", MARKDOWN),
        ("", "guide/page.htm", b"", HTML),
        ("", "README", b" \n%PDF-1.4", PDF),
        ("", "", b"<!DOCTYPE html><p>", HTML),
        ("", "data.csv", b"a,b", TEXT),
    ],
)
def test_the_type_is_named_or_told_by_the_name_or_the_first_bytes(named, filename, data, found):
    assert media_type_of(named, filename, data) == found


def test_another_type_is_refused():
    with pytest.raises(Unreadable, match="Documents are text/plain, text/markdown, text/html"):
        media_type_of("image/png", "a.md", b"x")
