"""Checks for continuous integration: valid XML for any text, counts, and Markdown that shows texts as they are."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st
from loadgo.documents.as_junit import Check, CheckVerdict, checks_summary, junit_xml

VERDICTS: tuple[CheckVerdict, ...] = ("passed", "failed", "cannot tell")
CHECKS = [Check(f"fails if p90({verdict}) > 1s", verdict, f"p90 is 2 s, {verdict}") for verdict in VERDICTS]
TEXTS = st.text(st.characters(codec=None), max_size=40)


def test_each_check_is_a_case_with_its_reason() -> None:
    root = ElementTree.fromstring(junit_xml("loadgo: day", CHECKS).encode())
    (suite,) = root.iter("testsuite")
    assert (suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors")) == (
        "loadgo: day", "3", "1", "1",
    )  # fmt: skip
    passed, failed, unknown = root.iter("testcase")
    assert (passed.find("failure"), passed.find("error"), passed.findtext("system-out")) == (None, None, CHECKS[0].text)
    assert failed.findtext("failure") == CHECKS[1].text
    assert unknown.find("error").get("message") == CHECKS[2].text  # type: ignore[union-attr]
    assert failed.get("name") == "fails if p90(failed) > 1s"
    assert failed.get("classname") == "loadgo: day", "the suite's name, once"


def test_the_suite_and_each_check_have_the_length_of_the_run() -> None:
    root = ElementTree.fromstring(junit_xml("loadgo: day", CHECKS, 126.0).encode())
    assert [element.get("time") for element in root.iter()][:3] == ["126.000"] * 3
    assert {case.get("time") for case in root.iter("testcase")} == {"126.000"}


@given(TEXTS, TEXTS, TEXTS)
def test_any_text_gives_valid_xml(suite: str, name: str, text: str) -> None:
    content = junit_xml(suite, [Check(name, "failed", text), Check(text, "passed", name)])
    assert len(list(ElementTree.fromstring(content.encode("utf-8")).iter("testcase"))) == 2


def test_markup_in_a_name_stays_text() -> None:
    hostile = ']]><x a="&"/>\x00\x1b[31m\u202e\ud800\ufffe'
    content = junit_xml(hostile, [Check(hostile, "cannot tell", hostile)])
    (case,) = ElementTree.fromstring(content.encode()).iter("testcase")
    assert case.get("name") == ']]><x a="&"/>��[31m���'
    summary = checks_summary("<b>day</b>", "a | b", ["# late"], [Check("`x`|y\n\nz", "failed", hostile)])
    assert "<b>" not in summary.replace("\\<b\\>", "")
    row = next(line for line in summary.splitlines() if line.startswith("| ❌"))
    assert row.replace("\\|", "").count("|") == 4


def test_the_summary_says_how_many_failed_and_has_a_row_for_each() -> None:
    lines = checks_summary("loadgo: day", "p90 is 2 s.", ["The driver was late."], CHECKS).splitlines()
    assert lines[0] == "### loadgo: day: ❌ 2 of 3 checks failed"
    assert "> **The driver was late.**" in lines
    assert [line[2] for line in lines if line.startswith(("| ✅", "| ❌", "| ❓"))] == ["✅", "❌", "❓"]
    assert [word for line in lines for word in ("PASS", "FAIL", "CANNOT TELL") if f" {word} |" in line] == [
        "PASS",
        "FAIL",
        "CANNOT TELL",
    ]
    assert checks_summary("loadgo: day", "all well", [], CHECKS[:1]).startswith("### loadgo: day: ✅ all passed")
    assert len(lines) <= 12


def test_a_check_that_chance_may_have_decided_is_not_among_all_that_passed() -> None:
    perhaps = Check("fails if p90 > 1s", "passed", "p90 is 0.9 s, not > 1 s, but its interval holds it", is_open=True)
    summary = checks_summary("loadgo: day", "well", [], [CHECKS[0], perhaps])
    assert summary.startswith("### loadgo: day: ❓ none failed, but of 1 of 2 checks the intervals cannot tell\n")
    assert "all passed" not in summary
    assert [line[2] for line in summary.splitlines() if line.startswith(("| ✅", "| ❓"))] == ["✅", "❓"]
    root = ElementTree.fromstring(junit_xml("day", [perhaps]).encode())
    assert root.find(".//testcase/system-out").text == perhaps.text  # type: ignore[union-attr]
