"""Writes the JSON Schemas of `--format json` into the package, after a change of a result's types or keys."""

from loadgo.schemas.derived import schema_files
from loadgo.schemas.formats import SCHEMAS_FOLDER

SCHEMAS_FOLDER.mkdir(exist_ok=True)
for name, text in schema_files().items():
    (SCHEMAS_FOLDER / f"{name}.json").write_text(text, encoding="utf-8")
