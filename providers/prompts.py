"""Prompts: versioned text files, filled in at call time.

A file `<name>.v<number>.txt` has a `[user]` part and, before it, optionally a `[system]` part. In the user
part `{{name}}` stands for a text that is passed in. It is shown inside `<name>` tags, and nothing in it can
close them: whatever it says stays marked as material. The system part is constant.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from providers.messages import Message

PART = re.compile(r"^\[(system|user)\][ \t]*$", re.MULTILINE)
PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")


class PromptError(ValueError):
    """A prompt file is missing or malformed, or was filled in wrongly: a fault of ours, not of the texts."""


@dataclass(frozen=True)
class Prompt:
    """One version of a prompt."""

    name: str
    version: int
    system: str
    user: str  # with its placeholders

    @property
    def id(self) -> str:
        """What is kept with results: `session_summary.v1`."""
        return f"{self.name}.v{self.version}"

    @cached_property
    def placeholders(self) -> frozenset[str]:
        """The names of the texts it needs."""
        return frozenset(PLACEHOLDER.findall(self.user))

    def messages(self, **texts: str) -> tuple[Message, ...]:
        """What the model is shown. Raises PromptError unless exactly the placeholders are given."""
        user = Message("user", self.fill(**texts))
        return (Message("system", self.system), user) if self.system else (user,)

    def fill(self, **texts: str) -> str:
        """The user part with its texts, each in its fence. Raises PromptError as `messages` does."""
        if missing := self.placeholders - texts.keys():
            raise PromptError(f"{self.id} needs {', '.join(sorted(missing))}.")
        if unknown := texts.keys() - self.placeholders:
            raise PromptError(f"{self.id} has no place for {', '.join(sorted(unknown))}.")
        return PLACEHOLDER.sub(lambda found: self._fence(found[1], texts), self.user)

    def _fence(self, name: str, texts: Mapping[str, str]) -> str:
        names = "|".join(sorted(self.placeholders))
        # A tag of ours, however it is written: with blanks, with characters nobody sees, in capitals.
        tag = re.compile(rf"<(?=[^\w<]*(?:{names}))", re.IGNORECASE)
        return f"<{name}>\n{tag.sub('&lt;', texts[name])}\n</{name}>"


def load_prompt(folder: Path, name: str, version: int | None = None) -> Prompt:
    """The prompt of that version, by default the newest. Raises PromptError."""
    versions = {
        int(found[1]): path
        for path in folder.glob(f"{name}.v*.txt")
        if (found := re.fullmatch(rf"{re.escape(name)}\.v(\d+)\.txt", path.name))
    }
    wanted = max(versions, default=0) if version is None else version
    if wanted not in versions:
        raise PromptError(f"There is no prompt {name}.v{wanted} in {folder.parent.name}/{folder.name}.")
    return parse_prompt(versions[wanted].read_text(encoding="utf-8"), name=name, version=wanted)


def parse_prompt(text: str, *, name: str, version: int) -> Prompt:
    """The prompt in a file's text. Raises PromptError."""
    before, *rest = PART.split(text)
    kinds, bodies = rest[::2], [body.strip() for body in rest[1::2]]
    if before.strip() or kinds not in (["user"], ["system", "user"]) or not all(bodies):
        raise PromptError(f"{name}.v{version} must have a [system] part, if any, and then a [user] part.")
    system, user = bodies if len(bodies) == 2 else ["", bodies[0]]
    left = system + PLACEHOLDER.sub("", user)
    if "{{" in left or "}}" in left:
        raise PromptError(f"{name}.v{version}: braces may only stand around names, in the [user] part.")
    return Prompt(name, version, system, user)
