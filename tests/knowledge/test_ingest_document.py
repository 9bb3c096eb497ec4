"""Taking documents in: what becomes of them, and of what they said before."""

import pytest
from django.utils import timezone
from prometheus_client import REGISTRY

from knowledge import ingesting
from knowledge import search as search_module
from knowledge.documents import access_document, delete_document, list_documents
from knowledge.embedding import BATCH, EMBED
from knowledge.models import Document
from knowledge.search import search_chunks
from knowledge.types import ChunkFilter
from providers.embeddings import get_embedder, reset_embedder
from tenants.errors import Forbidden, Invalid, NotFound, TooLarge
from tenants.filling import fill_up
from tenants.models import Job
from tenants.privacy.registry import Subject
from tenants.privacy.residue import scan_tables
from tenants.scope import scope
from tenants.tombstones import Erased, bury
from tenants.vectors import count_unread, kinds
from tests.knowledge.pdfs import pdf
from tests.knowledge.shelf import FILLER, chunks, embed, ingest, search, sections, texts, vectors
from tests.privacy import people
from tests.working.conversation import at_once

SOURCE = "handbook/refunds.md"


def documents(caller) -> list[Document]:
    with scope(caller.tenant_id):
        return list(Document.objects.filter(tenant_id=caller.tenant_id))


def embed_jobs(caller) -> int:
    with scope(caller.tenant_id):
        return Job.objects.filter(tenant_id=caller.tenant_id, kind=EMBED, state="queued").count()


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


def test_a_document_is_stored_with_its_chunks_and_found_by_its_words_at_once(caller):
    before = counted("chunks_ingested_total"), counted("documents_ingested_total", action="created")
    done = ingest(
        caller, sections("quokkas", "numbats"), title="Animals", source=SOURCE, media_type="text/markdown"
    )
    document = done.shown.document
    assert (done.action, done.shown.embedded) == ("created", 0)
    assert (document.title, document.chunk_count, document.media_type) == ("Animals", 2, "text/markdown")
    assert document.checksum == ingesting.hashlib.sha256(sections("quokkas", "numbats").encode()).hexdigest()
    assert [one.heading for one in chunks(caller)] == ["About quokkas", "About numbats"]
    assert "quokkas" in search(caller, "quokkas")[0]
    after = counted("chunks_ingested_total"), counted("documents_ingested_total", action="created")
    assert after == (before[0] + 2, before[1] + 1)


def test_the_job_embeds_a_batch_at_a_time_and_the_answer_tells_how_many(caller):
    done = ingest(caller, sections(*(f"topic {n}" for n in range(BATCH + 6))), media_type="text/markdown")
    document_id = done.shown.document.id
    assert embed_jobs(caller) == 1
    embed(caller)
    shown = access_document(caller=caller, document_id=document_id)
    assert shown.embedded == shown.document.chunk_count == BATCH + 6
    assert set(vectors(caller)) == {one.id for one in chunks(caller)}


def test_the_headings_are_embedded_with_the_text(caller):
    ingest(caller, f"# Holidays\n\n{FILLER}", media_type="text/markdown")
    embed(caller)
    (chunk,) = chunks(caller)
    expected = get_embedder().embed([f"Holidays\n{chunk.text}"])[0]
    assert abs(vectors(caller)[chunk.id].embedding - expected).max() < 1e-5


def test_the_same_again_is_unchanged_and_no_work(caller, monkeypatch):
    first = ingest(caller, "Same text.", title="T", source=SOURCE)
    embed(caller)
    monkeypatch.setattr(ingesting, "read_safely", None)
    again = ingest(caller, "Same text.", title="T", source=SOURCE)
    assert (again.action, again.shown.document.id) == ("unchanged", first.shown.document.id)
    assert again.shown.document.updated_at == first.shown.document.updated_at
    assert (again.shown.embedded, embed_jobs(caller)) == (1, 0)


def test_without_a_source_the_same_content_is_the_same_document(caller):
    first, again = ingest(caller, "Same text.", title="T"), ingest(caller, "Same text.", title="T")
    other = ingest(caller, "Other text.", title="T")
    assert again.action == "unchanged"
    assert len({one.shown.document.id for one in (first, again, other)}) == 2


