"""`manage.py ingest`: a folder as documents, what changed since the last time alone."""

import os
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from knowledge.documents import list_documents
from knowledge.models import Document
from tests.knowledge.pdfs import encrypted, pdf
from tests.knowledge.shelf import ingest, search


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    handbook = tmp_path / "handbook"
    (handbook / "deep").mkdir(parents=True)
    (handbook / ".hidden").mkdir()
    (handbook / "refunds.md").write_text("# Refunds\n\nMoney back.")
    (handbook / "deep" / "page.html").write_text("<title>Page</title><p>Some page.")
    (handbook / "deep" / "book.pdf").write_bytes(pdf(["Some book."]))
    (handbook / "notes.txt").write_text("Some notes.")
    (handbook / "picture.png").write_bytes(b"no document")
    (handbook / ".hidden" / "secret.md").write_text("Not this.")
    return handbook


def run(caller, folder: Path, **options: object) -> None:
    call_command("ingest", str(folder), tenant=caller.tenant, **options)


def there(caller, **where: str) -> dict[str, Document]:
    found = list_documents(caller=caller, limit=200, **where)
    return {one.document.source: one.document for one in found}


def test_a_folder_becomes_documents_named_by_where_they_lie(caller, folder, capsys):
    run(caller, folder)
    assert capsys.readouterr().out == "4 created\n"
    titles = {source: one.title for source, one in there(caller).items()}
    assert titles == {
        "handbook/refunds.md": "Refunds",
        "handbook/deep/page.html": "Page",
        "handbook/deep/book.pdf": "book",
        "handbook/notes.txt": "notes",
    }
    assert search(caller, "refunds") == ["# Refunds\n\nMoney back."]


def test_the_second_time_only_what_changed_is_work(caller, folder, capsys):
    run(caller, folder)
    capsys.readouterr()
    (folder / "notes.txt").write_text("Other notes.")
    (folder / "new.txt").write_text("New notes.")
    run(caller, folder)
    told = sorted(capsys.readouterr().out.strip().split(", "))
    assert told == ["1 created", "1 replaced", "3 unchanged"]


def test_what_is_missing_is_deleted_if_asked_for_and_only_what_came_from_there(caller, folder, capsys):
    run(caller, folder)
    ingest(caller, "By hand.", source="handbook2/refunds.md")
    ingest(caller, "Apollo's.", source="handbook/refunds.md", project="apollo")
    ingest(caller, "Ann's.", source="handbook/ann.md", user_id="ann")
    (folder / "refunds.md").unlink()
    run(caller, folder)
    assert "handbook/refunds.md" in there(caller)
    run(caller, folder, delete_missing=True)
    assert "1 deleted" in capsys.readouterr().out
    left = list_documents(caller=caller, limit=200)
    assert len(left) == 6
    assert [one.document.project for one in left if one.document.source == "handbook/refunds.md"] == [
        "apollo"
    ]


def test_a_project_has_a_corpus_of_its_own(caller, folder):
    run(caller, folder, project="Apollo")
    assert {one.project for one in there(caller).values()} == {"apollo"}
    run(caller, folder, project="Apollo", delete_missing=True)
    assert len(there(caller)) == 4


def test_one_that_is_refused_keeps_no_other_from_being_taken_in(caller, folder, capsys):
    (folder / "a.pdf").write_bytes(encrypted(pdf(["x"])))
    (folder / "a.txt").write_bytes(b"\xff\x00\x81")
    os.symlink(folder / "nowhere", folder / "gone.md")
    with pytest.raises(CommandError, match="2 of 6 files were refused"):
        run(caller, folder)
    told = capsys.readouterr()
    assert "4 created" in told.out
    assert "The PDF is encrypted." in told.err
    assert "The text is not UTF-8." in told.err
    assert "" not in told.err.strip().splitlines(), "a line for each refusal, and none between them"
    assert len(there(caller)) == 4


def test_links_that_lead_out_of_the_folder_are_passed_over_and_told_of(caller, folder, capsys):
    outside = folder.parent / "handbook-secrets"  # whose name begins alike
    outside.mkdir()
    (outside / "passwd.txt").write_text("root:x:0:0")
    os.symlink(outside / "passwd.txt", folder / "passwd.txt")
    os.symlink("../../handbook-secrets/passwd.txt", folder / "deep" / "relative.txt")
    os.symlink(outside, folder / "more")
    os.symlink(folder / "more" / "passwd.txt", folder / "chain.txt")
    os.symlink(folder / "notes.txt", folder / "inside.txt")
    os.symlink(folder / "loop.txt", folder / "loop.txt")
    os.symlink(folder, folder / "deep" / "round")
    run(caller, folder)
    told = capsys.readouterr()
    assert told.out == "5 created\n"
    passed_over = sorted(line.split(":")[0] for line in told.err.splitlines() if "leads out" in line)
    assert passed_over == sorted(
        str(folder / name) for name in ("passwd.txt", "deep/relative.txt", "more", "chain.txt")
    )
    assert "handbook/inside.txt" in there(caller)
    assert search(caller, "root") == []


def test_the_folder_itself_may_be_a_link(caller, folder, tmp_path, capsys):
    os.symlink(folder, tmp_path / "link")
    run(caller, tmp_path / "link")
    assert capsys.readouterr().out == "4 created\n"


def test_a_refused_file_is_not_missing(caller, folder):
    run(caller, folder)
    (folder / "notes.txt").write_bytes(b"\xff\x00\x81")
    with pytest.raises(CommandError):
        run(caller, folder, delete_missing=True)
    assert "handbook/notes.txt" in there(caller)


def test_the_command_says_what_is_wrong(caller, tmp_path, capsys):
    with pytest.raises(CommandError, match="There is no tenant"):
        call_command("ingest", str(tmp_path), tenant="nobody")
    with pytest.raises(CommandError, match="is no folder"):
        run(caller, tmp_path / "nowhere")
    run(caller, tmp_path)
    assert capsys.readouterr().out == "no documents\n"
