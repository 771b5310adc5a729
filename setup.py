"""The step of the build that pyproject.toml cannot name: it makes the code that draws the charts of a page.

Everything else about the package is in pyproject.toml.
"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

from setuptools import Command, setup
from setuptools.command.build import build

SOURCES = Path(__file__).parent / "python"
MODULE = Path("loadgo", "documents", "drawing_code.py")


def drawing_module() -> ModuleType:
    """The file of the package that makes the code, imported without the package, which the build does not have yet."""
    spec = importlib.util.spec_from_file_location("drawing_code", SOURCES / MODULE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class BuildDrawingCode(Command):
    """Writes the code into the wheel, or in an editable installation into the source folder, where git ignores it."""

    user_options: list[tuple[str, str | None, str]] = []  # noqa: RUF012

    def initialize_options(self) -> None:
        """Setuptools sets both later."""
        self.build_lib: str | None = None
        self.editable_mode = False

    def finalize_options(self) -> None:
        """Takes the folder of the build."""
        self.set_undefined_options("build", ("build_lib", "build_lib"))

    def run(self) -> None:
        """Writes the file, whole or not at all."""
        file = self._file()
        part = file.with_name(f"{file.name}.part")
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(drawing_module().made_drawing_code(), encoding="utf-8")
        os.replace(part, file)

    def _file(self) -> Path:
        assert self.build_lib
        root = SOURCES if self.editable_mode else Path(self.build_lib)
        return root / MODULE.parent / drawing_module().DRAWING_CODE_FILE

    def get_source_files(self) -> list[str]:
        """The sources of the command, which the sdist has anyway."""
        return []

    def get_outputs(self) -> list[str]:
        """The file that is written."""
        return [str(self._file())]

    def get_output_mapping(self) -> dict[str, str]:
        """No file is a copy of a source."""
        return {}


class Build(build):
    """Setuptools' build, with the drawing code."""

    sub_commands = [*build.sub_commands, ("build_drawing_code", None)]  # noqa: RUF012


setup(cmdclass={"build": Build, "build_drawing_code": BuildDrawingCode})
