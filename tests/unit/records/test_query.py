"""SQL over the tables of one run and of several."""

from pathlib import Path

import pytest
from loadgo.documents.listing import listing
from loadgo.errors import BadQuery, BadRun
from loadgo.records.query import csv_of, json_of, query
from loadgo.records.tables import COLUMNS_BY_TABLE
from support.places import TESTS

KEPT = TESTS / "runs" / "format-1"
ENDED, CUT = KEPT / "2026-11-21T01-37-05-ended", KEPT / "2026-11-21T01-37-05-cut"


def test_sql_counts_by_command() -> None:
    answer = query("SELECT command, count(*) AS n FROM interactions GROUP BY command ORDER BY command", ENDED)
    assert answer.rows() == [("compile", 2), ("edit", 2), ("run", 2)]


@pytest.mark.parametrize("table", COLUMNS_BY_TABLE)
def test_each_column_has_a_name_that_sql_takes_bare(table: str) -> None:
    for column in COLUMNS_BY_TABLE[table]:
        assert query(f"SELECT {column} FROM {table}", ENDED).columns == [column]
        assert query(f"SELECT t.{column} FROM {table} AS t ORDER BY t.{column}", ENDED).columns == [column]


def test_user_in_quotes_or_a_comment_is_left_alone() -> None:
    sql = "SELECT \"user\", 'it''s a user' AS said /* user */ FROM interactions WHERE USER = 2 -- user"
    assert query(sql, ENDED).unique().rows() == [(2, "it's a user")]


def test_words_compare_with_strings() -> None:
    assert query("SELECT count(*) FROM interactions WHERE outcome = 'died' AND phase = 'steady'", ENDED).item() == 1


def test_words_are_text_for_like_and_functions() -> None:
    assert query("SELECT count(*) FROM interactions WHERE command LIKE 'ed%'", ENDED).item() == 2
    assert query("SELECT max(upper(command)) FROM interactions", ENDED).item() == "RUN"


def test_a_column_that_csv_has_no_form_for_is_refused_with_a_way_out() -> None:
    with pytest.raises(BadQuery, match="cast the column to varchar"):
        csv_of(query("SELECT [1, 2] AS pair FROM interactions LIMIT 1", ENDED))


def test_tables_are_joined_by_user() -> None:
    sql = "SELECT s.user, count(i.line) AS n FROM sessions s JOIN interactions i ON i.user = s.user GROUP BY s.user"
    assert sorted(query(sql, ENDED).rows()) == [(1, 3), (2, 3)]


def test_several_runs_are_told_apart_by_the_column_run() -> None:
    answer = query("SELECT run, count(*) AS n FROM interactions GROUP BY run ORDER BY run", [ENDED, CUT])
    assert answer.rows() == [(CUT.name, 6), (ENDED.name, 6)]


def test_an_unknown_table_is_answered_with_those_there_are() -> None:
    with pytest.raises(BadQuery, match=r"interaction\b[^:]*\nThe tables and their columns:\n    interactions: user"):
        query("SELECT * FROM interaction", ENDED)


def test_an_unknown_column_is_answered_with_those_there_are() -> None:
    with pytest.raises(BadQuery, match=r"respons\b[\s\S]*ready_ns"):
        query("SELECT respons FROM interactions", ENDED)


def test_what_is_not_sql_is_a_bad_query() -> None:
    with pytest.raises(BadQuery, match="The tables and their columns"):
        query("how many users?", ENDED)


def test_no_run_at_all_is_a_bad_query_and_a_missing_one_a_bad_run(tmp_path: Path) -> None:
    with pytest.raises(BadQuery, match="name at least one"):
        query("SELECT 1", [])
    with pytest.raises(BadRun):
        query("SELECT 1", tmp_path)


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("CREATE TABLE x AS SELECT * FROM interactions", "CREATE is no question: write SELECT"),
        ("drop table interactions", "DROP is no question"),
        ("/* select */ DELETE FROM interactions", "DELETE is no question"),
        ("WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n+1 FROM t) SELECT * FROM t", "it would not end"),
        ("SELECT * FROM (with -- all\n recursive t AS (SELECT 1 AS n) SELECT * FROM t)", "it would not end"),
    ],
)
def test_a_query_only_reads_and_ends(sql: str, words: str) -> None:
    with pytest.raises(BadQuery, match=words):
        query(sql, ENDED)


def test_words_in_quotes_are_no_statement() -> None:
    assert query("(SELECT 'drop' AS a, 'with recursive' AS b)", ENDED).rows() == [("drop", "with recursive")]
    assert query("WITH t AS (SELECT 1 AS n) SELECT n FROM t", ENDED).item() == 1


def test_bytes_are_no_json() -> None:
    with pytest.raises(BadQuery, match="the column 'b' has bytes, which JSON cannot hold: cast it to varchar"):
        json_of(query("SELECT CAST(command AS BLOB) AS b FROM interactions", ENDED))


def test_a_column_name_has_no_control_characters_in_print() -> None:
    answer = query('SELECT 1 AS "x\x1b[31m"', ENDED)
    assert "\x1b" not in listing(answer.columns, [["1"]])
