"""Procedures as files."""

import hashlib

import pytest

from knowledge.procedure_files import read_procedure
from tenants.errors import Invalid


def test_a_file_is_a_procedure_with_what_stands_above_its_body():
    one = read_procedure(
        b"---\nname: refunds\nversion: 1.10\nagents: [billing, support]\nowner: ann\nsince: 2026-01-31\n"
        b"---\n\nBe kind.\n--- not the end\n",
        origin="x.md",
    )
    assert (one.name, one.version, one.body) == ("refunds", "1.10", "Be kind.\n--- not the end\n")
    assert one.metadata == {"agents": ["billing", "support"], "owner": "ann", "since": "2026-01-31"}


def test_without_anything_above_the_file_s_name_and_the_checksum_serve():
    one = read_procedure(b"Be kind.", origin="team/greeting.txt")
    assert (one.name, one.body, one.metadata) == ("greeting", "Be kind.", {})
    assert one.checksum == hashlib.sha256(b"Be kind.").hexdigest()
    assert one.version == one.checksum[:12]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "no body"),
        (b"---\nname: a\n---\n \n", "no body"),
        (b"---\nname: a\nBe kind.", "missing"),
        (b"---\n- a\n---\nx", "one YAML object"),
        (b"---\na: [\n---\nx", "not valid YAML"),
        (b"---\na: 1\na: 2\n---\nx", "stands twice"),
        (b"---\nagents: 5\n---\nx", "agents must be"),
        (b"---\nagents: [1]\n---\nx", "agents must be"),
        (b"---\nname: [a]\n---\nx", "name must be text"),
        (b"---\nversion: ''\n---\nx", "version must be text"),
        (b"---\nname: a/\n---\nx", "slash"),
        (b"---\nversion: " + b"1" * 65 + b"\n---\nx", "at most 64"),
        (b"---\nx: .nan\n---\nx", "JSON"),
        (b'---\nx: "\\0"\n---\nx', "NUL"),
        (b"a\x00", "NUL"),
        (b"\xff", "UTF-8"),
        (b"x" * 262_145, "262144"),
    ],
)
def test_a_file_that_is_none_is_refused_by_its_name(data, told):
    with pytest.raises(Invalid, match=r"^bad\.md: ") as caught:
        read_procedure(data, origin="bad.md")
    assert told in str(caught.value)
