"""A method of a group, in both clients."""

import re
from collections.abc import Iterator
from textwrap import fill, indent

from . import shapes
from .description import DEFAULTED, Described, Description, Field, name_of

CURSOR = "cursor"
ROOM = 90  # columns for fields
GLUE = ":\N{NO-BREAK SPACE}"  # no line ends between a name and its value


class Method:
    """How an operation is called. `homes` are the modules of the models."""

    def __init__(self, description: Description, operation: Described, homes: dict[str, str]) -> None:
        self.description, self.it, self.homes = description, operation, homes
        self.both = frozenset(homes)

    @property
    def constant(self) -> str:
        return self.it.named.method.upper()

    @property
    def answer(self) -> str:
        """The type of the answer; `bytes` that go to a file."""
        if self.it.is_binary:
            return "bytes"
        kinds = (shapes.type_out(self.description, self._flat(one)) for one in self.it.answers)
        return " | ".join(dict.fromkeys(part for kind in kinds for part in kind.split(" | "))) or "None"

    @property
    def returned(self) -> str:
        """The type of what the call returns."""
        return f"Tagged[{self.answer}]" if self.it.named.is_tagged else self.answer

    @property
    def item(self) -> str | None:
        """The type of what the answer is a page of."""
        if len(self.it.answers) != 1 or not any(field.wire == CURSOR for field in self.it.query):
            return None
        page = self.description.resolve(self.it.answers[0])
        return shapes.type_out(self.description, page["properties"]["results"]["items"])

    def models(self) -> set[str]:
        names = {self.answer, self.item or ""}
        return {one for name in names for one in re.findall(r"\w+", name) if one in self.homes}

    def inputs(self) -> set[str]:
        words = re.findall(r"\w+", " ".join(line for line in self._parameters(paged=True)))
        known = self.description.components
        named = {shapes.input_name(name, self.both) for name, one in known.items() if "properties" in one}
        named |= {shapes.word(name) for name, one in known.items() if "enum" in one}
        return set(words) & named - self.models()

    def operation(self) -> str:
        """The constant."""
        given = [f'"{self.it.verb}"', f'"{self.it.path}"']
        if self.answer != "None":
            given.append(f"answer={self.answer}")
        if nulls := sorted(field.wire for field in self.it.body or () if self._null_means(field)):
            given.append(f"nulls=frozenset({{{', '.join(f'{chr(34)}{name}{chr(34)}' for name in nulls)}}})")
        given += ["is_write=True"] if self.it.is_write else []
        given += ["is_kept=True"] if self.it.named.is_kept else []
        given += ["is_tagged=True"] if self.it.named.is_tagged else []
        given += [f"complete={self.it.named.completed_by}"] if self.it.named.completed_by else []
        return f"{self.constant}: Operation[{self.returned}] = Operation({', '.join(given)})"

    def texts(self, *, is_async: bool) -> Iterator[str]:
        """The method, and the one that goes through all pages."""
        yield self._text(is_async=is_async)
        if self.item is not None:
            yield self._iterating(is_async=is_async)

    def _text(self, *, is_async: bool) -> str:
        begin, wait = ("async def", "await ") if is_async else ("def", "")
        parameters = ", ".join(["self", *self._parameters()])
        if self.it.is_binary:
            path = f"({', '.join(field.name for field in self.it.in_path)},)"
            return (
                f"    {begin} {self.it.named.method}({parameters}, to: str | os.PathLike[str]) -> int:\n"
                f'        """{self._sentence()} Written to the file `to`; returns its size in bytes."""\n'
                f"        return {wait}self._client.download(does.{self.constant}, path={path}, to=to)\n"
            )
        return (
            f"    {begin} {self.it.named.method}({parameters}) -> {self.returned}:\n"
            f"{self._docstring(self._sentence())}{self._body()}"
            f"        return {wait}self._client.call({', '.join(self._parts())})\n"
        )

    def _iterating(self, *, is_async: bool) -> str:
        iterator, pager = ("AsyncIterator", "aiterate") if is_async else ("Iterator", "iterate")
        name = self.it.named.method
        parameters = ", ".join(["self", *self._parameters(paged=True)])
        passed = ", ".join(field.name for field in self.it.in_path)
        given = ", ".join(
            [passed] * bool(passed)
            + [f"{field.name}={field.name}" for field in self.it.query if field.wire != CURSOR]
            + ["cursor=cursor"]
        )
        called = "iterate" if name == "list" else f"iterate_{name}"
        return (
            f"    def {called}({parameters}) -> {iterator}[{self.item}]:\n"
            f'        """All of `{name}`, page by page; `limit` is the length of a page."""\n'
            f"        return {pager}(lambda cursor: self.{name}({given}))\n"
        )

    def _body(self) -> str:
        """The fields of the body, as a variable of their own: so many arguments need the room. They stand
        side by side, or the calls with the most of them would be too long to read."""
        if self.it.body is None:
            return ""
        fields = _mapping(self.it.body)
        if len(fields) <= ROOM:
            return f"        fields = {fields}\n"
        pairs = fields[1:-1].replace(": ", GLUE)
        lines = fill(pairs, width=ROOM, break_long_words=False, break_on_hyphens=False).replace(GLUE, ": ")
        return f"        fields = {{\n{indent(lines, ' ' * 12)},\n        }}  # fmt: skip\n"

    def _sentence(self) -> str:
        return self.it.summary if self.it.summary.endswith("?") else f"{self.it.summary}."

    def _docstring(self, sentence: str) -> str:
        notes = self.it.named.notes
        described = ((one, notes.get(one.wire, one.description)) for one in self._optional())
        told = [_line(one, text) for one, text in described if text]
        if not told:
            return f'        """{sentence}"""\n'
        return f'        """{sentence}\n\n{indent(chr(10).join(told), " " * 8)}\n        """\n'

    def _optional(self) -> list[Field]:
        usual = {"namespace", "user_id", "agent_id"}
        return [one for one in (*(self.it.body or ()), *self.it.query) if one.wire not in usual]

    def _parameters(self, *, paged: bool = False) -> list[str]:
        texts = [f"{field.name}: str" for field in self.it.in_path]
        if self.it.takes_value:
            texts.append("value: Any")
        if self.it.many:
            one = shapes.any_mapping(shapes.input_name(self.it.many, self.both))
            texts.append(f"{self.it.named.many}: Sequence[{one}]")
        named = [self._body_parameter(field) for field in self.it.body or ()]
        named += [self._parameter(field) for field in self.it.query if not (paged and field.wire == CURSOR)]
        named += [f"{field.name}: str | None = None" for field in self.it.headers]
        named.sort(key=lambda text: " = " in text)
        return [*texts, *(["*", *named] if named else [])]

    def _body_parameter(self, field: Field) -> str:
        if self.it.named.form and field.wire == "file":
            return "file: tuple[str, bytes, str] | tuple[str, bytes]"
        if self.it.named.form and field.wire == "metadata":
            return "metadata: Mapping[str, Any] | None = None"
        return self._parameter(field, self._null_means(field))

    def _parameter(self, field: Field, null_means: bool = False) -> str:
        kind = shapes.type_in(self.description, field.schema, self.both)
        if field.required:
            return f"{field.name}: {shapes.or_none(kind) if shapes.can_be_null(field.schema) else kind}"
        if null_means or self._is_defaulted(field):
            return f"{field.name}: Maybe[{kind}] = UNSET"
        return f"{field.name}: {shapes.or_none(kind)} = None"

    def _null_means(self, field: Field) -> bool:
        """None is sent where it says something that leaving it out does not."""
        null = shapes.can_be_null(field.schema)
        return null and (field.required or self.it.verb == "PATCH")

    def _is_defaulted(self, field: Field) -> bool:
        return field.wire in DEFAULTED and self.it.named.is_about and self.it.verb != "PATCH"

    def _parts(self) -> list[str]:
        parts = [f"does.{self.constant}"]
        if self.it.in_path:
            parts.append(f"path=({', '.join(field.name for field in self.it.in_path)},)")
        for part, fields in (("query", self.it.query), ("headers", self.it.headers)):
            if fields:
                parts.append(f"{part}={_mapping(fields)}")
        if self.it.takes_value:
            parts.append("body=value")
        elif self.it.many:
            parts.append(f"body={self.it.named.many}")
        elif self.it.body is not None:
            parts.append("form=fields" if self.it.named.form else "body=Fields(fields)")
        return parts

    def _flat(self, schema: dict[str, object]) -> dict[str, object]:
        """The schema, or the choice behind a name for it."""
        if "$ref" in schema:
            named = self.description.components[name_of(schema)]
            return named if "oneOf" in named else schema
        return schema


def _line(field: Field, text: str) -> str:
    return fill(f"{field.name}: {shapes.prose(text)}", width=102, subsequent_indent="  ")


def _mapping(fields: tuple[Field, ...]) -> str:
    return "{" + ", ".join(f'"{field.wire}": {field.name}' for field in fields) + "}"
