"""Limits of a query: expressions that the stack holds, and no files but the run's tables."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from loadgo.cli.app import app
from loadgo.errors import BadQuery
from loadgo.records.query import query
from loadgo.records.statement import MOST_CHAINED_WORDS, MOST_COMBINED_TABLES
from support.places import TESTS
from typer.testing import CliRunner

ENDED = TESTS / "runs" / "format-1" / "2026-11-21T01-37-05-ended"
DEEP: dict[str, Callable[[int], str]] = {
    "sum": lambda n: f"SELECT {'+'.join(['1'] * n)} FROM interactions",
    "text": lambda n: f"SELECT {'||'.join(['command'] * n)} FROM interactions",
    "cast": lambda n: f"SELECT 1{'::int' * n} FROM interactions",
    "condition": lambda n: f"SELECT user FROM interactions WHERE {' OR '.join(['user BETWEEN 1 AND 2'] * n)}",
    "calls": lambda n: f"SELECT {'||'.join(['concat(command, phase)'] * n)} FROM interactions",
    "union": lambda n: " UNION ALL ".join(["SELECT user, line FROM interactions"] * n),
}
"""Queries that ended the process at 20,000 terms, or at fewer."""
FILE_QUERIES = (
    "SELECT * FROM read_csv('{0}')",
    "SELECT * FROM \"Read_CSV\"('{0}')",
    "SELECT * FROM `read_csv`/* */('{0}')",
    "WITH a AS (SELECT * FROM read_csv('{0}')) SELECT * FROM a",
    "SELECT * FROM read_parquet('https://example.org/a.parquet')",
)


@pytest.mark.parametrize("shape", DEEP)
def test_a_query_that_is_too_deep_is_refused_in_words(shape: str) -> None:
    with pytest.raises(BadQuery, match=rf"more than ({MOST_CHAINED_WORDS:,} words|{MOST_COMBINED_TABLES} tables)"):
        query(DEEP[shape](20_000), ENDED)


@pytest.mark.parametrize("shape", DEEP)
def test_an_expression_of_many_terms_is_computed(shape: str) -> None:
    assert len(query(DEEP[shape](50), ENDED)) >= 1


def test_long_lists_are_no_deep_expressions() -> None:
    numbers = ",".join(map(str, range(5000)))
    assert len(query(f"SELECT user FROM interactions WHERE user IN ({numbers})", ENDED)) == 6
    columns = ",".join(f"user + {number} AS c{number}" for number in range(500))
    assert query(f"SELECT {columns} FROM interactions", ENDED).width == 500


@pytest.mark.parametrize("sql", FILE_QUERIES)
def test_a_query_reads_the_tables_of_the_run_only(sql: str, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text("a\n1\n")
    with pytest.raises(BadQuery, match="reads other files than the run's tables: allow it with `allow_files`"):
        query(sql.format(tmp_path / "secret.csv"), ENDED)


def test_a_query_reads_other_files_where_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "prices.csv").write_text("command,price\nedit,2\n")
    sql = FILE_QUERIES[0].format(tmp_path / "prices.csv")
    assert query(sql, ENDED, allow_files=True).rows() == [("edit", 2)]
    refused = CliRunner().invoke(app, ["query", sql, str(ENDED)])
    assert refused.exit_code == 2
    assert "--allow-files" in refused.output
    allowed = CliRunner().invoke(app, ["query", sql, str(ENDED), "--allow-files", "--format", "csv"])
    assert allowed.stdout == "command,price\nedit,2\n"


@pytest.mark.parametrize("format", ["text", "csv", "md"])
def test_an_answer_acts_on_no_terminal_and_no_spreadsheet(format: str) -> None:
    sql = (
        "SELECT '\x1b]0;x\x07=1' AS \"a\x1b[31m\", '=1+1' AS f, '-5' AS t, -5 AS n, '@x' AS s, '\u202e' AS b FROM lost"
    )
    sql = sql.replace("FROM lost", "FROM sessions LIMIT 1")
    answer = CliRunner().invoke(app, ["query", sql, str(ENDED), "--format", format, "-o", "-"]).stdout
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", answer)
    if format == "csv":
        assert answer.splitlines()[1] == "�]0;x�=1,'=1+1,'-5,-5,'@x,�"
