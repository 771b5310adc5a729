"""`scripts/advisories.py`: a pinned version is compared with the lists and the ranges of PyPA's advisories."""

import subprocess
import sys
from pathlib import Path

import pytest
from support.places import PROJECT

ADVISORY = """\
id: PYSEC-2026-1
summary: One may read what others wrote.
affected:
- package: {name: Some_Thing, ecosystem: PyPI}
  ranges:
  - type: GIT
    events: [{introduced: "0"}]
  - type: ECOSYSTEM
    events: [{introduced: "0"}, {fixed: "1.10"}, {introduced: "2.0"}, {last_affected: "2.4"}]
  versions: ["3.0"]
"""


def audited(folder: Path, version: str, advisory: str = ADVISORY) -> subprocess.CompletedProcess[str]:
    """The result of the script for a file that pins one version, with a database of one advisory."""
    place = folder / "database" / "vulns" / "some-thing"
    place.mkdir(parents=True)
    (place / "PYSEC-2026-1.yaml").write_text(advisory)
    pins = folder / "requirements.txt"
    pins.write_text(f"Some.Thing=={version} \\\n    --hash=sha256:00\nother==1.0 ; python_version < '4'\n")
    command = [sys.executable, PROJECT / "scripts" / "advisories.py", folder / "database", pins]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("version", ["0.1", "1.9", "2.0", "2.4", "3.0"])
def test_a_version_in_a_range_or_a_list_is_found(tmp_path: Path, version: str) -> None:
    result = audited(tmp_path, version)
    assert result.returncode == 1, result.stderr
    found, counts = result.stdout.splitlines()
    assert found == f"PYSEC-2026-1  some-thing {version} (requirements.txt): One may read what others wrote."
    assert counts == "2 pinned packages, 1 of them with advisories in the database: 1 findings"


@pytest.mark.parametrize("version", ["1.10", "1.11", "2.4.1", "3.1"])
def test_a_version_outside_is_not(tmp_path: Path, version: str) -> None:
    assert (audited(tmp_path, version).returncode, audited(tmp_path / "again", version).stderr) == (0, "")


def test_an_advisory_that_was_withdrawn_does_not_count(tmp_path: Path) -> None:
    assert audited(tmp_path, "1.9", ADVISORY + "withdrawn: 2026-02-01T00:00:00Z\n").returncode == 0


def test_a_folder_that_is_no_database_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, PROJECT / "scripts" / "advisories.py", tmp_path, tmp_path / "requirements.txt"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2
