"""Writes the JSON Schemas of `--format json` and of files into the package, after a change of types or keys."""

from loadgo.notation.file_shapes import FILE_SCHEMAS_FOLDER
from loadgo.schemas.derived import schema_files
from loadgo.schemas.files import file_schema_texts
from loadgo.schemas.formats import SCHEMAS_FOLDER

for folder, texts in ((SCHEMAS_FOLDER, schema_files()), (FILE_SCHEMAS_FOLDER, file_schema_texts())):
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