def test_a_new_title_or_metadata_is_taken_over_without_reading_again(caller, monkeypatch):
    first = ingest(caller, "Same text.", title="T", source=SOURCE, metadata={"a": 1})
    monkeypatch.setattr(ingesting, "read_safely", None)
    renamed = ingest(caller, "Same text.", title="New", source=SOURCE)
    assert (renamed.action, renamed.shown.document.title) == ("updated", "New")
    assert renamed.shown.document.metadata == {"a": 1}
    tagged = ingest(caller, "Same text.", source=SOURCE, metadata={"a": 2})
    assert (tagged.action, tagged.shown.document.title) == ("updated", "New")
    assert tagged.shown.document.metadata == {"a": 2}
    assert tagged.shown.document.id == first.shown.document.id


def test_another_text_of_the_same_source_replaces_it_and_what_stayed_keeps_its_vector(caller):
    first = ingest(
        caller, sections("ants", "bees", "cats", "dogs"), source=SOURCE, media_type="text/markdown"
    )
    embed(caller)
    old, before = {one.heading: one for one in chunks(caller)}, vectors(caller)
    written = counted("chunks_ingested_total")
    again = ingest(
        caller, sections("dogs", "eels", "ants", "cats"), source=SOURCE, media_type="text/markdown"
    )
    assert (again.action, again.shown.document.id) == ("replaced", first.shown.document.id)
    assert again.shown.embedded == 3
    new = chunks(caller)
    assert [one.heading for one in new] == ["About dogs", "About eels", "About ants", "About cats"]
    assert [one.position for one in new] == [0, 1, 2, 3]
    kept = [one for one in new if one.heading != "About eels"]
    assert [one.id for one in kept] == [old[one.heading].id for one in kept]
    assert {one.id: vectors(caller)[one.id].id for one in kept} == {one.id: before[one.id].id for one in kept}
    assert old["About bees"].id not in vectors(caller)
    assert counted("chunks_ingested_total") == written + 1
    assert search(caller, "bees", top_k=1) != [old["About bees"].text]


def test_what_stands_twice_stays_twice(caller):
    twice = "\n\n".join(["```\n" + "x = 1\n" * 78 + "```"] * 3)
    ingest(caller, twice, source=SOURCE, media_type="text/markdown")
    ids = {one.id for one in chunks(caller)}
    ingest(caller, f"{twice}\n\n{FILLER}", source=SOURCE, media_type="text/markdown")
    assert len(ids) == 3
    assert {one.id for one in chunks(caller)} > ids


@pytest.mark.parametrize("step", ["match_words", "_nearest", "_hits"])
def test_a_reader_sees_the_old_text_or_the_new_never_a_mix_nor_nothing(caller, monkeypatch, step):
    """Whichever step of a search it is that the replacement comes before."""
    ingest(caller, sections("ants", "bees", "cats"), source=SOURCE, media_type="text/markdown")
    embed(caller)
    go_on = getattr(search_module, step)
    new = sections("dogs", "eels", "foxes")

    def replace_meanwhile(*given, **more):
        at_once(lambda: ingest(caller, new, source=SOURCE, media_type="text/markdown"))
        return go_on(*given, **more)

    monkeypatch.setattr(search_module, step, replace_meanwhile)
    found = headings(caller)
    assert found == (["ants", "bees", "cats"] if step != "match_words" else found)
    assert found in (["ants", "bees", "cats"], ["dogs", "eels", "foxes"])
    monkeypatch.setattr(search_module, step, go_on)
    assert headings(caller) == ["dogs", "eels", "foxes"]


def headings(caller) -> list[str]:
    hits = search_chunks(caller=caller, query="section about billing", top_k=10, where=ChunkFilter())
    return sorted(hit.chunk.heading.removeprefix("About ") for hit in hits)


