"""`/api/v1/hooks/`: tools print anything."""

import pytest

from tests.native.shapes import problem
from tests.native.test_hooks import BEFORE, RESULT, declare, observations

__all__ = ["declare"]  # the fixture


@pytest.mark.parametrize("bad", ["\\u0000", "\\ud800"])
def test_binary_output_and_arguments_are_mended(acme, declare, bad):
    declare(
        memorySaveRules=[{"tool": "bash", "matchOutput": "error"}],
        contextInjectTools=[{"tool": "bash"}],
    )
    body = (
        '{"agent": "coder", "session_id": "s1", "tool": "bash", "args": {"command": "cat @", "@": ["@"]}%s}'
    )
    result = (body % ', "output": "error @"').replace("@", bad)
    failed = (body % ', "output": "", "error": "@"').replace("@", bad)
    assert acme.http.post(RESULT, content=failed).status_code == 200
    assert acme.http.post(RESULT, content=result).status_code == 200
    assert "\ufffd" in observations(acme)[0].content
    assert acme.http.post(BEFORE, content=(body % "").replace("@", bad)).status_code == 200
    problem(acme.http.post(RESULT, content=result.replace("coder", bad)), 422)
