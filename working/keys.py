"""Redis keys of a session. Their common part stands in braces, so that a cluster keeps them on one node."""

from functools import lru_cache
from urllib.parse import quote, unquote
from uuid import UUID

from working.types import SessionRef

IDLE = "strata:sessions:idle"  # of all sessions together, hence outside their slots


@lru_cache(maxsize=4096)
def tag(ref: SessionRef) -> str:
    """`{tenant/namespace/user/session}`, each part percent-encoded and none ever left out."""
    parts = (ref.namespace, ref.user_id, ref.session_id)
    return "{" + "/".join((ref.tenant_id.hex, *(quote(part, safe="") for part in parts))) + "}"


def read_tag(text: str) -> SessionRef:
    """The session behind a tag. Raises ValueError for what `tag` has not made."""
    tenant, namespace, user, session = text.removeprefix("{").removesuffix("}").split("/")
    return SessionRef(UUID(tenant), unquote(namespace), unquote(user), unquote(session))


def tags_of_person(tenant_id: UUID, user_id: str) -> str:
    """The tags of a person's sessions as a glob pattern: a tag has three slashes, and no part holds one."""
    return "{" + f"{tenant_id.hex}/*/{quote(user_id, safe='')}/*" + "}"


def find_tag(text: str) -> SessionRef | None:
    """The session whose tag stands in a key; None where there is none."""
    try:
        return read_tag(text[text.index("{") : text.rindex("}") + 1])
    except ValueError:
        return None


def fields(ref: SessionRef) -> str:
    """The AEGIS hash of scratchpad and session data."""
    return f"working_memory:{tag(ref)}"


def meta(ref: SessionRef) -> str:
    """What Redis knows of the session: hold, birth, owner, and whether the turns list is coherent."""
    return f"agent:session:{tag(ref)}:meta"


def turns(ref: SessionRef) -> str:
    """The newest turns, oldest first."""
    return f"agent:session:{tag(ref)}:turns"


def summary(ref: SessionRef) -> str:
    """The running summary."""
    return f"agent:session:{tag(ref)}:summary"


def all_of(ref: SessionRef) -> list[str]:
    """Every key that expires with the session, `meta` first, as the scripts expect them."""
    return [meta(ref), fields(ref), turns(ref), summary(ref)]
