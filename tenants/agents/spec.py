"""What is declared of an agent, in the names of the Kubernetes resource. docs/agents.md lists the same."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from tenants.agents import patterns
from tenants.errors import Invalid, TooLarge

LONGEST_NAME = 255
LONGEST_PROJECT = 200  # bytes
LONGEST_TYPE = 50  # bytes
LONGEST_DOCUMENT = 65_536  # bytes as JSON: every process keeps those that it was asked for
MOST_INSTRUCTIONS = 10_000  # of an agent's patterns together, since one tool's result may meet them all
LONGEST_TOLD = 100  # characters of a client's own name that are repeated to it
FROM_TOOL_ARGS = "from_tool_args"
SENTENCES = {
    "extra_forbidden": "Unknown field.",
    "model_type": "Must be an object.",
    "missing": "This field is required.",
}
Places = Mapping[str, tuple[str, ...]]  # where a request has what the document has at its root
AT_THE_ROOT: Places = {}


def _storable(text: str) -> str:
    if "\x00" in text:
        raise PydanticCustomError("text", "Text may not contain NUL characters")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise PydanticCustomError("text", "Text may not contain unpaired surrogates") from error
    return text


def _of_bytes(most: int) -> AfterValidator:
    """Lengths that go on into observations are in bytes, as theirs are."""

    def check(text: str) -> str:
        if len(text.strip().lower().encode()) > most:
            raise PydanticCustomError("text", "Text may not be longer than {most} bytes", {"most": most})
        return text

    return AfterValidator(check)


Text = Annotated[str, AfterValidator(_storable)]
ToolName = Annotated[Text, Field(min_length=1, max_length=200)]
Line = Annotated[Text, Field(min_length=1, max_length=1_000)]
ToolNames = Annotated[tuple[ToolName, ...], Strict(False), Field(max_length=500)]
Lines = Annotated[tuple[Line, ...], Strict(False), Field(max_length=500)]


class Section(BaseModel):
    """Values that cannot be changed once read. Unknown names and other types are refused; null and "" mean
    that a field is not given, as in Kubernetes."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, alias_generator=to_camel
    )

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        known = {field.alias for field in cls.model_fields.values()}
        return {name: value for name, value in data.items() if name not in known or value not in (None, "")}


class Memory(Section):
    """How an agent remembers."""

    server_ref: Annotated[Text, Field(max_length=255)] | None = None
    project: Annotated[Text, _of_bytes(LONGEST_PROJECT)] = ""  # as written; "": the agent's name
    context_limit: int = Field(default=5, ge=0, le=50)
    window_size: int | None = Field(default=None, ge=2, le=200)
    auto_summarize: bool = True
    auto_save: bool = True
    auto_search: bool = True


class MemorySaveRule(Section):
    """Which results of a tool are saved, and as what."""

    tool: ToolName
    match_output: Text | None = None
    match_args: dict[ToolName, Text] = Field(default_factory=dict, max_length=20)
    type: Annotated[Text, _of_bytes(LONGEST_TYPE), Field(pattern=r"\S")] = "discovery"
    scope: Literal["project", "global"] = "project"


class ContextInjectTool(Section):
    """What is looked up before a tool runs."""

    tool: ToolName
    query: Annotated[Text, Field(max_length=500)] = FROM_TOOL_ARGS
    limit: int = Field(default=3, ge=1, le=10)


class ToolHooks(Section):
    """What happens around an agent's tool calls. The first two lists are the runtime's to enforce."""

    blocked_commands: Lines = ()
    allowed_paths: Lines = ()
    audit_tools: ToolNames = ()
    memory_save_rules: Annotated[tuple[MemorySaveRule, ...], Strict(False), Field(max_length=100)] = ()
    context_inject_tools: Annotated[tuple[ContextInjectTool, ...], Strict(False), Field(max_length=100)] = ()


class KaosMemory(Section):
    """KAOS's own memory block. It counts messages, so its limit is not that of `memory`."""

    enabled: bool = True
    type: Literal["local", "redis"] = "local"
    context_limit: int = Field(default=6, ge=1, le=100)
    max_sessions: int = Field(default=1_000, ge=1, le=100_000)
    max_session_events: int = Field(default=500, ge=1, le=10_000)


