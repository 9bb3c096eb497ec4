"""The generated files of the package: models, inputs, operations, and the groups of both clients."""

import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from . import shapes
from .description import Described, Description, name_of
from .methods import Method
from .names import GROUPS

GENERATED = ("asynchronous", "blocking", "inputs", "models", "operations")
HEADER = "# Written by `python -m sdk.generating` from the API's description; changes here are lost.\n"
SEVERAL = "several"  # the models of more than one group
_OTHER, _OBJECT = "Part of an answer.", "An object of a request, by its fields."
FORMAT = ("--isolated", "--quiet", "--line-length", "110", "--target-version", "py311")


def files_of(document: dict[str, Any]) -> dict[str, str]:
    """The text of every generated file, by its path in the package."""
    description = Description(document)
    groups: dict[str, list[Described]] = defaultdict(list)
    for one in description.operations:
        groups[one.named.group].append(one)
    answered = _homes(description, groups, "answers")
    files = _models(description, answered, _meanings(description, answered))
    files |= _inputs(description, groups, frozenset(answered))
    for group, operations in groups.items():
        methods = [Method(description, one, answered) for one in operations]
        files[f"operations/{group}.py"] = _operations(group, methods)
        files[f"blocking/{group}.py"] = _group(group, methods, prefix="")
        files[f"asynchronous/{group}.py"] = _group(group, methods, prefix="Async")
    files["operations/__init__.py"] = '"""What can be asked for: a constant for each operation."""\n'
    files["blocking/__init__.py"] = _groups(groups, prefix="")
    files["asynchronous/__init__.py"] = _groups(groups, prefix="Async")
    return _formatted({name: HEADER + text for name, text in files.items()})


def _homes(description: Description, groups: dict[str, list[Described]], part: str) -> dict[str, str]:
    """The module of each component that answers are made of, without words and pages' own unions."""
    users: dict[str, set[str]] = defaultdict(set)
    for group, operations in groups.items():
        for one in operations:
            for name in description.reached(list(getattr(one, part))):
                users[name].add(group)
    return {
        name: next(iter(found)) if len(found) == 1 else SEVERAL
        for name, found in users.items()
        if "properties" in description.components[name]
    }


def _meanings(description: Description, homes: dict[str, str]) -> dict[str, str]:
    """What each component of an answer is, where nobody has described it: what an operation answers, a page
    of something, or a part of something."""
    found: dict[str, str] = {}
    for one in description.operations:
        for schema in one.answers:
            if "$ref" in schema:
                found.setdefault(name_of(schema), f"What `{one.named.name}` answers.")
    for name in sorted(homes):
        shape = description.components[name]
        for part in _parts(shape):
            found.setdefault(part, f"Part of `{name}`.")
        of = shape["properties"].get("results", {}).get("items", {})
        if name.endswith("Page") and "$ref" in of:
            found[name] = f"A page of `{name_of(of)}`; with `next` as `cursor` comes the one behind it."
    return found


def _parts(shape: dict[str, Any]) -> list[str]:
    """The components that its fields are of, or lists of."""
    fields = shape.get("properties", {}).values()
    found = [one.get("items", one) for one in fields]
    found += [one["allOf"][0] for one in found if one.get("allOf")]
    return [name_of(one) for one in found if "$ref" in one]


def _models(description: Description, homes: dict[str, str], meant: dict[str, str]) -> dict[str, str]:
    modules: dict[str, list[str]] = defaultdict(list)
    for name in _in_order(description, homes):
        modules[homes[name]].append(name)
    files = {}
    for module, names in modules.items():
        used = {one for name in names for one in description.reached(description.components[name])}
        foreign = sorted(one for one in used if homes.get(one) == SEVERAL and module != SEVERAL)
        files[f"models/{module}.py"] = "\n".join(
            [
                f'"""What {_home(module)} answers."""\n',
                "from datetime import datetime\nfrom typing import Any\n",
                "from pydantic import Field\n",
                "from ..answer import Answer",
                *([f"from .{SEVERAL} import {', '.join(foreign)}"] if foreign else []),
                *("\n\n" + shapes.model(description, name, meant.get(name, _OTHER)) for name in names),
            ]
        )
    exported = [(module, sorted(names)) for module, names in sorted(modules.items())]
    files["models/__init__.py"] = _index('"""Every model of an answer."""', exported)
    return files


def _home(module: str) -> str:
    return "more than one group" if module == SEVERAL else f"`{module}`"


def _in_order(description: Description, names: Iterable[str]) -> list[str]:
    """What others are made of comes before them."""
    parts = {name: description.reached(description.components[name]) & set(names) for name in names}
    return sorted(parts, key=lambda name: (_depth(name, parts), name))


