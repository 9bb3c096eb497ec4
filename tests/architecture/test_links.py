"""Every link between the pages leads somewhere: to a file that there is, and to a heading of it."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture.sources import ROOT, files, name

PAGES = [page for page in files(".md") if page.parent == ROOT or page.is_relative_to(ROOT / "docs")]
FENCED = re.compile(r"^ *(```+|~~~+).*?^ *\1 *$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"(`+)(?:(?!\n\n).)+?\1", re.DOTALL)
LINK = re.compile(r"\]\(\s*<?([^()\s<>]+)>?(?:\s+\"[^\"]*\")?\s*\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
HEADING = re.compile(r"^ {0,3}#{1,6} +(.+?)(?: +#+)? *$", re.MULTILINE)


def links(text: str) -> list[str]:
    """The relative ones."""
    found = [inline or named for inline, named in LINK.findall(CODE.sub("", FENCED.sub("", text)))]
    return [link for link in found if not re.match(r"[a-z][a-z+.-]*:|//", link)]


def anchors(text: str) -> set[str]:
    """As GitHub makes them of headings; the second of the same is told by a number."""
    seen: Counter[str] = Counter()
    found = set()
    for heading in HEADING.findall(FENCED.sub("", text)):
        shown = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.lower()).replace(" ", "-")
        found.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return found


def broken(page: Path, text: str) -> list[str]:
    """The links of a page with that text which lead nowhere."""
    wrong = []
    for link in links(text):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or not target.is_relative_to(ROOT):
            wrong.append(f"{link}: no such file")
        elif anchor and anchor not in anchors(text if target == page else target.read_text()):
            wrong.append(f"{link}: no such heading")
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_each_link_leads_to_a_file_and_a_heading_of_it(page):
    assert broken(page, page.read_text()) == []


def test_all_pages_are_read():
    pages = {name(page) for page in PAGES}
    assert pages >= {"README.md", "CHANGELOG.md", "docs/recall.md", "docs/runbooks/change-models.md"}


def test_a_link_that_leads_nowhere_is_noticed():
    page = ROOT / "docs" / "recall.md"
    text = "# One, `two` & [three](x://y)\n## Same\n## Same\n"
    text += "```sh\n# no heading\n[a](gone.md)\n```\n`[b](gone.md)`\n"
    assert broken(page, text + "[a](#one-two--three) [b](#same-1) [c](https://x.org/#y) ![d](demo.png)") == []
    assert broken(page, text + "[a](#no-heading)\n[b\nc](#same-2) ([d](gone.md#x))\n\n[e]: ../../x\n") == [
        "#no-heading: no such heading",
        "#same-2: no such heading",
        "gone.md#x: no such file",
        "../../x: no such file",
    ]
    assert broken(page, "[a](policy.md#recall) [b](policy.md#no-such)") == [
        "policy.md#no-such: no such heading"
    ]
