"""The steps of the build that pyproject.toml cannot name. Everything else about the package is there.

They make the code that draws the charts of a page, and the files below `share/`: manual pages, and lines for shells.
"""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from setuptools import Command, setup
from setuptools.command.build import build

PROJECT = Path(__file__).parent
SOURCES = PROJECT / "python"
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


class InstallSharedFiles(Command):
    """Writes the manual pages, and the lines that let shells complete, into the wheel."""

    user_options: list[tuple[str, str | None, str]] = []  # noqa: RUF012

    def initialize_options(self) -> None:
        """Setuptools sets the folder later."""
        self.install_dir: str | None = None
        self.outfiles: list[str] = []

    def finalize_options(self) -> None:
        """Takes the prefix of the installation."""
        self.set_undefined_options("install", ("install_data", "install_dir"))

    def run(self) -> None:
        """Writes each file below the prefix of the installation."""
        assert self.install_dir
        for path, content in all_shared_files(self.distribution.get_version()).items():
            file = Path(self.install_dir, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
            self.outfiles.append(str(file))

    def get_outputs(self) -> list[str]:
        """The files that were written."""
        return self.outfiles


def all_shared_files(version: str) -> dict[str, str]:
    """The content of each file by its path: those that the parsers of the commands make, and those of the agent."""
    sys.path.insert(0, str(SOURCES))
    from loadgo.cli.shared_files import shared_files, shared_files_of_agent

    of_agent = {path: PROJECT / "packaging/agent" / name for path, name in shared_files_of_agent().items()}
    return shared_files(version) | {path: file.read_text(encoding="utf-8") for path, file in of_agent.items()}


setup(
    cmdclass={"build": Build, "build_drawing_code": BuildDrawingCode, "install_data": InstallSharedFiles},
    data_files=[("share", [])],  # without an entry the command is left out
)
