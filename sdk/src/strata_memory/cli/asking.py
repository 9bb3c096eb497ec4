"""Asks as the client does, and answers what is shown: `--json` shows all of it."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import BaseModel

from ..calls import Fields, Operation
from ..client import StrataClient

Answer = dict[str, Any]
PAGE = 200


def get(client: StrataClient, operation: Operation[Any], *parts: str, **query: Any) -> Answer:
    """What the operation answers, by its fields: those of its type are there, and what a newer server adds.
    Raises a StrataError."""
    return _plain(client.call(operation, path=parts, query=query))


def post(client: StrataClient, operation: Operation[Any], body: Mapping[str, Any]) -> Answer:
    """Likewise; None in the body is left out. Raises a StrataError."""
    return _plain(client.call(operation, body=Fields(body)))


def knock(client: StrataClient, operation: Operation[Any]) -> None:
    """Hears whether the key may: the server refuses an empty body, but first whoever may not. Nothing is
    written, not even an Idempotency-Key. Raises a StrataError."""
    client.call(replace(operation, is_write=False, is_kept=False), body=Fields({}))


def every(
    client: StrataClient, operation: Operation[Any], *parts: str, most: int | None = None, **query: Any
) -> Iterator[Answer]:
    """The first `most` results of a list, or all, page by page. Raises a StrataError."""
    cursor, left = None, most
    while left is None or left > 0:
        limit = PAGE if left is None else min(PAGE, left)
        page = get(client, operation, *parts, limit=limit, cursor=cursor, **query)
        results, cursor = page["results"], page["next"]
        yield from results
        left = None if left is None else left - len(results)
        if not cursor or not results:
            return


def _plain(answer: BaseModel) -> Answer:
    return answer.model_dump(mode="json", exclude_unset=True)