class Document(Section):
    """What is stored under an agent's name."""

    memory: Memory = Field(default_factory=Memory)
    tool_hooks: ToolHooks = Field(default_factory=ToolHooks)
    kaos: KaosMemory | None = None

    def as_json(self) -> dict[str, Any]:
        """With the defaults filled in."""
        return self.model_dump(mode="json", by_alias=True, exclude_none=True)


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent as the rest of the server sees it."""

    name: str
    memory: Memory
    tool_hooks: ToolHooks
    kaos: KaosMemory | None

    @property
    def project(self) -> str:
        """The project under which its memories stand."""
        return normal_project(self.memory.project)


def agent_spec(name: str, stored: Mapping[str, Any]) -> AgentSpec:
    """The agent behind a stored document."""
    document = Document.model_validate(stored)
    return AgentSpec(name, document.memory, document.tool_hooks, document.kaos)


def normal_project(project: str) -> str:
    """Projects are compared without regard to case."""
    return project.strip().lower()


def check_document(name: str, data: Any, *, where: Places = AT_THE_ROOT) -> Document:
    """The document of the agent of that name. Raises Invalid naming the field as the request
    does; TooLarge."""
    try:
        document = Document.model_validate(data)
    except ValidationError as error:
        raise invalid(error, where) from error
    document = _with_project(name, document, where)
    _check_patterns(document.tool_hooks.memory_save_rules, where)
    if len(json.dumps(document.as_json(), ensure_ascii=False).encode()) > LONGEST_DOCUMENT:
        raise TooLarge(f"What is declared of an agent may not exceed {LONGEST_DOCUMENT} bytes.")
    return document


def invalid(error: ValidationError, where: Places = AT_THE_ROOT) -> Invalid:
    """The first of a document's faults, as the caller is told."""
    first = error.errors(include_url=False)[0]
    sentence = SENTENCES.get(first["type"], f"{first['msg']}.")
    if first["type"] == "extra_forbidden" and (known := _known_beside(first["loc"])):
        sentence += f" Known here: {', '.join(known)}."
    return Invalid(sentence, _path(where, *first["loc"]))


def _known_beside(steps: tuple[str | int, ...]) -> list[str]:
    """The fields of a document beside the place that the steps lead to."""
    section: type[Section] = Document
    for step in steps[:-1]:
        if isinstance(step, int):
            continue
        kinds = [field.annotation for field in section.model_fields.values() if field.alias == step]
        inner = next((one for kind in kinds for one in _sections_in(kind)), None)
        if inner is None:
            return []
        section = inner
    return [str(field.alias) for field in section.model_fields.values()]


def _sections_in(kind: Any) -> Iterator[type[Section]]:
    """A kind of value, or what it is a list of, if that has fields."""
    if isinstance(kind, type) and issubclass(kind, Section):
        yield kind
    for one in get_args(kind):
        yield from _sections_in(one)


def _path(where: Places, *steps: str | int) -> str:
    names = [str(step)[:LONGEST_TOLD] for step in steps]
    return ".".join([*where.get(names[0], (names[0],)), *names[1:]]) if names else ""


def _with_project(name: str, document: Document, where: Places) -> Document:
    project = document.memory.project.strip() or name.strip()
    if not project or len(normal_project(project).encode()) > LONGEST_PROJECT:
        told = f"Name a project of at most {LONGEST_PROJECT} bytes: the agent's name cannot be one."
        raise Invalid(told, _path(where, "memory", "project"))
    return document.model_copy(update={"memory": document.memory.model_copy(update={"project": project})})


def _check_patterns(rules: tuple[MemorySaveRule, ...], where: Places) -> None:
    total = 0
    for number, rule in enumerate(rules):
        for steps, pattern in _patterns_of(rule):
            rule_told = f"toolHooks.memorySaveRules[{number}] (tool {rule.tool[:LONGEST_TOLD]})"
            told = f"{rule_told}: {'.'.join(steps)}"
            field = _path(where, "toolHooks", "memorySaveRules", number, *steps)
            try:
                total += patterns.check(pattern)
            except patterns.BadPattern as error:
                raise Invalid(f"{told} is not a valid pattern: {error}.", field) from error
            if total > MOST_INSTRUCTIONS:
                raise Invalid(f"{told} makes the agent's patterns too large together.", field)


def _patterns_of(rule: MemorySaveRule) -> Iterator[tuple[tuple[str, ...], str]]:
    """Each pattern of a rule, with the steps that lead to it."""
    if rule.match_output is not None:
        yield ("matchOutput",), rule.match_output
    for arg, pattern in rule.match_args.items():
        yield ("matchArgs", arg[:LONGEST_TOLD]), pattern
