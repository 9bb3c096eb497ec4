"""The budgets of how this project's code looks. They are caps, not aims."""

import ast
import re
import tokenize
from pathlib import Path

from tests.architecture.sources import files, name, python_files, tree

LINES_PER_FILE = 400
LINES_PER_FUNCTION = 60
VAGUE = {"utils", "util", "helpers", "helper", "common", "misc", "shared", "tools", "stuff"}
TEXTS = (".py", ".md", ".toml", ".lua", ".html", ".css", ".js", ".txt", ".json", ".yml", ".yaml", ".sh")
# Somebody's home folder.
MACHINE_PATHS = re.compile(r"(?<![\w.<{-])/(?:home|Users)/[\w.-]+")


def test_no_file_is_longer_than_its_cap():
    counts = {name(path): len(path.read_text().splitlines()) for path in python_files()}
    assert {path: count for path, count in counts.items() if count > LINES_PER_FILE} == {}


def test_no_function_is_longer_than_its_cap():
    long = [
        f"{name(path)}:{node.lineno} {node.name}: {length} lines"
        for path in python_files()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if (length := (node.end_lineno or 0) - node.lineno + 1) > LINES_PER_FUNCTION
    ]
    assert long == []


def test_no_module_or_folder_has_a_name_that_says_nothing():
    vague = [name(path) for path in python_files() if VAGUE & {path.stem, *path.parent.parts[-3:]}]
    assert vague == []


def test_whoever_catches_every_exception_says_why():
    """`except Exception` needs its reason beside it, on the line or just above, unless it raises it again."""
    silent = [
        f"{name(path)}:{node.lineno}"
        for path in python_files()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ExceptHandler) and catches_everything(node) and not raises_again(node)
        if not {node.lineno, node.lineno - 1} & commented_lines(path)
    ]
    assert silent == []


def catches_everything(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    return any(
        kind is None or (isinstance(kind, ast.Name) and kind.id in {"Exception", "BaseException"})
        for kind in kinds
    )


def raises_again(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def commented_lines(path: Path) -> set[int]:
    """Lines that hold a comment of more than a linter's code."""
    with path.open("rb") as file:
        comments = [token for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT]
    return {
        token.start[0]
        for token in comments
        if len(re.sub(r"#\s*(noqa|type: ignore)\S*(\s[A-Z]+\d+,?)*", "", token.string).strip("# ")) > 10
    }


def test_the_project_speaks_of_no_machines_own_paths():
    found = [
        f"{name(path)}: {match[0]}"
        for path in files(*TEXTS)
        if path != Path(__file__)
        for match in MACHINE_PATHS.finditer(path.read_text(errors="replace"))
    ]
    assert found == []


def test_these_budgets_would_notice():
    """Each finder above finds what it is for."""
    bad = ast.parse(
        "try:\n    pass\nexcept (ValueError, Exception):\n    pass\ntry:\n    pass\nexcept:\n    pass\n"
    )
    handlers = [node for node in ast.walk(bad) if isinstance(node, ast.ExceptHandler)]
    assert [catches_everything(handler) for handler in handlers] == [True, True]
    assert MACHINE_PATHS.search("see /home/" + "ann/strata")
    assert not MACHINE_PATHS.search("api/home/" + "x")
    assert len(python_files()) > 100
