"""PDF: the text of its pages. Pure; a file can be made so that reading it takes all time and memory there is,
so it is read in a process of its own."""

import io
import logging
from collections.abc import Iterator

from pypdf import PdfReader
from pypdf.errors import LimitReachedError, PyPdfError

from knowledge.reading.blocks import Block, Limits, Unreadable
from knowledge.reading.plain import clean, read_plain

logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it quotes what it reads


def read_pdf(data: bytes, limits: Limits) -> tuple[str, Iterator[Block]]:
    """Its title, empty if it has none, and its paragraphs with their pages. Raises Unreadable."""
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted:
            raise Unreadable("The PDF is encrypted.")
        pages = len(reader.pages)
        title = reader.metadata.title if reader.metadata else None
    except LimitReachedError as error:
        raise Unreadable("The PDF is too large to be read.") from error
    except PyPdfError as error:
        raise Unreadable("This is not a PDF that can be read.") from error
    if not pages:
        raise Unreadable("The PDF has no pages.")
    if pages > limits.pages:
        raise Unreadable(f"The PDF has more than {limits.pages} pages.")
    return clean(str(title or "")).strip(), _blocks(reader)


def _blocks(reader: PdfReader) -> Iterator[Block]:
    characters = 0
    for number, page in enumerate(reader.pages, 1):
        try:
            text = page.extract_text()
        except LimitReachedError as error:
            raise Unreadable(f"Page {number} of the PDF is too large to be read.") from error
        except PyPdfError as error:
            raise Unreadable(f"Page {number} of the PDF cannot be read.") from error
        characters += len(text.strip())
        yield from read_plain(clean(text), page=number)
    if not characters:
        raise Unreadable("The PDF has no text: its pages may be scanned.")
