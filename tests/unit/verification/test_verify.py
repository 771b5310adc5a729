"""A run that holds, and each kind of damage, loss and breach that makes one not hold, with the place named."""

import json
import random
import re
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.cli.app import app
from loadgo.errors import BadRun, Refused
from loadgo.notation.toml_text import toml_table
from loadgo.verification.document import answer
from loadgo.verification.results import Verification
from loadgo.verification.signature import sign
from support.places import TESTS
from typer.testing import CliRunner

RUNS = TESTS / "runs"
CUT = RUNS / "format-1" / "2026-11-21T01-37-05-cut"


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that holds."""
    folder = tmp_path_factory.mktemp("verify") / "run"
    loadgo.run("typical-user", on="multics-6180", users=5, passes=1, seed=3, out=folder)
    return folder


@pytest.fixture
def run(good: Path, tmp_path: Path) -> Path:
    """A copy of the good run, which a test may damage."""
    return Path(shutil.copytree(good, tmp_path / "run"))


def broken_names(verification: Verification) -> set[str]:
    return {check.name for check in verification.of("broken")}


def flip(path: Path, seed: int = 1) -> None:
    content = bytearray(path.read_bytes())
    bit = random.Random(seed).randrange(8 * len(content))
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_a_good_run_holds_and_each_of_its_files_is_checked(good: Path) -> None:
    verification = loadgo.verify(good)
    assert verification.holds, verification.of("broken")
    assert CliRunner().invoke(app, ["verify", str(good)]).exit_code == 0
    checked = {check.name for check in verification.of("holds") if check.kind == "file"}
    assert checked == {file.name for file in good.iterdir()}
    assert {file.name for file in verification.files} == {file.name for file in good.iterdir()}


def test_the_hashes_are_those_of_sha256sum(good: Path) -> None:
    printed = subprocess.run(
        ["sha256sum", *sorted(path.name for path in good.iterdir())], cwd=good, capture_output=True
    )
    lines = [f"{file.sha256}  {file.name}" for file in loadgo.verify(good).files]
    assert printed.stdout.decode().splitlines() == lines


def lose_a_table(run: Path) -> str:
    (run / "processes.parquet").unlink()
    return "processes.parquet"


def lose_a_main_table(run: Path) -> str:
    (run / "interactions.parquet").unlink()
    return "interactions.parquet"


def lose_an_empty_table(run: Path) -> str:
    assert len(pl.read_parquet(run / "lost.parquet")) == 0
    (run / "lost.parquet").unlink()
    return "lost.parquet"


def cut_a_table(run: Path) -> str:
    path = run / "sessions.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    return path.name


def change_a_table(run: Path) -> str:
    flip(run / "time.parquet")
    return "time.parquet"


def add_a_table(run: Path) -> str:
    edit(run / "run.toml", "[tables.screens]", "[other.screens]")
    return "screens.parquet"


def put_a_folder_in_place_of_a_table(run: Path) -> str:
    (run / "queue.parquet").unlink()
    (run / "queue.parquet").mkdir()
    return "queue.parquet"


def change_the_script(run: Path) -> str:
    edit(run / "script.toml", "name", "Name")
    return "script.toml"


def lose_the_machine(run: Path) -> str:
    (run / "machine.toml").unlink()
    return "machine.toml"


def tell_of_other_rows(run: Path) -> str:
    rows = toml_table((run / "run.toml").read_text())["tables"]["phases"]["rows"]
    edit(run / "run.toml", f"[tables.phases]\nrows = {rows}", f"[tables.phases]\nrows = {rows + 1}")
    return "phases.parquet"


def empty_an_entry(run: Path) -> str:
    edit(run / "run.toml", "[tables.faults]\nrows", "[tables.faults]\nlines")
    return "faults.parquet"


def end_early(run: Path) -> str:
    edit(run / "run.toml", 'outcome = "done"', 'outcome = "stopped"')
    return "the run came to its planned end"


def lose_records(run: Path) -> str:
    loss = '[[lost]]\nat_ns = 0\nwhat = "record"\ncount = 3\nreason = "the disk was full"\n\n'
    edit(run / "run.toml", "[load]", loss + "[load]")
    return "nothing is lost"


DAMAGES = [
    lose_a_table,
    lose_a_main_table,
    lose_an_empty_table,
    cut_a_table,
    change_a_table,
    add_a_table,
    put_a_folder_in_place_of_a_table,
    change_the_script,
    lose_the_machine,
    tell_of_other_rows,
    empty_an_entry,
    end_early,
    lose_records,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_each_damage_is_found_at_its_place(run: Path, damage: Callable[[Path], str]) -> None:
    place = damage(run)
    told = CliRunner().invoke(app, ["verify", str(run), "--format", "json"])
    assert told.exit_code == 1, told.output
    broken = [check for check in json.loads(told.stdout)["checks"] if check["verdict"] == "broken"]
    assert place in {check["name"] for check in broken}, broken
    assert all(check["text"] for check in broken)


def rewrite(run: Path, name: str, change: pl.Expr) -> None:
    """Changes a table, and its entry in `run.toml` with it, as somebody would who wants other figures."""
    path = run / f"{name}.parquet"
    pl.read_parquet(path).with_columns(change).write_parquet(path)
    from loadgo._loadgo import file_checksum

    run_toml = toml_table((run / "run.toml").read_text())
    size, checksum = file_checksum(path)
    entry = run_toml["tables"][name]
    edit(run / "run.toml", f"bytes = {entry['bytes']}\ncrc32 = {entry['crc32']}", f"bytes = {size}\ncrc32 = {checksum}")


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ((pl.col("sent_ns") - pl.col("planned_ns") + pl.col("planned_ns") + 2_000_000).alias("sent_ns"), "on time"),
        (pl.lit(1, pl.UInt64).alias("first_output_ns"), "no output and no answer comes before its line"),
        ((pl.col("cpu_user_ns") * 1000).alias("cpu_user_ns"), "processor time fits into the response times"),
    ],
)
def test_records_that_contradict_themselves_do_not_hold(run: Path, change: pl.Expr, name: str) -> None:
    rewrite(run, "interactions", change)
    verification = loadgo.verify(run)
    assert any(name in broken for broken in broken_names(verification)), verification.checks
    assert "interactions.parquet" not in broken_names(verification)


def test_a_run_that_was_killed_does_not_hold(tmp_path: Path) -> None:
    verification = loadgo.verify(CUT)
    assert broken_names(verification) == {"lost.arrows", "the run came to its planned end", "nothing is lost"}
    page = " ".join(str(verification.report("text", width=200)).split())
    assert 'FAILED: "the run came to its planned end": it ended early' in page
    assert f'Run "{verification.run}" does not hold: 3 of ' in page
    assert page.count("its first 740 bytes are there") == 3, "the loss has one warning, and two rows of the tables"
    assert "broken" not in page
    assert any("did not come to its end" in check.text for check in verification.of("not checkable"))


def test_a_run_that_failed_early_came_to_no_checksums(run: Path) -> None:
    """A full disk at the start leaves tables without entries, as a run of an earlier loadgo has them."""
    toml = re.sub(r"(?ms)^\[+tables\b.*?(?=^\[(?!tables)|\Z)", "", (run / "run.toml").read_text())
    (run / "run.toml").write_text(toml)
    texts = [check.text for check in loadgo.verify(run).of("not checkable")]
    assert any("an earlier loadgo recorded the run" in text for text in texts)
    edit(run / "run.toml", 'outcome = "done"', 'outcome = "failed"')
    texts = [check.text for check in loadgo.verify(run).of("not checkable")]
    assert any("did not come to its end, where the checksums" in text for text in texts)
    assert not any("an earlier loadgo" in text for text in texts)


def test_what_is_no_run_cannot_be_verified(run: Path, tmp_path: Path) -> None:
    (run / "run.toml").write_text("format = [")
    for folder in (run, tmp_path / "none"):
        assert CliRunner().invoke(app, ["verify", str(folder)]).exit_code == 2
        with pytest.raises(BadRun):
            loadgo.verify(folder)


def test_the_sheet_answers_each_question_and_names_what_was_not_recorded(run: Path) -> None:
    edit(run / "run.toml", "seed = 3", "")
    sheet = loadgo.verify(run).disclosure
    assert list(dict.fromkeys(line.question for line in sheet)) == [
        "who", "what", "where", "when", "how", "settings", "not measured",
    ]  # fmt: skip
    values = {line.item: line.value for line in sheet}
    assert values["seed"] == "not recorded"
    assert values["users"] == "5"
    assert values["signed by"] == "nobody"
    assert values["system under test"] == "multics-6180"
    assert "kernel" not in values, "a simulated machine has none"
    assert (
        values["interactions in it"]
        == f"{len(pl.read_parquet(run / 'interactions.parquet').filter(pl.col('phase').cast(pl.String) == 'steady')):,}"
    )


@pytest.mark.parametrize("format", ["text", "html", "md", "csv"])
def test_each_format_names_what_is_broken(run: Path, format: str) -> None:
    lose_a_table(run)
    told = CliRunner().invoke(app, ["verify", str(run), "--full", "--format", format, "-o", "-"])
    assert told.exit_code == 1
    assert "processes.parquet" in told.stdout
    assert ("Disclosure: who" in told.stdout) == (format != "csv")


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    """A folder with two keys of ssh, and a file of signers that has the first."""
    for name in ("mine", "other"):
        made = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", str(tmp_path / name)]
        subprocess.run(made, check=True)
    public = (tmp_path / "mine.pub").read_text()
    (tmp_path / "signers").write_text(f'ann@example.org namespaces="loadgo" {public}')
    return tmp_path


def test_a_signed_run_is_known_as_the_signers_also_to_other_tools(run: Path, keys: Path) -> None:
    signed = CliRunner().invoke(
        app, ["verify", str(run), "--sign", str(keys / "mine"), "--signers", str(keys / "signers")]
    )
    assert signed.exit_code == 0, signed.output
    assert "Whose signature it has is not known." in answer(loadgo.verify(run))
    verification = loadgo.verify(run, signers=keys / "signers")
    assert verification.holds
    assert not verification.of_kind("file", "not checkable"), "the signature is over run.toml, too"
    assert {check.name: check.text for check in verification.of("holds")}["the signature"] == "by ann@example.org"
    assert {line.item: line.value for line in verification.disclosure}["signed by"] == "ann@example.org"
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=run, check=True, capture_output=True)
    verify = ["ssh-keygen", "-Y", "verify", "-n", "loadgo", "-I", "ann@example.org", "-f", str(keys / "signers")]
    with (run / "SHA256SUMS").open("rb") as sums:
        subprocess.run([*verify, "-s", str(run / "SHA256SUMS.sig")], stdin=sums, check=True, capture_output=True)


def change_the_users(run: Path) -> str:
    edit(run / "run.toml", "users = 5", "users = 50")
    return "run.toml"


def change_a_table_with_its_entry(run: Path) -> str:
    rewrite(run, "interactions", (pl.col("ready_ns") - 1).alias("ready_ns"))
    return "interactions.parquet"


def add_a_file(run: Path) -> str:
    (run / "more.txt").write_text("more")
    return "more.txt"


def change_the_hashes(run: Path) -> str:
    (run / "SHA256SUMS").write_text((run / "SHA256SUMS").read_text().replace("run.toml", "run.tomb"))
    return "the signature"


def lose_the_signature(run: Path) -> str:
    (run / "SHA256SUMS.sig").unlink()
    return "the signature"


def sign_with_another_key(run: Path) -> str:
    loadgo.verify(run, sign_with=run.parent / "other")
    return "the signature"


def lose_all_of_the_signature(run: Path) -> str:
    (run / "SHA256SUMS").unlink()
    return "the signature"


@pytest.mark.parametrize(
    "change",
    [
        change_the_users,
        change_a_table_with_its_entry,
        add_a_file,
        change_the_hashes,
        lose_the_signature,
        sign_with_another_key,
        lose_all_of_the_signature,
    ],
)
def test_what_was_changed_after_the_signing_does_not_hold(run: Path, keys: Path, change: Callable[[Path], str]) -> None:
    loadgo.verify(run, sign_with=keys / "mine")
    place = change(run)
    assert place in broken_names(loadgo.verify(run, signers=keys / "signers"))


def test_notes_may_change_after_the_signing(run: Path, keys: Path) -> None:
    loadgo.verify(run, sign_with=keys / "mine")
    (run / "notes.json").write_text('{"format": 1, "tags": [], "note": "later"}')
    assert loadgo.verify(run, signers=keys / "signers").holds


def test_without_signers_a_whole_signature_says_nothing_of_whose_it_is(run: Path, keys: Path) -> None:
    loadgo.verify(run, sign_with=keys / "mine")
    (signature,) = [check for check in loadgo.verify(run).checks if check.name == "the signature"]
    assert signature.verdict == "not checkable"
    assert "whose key that is" in signature.text


def test_a_run_that_does_not_hold_is_not_signed(run: Path, keys: Path) -> None:
    lose_a_table(run)
    told = CliRunner().invoke(app, ["verify", str(run), "--sign", str(keys / "mine")])
    assert told.exit_code == 1
    assert "is not signed" in told.output
    assert not (run / "SHA256SUMS").exists()


def test_a_key_that_is_none_is_refused_and_nothing_is_written(run: Path, keys: Path) -> None:
    with pytest.raises(Refused, match="does not sign"):
        loadgo.verify(run, sign_with=keys / "signers")
    assert not (run / "SHA256SUMS").exists()


def test_a_signature_that_cannot_be_written_leaves_none_of_its_files(run: Path, keys: Path) -> None:
    before = sorted(path.name for path in run.iterdir())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        with pytest.raises(Refused, match=f"the signature cannot be written into {run}: "):
            loadgo.verify(run, sign_with=keys / "mine")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert sorted(path.name for path in run.iterdir()) == before
    assert loadgo.verify(run).holds


def test_a_signature_of_which_one_file_cannot_be_replaced_leaves_the_earlier_one_as_it_was(
    run: Path, keys: Path
) -> None:
    loadgo.verify(run, sign_with=keys / "mine")
    earlier = (run / "SHA256SUMS").read_bytes()
    (run / "SHA256SUMS.sig").unlink()
    (run / "SHA256SUMS.sig" / "folder").mkdir(parents=True)
    (run / "SHA256SUMS").write_bytes(earlier + b"\n")
    before = sorted(path.name for path in run.iterdir())
    with pytest.raises(Refused, match="the signature cannot be written into "):
        sign(run, [], keys / "other")
    assert (run / "SHA256SUMS").read_bytes() == earlier + b"\n"
    assert sorted(path.name for path in run.iterdir()) == before


def test_a_run_that_is_signed_again_has_the_new_signature_alone(run: Path, keys: Path) -> None:
    loadgo.verify(run, sign_with=keys / "other")
    before = sorted(path.name for path in run.iterdir())
    loadgo.verify(run, sign_with=keys / "mine")
    assert sorted(path.name for path in run.iterdir()) == before
    assert loadgo.verify(run, signers=keys / "signers").holds
