"""Ids for what clients would have named themselves: ULIDs, 26 characters that sort by time."""

from uuid_utils.compat import uuid7

CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
LENGTH = 26


def new_ulid() -> str:
    """A new ULID: of a UUID of version 7, whose 128 bits begin with the milliseconds as a ULID's do."""
    number = uuid7().int
    digits = [CROCKFORD[(number >> (5 * place)) & 31] for place in range(LENGTH)]
    return "".join(reversed(digits))