def test_many_at_once_are_one_document(caller):
    results = at_once(*(lambda n=n: ingest(caller, f"Text {n % 3}.", source=SOURCE) for n in range(9)))
    assert len({one.shown.document.id for one in results}) == 1
    assert [one.action for one in results].count("created") == 1
    (document,) = documents(caller)
    (chunk,) = chunks(caller)
    assert document.checksum == ingesting.hashlib.sha256(chunk.text.encode()).hexdigest()


def test_projects_and_users_have_documents_of_the_same_source_side_by_side(caller):
    places = [{}, {"project": "Apollo"}, {"user_id": "ann"}, {"project": "apollo", "user_id": "ann"}]
    for place in places:
        assert ingest(caller, "Same text.", source=SOURCE, **place).action == "created"
    assert ingest(caller, "Same text.", source=SOURCE, project="APOLLO").action == "unchanged"
    assert len(documents(caller)) == 4


def test_a_title_is_what_is_named_else_its_own_else_the_file_s(caller):
    assert ingest(caller, "# Own\n\nx", filename="a.md", title="Named").shown.document.title == "Named"
    assert ingest(caller, "# Own\n\ny", filename="a.md").shown.document.title == "Own"
    assert ingest(caller, "z", filename="notes/file.txt").shown.document.title == "file"
    assert ingest(caller, pdf(["Hello."], title="Book")).shown.document.title == "Book"
    assert ingest(caller, "nameless").shown.document.title == "Untitled"


def test_pages_are_kept(caller):
    ingest(caller, pdf([FILLER * 9, FILLER * 9]))
    assert [one.page for one in chunks(caller)] == [1, 2]


def test_what_stands_on_a_page_is_cited_with_that_page(caller):
    ingest(caller, pdf(["Refunds take fourteen days.", "", "Whales sing.\nThey are large.", "Bees dance."]))
    assert [(one.page, one.text) for one in chunks(caller)] == [
        (1, "Refunds take fourteen days."), (3, "Whales sing.\nThey are large."), (4, "Bees dance."),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "more", "error", "field"),
    [
        ("", {}, Invalid, "content"),
        (pdf(["", ""]), {"field": "file"}, Invalid, "file"),
        ("x", {"media_type": "image/png"}, Invalid, "media_type"),
        ("x", {"source": "a\udcff.md"}, Invalid, "source"),
        ("x", {"title": "t" * 501}, Invalid, "title"),
        ("x" * 20_971_521, {}, TooLarge, ""),
    ],
)
def test_a_refused_document_leaves_nothing(caller, text, more, error, field):
    with pytest.raises(error) as caught:
        ingest(caller, text, **more)
    assert getattr(caught.value, "field", "") == field
    assert documents(caller) == []


def test_a_replacement_that_is_refused_leaves_the_old_text(caller):
    ingest(caller, "Good text.", source=SOURCE)
    with pytest.raises(Invalid):
        ingest(caller, pdf([""]), source=SOURCE, media_type="application/pdf")
    assert texts(chunks(caller)) == ["Good text."]


def test_a_deleted_document_is_gone_with_everything(caller):
    done = ingest(caller, sections("ants", "bees"), media_type="text/markdown")
    embed(caller)
    delete_document(caller=caller, document_id=done.shown.document.id)
    assert (documents(caller), chunks(caller), vectors(caller)) == ([], [], {})
    with pytest.raises(NotFound):
        access_document(caller=caller, document_id=done.shown.document.id)


def test_one_that_is_deleted_while_it_is_embedded_gets_no_vector(caller, monkeypatch):
    from tenants import embedding as tenants_embedding

    done = ingest(caller, "Ants.")
    think = tenants_embedding._embed

    def delete_meanwhile(given, tenant_id):
        if documents(caller):
            delete_document(caller=caller, document_id=done.shown.document.id)
        return think(given, tenant_id)

    monkeypatch.setattr(tenants_embedding, "_embed", delete_meanwhile)
    embed(caller)
    assert vectors(caller) == {}


@pytest.mark.usefixtures("model_away")
def test_with_the_model_away_documents_are_taken_in_and_found_by_their_words(caller):
    ingest(caller, "Quokkas smile.")
    assert search(caller, "quokkas") == ["Quokkas smile."]
    reset_embedder()


