from memoryproject.importing.report import Report, as_json, lines

SECRET = "x " * 200 + "my password is hunter2-Xk9! " + "y " * 200


def test_the_table_adds_up_and_no_sample_shows_a_secret() -> None:
    report = Report("mem0", "acme", dry_run=False)
    report.count("memories", "written", 1_200)
    report.leave("memories", "secrets", "secret:password", place="line 3", sample=SECRET)
    report.find(("secret:password",), "left out", place="line 3", sample=SECRET)
    for number in range(7):
        report.leave("entries", "junk", "broken JSON", place=f"line {number}", sample="{")

    told = list(lines(report))

    assert told[0].split() == [
        "read", "written", "updated", "unchanged", "duplicates", "junk", "secrets", "refused", "passed", "by",
    ]  # fmt: skip
    assert told[1].split() == ["memories", "1,201", "1,200", "0", "0", "0", "0", "1", "0", "0"]
    assert told[3].split() == ["all", "1,208", "1,200", "0", "0", "0", "7", "1", "0", "0"]
    assert "  7 broken JSON: line 0, line 1, line 2, line 3, line 4 and 2 more" in told
    assert told[-1] == "Imported."
    everything = "\n".join(told) + str(as_json(report))
    assert "hunter2" not in everything
    assert "[secret]" in everything


def test_an_import_without_effect_says_so() -> None:
    report = Report("mem0", "acme", dry_run=False)
    assert list(lines(report))[-1] == "There was nothing to read."
    report.count("memories", "unchanged", 3)
    assert list(lines(report))[-1] == "Nothing changed."


def test_a_dry_run_says_what_would_be_done() -> None:
    report = Report("mem0", "acme", dry_run=True)
    report.count("memories", "written", 3)
    assert list(lines(report))[-1] == "Dry run: 3 would be written, 0 updated. Nothing was."
