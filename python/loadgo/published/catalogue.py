"""The published documents that come with loadgo, by name and in the order of their dates."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from loadgo.errors import BadArgument
from loadgo.published.document import Document
from loadgo.published.document_file import read_document

DOCUMENTS_FOLDER = Path(__file__).parent.parent / "data" / "published"
"""The folder of the documents' files; `docs/published.md` describes their format."""


def names() -> list[str]:
    """The names of the published documents, in the order of their dates."""
    return [document.name for document in documents()]


def is_document(name: str) -> bool:
    """Whether a published document is called so. Its file has its name, so that no document is read for that."""
    return name in {path.stem for path in DOCUMENTS_FOLDER.glob("*.toml")}


def document(name: str) -> Document:
    """The document called `name`. Raises `ValueError` with the names that exist."""
    for candidate in documents():
        if candidate.name == name:
            return candidate
    raise BadArgument(f"there is no document {name!r}; published are {', '.join(names())}, or name a file.toml")


@cache
def documents() -> tuple[Document, ...]:
    """Reads all published documents once, and returns them in the order of their dates."""
    return tuple(sorted((read_document(path) for path in DOCUMENTS_FOLDER.glob("*.toml")), key=lambda doc: doc.dated))
