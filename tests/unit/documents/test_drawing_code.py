"""The code that draws the charts of a page: the build's file, and what takes its place where there is none."""

from __future__ import annotations

import shutil
from pathlib import Path

import loadgo
import pytest
from loadgo.documents import drawing_code as module
from loadgo.documents.drawing_code import DRAWING_CODE_FILE, LICENCES_FILE, drawing_code, made_drawing_code
from support.places import TESTS


@pytest.fixture(scope="module")
def made() -> str:
    return made_drawing_code()


def package_folder() -> Path:
    return Path(module.__file__).parent


@pytest.mark.long
def test_the_file_of_the_build_is_what_the_installed_library_makes(made: str) -> None:
    assert (package_folder() / DRAWING_CODE_FILE).read_text(encoding="utf-8") == made, "run scripts/setup"


@pytest.mark.long
def test_a_page_has_the_same_code_where_the_package_has_no_file(
    made: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(package_folder() / LICENCES_FILE.parent, tmp_path / LICENCES_FILE.parent)
    monkeypatch.setattr(module, "__file__", str(shutil.copy(module.__file__, tmp_path)))
    assert drawing_code.__wrapped__() == made


def test_a_page_takes_the_file_where_the_package_has_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / DRAWING_CODE_FILE
    file.parent.mkdir()
    file.write_text("draw('ä')", encoding="utf-8")
    monkeypatch.setattr(module, "__file__", str(tmp_path / "drawing_code.py"))
    assert drawing_code.__wrapped__() == "draw('ä')"


def test_the_code_ends_no_script_and_loads_nothing_from_an_address(made: str) -> None:
    assert "</script" not in made
    assert not [word for word in made.split('"') if word.startswith(("http://", "https://")) and "w3.org" not in word]


def test_each_page_with_charts_keeps_the_notices_of_the_libraries(made: str) -> None:
    notices = (package_folder() / LICENCES_FILE).read_text(encoding="utf-8")
    assert made.startswith(f"/*!\n{notices}*/")
    page = loadgo.report(TESTS / "runs" / "reported" / "live-exact", format="html")
    assert page.count(notices) == 1
    for condition in ("Redistributions in binary form must reproduce", "Permission to use, copy", "MIT", "ColorBrewer"):
        assert condition in notices
