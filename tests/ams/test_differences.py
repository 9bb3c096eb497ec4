"""Each row of the table of differences in docs/redis-ams.md has its tests: theirs say `Row: name.`"""

import ast
import re
from pathlib import Path

from tests.processes import ROOT

HERE = Path(__file__).parent


def rows_of_the_docs() -> set[str]:
    text = (ROOT / "docs/redis-ams.md").read_text()
    _before, table = text.split("| point | here |\n|---|---|\n")
    lines = table[: table.index("\n\n")].splitlines()
    return {line.split("|")[1].strip() for line in lines}


def rows_of_the_tests() -> set[str]:
    functions = (
        one
        for file in HERE.glob("test_differences_*.py")
        for one in ast.parse(file.read_text()).body
        if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")
    )
    named = (re.match(r"Row: (.+?)\.(\s|$)", ast.get_docstring(one) or "") for one in functions)
    return {found[1] for found in named if found}


def test_every_row_has_a_test_and_every_test_a_row():
    assert rows_of_the_tests() == rows_of_the_docs()
