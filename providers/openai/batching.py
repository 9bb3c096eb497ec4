"""Which texts go into one request, and what of them. Pure."""

from collections.abc import Iterator, Sequence

# No tokenizer makes more tokens than there are bytes, so this stays below the 300,000 tokens of a request.
BYTES_PER_REQUEST = 300_000
BYTES_PER_TOKEN = 3  # fewer than the 4 of English prose: what is cut by this guess mostly fits


def plan_requests(sizes: Sequence[int], most: int) -> Iterator[slice]:
    """Yield runs of neighbouring texts: at most `most` each, and 300,000 bytes unless one alone has more."""
    start, total = 0, 0
    for position, size in enumerate(sizes):
        full = position - start >= most or total + size > BYTES_PER_REQUEST
        if full and position > start:
            yield slice(start, position)
            start, total = position, 0
        total += size
    if start < len(sizes):
        yield slice(start, len(sizes))


def cut(text: str, size: int) -> str:
    """The text's beginning, at most `size` bytes of UTF-8, whole characters; lone surrogates become `?`."""
    return text.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
