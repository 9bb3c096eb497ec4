"""Where the isolation self-test plays: two tenants that have the same things, one of which is made up.

The decoy is a tenant that exists in one transaction only, which is rolled back; in the same transaction the
testing tenant has a twin of everything that the decoy has. Nothing of either is ever committed, so nobody
else sees it: no list, metric, webhook, job or backup. What a door keeps elsewhere, it removes itself, and has
it expire within `LIFE_SECONDS` should the process die.
"""

import logging
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray
from uuid_utils.compat import uuid7

from tenants.caller import Caller
from tenants.embedding import embed_query, knowing
from tenants.errors import Unavailable
from tenants.scope import ActAs, NoTenantScope, rehearsal, undone
from tenants.statuses import status_of
from tenants.walls.attempts import Attempt

log = logging.getLogger(__name__)
LIFE_SECONDS = 60  # of what is in Redis, and of the key
CAPITALS = re.compile("[A-Z]")
SENTENCE = "The heron {word} keeps its ladder behind the copper mill."


@dataclass(frozen=True, slots=True)
class Planted:
    """A tenant with things that the doors have planted. `caller` is an admin of it; `secret` stands in each
    of its things and nowhere else. The rest of the names are the same in both tenants but for `own`: what
    only this one has is named by that. `things` are the ids of what was planted, by kind."""

    caller: Caller
    secret: str
    own: str
    word: str
    user_id: str
    project: str
    session_id: str
    now: datetime
    vector: NDArray[np.float32] | None
    things: dict[str, str] = field(default_factory=dict)

    @property
    def tenant_id(self) -> UUID:
        return self.caller.tenant_id

    @property
    def query(self) -> str:
        """What finds it: the same in both."""
        return SENTENCE.format(word=self.word)

    @property
    def text(self) -> str:
        """What its things say."""
        return f"{self.query} {self.secret}"


Ask = Callable[[Planted, Planted], object]  # as the first, for what the second has


@dataclass(slots=True)
class Stage:
    """The play: `ours` is the testing tenant, `decoy` the one that is reached for."""

    ours: Planted
    decoy: Planted
    kept: dict[str, str] = field(default_factory=dict)  # by doors, between their parts
    act_as: ActAs | None = None

    def acting_as(self, planted: Planted | None) -> AbstractContextManager[None]:
        """In the open rehearsal, as that tenant or as none."""
        if self.act_as is None:
            raise NoTenantScope("The rehearsal has not begun.")
        return self.act_as(planted.tenant_id if planted else None)

    def tried(self, door: str, target: str, how: str, ask: Ask, *, by_twin: bool = False) -> Attempt:
        """`ask` for what the decoy has, as the testing tenant. It can be had: the decoy itself gets it so,
        or, `by_twin`, the testing tenant its own. A fault is no refusal."""
        owner = self.ours if by_twin else self.decoy
        whose = "ours is answered" if by_twin else "its owner gets it"
        shown = self._answer(owner, owner, ask)
        bait = whose if owner.secret in shown.text else ""
        answer = self._answer(self.ours, self.decoy, ask)
        if self.decoy.secret in answer.text:
            return Attempt(door, target, how, "leaked", bait=bait)
        if not bait:
            return Attempt(door, target, how, "unproved", shown.why or answer.why or "its owner gets nothing")
        by = answer.why or ("ours alone" if self.ours.secret in answer.text else "nothing found")
        return Attempt(door, target, how, "unproved" if answer.is_fault else "refused", by, bait)

    def _answer(self, asker: Planted, owner: Planted, ask: Ask) -> "_Answer":
        """What was answered, and what refused or failed. Whatever the attempt wrote is undone."""
        with self.acting_as(asker):
            try:
                with undone():
                    return _Answer(str(ask(asker, owner)))
            except Refused as refused:
                return _Answer(refused.answer, str(refused), refused.is_fault)
            except Exception as error:  # noqa: BLE001  one attempt that fails must not hide what others find
                status, _sentence = status_of(error) or (500, "")
                name = CAPITALS.sub(r" \g<0>", type(error).__name__).strip().lower()
                if status >= 500:
                    log.warning("isolation_attempt_failed: %s", name)
                return _Answer("", name, status >= 500)


class Refused(Exception):
    """What a door answers instead, in a word; `answer` is all of it."""

    def __init__(self, word: str, answer: str, *, is_fault: bool = False) -> None:
        super().__init__(word)
        self.answer, self.is_fault = answer, is_fault


@dataclass(frozen=True, slots=True)
class _Answer:
    text: str
    why: str = ""
    is_fault: bool = False


def set_up(*, caller: Caller, now: datetime) -> Stage:
    """The two tenants, without anything yet. Asks the embedding model, so never in a scope; if that is away,
    what finds by meaning will not be proved."""
    token = secrets.token_hex(6)
    word = f"walls{token}"
    try:
        vector = embed_query(SENTENCE.format(word=word), tenant_id=caller.tenant_id)
    except Unavailable:
        vector = None

    def planted(tenant_id: UUID, tenant: str, key_id: str) -> Planted:
        secret = f"secret{secrets.token_hex(8)}"
        admin = Caller(tenant_id, tenant, key_id, frozenset({"admin"}), kind="admin")
        return Planted(
            admin, secret, f"{word}-{secrets.token_hex(4)}", word, f"{word}-person", f"{word}-project",
            f"{word}-session", now, vector,
        )  # fmt: skip

    ours = planted(caller.tenant_id, caller.tenant, caller.key_id)
    return Stage(ours, planted(uuid7(), f"decoy-{token}", "decoy"))


@contextmanager
def performed(stage: Stage) -> Iterator[None]:
    """The transaction in which both tenants have what they have. No provider is asked in it."""
    with knowing(stage.ours.query, stage.ours.vector), rehearsal() as act_as:
        stage.act_as = act_as
        try:
            yield
        finally:
            stage.act_as = None


def as_text(things: Any) -> str:
    """Rows with all that their columns hold."""
    return repr([vars(one) for one in things])
