# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""What `subjects` answers."""

from datetime import datetime

from ..answer import Answer


class PersonLinkAnswer(Answer):
    """Whoever has the link is taken for the person until then."""

    url: str
    expires_at: datetime


class ReceiptKey(Answer):
    """What `subjects.receipt_key` answers."""

    algorithm: str
    id: str
    public_key: str
    """32 bytes in base64."""


class RestrictionState(Answer):
    """What `subjects.restriction` answers."""

    restricted: bool
    since: datetime | None
    reason: str | None
    requested_by: str | None


class SignedReceipt(Answer):
    """Part of `Receipt`."""

    version: int
    id: str
    tenant: str
    subject: str
    """Keyed hash of the user id."""
    erased_at: datetime
    completed_at: datetime
    erased: dict[str, int]
    digests: dict[str, str]
    """Of what was erased, by store."""
    residue: dict[str, int]
    coincidences: dict[str, int] | None = None
    """Where the same word means another thing, by place; from version 3 on."""
    passes: int
    seconds: float
    algorithm: str
    key: str
    """Id of the key that signed it."""
    signature: str
    """Over all the rest; in base64."""


class SubjectMemory(Answer):
    """What `subjects.rectify` answers."""

    kind: str
    id: str
    text: str
    created_at: datetime
    updated_at: datetime
    session_id: str | None
    agent_id: str | None
    is_pinned: bool
    status: str
    key: str | None
    """Of a slot."""


class Receipt(Answer):
    """Part of `ReceiptPage`."""

    erased_at: datetime
    """What came in until then was erased."""
    completed_at: datetime | None
    requested_by: str
    erased: dict[str, int]
    """Rows or keys, by store."""
    residue: dict[str, int] | None
    """Rows or keys that were left, by place."""
    seconds: float | None
    receipt: SignedReceipt | None
    """Once the erasure is done."""


class ReceiptPage(Answer):
    """A page of `Receipt`; with `next` as `cursor` comes the one behind it."""

    results: list[Receipt]
    next: str | None
