"""Documents as people add, read, search and delete them."""

import pytest
from playwright.sync_api import expect

from knowledge.documents import list_documents
from tenants.audit import list_entries
from tests.console.remembered import HOSTILE
from tests.console.senses import expect_harmless
from tests.knowledge.shelf import FILLER, ingest, sections


def titles(person):
    found = list_documents(caller=person.caller, limit=100)
    return [one.document.title for one in found]


def did(person):
    return [one.action for one in list_entries(caller=person.caller, limit=10) if "document." in one.action]


def test_a_file_is_added_searched_with_its_words_marked_and_deleted(editor, browse, picture, tmp_path):
    file = tmp_path / "handbook.md"
    file.write_text(f"# Handbook\n\n{sections('invoices', 'refunds', 'travel')}")
    page = browse(editor)
    page.goto(editor.path("documents"))
    page.get_by_role("link", name="Add a file or a text").click()
    page.get_by_label("File").set_input_files(file)
    page.get_by_label("Project").fill("Orders")
    page.get_by_role("button", name="Add").click()
    page.get_by_text("Taken in.").wait_for()
    picture(page, "document-read")
    assert titles(editor) == ["Handbook"]
    page.get_by_role("link", name="Documents").first.click()
    page.get_by_label("Search by words or meaning").fill("how are refunds answered")
    page.get_by_role("button", name="Search").click()
    expect(page.locator("mark", has_text="refunds").first).to_be_visible()
    picture(page, "documents-found")
    page.locator(".rows .title").first.click()
    page.get_by_role("link", name="Delete").click()
    expect(page.get_by_text("This cannot be undone.")).to_be_visible()
    page.get_by_role("button", name="Delete").click()
    page.get_by_text("Deleted, with all its passages.").wait_for()
    assert titles(editor) == []
    assert did(editor) == ["document.delete", "document.ingest"]


def test_a_text_of_the_same_source_replaces_it(editor):
    for text in ("# One\n\nFirst.", "# Two\n\nSecond."):
        answer = editor.submit("documents/new", text=text, source="wiki/one")
        assert answer.status_code == 302
    assert titles(editor) == ["Two"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Give either a file or a text."),
        ({"text": "x", "source": "s" * 1_001}, "May not be longer than 1000 characters."),
        ({"text": "x", "media_type": "application/x-odd"}, "Select a valid choice"),
        ({"text": "not a pdf", "media_type": "application/pdf"}, "error"),
    ],
)
def test_what_is_refused_is_said(editor, fields, sentence):
    answer = editor.submit("documents/new", **fields)
    assert answer.status_code == 422
    assert sentence in answer.text
    assert titles(editor) == []


def test_a_viewer_reads_and_adds_nothing(editor, person):
    one = ingest(editor.caller, "# Plan\n\nIt rains.").shown.document
    viewer = person("viewer")
    page = viewer.open(f"documents/{one.id}")
    assert "It rains." in page.text
    assert "Delete" not in page.text
    assert viewer.open("documents/new").status_code == 403


def test_documents_and_passages_go_on_to_the_end(editor, browse):
    ingest(editor.caller, sections(*(f"topic {n}" for n in range(45))), title="Long")
    for n in range(35):
        ingest(editor.caller, f"{FILLER} {n}", title=f"Doc {n}")
    page = browse(editor)
    page.goto(editor.path("documents"))
    page.locator(".rows > li").last.scroll_into_view_if_needed()
    page.locator(".rows .title").nth(35).wait_for()
    page.get_by_role("link", name="Long").click()
    expect(page.get_by_role("heading", name="Long", level=1)).to_be_visible()
    page.wait_for_load_state()
    page.locator(".rows > li").last.scroll_into_view_if_needed()
    page.get_by_text("passage 45", exact=True).wait_for()
    assert "passage 45" in editor.open(page.url.rsplit("/console/", 1)[1].partition("/")[2], after=43).text


def test_hostile_documents_are_shown_and_do_nothing(editor, browse):
    named = {"title": HOSTILE[:200], "source": HOSTILE[:200], "metadata": {"<b>": HOSTILE}}
    one = ingest(editor.caller, f"{HOSTILE} refunds", media_type="text/plain", **named).shown.document
    page = browse(editor)
    page.on("dialog", lambda _dialog: pytest.fail("a script ran"))
    for path in ("documents", f"documents/{one.id}", "documents?q=refunds", f"documents/{one.id}/delete"):
        page.goto(editor.path(path))
        main = page.locator("main")
        expect(main).to_contain_text("<script>alert(1)</script>", use_inner_text=True)
        expect(main).not_to_contain_text("\u202e", use_inner_text=True)
        expect_harmless(page)
