"""Verifies a recorded run: everything that a stranger can check with the run's folder alone."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from loadgo.errors import BadRun, error_in_words
from loadgo.measures.summary import summarize
from loadgo.records.manifest import READER_VERSION
from loadgo.records.phases import stretch_of
from loadgo.records.run_file import RUN_FILE
from loadgo.records.runs import LAST_RUN_NAME, find_run, outcome_of
from loadgo.records.tables import read_conditions, tables
from loadgo.verification.disclosure import disclosure_of
from loadgo.verification.files import file_checks, files_in
from loadgo.verification.results import Verification, VerifiedPoint
from loadgo.verification.rules import facts_and_doubts, record_points, rule_points
from loadgo.verification.signature import SIGNATURE_FILES, SUMS_FILE, UNSIGNED_WORD, sign, signature_points, signer_in

if TYPE_CHECKING:
    from loadgo.measures.summary import Summary
    from loadgo.records.tables import Tables


def verify(
    run: str | PathLike[str] = LAST_RUN_NAME,
    *,
    signers: str | PathLike[str] | None = None,
    sign_with: str | PathLike[str] | None = None,
) -> Verification:
    """Checks whether a recorded run holds, and makes its disclosure sheet.

        verification = loadgo.verify("last")
        assert verification.holds, verification.of("broken")

    Args:
        run: A run's folder, its id, or `last`.
        signers: An allowed-signers file of ssh. The run must then be signed by one of them.
        sign_with: A private key of ssh, or a public one whose private key is in the ssh agent. A run that holds is
            signed with it: `SHA256SUMS` and `SHA256SUMS.sig` are written into its folder.

    Returns:
        A `Verification`: each check with its verdict, the SHA-256 of each file, and the disclosure sheet.

    Raises:
        loadgo.errors.BadRun: The run is missing, is still being written, or its `run.toml` cannot be read. Damage of
            any other file is a finding.
        loadgo.errors.Refused: ssh-keygen is missing, or does not sign.
    """
    folder = find_run(run)
    run_toml = read_conditions(folder)
    if outcome_of(folder, run_toml) == "running":
        raise BadRun(f"{folder} is still being written: verify it when the run has ended")
    try:
        files = files_in(folder, SIGNATURE_FILES)
    except OSError as error:
        raise BadRun(f"cannot read {error_in_words(error)}") from error
    checks = list(file_checks(folder, run_toml))
    measured, doubts = _measured(folder, checks)
    if sign_with is not None and all(check.verdict != "broken" for check in checks):
        sign(folder, files, Path(sign_with))
    signature: tuple[VerifiedPoint, ...] = ()
    if sign_with is None or all(check.verdict != "broken" for check in checks):
        signature = tuple(signature_points(folder, files, None if signers is None else Path(signers)))
    if any(check.name == SUMS_FILE and check.verdict == "holds" for check in signature):
        checks = [check for check in checks if check.name != RUN_FILE or check.verdict != "not checkable"]
    return Verification(
        run=str(run_toml.get("id", folder.name)),
        folder=folder,
        version=READER_VERSION,
        checks=(*checks, *signature),
        files=files,
        disclosure=disclosure_of(run_toml, files, measured, signer_in(signature) if signature else UNSIGNED_WORD),
        doubts=doubts,
    )


def _measured(folder: Path, checks: list[VerifiedPoint]) -> tuple[tuple[Tables, Summary] | None, tuple[str, ...]]:
    """The tables with their summary, and the doubts; adds the checks of records and rules.

    Tables that cannot be read are a broken check, and give None.
    """
    try:
        recorded = tables(folder)
    except BadRun as error:
        checks.append(VerifiedPoint("record", "the tables can be read", "broken", str(error)))
        return None, ()
    stretch = stretch_of(recorded)
    try:
        facts, doubts = facts_and_doubts(recorded, stretch)
        summary = summarize(recorded, intervals=False)
    except BadRun as error:
        checks.append(VerifiedPoint("record", "the records can be judged", "broken", str(error)))
        return None, ()
    checks += [*record_points(recorded, stretch), *rule_points(facts)]
    return (recorded, summary), doubts
