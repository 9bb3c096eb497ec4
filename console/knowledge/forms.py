"""What people fill in about documents."""

from django import forms
from django.conf import settings

from knowledge.types import NewDocument

TYPES = [
    ("", "told by its name"),
    ("text/plain", "text"),
    ("text/markdown", "Markdown"),
    ("text/html", "HTML"),
    ("application/pdf", "PDF"),
]


class DocumentsForm(forms.Form):
    """Which documents are shown, or what is searched for in them."""

    q = forms.CharField(
        label="Search in documents", required=False, widget=forms.TextInput(attrs={"type": "search"})
    )
    project = forms.CharField(label="Project", required=False)
    user = forms.CharField(label="Person", required=False)


class NewForm(forms.Form):
    """A file, or a text."""

    file = forms.FileField(
        label="File", required=False, help_text="Text, Markdown, HTML or PDF.",
        widget=forms.ClearableFileInput(attrs={"accept": ".txt,.md,.html,.htm,.pdf,text/*,application/pdf"}),
    )  # fmt: skip
    text = forms.CharField(
        label="or a text", required=False, strip=False, widget=forms.Textarea(attrs={"rows": 8}),
        help_text="Markdown headings become the headings of its passages.",
    )  # fmt: skip
    title = forms.CharField(label="Title", required=False, help_text="Else its own, or the file's name.")
    source = forms.CharField(
        label="Source", required=False, help_text="Where it comes from. What has the same source is replaced."
    )
    media_type = forms.ChoiceField(label="Kind", required=False, choices=TYPES)
    project = forms.CharField(label="Project", required=False, help_text="Empty: for every project.")
    user_id = forms.CharField(label="Person", required=False, help_text="Empty: for everybody.")

    def clean(self) -> dict[str, object]:
        said = super().clean() or {}
        if bool(said.get("file")) == bool(str(said.get("text") or "").strip()):
            raise forms.ValidationError("Give either a file or a text.")
        return said

    def new(self) -> NewDocument:
        """Of a file that is too large no more is read than shows that it is."""
        said = self.cleaned_data
        file = said.get("file")
        data = (
            file.read(settings.DOCUMENT_MAX_BYTES + 1)
            if file
            else said["text"].replace("\r\n", "\n").encode()
        )
        kind = said["media_type"] or ("" if file else "text/markdown")
        return NewDocument(
            data=data,
            title=said["title"],
            source=said["source"],
            media_type=kind,
            filename=file.name if file else "",
            project=said["project"] or None,
            user_id=said["user_id"] or None,
            field="file" if file else "text",
        )
