"""PDF files, good and bad, written by hand."""

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfWriter


def pdf(pages: Sequence[str], *, title: str = "") -> bytes:
    """A document with a line of text for each line of each page; a page without text has none."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for text in pages:
        lines = " ".join(f"({escaped(line)}) Tj T*" for line in text.split("\n")) if text else ""
        stream = f"BT /F1 12 Tf 14 TL 50 750 Td {lines} ET".encode("latin-1")
        kids.append(len(objects) + 1)
        objects += [
            b"<< /Type /Page /Parent 2 0 R /Resources << /Font << /F1 3 0 R >> >> /MediaBox [0 0 612 792]"
            b" /Contents %d 0 R >>" % (len(objects) + 2),
            b"<< /Length %d >> stream\n%s\nendstream" % (len(stream), stream),
        ]
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids))
    if title:
        objects.append(b"<< /Title (%s) >>" % title.encode("latin-1"))
    return assembled(objects, info=len(objects) if title else 0)


def assembled(objects: Sequence[bytes], *, info: int = 0) -> bytes:
    """The file with these objects, numbered from 1, the first of which is the catalog."""
    out, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    out += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    out += b"trailer << /Size %d /Root 1 0 R" % (len(objects) + 1)
    out += (b" /Info %d 0 R" % info if info else b"") + b" >>\nstartxref\n%d\n%%%%EOF" % start
    return bytes(out)


def encrypted(data: bytes) -> bytes:
    writer = PdfWriter(clone_from=io.BytesIO(data))
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def nested(depth: int) -> bytes:
    """Arrays in arrays, where the page's contents should be."""
    page = (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents " + b"[" * depth + b"]" * depth + b" >>"
    )
    return _one_page(page)


def inflating(size: int) -> bytes:
    """Contents that are `size` bytes long once they are decompressed."""
    squeezed = zlib.compress(b"BT (x) Tj ET " * (size // 13), 9)
    for _time in range(2):
        squeezed = zlib.compress(squeezed, 9)
    stream = b"<< /Length %d /Filter [/FlateDecode /FlateDecode /FlateDecode] >> stream\n%s\nendstream" % (
        len(squeezed),
        squeezed,
    )
    return _one_page(
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /Font << /F1 5 0 R >> >>"
        b" /Contents 4 0 R >>",
        stream,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    )


def many_pages(count: int) -> bytes:
    """One page, listed again and again."""
    kids = b" ".join([b"3 0 R"] * count)
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        ]
    )


def pages_within_pages() -> bytes:
    """A tree of pages that leads back to its root."""
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 2 >>",
        ]
    )


def forms_within_forms(depth: int) -> bytes:
    """Each form draws the next one twice: the last is drawn 2 ** depth times."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Resources << /XObject << /X 5 0 R >> >>"
        b" /Contents 4 0 R >>",
        _stream(b"/X Do"),
    ]
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X %d 0 R >> >>"
    objects += [_stream(b"/X Do /X Do", form % (number + 1)) for number in range(5, 5 + depth)]
    objects.append(_stream(b"BT (x) Tj ET", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9]"))
    return assembled(objects)


def escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _stream(data: bytes, more: bytes = b"") -> bytes:
    return b"<< /Length %d %s >> stream\n%s\nendstream" % (len(data), more, data)


def _one_page(page: bytes, *more: bytes) -> bytes:
    tree = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    return assembled([b"<< /Type /Catalog /Pages 2 0 R >>", tree, page, *more])
