"""docs/checklist.md points to what there is."""

import re

import pytest

from tests.architecture.sources import ROOT

TEXT = (ROOT / "docs" / "checklist.md").read_text()
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py(?:::\w+)?)`", TEXT)))
LINKS = sorted(set(re.findall(r"\]\(([\w./-]+)\)", TEXT)))
READINESS = TEXT.split("## Production readiness")[1].split("\n## ")[0]


@pytest.mark.parametrize("reference", TESTS)
def test_each_test_that_it_names_is_there(reference):
    path, _, test = reference.partition("::")
    assert f"def {test}" in (ROOT / path).read_text() if test else (ROOT / path).exists()


@pytest.mark.parametrize("link", LINKS)
def test_each_page_that_it_names_is_there(link):
    assert (ROOT / "docs" / link).exists()


def test_each_line_has_a_test_or_a_runbook():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", READINESS, re.MULTILINE)[1:]
    lines = [row for row in rows if set(row[0]) != {"-"}]
    assert len(lines) == 8
    assert all("`tests/" in answered or "runbooks/" in answered for _asked, answered in lines)