# ── whose they are ───────────────────────────────────────────────────────────────────────────────
def test_a_bound_key_sees_its_own_and_everybody_s_and_changes_its_own_alone(acme):
    everybody = ingest(acme.caller, "For everybody.").shown.document.id
    for bindings in ({"project": "apollo"}, {"user_id": "ann"}, {"agent_id": "apollo"}):
        own = acme.with_key(**bindings).caller
        mine = ingest(own, f"Mine {bindings}.").shown.document.id
        assert access_document(caller=own, document_id=everybody)
        with pytest.raises(Forbidden):
            delete_document(caller=own, document_id=everybody)
        other = acme.with_key(**dict.fromkeys(bindings, "other")).caller
        for call in (access_document, delete_document):
            with pytest.raises(NotFound):
                call(caller=other, document_id=mine)
        assert mine not in [one.document.id for one in list_documents(caller=other, limit=99)]
        assert mine in [one.document.id for one in list_documents(caller=own, limit=99)]
        with pytest.raises(Forbidden):
            ingest(own, "x", **({"user_id": "bob"} if "user_id" in bindings else {"project": "zeus"}))
        delete_document(caller=own, document_id=mine)


def test_globex_reaches_nothing_of_acme_s(acme, globex):
    one = ingest(acme.caller, "Sesame.", source=SOURCE).shown.document.id
    assert search(globex.caller, "sesame") == []
    for call in (access_document, delete_document):
        with pytest.raises(NotFound):
            call(caller=globex.caller, document_id=one)
    assert ingest(globex.caller, "Sesame.", source=SOURCE).action == "created"


# ── erasure ──────────────────────────────────────────────────────────────────────────────────────
def test_an_erasure_takes_a_person_s_documents_and_leaves_the_others(acme):
    ingest(acme.caller, "Ann's sesame.", user_id="ann")
    ingest(acme.caller, "Everybody's sesame.")
    embed(acme.caller)
    people.erase(acme, "ann")
    assert search(acme.caller, "sesame") == ["Everybody's sesame."]
    assert len(vectors(acme.caller)) == 1


def test_what_was_begun_before_an_erasure_is_refused_after_it(acme, monkeypatch):
    began, read = timezone.now(), ingesting.read_safely

    def erase_meanwhile(*given, **more):
        people.erase(acme, "ann")
        return read(*given, **more)

    monkeypatch.setattr(ingesting, "read_safely", erase_meanwhile)
    with pytest.raises(Erased):
        ingest(acme.caller, "Sesame.", user_id="ann", now=began)
    assert documents(acme.caller) == []


def test_what_a_returning_person_sends_is_a_new_document_even_before_the_old_one_is_gone(acme):
    old = ingest(
        acme.caller, sections("ants", "bees"), user_id="ann", source=SOURCE, media_type="text/markdown"
    )
    with scope(acme.tenant.id):
        tombstone = bury(tenant_id=acme.tenant.id, user_id="ann", requested_by="test", now=timezone.now())
    again = ingest(
        acme.caller, sections("ants", "cats"), user_id="ann", source=SOURCE, media_type="text/markdown"
    )
    assert again.action == "created"
    assert again.shown.document.id != old.shown.document.id
    subject = Subject(acme.tenant.id, "ann", tombstone.erased_at)
    assert scan_tables(subject, report=lambda: None).residue == {}
    assert len(chunks(acme.caller)) == 2


def test_after_a_change_of_the_model_chunks_are_read_anew(caller):
    ingest(caller, "Sesame.")
    embed(caller)
    kind = kinds()["chunk"]
    assert count_unread(kind, tenant_id=caller.tenant_id, model=get_embedder().model) == 0
    with scope(caller.tenant_id):
        kind.vectors._default_manager.filter(tenant_id=caller.tenant_id).update(model="former")
    assert list(fill_up(caller.tenant_id)) == [1]
    assert count_unread(kind, tenant_id=caller.tenant_id, model=get_embedder().model) == 0
