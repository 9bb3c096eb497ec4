"""Forms with files: read whole into memory, so that nothing of them lies on a disk."""

from dataclasses import dataclass
from io import BytesIO
from typing import Any

from django.core.exceptions import SuspiciousOperation
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import MemoryFileUploadHandler
from django.http.multipartparser import MultiPartParser, MultiPartParserError
from rest_framework.request import Request

from api.parsers import Malformed, check_text
from api.views import body_of

FORM = "multipart/form-data"
OVERHEAD = 65_536  # bytes of a form beside its file


@dataclass(frozen=True, slots=True)
class Form:
    """Its fields, of several with one name the last, and its files."""

    fields: dict[str, str]
    files: dict[str, UploadedFile]


class _InMemory(MemoryFileUploadHandler):
    """Whatever its size: the body has been bounded already."""

    def handle_raw_input(self, *args: Any, **kwargs: Any) -> None:
        self.activated = True


def is_form(request: Request) -> bool:
    """Whether the client says that the body is such a form."""
    return media_type_of(request) == FORM


def media_type_of(request: Request) -> str:
    """The body's content type, without parameters."""
    return str(request.META.get("CONTENT_TYPE", "")).partition(";")[0].strip().lower()


def read_form(request: Request, *, longest: int) -> Form:
    """The form. Raises TooLarge when a file in it must be longer than `longest` bytes; Malformed."""
    body = body_of(request, longest=longest + OVERHEAD)
    about = {"CONTENT_TYPE": request.META["CONTENT_TYPE"], "CONTENT_LENGTH": len(body)}
    try:
        fields, files = MultiPartParser(about, BytesIO(body), [_InMemory()], "utf-8").parse()
    except (MultiPartParserError, SuspiciousOperation, UnicodeError) as error:
        raise Malformed(f"The body is not a form: {error}") from error
    told = {check_text(name): check_text(str(fields[name]), name) for name in fields}
    return Form(
        told, {check_text(name): file for name in files if isinstance(file := files[name], UploadedFile)}
    )
