"""The files of a run: their SHA-256, and whether each is as `run.toml` has it.

`run.toml` has the rows, bytes and CRC-32 of each table, and the bytes and CRC-32 of the script and the machine. Its
last line has its own CRC-32. That shows accidents. Only a signature (`signature.py`) shows that somebody changed a file
and its entry together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from loadgo.errors import BadRun, error_in_words
from loadgo.records.manifest import (
    FILES_KEY,
    MANIFEST_KEY,
    damage_of,
    damage_of_run_toml,
    difference,
    tables_present,
)
from loadgo.records.run_file import RUN_FILE, read_small
from loadgo.records.streams import whole_part
from loadgo.records.tables import DAMAGE_ERRORS
from loadgo.verification.results import VerifiedFile, VerifiedPoint

NOTES_FILE = "notes.json"
"""The user's own notes on a run, which may change at any time and belong to no hash."""
THE_TABLES = "the tables"
"""The name of the check of all tables of a run that recorded no checksums."""
_READ_BYTES = 1 << 20


def files_in(folder: Path, left_out: frozenset[str]) -> tuple[VerifiedFile, ...]:
    """The files below `folder` with their hashes, by name, but for the notes and those `left_out`.

    Raises `OSError` for a file that cannot be read.
    """
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    named = [(str(path.relative_to(folder)), path) for path in paths]
    return tuple(_hashed(name, path) for name, path in named if name != NOTES_FILE and name not in left_out)


def _hashed(name: str, path: Path) -> VerifiedFile:
    digest, count = hashlib.sha256(), 0
    with path.open("rb") as file:
        while part := file.read(_READ_BYTES):
            digest.update(part)
            count += len(part)
    return VerifiedFile(name, count, digest.hexdigest())


def file_checks(folder: Path, run_toml: Mapping[str, Any]) -> Iterator[VerifiedPoint]:
    """A check of each file that `run.toml` names, of each table that it does not name, and of `run.toml` itself."""
    entries = run_toml.get(MANIFEST_KEY)
    if entries is None:
        yield from _without_manifest(folder, run_toml)
    elif not isinstance(entries, Mapping):
        yield _broken(RUN_FILE, f"its section {MANIFEST_KEY} is damaged")
    else:
        for name in sorted({*map(str, entries), *tables_present(folder)}):
            yield _table_check(folder, name, run_toml)
    yield from _other_files(folder, run_toml)
    yield _run_toml_check(folder)


def _run_toml_check(folder: Path) -> VerifiedPoint:
    """The check of `run.toml` by its own last line."""
    damage = damage_of_run_toml(read_small(folder / RUN_FILE))
    if damage is None:
        text = "it has no checksum of its own: a signature is what covers it (`loadgo verify RUN --sign KEY`)"
        return VerifiedPoint("file", RUN_FILE, "not checkable", text)
    return _broken(RUN_FILE, damage) if damage else VerifiedPoint("file", RUN_FILE, "holds", "checksum as recorded")


def _table_check(folder: Path, name: str, run_toml: Mapping[str, Any]) -> VerifiedPoint:
    """The check of one table of a run that has a manifest."""
    path = folder / f"{name}.parquet"
    entry = run_toml[MANIFEST_KEY].get(name)
    if entry is None:
        return _broken(path.name, "run.toml names no such table: it was added after the run")
    if not isinstance(entry, Mapping) or any(not isinstance(entry.get(key), int) for key in ("rows", "bytes", "crc32")):
        return _broken(path.name, "its entry in run.toml is damaged")
    if not path.exists():
        return _broken(path.name, f"the file is gone: run.toml has {entry['rows']:,} rows of it")
    try:
        damage = damage_of(path, name, run_toml)
        rows = None if damage else int(pl.scan_parquet(path.resolve(), glob=False).select(pl.len()).collect().item())
    except (OSError, *DAMAGE_ERRORS) as error:
        return _broken(path.name, f"it cannot be read: {_in_words(error)}")
    if damage:
        return _broken(path.name, damage)
    if rows != entry["rows"]:
        return _broken(path.name, f"it has {rows:,} rows, and run.toml says {entry['rows']:,}")
    return VerifiedPoint("file", path.name, "holds", f"{rows:,} rows, {entry['bytes']:,} bytes, checksum as recorded")


def _without_manifest(folder: Path, run_toml: Mapping[str, Any]) -> Iterator[VerifiedPoint]:
    """The checks of tables that have no entry: what a stream's own checksums show, and that the rest is not known."""
    streams = [name for name in tables_present(folder) if not (folder / f"{name}.parquet").exists()]
    for name in streams:
        yield from _stream_check(folder / f"{name}.arrows")
    came_to_its_end = run_toml.get("finished") and run_toml.get("outcome") != "failed"
    reason = (
        "an earlier loadgo recorded the run, and wrote no checksums of tables"
        if came_to_its_end
        else "the run did not come to its end, where the checksums of tables are written"
    )
    yield VerifiedPoint(
        "file", THE_TABLES, "not checkable", f"{reason}: a later change of their bytes could not be detected"
    )


def _stream_check(path: Path) -> Iterator[VerifiedPoint]:
    """The check of a stream, if it is damaged: behind its whole batches, or all of it."""
    try:
        whole = whole_part(path)
    except BadRun as error:
        yield _broken(path.name, str(error))
        return
    if whole.rest:
        text = f"it breaks off within its last batch of rows: {whole.rest}"
        yield VerifiedPoint("file", path.name, "broken", text, (whole.lost_reason(path.stem),))


def _other_files(folder: Path, run_toml: Mapping[str, Any]) -> Iterator[VerifiedPoint]:
    """The checks of the script and the machine."""
    entries = run_toml.get(FILES_KEY)
    known: Mapping[str, Any] = entries if isinstance(entries, Mapping) else {}
    for name in ("script.toml", "machine.toml"):
        path, entry = folder / name, known.get(name)
        if entry is None:
            if path.exists():
                yield VerifiedPoint("file", name, "not checkable", "run.toml has no checksum of it")
        elif not path.exists():
            yield _broken(name, "the file is gone, and run.toml names it")
        else:
            try:
                damage = difference(path, entry) if isinstance(entry, Mapping) else "its entry in run.toml is damaged"
            except OSError as error:
                damage = f"it cannot be read: {error_in_words(error)}"
            yield _broken(name, damage) if damage else VerifiedPoint("file", name, "holds", "checksum as recorded")


def _broken(name: str, text: str) -> VerifiedPoint:
    return VerifiedPoint("file", name, "broken", text)


def _in_words(error: BaseException) -> str:
    text = error_in_words(error) if isinstance(error, Exception) else str(error)
    return text.strip().split("\n")[0]