def _depth(name: str, parts: dict[str, set[str]]) -> int:
    return 1 + max((_depth(part, parts) for part in parts[name]), default=0)


def _inputs(
    description: Description, groups: dict[str, list[Described]], both: frozenset[str]
) -> dict[str, str]:
    """The objects and words that arguments are made of."""
    used: set[str] = set()
    for one in (one for operations in groups.values() for one in operations):
        used |= description.reached([field.schema for field in (*one.query, *(one.body or ()))])
        used |= {one.many, *description.reached(description.components[one.many])} if one.many else set()
    objects = [name for name in _in_order(description, used) if "properties" in description.components[name]]
    words = sorted(name for name in used if "enum" in description.components[name] and name != "NullEnum")
    literals = (f"{shapes.word(name)} = {shapes.literal(description.components[name])}" for name in words)
    text = "\n".join(
        [
            '"""What arguments are made of: words that are fixed, and objects by their fields."""\n',
            "from collections.abc import Mapping, Sequence",
            "from datetime import datetime",
            "from typing import Any, Literal, Required, TypedDict\n",
            *literals,
            *("\n\n" + shapes.typed_dict(description, name, both, _OBJECT) for name in objects),
        ]
    )
    return {"inputs/__init__.py": text}


def _operations(group: str, methods: list[Method]) -> str:
    completing = sorted({method.it.named.completed_by for method in methods} - {""})
    return "\n".join(
        [
            f'"""The operations of `{group}`."""\n',
            "from datetime import datetime\nfrom typing import Any\n",
            "from ..calls import Operation, Tagged",
            *(f"from ..completing import {name}" for name in completing),
            *_imports(methods, answers=True, inputs=False),
            "",
            *(method.operation() for method in methods),
        ]
    )


def _imports(methods: list[Method], *, answers: bool, inputs: bool) -> list[str]:
    modules: dict[str, set[str]] = defaultdict(set)
    for method in methods:
        for name in method.models():
            modules[f"..models.{method.homes[name]}"].add(name)
        if inputs:
            modules["..inputs"] |= method.inputs()
    return [
        f"from {module} import {', '.join(sorted(names))}"
        for module, names in sorted(modules.items())
        if names
    ]


def _group(group: str, methods: list[Method], *, prefix: str) -> str:
    is_async = bool(prefix)
    iterator = "AsyncIterator" if is_async else "Iterator"
    pager = "aiterate" if is_async else "iterate"
    body = "\n".join(text for method in methods for text in method.texts(is_async=is_async))
    return "\n".join(
        [
            f'"""The calls of `{group}`."""\n',
            "import os",
            f"from collections.abc import {iterator}, Mapping, Sequence",
            "from datetime import datetime",
            "from typing import Any\n",
            "from ..calls import UNSET, Fields, Maybe, Tagged",
            f"from ..group import {prefix}Group",
            f"from ..paging import {pager}",
            f"from ..operations import {group} as does",
            *_imports(methods, answers=True, inputs=True),
            f"\n\nclass {prefix}{title(group)}({prefix}Group):",
            f'    """{GROUPS[group]}"""\n',
            body,
        ]
    )


def _groups(groups: Iterable[str], *, prefix: str) -> str:
    """The class that has every group as an attribute; the client is one of it."""
    named = sorted(group for group in groups if group != "memory")
    attributes = "\n".join(f"        self.{group} = {prefix}{title(group)}(client)" for group in named)
    return "\n".join(
        [
            '"""The groups of calls."""\n',
            f"from ..group import {prefix}Caller",
            *(f"from .{group} import {prefix}{title(group)}" for group in [*named, "memory"]),
            f"\n\nclass {prefix}Groups({prefix}{title('memory')}):",
            '    """A group of calls for each kind of thing, and the calls that are about all memory."""\n',
            f"    def __init__(self, client: {prefix}Caller) -> None:",
            f"        super().__init__(client)\n{attributes}\n",
        ]
    )


def title(group: str) -> str:
    """The class of a group, which is no model's name."""
    return f"{group.title()}Group"


def _index(docstring: str, modules: list[tuple[str, list[str]]]) -> str:
    imports = (
        f"from .{module} import {', '.join(f'{name} as {name}' for name in names)}"
        for module, names in modules
    )
    return "\n".join([docstring, "", *imports, ""])


def _formatted(files: dict[str, str]) -> dict[str, str]:
    """As the rest of the project is, without imports that nothing uses."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = Path(folder, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        for command, *options in (("check", "--select", "F401,I", "--fix"), ("format",)):
            ruff = [sys.executable, "-m", "ruff", command, *FORMAT, *options, folder]
            subprocess.run(ruff, check=True)
        return {name: Path(folder, name).read_text() for name in sorted(files)}
