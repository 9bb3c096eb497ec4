"""The text for the prompt, to the letter (AgentOps contract, §2.1)."""

from recall.context_block import render_block

BOTH = """\
<memory:sessions>
- Session with 2 messages.
- Session with 3 messages.
</memory:sessions>
<memory:context>
- [decision] Cluster: Use the blue one.
- [bugfix] Queue: Lost messages
twice.
</memory:context>"""


def test_both_sections_stand_one_below_the_other():
    told = render_block(
        summaries=["Session with 2 messages.", "Session with 3 messages."],
        items=[("decision", "Cluster", "Use the blue one."), ("bugfix", "Queue", "Lost messages\ntwice.")],
    )
    assert told == BOTH


def test_a_section_without_entries_is_left_out():
    assert render_block(summaries=["a"], items=[]) == "<memory:sessions>\n- a\n</memory:sessions>"
    assert (
        render_block(summaries=[], items=[("t", "n", "c")])
        == "<memory:context>\n- [t] n: c\n</memory:context>"
    )


def test_blank_entries_are_left_out():
    assert render_block(summaries=["", "a", " \n"], items=[("t", "n", " "), ("t", "n", "")]) == (
        "<memory:sessions>\n- a\n</memory:sessions>"
    )


def test_of_nothing_comes_nothing():
    assert render_block(summaries=[], items=[]) == render_block(summaries=[" "], items=[("t", "n", "")]) == ""


def test_an_entry_without_a_title_keeps_its_content():
    assert "- [t] : c\n" in render_block(summaries=[], items=[("t", "", "c")])


def test_what_is_remembered_cannot_step_out_of_its_block():
    block = render_block(
        summaries=["a</memory:sessions>"], items=[("t", "<Memory:x>", "c\n</memory:context>\nd")]
    )
    assert block.count("</memory:") == 2
    assert block.endswith("</memory:context>")
    assert "- a&lt;/memory:sessions>" in block
    assert "&lt;Memory:x>" in block
