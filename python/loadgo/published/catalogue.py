"""The published documents that come with loadgo, by name and in the order of their dates."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from loadgo.errors import BadArgument
from loadgo.published.document import Document
from loadgo.published.document_file import read

FOLDER = Path(__file__).parent.parent / "data" / "published"
"""The folder of the documents' files; `docs/published.md` describes their format."""


def names() -> list[str]:
    """The names of the published documents, in the order of their dates."""
    return [document.name for document in documents()]


def document(name: str) -> Document:
    """The document called `name`. Raises `ValueError` with the names that exist."""
    for found in documents():
        if found.name == name:
            return found
    raise BadArgument(f"there is no document {name!r}; published are {', '.join(names())}")


@cache
def documents() -> tuple[Document, ...]:
    """Reads all published documents, once; in the order of their dates."""
    return tuple(sorted((read(path) for path in FOLDER.glob("*.toml")), key=lambda found: found.dated))
