"""Writes LICENSES-RUST.txt: the licences of the crates in a wheel's binaries, which ask that they go with every copy.

`licence_texts.py [FILE]` writes it; run it after a change of Cargo.lock. A crate that lets its user choose is taken
under MIT, whose text is short. Crates with the same text stand above one copy of it.
"""

import re
import sys
from pathlib import Path
from typing import Any

from linked_crates import cargo_metadata, linked_packages

TEXTS = Path("LICENSES-RUST.txt")
LICENCE_FILE = re.compile(r"(un)?licen[sc]e|copying|copyright", re.IGNORECASE)
NOTICE_FILE = re.compile(r"notice", re.IGNORECASE)
RULE = "=" * 80
HEADING = """\
The programs and the library of loadgo have parts of the following crates, and of Rust's standard library, which is
MIT OR Apache-2.0 (copyright The Rust Project Developers). Here are the licences of these crates, as they came with
them. A crate that lets its user choose is taken under the first licence that is printed.
The static programs have parts of the GNU C Library, which is LGPL-2.1-or-later.
"""


def licence_texts(metadata: dict[str, Any]) -> str:
    """The content of the file: each text below the crates that it belongs to."""
    crates_by_text: dict[str, list[str]] = {}
    for package in linked_packages(metadata):
        if package["source"] is not None:
            title = f"{package['name']} {package['version']}: {package['license'].replace('/', ' OR ')}"
            crates_by_text.setdefault(text_of(package), []).append(title)
    parts = (f"{RULE}\n" + "\n".join(titles) + f"\n\n{text}\n" for text, titles in crates_by_text.items())
    return HEADING + "\n" + "\n".join(parts)


def text_of(package: dict[str, Any]) -> str:
    """The licence of a package and its notices, as they are in its folder."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(path for path in folder.iterdir() if path.is_file() and LICENCE_FILE.match(path.name))
    mit = [path for path in files if "mit" in path.name.lower()]
    chosen = mit if mit and re.search(r"OR|/", package["license"]) and "AND" not in package["license"] else files
    chosen += sorted(path for path in folder.iterdir() if path.is_file() and NOTICE_FILE.match(path.name))
    if not chosen:
        return without_file(package)
    return "\n\n".join(path.read_text(encoding="utf-8").strip() for path in chosen)


def without_file(package: dict[str, Any]) -> str:
    """The authors of a package without a licence file. Its terms are in loadgo's own licence files."""
    authors = ", ".join(re.sub(r"\s*<[^>]*>", "", author) for author in package["authors"])
    return (
        f"The crate has no licence file. Copyright: {authors}. The texts are those of LICENSE-MIT and LICENSE-APACHE."
    )


if __name__ == "__main__":
    place = Path(sys.argv[1]) if len(sys.argv) > 1 else TEXTS
    place.write_text(licence_texts(cargo_metadata()), encoding="utf-8")
    sys.stderr.write(f"{place}: {place.stat().st_size:,} bytes\n")
