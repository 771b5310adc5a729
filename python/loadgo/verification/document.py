"""A verification in every format: the answer, what is broken, all checks, the disclosure sheet, and the hashes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from loadgo.documents.as_json import json_document, members_of
from loadgo.documents.document import Document, Points, Remarks, Section
from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.documents.table import Column, Table
from loadgo.measures.trust import Evidence, trust_in_words
from loadgo.notation.figures import capitalized, counted, in_words, plain
from loadgo.records.run_file import RUN_FILE
from loadgo.verification.files import THE_TABLES
from loadgo.verification.results import Disclosure, Kind, Verification, VerifiedFile, VerifiedPoint
from loadgo.verification.signature import NO_SUMS

CHECK_KEYS = "kind name verdict text"
FILE_KEYS = "name bytes sha256"
DISCLOSURE_KEYS = "question item value"
JSON_KEYS = {
    Verification: "run folder version holds checks files disclosure doubts",
    VerifiedPoint: CHECK_KEYS,
    VerifiedFile: FILE_KEYS,
    Disclosure: DISCLOSURE_KEYS,
}
_KIND_TITLES = {"file": "Files", "record": "Records", "rule": "Rules of validity", "signature": "Signature"}
_VERDICTS = {"broken": "FAILED"}
"""The words of verdicts on a page, where they are not those of the JSON."""
_MOST_NAMED_CHECKS = 3
"""Most checks that cannot be made of which the answer has the names."""
_SHORT_KINDS: tuple[Kind, ...] = ("record", "rule")
"""The kinds of checks of which the short document has those that hold, too."""


def presentation(verification: Verification, *, full: bool = True) -> Presentation:
    """The parts of a verification. Without `full`, the document has neither the sheet nor the hashes."""
    return Presentation(
        lambda: verification_document(verification, full=full),
        lambda: verification_json(verification),
        {
            "checks": lambda: frame_of(verification.checks, CHECK_KEYS),
            "files": lambda: frame_of(verification.files, FILE_KEYS),
            "disclosure": lambda: frame_of(verification.disclosure, DISCLOSURE_KEYS),
        },
        answer=lambda: answer(verification),
    )


def verification_json(verification: Verification) -> str:
    """The verification as one JSON object."""
    return json_document({**members_of(verification, JSON_KEYS), "warnings": _warnings(verification)}, JSON_KEYS)


def _warnings(verification: Verification) -> tuple[str, ...]:
    """The checks that failed. Their names alone would read as if they held. Each loss is told once."""
    failed = [check for check in verification.of("broken") if not _repeats_files(check, verification)]
    return tuple(f'FAILED: "{check.name}": {check.text}' for check in map(_plain, failed))


def _repeats_files(check: VerifiedPoint, verification: Verification) -> bool:
    """Whether the check only has losses that are the damage of files, which have checks of their own."""
    of_files = {reason for file in verification.of_kind("file", "broken") for reason in file.lost_reasons}
    return check.kind == "rule" and bool(check.lost_reasons) and of_files.issuperset(check.lost_reasons)


def shown_name(verification: Verification) -> str:
    """The folder that was asked for, with the name that the run gave itself where that is another."""
    folder, name = plain(verification.folder.resolve().name), plain(verification.run)
    return f'"{folder}"' if folder == name else f'"{folder}" (recorded as "{name}")'


def answer(verification: Verification) -> str:
    """Whether the run holds, and what of it is not proven."""
    name, counts = shown_name(verification), Counter(check.verdict for check in verification.checks)
    if not verification.holds:
        failed = counts["broken"]
        return f"Run {name} does not hold: {failed} of {counted(len(verification.checks), 'check')} failed."
    if not counts["not checkable"]:
        return f"Run {name} holds: all {counts['holds']} checks passed."
    passed = f"nothing is wrong in {counted(counts['holds'], 'check')}"
    unproven = " ".join(filter(None, (_unseen_changes(verification), _unmade_checks(verification))))
    return f"Run {name} holds as far as can be checked: {passed}. {unproven}"


def _unseen_changes(verification: Verification) -> str:
    """A sentence on the changes that could not be seen, for want of checksums and of a known signature."""
    unseen = _without_checksums(verification)
    if not _is_unsigned(verification):
        return "Whose signature it has is not known." if verification.of_kind("signature", "not checkable") else ""
    if unseen:
        without = "has no checksum" if len(unseen) == 1 and unseen != [THE_TABLES] else "have no checksums"
        return f"{capitalized(in_words(unseen))} {without}, and nobody signed it, so a change could not be seen."
    return "Nobody signed it, so a change made on purpose could not be seen."


def _unmade_checks(verification: Verification) -> str:
    """A sentence on the checks of records and rules that cannot be made."""
    unmade = [check for kind in _SHORT_KINDS for check in verification.of_kind(kind, "not checkable")]
    names = [plain(check.name.partition(":")[0]) for check in unmade]
    if len(names) > _MOST_NAMED_CHECKS:
        return f"{len(names)} further checks cannot be made."
    return f"Not checked: {in_words(names)}." if names else ""


def _without_checksums(verification: Verification) -> list[str]:
    """The files that have no checksum, but for `run.toml`, to which an earlier loadgo gave none."""
    unseen = [check.name for check in verification.of_kind("file", "not checkable") if check.name != RUN_FILE]
    return [plain(name) for name in unseen]


def _is_unsigned(verification: Verification) -> bool:
    return any(check.text == NO_SUMS for check in verification.of_kind("signature", "not checkable"))


def verification_document(verification: Verification, *, full: bool) -> Document:
    """The document of a verification."""
    sections: list[Section] = [
        _check_table(verification, kind, full=full) for kind in _KIND_TITLES if _has(verification, kind)
    ]
    if full:
        sections += [*_sheet(verification), _hashes(verification)]
    else:
        sections.append(Remarks(("`--full` adds the disclosure sheet and the SHA-256 of each file.",)))
    folder = plain(str(verification.folder))
    return Document(
        title=f"verification of {plain(verification.folder.resolve().name)}",
        answer=answer(verification),
        trust=_trust(verification),
        warnings=_warnings(verification),
        about=(f"Judged by the rules of loadgo {verification.version}, from the files in {folder}.",),
        sections=tuple(sections),
        notes=tuple(("Doubt", text) for text in verification.doubts),
    )


def _trust(verification: Verification) -> str:
    """The line on whether to believe the run's figures, which is more than that its records hold."""
    doubts = [text.partition(". ")[0] for text in verification.doubts]
    against = [f"{doubt[:1].lower()}{doubt[1:]}".rstrip(".") for doubt in doubts]
    unseen = _without_checksums(verification)
    if unseen:
        against.append(f"a later change of {in_words(unseen)} could not be detected")
    elif _is_unsigned(verification):
        against.append("a change made on purpose could not be detected")
    kept = "the run keeps the rules" if unseen else "the files are as they were recorded, and the run keeps the rules"
    grounds = () if verification.of("broken") else (kept,)
    evidence = Evidence(tuple(map(plain, against)), grounds)
    return trust_in_words(evidence, is_warned=not verification.holds, is_low=bool(doubts))


