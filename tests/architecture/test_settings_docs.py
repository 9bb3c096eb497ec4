"""docs/settings.md and memoryproject/settings.py tell the same."""

import ast
import re

import pytest

from tests.architecture.sources import ROOT, python_files, tree

READERS = {"text", "number", "decimal", "duration", "flag", "words", "database_url"}
ROW = re.compile(r"^\| `([A-Z_]+)` \| (.+?) \| (.+) \|$", re.MULTILINE)
TEXT = (ROOT / "docs" / "settings.md").read_text()
ROWS = {name: (default, meaning) for name, default, meaning in ROW.findall(TEXT)}
# How the parts of Strata find each other, and a key of a WSGI request.
NO_SETTINGS = {"DJANGO_SETTINGS_MODULE", "PROMETHEUS_MULTIPROC_DIR", "STRATA_SUPERVISED", "PATH_INFO"}


def read_settings() -> dict[str, ast.Call]:
    """The calls of environment readers in settings.py by the name they read."""
    return {
        node.args[0].value: node
        for node in ast.walk(tree(ROOT / "memoryproject" / "settings.py"))
        if isinstance(node, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr in READERS
        if isinstance(node.args[0], ast.Constant)
    }


SETTINGS = read_settings()


def read_elsewhere() -> set[str]:
    """Names of environment variables that the server's other modules read: `environ.get("X")`, `env["X"]`.
    What the client package and the examples read is told where they are."""
    pattern = re.compile(r"""(?:environ|\benv)(?:\.get\(|\[)\s*["']([A-Z_]+)["'](?!\] =)""")
    others = {"tests", "sdk", "docs"}
    product = [path for path in python_files() if others.isdisjoint(path.relative_to(ROOT).parts)]
    return {name for path in product for name in pattern.findall(path.read_text())} - NO_SETTINGS


@pytest.mark.parametrize("setting", sorted(SETTINGS))
def test_every_setting_is_described_with_its_default(setting):
    assert setting in ROWS, f"docs/settings.md does not describe {setting}"
    written, meaning = ROWS[setting]
    assert len(meaning) > 20
    if (default := default_of(SETTINGS[setting])) is not None:
        assert written == default


def default_of(call: ast.Call) -> str | None:
    """The default as the page should show it; None where the page explains it in words."""
    reader, rest = call.func.attr, call.args[1:]
    if reader == "database_url" or call.args[0].value == "SECRET_KEY":
        return None
    if not rest:
        return None if call.args[0].value == "MEMORY_ANONYMOUS_NETWORKS" else "none"
    default = rest[0].body if isinstance(rest[0], ast.IfExp) else rest[0]  # the page tells of the condition
    if isinstance(default, ast.Name):  # another setting's value
        return f"`{default.id}`"
    value = eval(compile(ast.Expression(default), "settings.py", "eval"), {})  # constants, such as 7 * 86_400
    return f"`{int(value)}`" if isinstance(value, int) else f"`{value}`"


def test_nothing_is_described_that_no_code_reads():
    assert set(ROWS) == set(SETTINGS) | read_elsewhere()


def test_the_bounds_of_numbers_are_told():
    for name, call in SETTINGS.items():
        bounds = {word.arg: word.value.value for word in call.keywords if word.arg in {"minimum", "maximum"}}
        if bounds.get("maximum") or bounds.get("minimum", 0) > 1:
            meaning = ROWS[name][1]
            missing = [bound for bound in bounds.values() if str(bound) not in meaning]
            assert not missing, f"{name}: docs/settings.md does not tell {missing}"


def test_every_setting_is_read_in_settings_py_by_a_reader():
    """No other module of the product reads Django's settings from the environment by itself."""
    assert read_elsewhere() <= {
        "MEMORY_HOME", "WEB_WORKERS", "WEB_THREADS", "STRATA_URL", "STRATA_API_KEY", "STRATA_PROJECT",
        "STRATA_SESSION", "NO_COLOR", "IMPORT_API_KEY",
    }  # fmt: skip


def test_every_check_that_refuses_the_start_is_named():
    source = (ROOT / "tenants" / "checks.py").read_text()
    numbers = sorted(set(re.findall(r'id="tenants\.E(\d+)"', source)))
    assert numbers == [f"{number:03}" for number in range(1, 12)]
    assert "`tenants.E001` to `tenants.E011`" in TEXT
