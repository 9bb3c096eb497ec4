"""What people fill in about agents."""

import json
from typing import Any

from django import forms

from recall.hooks.rules import LONGEST_MATCHED, ToolResult
from tenants.agents.parsing import parse_json, parse_yaml
from tenants.agents.spec import LONGEST_NAME
from tenants.errors import Invalid

LONGEST = 262_144  # characters of a declaration
EXAMPLE = """\
# Every field that there is. Take out what you do not need: what is not given has its default.
memory:
  serverRef: strata            # the name of this server, where the runtime looks for it
  project: apollo              # where its observations stand; default: the agent's name
  contextLimit: 5              # observations that a session begins with, 0 to 50
  windowSize: 20               # messages that the runtime keeps of a conversation, 2 to 200
  autoSummarize: true          # a session leaves a summary
  autoSave: true               # it gets the tool mem_save
  autoSearch: true             # it gets the tool mem_search
toolHooks:
  memorySaveRules:             # which results of tools are saved as observations
    - tool: bash               # the tool's name, exactly
      matchOutput: "(?i)error" # a pattern that the output must match
      matchArgs:               # patterns that arguments must match
        command: "^make"
      type: bugfix             # default: discovery
      scope: project           # or global: seen from every project
  contextInjectTools:          # what is looked up before a tool runs
    - tool: bash
      query: from_tool_args    # the command, query or path of the call; or a text of yours
      limit: 3                 # 1 to 10
  auditTools: [deploy]         # each call of these is noted
  blockedCommands: ["rm -rf /"] # it may not run these
  allowedPaths: [/srv/apollo]   # where its file tools may reach
kaos:                          # the memory of the KAOS runtime itself
  enabled: true
  type: local                  # or redis
  contextLimit: 6              # messages
  maxSessions: 1000
  maxSessionEvents: 500
"""
EXAMPLE_HOOKS = """\
toolHooks:
  memorySaveRules:
    - tool: bash
      matchOutput: "(?i)error"
      type: bugfix
  contextInjectTools:
    - tool: bash
"""
EXAMPLE_CALL = {
    "tool": "bash",
    "args": '{"command": "make test"}',
    "output": "Error: the database is not running.",
}


def code(rows: int) -> forms.Textarea:
    return forms.Textarea(attrs={"rows": rows, "class": "code", "spellcheck": "false"})


class SpecForm(forms.Form):
    """What is declared, as JSON or YAML."""

    spec = forms.CharField(
        label="Declaration", strip=False, max_length=LONGEST, widget=code(24),
        help_text="YAML or JSON: memory, toolHooks, kaos; or the whole Kubernetes resource.",
    )  # fmt: skip

    def document(self) -> Any:
        """Raises Invalid."""
        text = self.cleaned_data["spec"]
        if text.lstrip().startswith(("{", "[")):
            return parse_json(text.encode())
        documents = parse_yaml(text.encode())
        if len(documents) != 1:
            raise Invalid(f"Must be one YAML document, not {len(documents)}.")
        return documents[0]


class NewForm(SpecForm):
    """An agent that is not declared yet."""

    name = forms.CharField(
        label="Name", max_length=LONGEST_NAME, help_text="The agent id of its keys and sessions."
    )
    field_order = ("name", "spec")


class TryForm(forms.Form):
    """A tool's call and its output, made up or pasted."""

    tool = forms.CharField(label="Tool", max_length=200)
    args = forms.CharField(
        label="Arguments", required=False, strip=False, max_length=LONGEST, widget=code(4),
        help_text='A JSON object, such as {"command": "make test"}.',
    )  # fmt: skip
    output = forms.CharField(
        label="Output", required=False, strip=False, widget=code(8),
        help_text=f"Patterns see the first {LONGEST_MATCHED:,} characters.",
    )  # fmt: skip
    error = forms.CharField(
        label="Error", required=False, max_length=10_000, help_text="If the call came to no result: why."
    )

    def clean_args(self) -> dict[str, Any]:
        text = self.cleaned_data["args"].strip()
        try:
            args = json.loads(text) if text else {}
        except (ValueError, RecursionError) as error:
            raise forms.ValidationError(f"This is not valid JSON: {str(error)[:200]}.") from error
        if not isinstance(args, dict):
            raise forms.ValidationError("Must be an object.")
        return args

    def result(self) -> ToolResult:
        """Browsers end lines in two characters; outputs of tools do not."""
        said = self.cleaned_data
        output = said["output"].replace("\r\n", "\n")
        return ToolResult(tool=said["tool"], args=said["args"], output=output, error=said["error"])
