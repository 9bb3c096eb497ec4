"""Regular expressions of tool hooks: RE2's syntax, found anywhere, in time proportional to the text."""

import re
import subprocess
import sys
import time

import pytest

from tenants.agents.patterns import LONGEST, MOST_INSTRUCTIONS, BadPattern, check, matches
from tests.processes import ROOT

OUTPUT = 50_000  # characters that a tool's result may have
WORST = "(a?){1000}(a?){1000}(a?){490}z"


@pytest.mark.parametrize(("pattern", "text", "found"), [
    ("error|panic|fatal", "a fatal mistake", True),
    ("error|panic|fatal", "all is well", False),
    ("^git ", "git push", True),
    ("^git ", "cd x\ngit push", False),
    ("(?m)^git ", "cd x\ngit push", True),
    ("(?i)ÄRGER", "lauter ärger", True),
    (r"\pL{3}", "日本語", True),
    ("", "", True),
    ("x$", "x\n", False),
])  # fmt: skip
def test_a_pattern_is_found_anywhere_in_the_text(pattern, text, found):
    check(pattern)
    assert matches(pattern, text) is found


@pytest.mark.parametrize("pattern", [
    r"(a)\1", "(?=a)b", "(?!a)b", "(?<=a)b", "(?<!a)b", "(?>a)", "(a", "a)", "[z-a]", "*a", r"\q", "a{1001}",
    r"(\pL{0,100}x){1,3}", "((a{100}){100}){100}",
])  # fmt: skip
def test_what_re2_does_not_take_is_refused_with_a_reason(pattern):
    with pytest.raises(BadPattern) as caught:
        check(pattern)
    assert len(str(caught.value)) > 10


def test_a_pattern_has_a_bound_in_length_and_in_size():
    check("a" * LONGEST)
    with pytest.raises(BadPattern, match=f"longer than {LONGEST}"):
        check("a" * (LONGEST + 1))
    assert check("error|panic") < 50
    with pytest.raises(BadPattern, match="too large"):
        check("(.{1,900})z")
    assert check(WORST) <= MOST_INSTRUCTIONS


def test_a_catastrophic_pattern_takes_milliseconds():
    text = "a" * OUTPUT + "!"
    started = time.thread_time()
    assert not matches("(a+)+$", text)
    assert not matches("(a|aa)+$", text)
    assert not matches("(.*)*x", text)
    assert time.thread_time() - started < 0.25
    started = time.thread_time()
    re.search("(a+)+$", "a" * 24 + "!")  # the standard library, on 24 characters
    assert time.thread_time() - started > 0.25


def test_the_worst_pattern_that_is_let_in_takes_no_more_than_a_moment():
    """RE2 gives up its fast way here; what is left grows with the program, which is why that is bounded."""
    started = time.perf_counter()
    assert not matches(WORST, "a" * OUTPUT)
    assert time.perf_counter() - started < 60


def test_twice_the_text_takes_about_twice_the_time():
    def seconds(length: int) -> float:
        text = "a" * length
        started = time.perf_counter()
        matches("(a?){300}z", text)
        return time.perf_counter() - started

    seconds(1_000)
    assert min(seconds(50_000) for _ in range(3)) < 8 * min(seconds(25_000) for _ in range(3))


def test_a_refusal_is_not_told_on_stderr():
    code = "from tenants.agents.patterns import *\ntry: check('(a')\nexcept BadPattern: pass"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
