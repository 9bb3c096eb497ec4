"""How the fake server behaves now, and what it was asked."""

import threading
from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal

ALWAYS = -1
SIZES = ("dimensions", "max_tokens")  # numbers that are no faults
WRONG = ("500", "garbage", "count", "dimensions", "nan", "zero", "index")
Wrong = Literal["500", "garbage", "count", "dimensions", "nan", "zero", "index"]


@dataclass
class Behaviour:
    """Faults are numbers of requests: 0 none, 3 the next three, -1 all from now on."""

    dimensions: int = 1536  # of vectors, when the request names none
    api_key: str = ""  # when set, another key is answered 401
    slow: float = 0.0  # seconds before an answer
    slow_byte: float = 0.0  # seconds before each byte of its body
    rate_limited: int = 0  # answered 429
    retry_after: str = ""  # … with this header
    wrong: int = 0  # answered in the way of `wrong_kind`
    wrong_kind: Wrong = "500"
    off_schema: int = 0  # JSON that the schema does not admit
    truncated: int = 0  # finish_reason `length`
    filtered: int = 0  # finish_reason `content_filter`
    refusal: int = 0  # the model will not
    says: str = ""  # the answer of a chat, when it is to be this one
    fenced: int = 0  # JSON in a code fence
    shuffled: int = 0  # vectors out of order
    floats: int = 0  # vectors as numbers although base64 was asked for
    dead: int = 0  # the connection is closed without an answer
    hung: int = 0  # the connection stays open without an answer
    no_dimensions: bool = False  # `dimensions` is answered 400
    formats: list[str] = field(default_factory=lambda: ["json_schema", "json_object", "text"])
    max_tokens: int = 8192  # of one text; more are answered 400


class Control:
    """The behaviour, counters and last requests, shared by the server's threads."""

    def __init__(self, **behaviour: Any) -> None:
        self._lock = threading.Lock()
        self._initial = behaviour
        self.behaviour = Behaviour(**behaviour)
        self.counts: Counter[str] = Counter()
        self.requests: deque[dict[str, Any]] = deque(maxlen=100)

    def change(self, changes: Mapping[str, Any]) -> None:
        """Sets fields. `wrong` may also name its kind, as the command's option does: all from now on. Raises
        ValueError for an unknown field or a value of the wrong type; then sets none."""
        if changes.get("wrong") in WRONG:
            changes = {**changes, "wrong": ALWAYS, "wrong_kind": changes["wrong"]}
        with self._lock:
            kinds = {one.name: type(getattr(self.behaviour, one.name)) for one in fields(Behaviour)}
            for name, value in changes.items():
                if name not in kinds:
                    raise ValueError(f"There is no {name!r}; there are {', '.join(kinds)}.")
                if not _fits(value, kinds[name]):
                    raise ValueError(_told(name, kinds[name]))
            if changes.get("wrong_kind", "500") not in WRONG:
                raise ValueError(f"wrong_kind must be one of {', '.join(WRONG)}.")
            for name, value in changes.items():
                setattr(self.behaviour, name, value)

    def reset(self) -> None:
        """Back to how it was started; nothing counted."""
        with self._lock:
            self.behaviour = Behaviour(**self._initial)
            self.counts.clear()
            self.requests.clear()

    def note(self, path: str, headers: Mapping[str, str], body: Any) -> None:
        """Counts a request and keeps it, without the key that it brings."""
        shown = {name.lower(): value for name, value in headers.items() if name.lower() != "authorization"}
        with self._lock:
            self.counts[path] += 1
            self.requests.append({"path": path, "headers": shown, "body": body})

    def strikes(self, fault: str) -> bool:
        """Whether the fault befalls this request; one fewer are left."""
        with self._lock:
            left: int = getattr(self.behaviour, fault)
            if left > 0:
                setattr(self.behaviour, fault, left - 1)
            if left:
                self.counts[fault] += 1
            return left != 0

    def state(self) -> dict[str, Any]:
        """Everything, for `/control`."""
        with self._lock:
            return {
                "behaviour": asdict(self.behaviour),
                "counts": dict(self.counts),
                "requests": list(self.requests),
            }


def _fits(value: Any, kind: type) -> bool:
    """A yes is no number of requests."""
    return type(value) is kind or (kind is float and type(value) is int)


def _told(name: str, kind: type) -> str:
    if kind is not int:
        return f"{name} must be of type {kind.__name__}."
    if name in SIZES:
        return f"{name} must be a whole number."
    known = f", or one of {', '.join(WRONG)}" if name == "wrong" else ""
    return f"{name} must be a number of requests, {ALWAYS} for all from now on{known}."