def _has(verification: Verification, kind: str) -> bool:
    return any(check.kind == kind for check in verification.checks)


def _plain(check: VerifiedPoint) -> VerifiedPoint:
    """The check without control characters: names of files and reasons of losses are others' text."""
    return replace(check, name=plain(check.name), text=plain(check.text))


def _check_table(verification: Verification, kind: str, *, full: bool) -> Table:
    checks = [_plain(check) for check in verification.checks if check.kind == kind]
    shown = checks if full or kind in _SHORT_KINDS else [check for check in checks if check.verdict != "holds"]
    held = len(checks) - len(shown)
    foot = f"{counted(held, 'further check')} {'holds' if held == 1 else 'hold'}." if held else ""
    columns = (
        Column("check", tuple(check.name for check in shown), kind="words"),
        Column("verdict", tuple(_VERDICTS.get(check.verdict, check.verdict) for check in shown), kind="words"),
        Column("finding", tuple(check.text for check in shown), kind="words"),
    )
    return Table(_KIND_TITLES[kind], columns, foot=foot)


def _sheet(verification: Verification) -> list[Table]:
    """The disclosure sheet: a table for each question."""
    questions = list(dict.fromkeys(line.question for line in verification.disclosure))
    return [_answers(question, verification.disclosure) for question in questions]


def _answers(question: str, disclosure: tuple[Disclosure, ...]) -> Table:
    lines = [line for line in disclosure if line.question == question]
    columns = (
        Column("item", tuple(line.item for line in lines), kind="words"),
        Column("as recorded", tuple(line.value for line in lines), kind="words", verbatim=question != "not measured"),
    )
    return Table(f"Disclosure: {question}", columns)


def _hashes(verification: Verification) -> Points:
    items = tuple((f"{plain(file.name)}, {file.bytes:,} bytes", file.sha256) for file in verification.files)
    return Points("SHA-256 of each file", items, verbatim=True)
