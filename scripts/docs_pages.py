"""The pages of the site that are made and not written: the start page, every command, every call, the changes.

MkDocs calls this file (mkdocs.yml). A link to a file of the repository that is no page of the site becomes plain text.
"""

from __future__ import annotations

import html
import inspect
import posixpath
import re
from pathlib import Path
from typing import Any

import loadgo
from loadgo.cli.command_group import built_command
from loadgo.cli.command_list import LISTED_COMMANDS
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from typer import Context
from typer.core import TyperArgument

LINK = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")
FILE_BLOCK = re.compile(r"^```(\w+) file=(\S+)$", re.MULTILINE)
"""A block of a guide that its test writes into a file."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are made."""
    made = {
        "index.md": page_of("README.md"),
        "reference/commands.md": commands_page(),
        "reference/calls.md": calls_page(),
        "reference/changes.md": page_of("CHANGELOG.md", "../"),
    }
    for path, content in made.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Leaves the text of a link to what is no page of the site, without the link."""
    folder = posixpath.dirname(page.file.src_uri)

    def on_site(link: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, link[3].partition("#")[0]))
        # A wrong link inside of docs/ stays, and the build fails.
        return link[2] if target.startswith("..") else link[0]

    return FILE_BLOCK.sub(r'```\1 title="\2"', LINK.sub(on_site, markdown))


def page_of(path: str, to_docs: str = "") -> str:
    """A text of the repository's root as a page: its links to docs/ are links to pages, and it has no others."""

    def moved(link: re.Match[str]) -> str:
        target = to_docs + link[3].removeprefix("docs/")
        return f"{link[1]}[{link[2]}]({target})" if link[3].startswith("docs/") else link[2]

    return LINK.sub(moved, (Path(__file__).parent.parent / path).read_text())


def commands_page() -> str:
    """Every command with its arguments and options, as its parser knows them."""
    parts = ["# Commands\n\nMade from `loadgo COMMAND --help`.\n"]
    parts += [command_part(name) for name in LISTED_COMMANDS]
    return "\n".join(parts)


def command_part(name: str) -> str:
    """One command: its usage, what it does, its examples, and a table for each group of options."""
    command = built_command(name)
    context = Context(command, info_name=f"loadgo {name}")
    about, _, more = inspect.cleandoc(command.help or "").partition("\n\n")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [f"## loadgo {name}\n", f"    loadgo {name} {usage}\n", f"{about}\n"]
    if more:
        lines.append(f"```text\n{more}\n```\n")
    groups: dict[str, list[str]] = {}
    for parameter in command.params:
        title = "Arguments" if isinstance(parameter, TyperArgument) else parameter.rich_help_panel or "Options"
        groups.setdefault(title, []).append(table_row(parameter, context))
    for title, rows in groups.items():
        lines += [f"| {title} | |", "|---|---|", *rows, ""]
    return "\n".join(lines)


def table_row(parameter: Any, context: Context) -> str:
    """The row of one option or argument: its names with the word for its value, and its help with its default."""
    names = parameter.display_name_raw if isinstance(parameter, TyperArgument) else ", ".join(parameter.opts)
    value = "" if isinstance(parameter, TyperArgument) else parameter.display_type_rich(ctx=context) or ""
    default = parameter.default
    has_default = isinstance(default, str | int | float) and not isinstance(default, bool)
    help_text = " ".join((parameter.help or "").split()) + (f" By default {default}." if has_default else "")
    name, text = (html.escape(words).replace("|", "&#124;") for words in (f"{names} {value}".strip(), help_text))
    return f"| <code>{name}</code> | {text} |"


def calls_page() -> str:
    """Every call and result of the Python library, from their docstrings."""
    parts = ["# Python calls\n\nMade from the docstrings. [Python](../python.md) says how results are used.\n"]
    public = {name: getattr(loadgo, name) for name in loadgo.__all__}
    for is_wanted in (inspect.isfunction, inspect.isclass):
        parts += [f"::: {thing.__module__}.{name}\n" for name, thing in public.items() if is_wanted(thing)]
    return "\n".join(parts)
