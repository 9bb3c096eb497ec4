"""docs/mcp.md and the table of tools tell the same."""

import re

import pytest

from api.mcp.catalog import TOOLS
from api.mcp.tool import Tool
from tenants.agents.spec import Memory
from tests.architecture.sources import ROOT

TEXT = (ROOT / "docs" / "mcp.md").read_text()
TABLE = re.compile(r"^\| `(\w+)` \| `(\w+)` \|(.*?)\|(.*)\|$", re.MULTILINE)
ROWS = {
    name: (scope, hidden.strip(), arguments.strip()) for name, scope, hidden, arguments in TABLE.findall(TEXT)
}
SWITCHES = {"auto_save": "`autoSave: false`", "auto_search": "`autoSearch: false`"}


def section(tool: Tool) -> str:
    found = re.search(rf"^### {tool.name}\n(.+?)(?=^##)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"docs/mcp.md has no section on {tool.name}"
    return found[1]


def test_the_page_has_every_tool_and_no_other():
    assert list(ROWS) == [tool.name for tool in TOOLS]
    assert re.findall(r"^### (\w+)$", TEXT, re.MULTILINE) == list(ROWS)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_s_row_is_true(tool):
    scope, hidden, arguments = ROWS[tool.name]
    assert scope == tool.scope
    hiding = [told for field, told in SWITCHES.items() if hides(tool, field)]
    assert hidden == ", ".join(hiding)
    required = set(tool.schema.get("required", ()))
    told = [f"`{name}`" + " (optional)" * (name not in required) for name in tool.schema["properties"]]
    assert arguments == ", ".join(told)


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_argument_of_a_tool_is_explained(tool):
    assert re.findall(r"^\| `(\w+)` \| .{10,} \|$", section(tool), re.MULTILINE) == list(
        tool.schema["properties"]
    )


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_tells_the_model_enough(tool):
    assert len(tool.description) > 100
    assert all(part["description"] for part in tool.schema["properties"].values())
    assert tool.schema["type"] == "object"


def hides(tool: Tool, field: str) -> bool:
    """Whether the tool is hidden from an agent whose `field` alone is false."""
    settings = Memory.model_construct(**dict.fromkeys(SWITCHES, True) | {field: False})
    return tool.allowed_by is not None and not tool.allowed_by(settings)
