"""What the routes of documents accept, and the shape of what they answer."""

from typing import Any

from rest_framework import serializers

from api.fields import AnyJSON, Id, Text
from api.native.serializers import Strict
from knowledge.reading.reader import LONGEST_TITLE, MEDIA_TYPES

MOST_HITS = 100
LONGEST_QUERY = 10_000
MEDIA_TYPE_HELP = f"{', '.join(MEDIA_TYPES)}; by default by the name and the first bytes."


class _About(Strict):
    """What is said of a document, beside what it says itself."""

    source = Text(  # type: ignore[assignment]  # of the document, not of a field
        required=False,
        allow_null=True,
        max_length=1_000,
        help_text="Where it comes from: the same source again replaces it.",
    )
    media_type = Text(required=False, allow_null=True, max_length=100, help_text=MEDIA_TYPE_HELP)
    project = Id(required=False, allow_null=True, max_length=200, help_text="By default for every project.")
    user_id = Id(required=False, allow_null=True, help_text="Of this user alone; by default of all.")


class NewDocumentBody(_About):
    title = Id(max_length=LONGEST_TITLE)
    content = Text(allow_blank=False)
    metadata = serializers.DictField(child=AnyJSON(), required=False)


class NewDocumentFields(_About):
    """Of a form, beside its file."""

    title = Text(
        required=False, max_length=LONGEST_TITLE, help_text="By default its own, or the file's name."
    )
    metadata = Text(required=False, help_text="A JSON object.")


class NewDocumentForm(NewDocumentFields):
    """For the OpenAPI document alone: the view takes the file out of the form."""

    file = serializers.FileField()


class DocumentFilters(Strict):
    project = Id(required=False, allow_null=True, max_length=200)
    source = Text(required=False, allow_null=True, max_length=1_000)  # type: ignore[assignment]
    title = Text(required=False, allow_null=True, max_length=LONGEST_TITLE)
    metadata = serializers.DictField(
        child=AnyJSON(), required=False, help_text="What a document's must hold."
    )


class SearchDocuments(Strict):
    query = Text(allow_blank=False, max_length=LONGEST_QUERY)
    top_k = serializers.IntegerField(required=False, min_value=1, max_value=MOST_HITS)
    user_id = Id(required=False, allow_null=True, help_text="Theirs and those of no user; by default all.")
    filters = DocumentFilters(required=False)


class Document(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    title = serializers.CharField()
    source = serializers.CharField(allow_null=True)  # type: ignore[assignment]
    media_type = serializers.CharField()
    project = serializers.CharField(allow_null=True, help_text="Null: for every project.")
    user_id = serializers.CharField(allow_null=True, help_text="Null: of all.")
    checksum = serializers.CharField(help_text="SHA-256 of what was sent, in hex.")
    size = serializers.IntegerField(help_text="Bytes of it.")
    chunks = serializers.IntegerField()
    embedded = serializers.IntegerField(help_text="Chunks that are found by their meaning, too.")
    metadata = serializers.DictField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class IngestedDocument(Document):
    status = serializers.ChoiceField(choices=("created", "replaced", "updated", "unchanged"))


class DocumentPage(serializers.Serializer[Any]):
    results = Document(many=True)
    next = serializers.CharField(allow_null=True)


class ChunkSignals(serializers.Serializer[Any]):
    bm25 = serializers.FloatField()
    cosine = serializers.FloatField()


class FoundChunk(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    document_id = serializers.UUIDField()
    title = serializers.CharField(help_text="Of the document.")
    source = serializers.CharField(allow_null=True, help_text="Of it.")  # type: ignore[assignment]
    position = serializers.IntegerField(help_text="0, 1, 2 … in the document.")
    heading = serializers.CharField(allow_null=True, help_text="The headings that it stands under.")
    page = serializers.IntegerField(allow_null=True, help_text="Of a PDF: where it stands.")
    text = serializers.CharField()
    score = serializers.FloatField(help_text="0 to 1, not relative to the other results.")
    signals = ChunkSignals()


class FoundChunks(serializers.Serializer[Any]):
    results = FoundChunk(many=True)
