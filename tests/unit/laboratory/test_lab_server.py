"""The laboratory's server: what it answers to whom, what it writes, and that names in a request stay names."""

from __future__ import annotations

import json
import os
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import loadgo
import pytest
from support.made_laboratory import FIRST_START, made_run, made_runs, scattered
from support.outside import PATIENCE_S, wait_until
from support.small_machine import laid
from support.watched import Served, asked, served

pytestmark = pytest.mark.processes

HOSTILE = '<img src=x onerror="alert(1)">'
NOT_UTF8 = os.fsdecode(b"bad\xff\xfe")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A laboratory with a change, a hostile name, a broken run, a link out of it, and an experiment."""
    place = tmp_path_factory.mktemp("laboratory")
    root = place / "runs"
    made_runs(root, scattered([(10, 1.0), (8, 1.5)]))
    made_run(root / HOSTILE, FIRST_START, 1.0, script=HOSTILE)
    (made_run(root / "broken", FIRST_START, 1.0) / "run.toml").write_text("[")
    (root / NOT_UTF8).mkdir()
    (root / NOT_UTF8 / "run.toml").write_text("[")
    (root / "linked").symlink_to(made_run(place / "elsewhere", FIRST_START, 1.0, script="secret"))
    script, machine = laid(place)
    fast = loadgo.Variant(script, on=str(machine), set=("processors.speed=2",))
    loadgo.ab(loadgo.Variant(script, on=str(machine)), fast, users=2, duration="1min", most_pairs=3, out=root / "ab")
    return root


@pytest.fixture(scope="module")
def page(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The server, when it has read the figures of all runs."""
    with served(str(root), command="lab", XDG_CACHE_HOME=str(tmp_path_factory.mktemp("cache"))) as page:
        wait_until(lambda: not listed(page)["reading"], page.process)
        yield page


def listed(page: Served) -> dict[str, object]:
    status, body, _ = asked(page.address, "runs")
    assert status == 200
    members: dict[str, object] = json.loads(body)
    return members


def rows(page: Served) -> dict[str, dict[str, object]]:
    runs = listed(page)["runs"]
    assert isinstance(runs, list)
    return {str(run["name"]): run for run in runs}


def posted(page: Served, members: object, **headers: str) -> tuple[int, dict[str, object]]:
    host = page.address.split("/")[0]
    usual = {"Origin": f"http://{host}", "Content-Type": "application/json"}
    content = members if isinstance(members, bytes) else json.dumps(members).encode()
    sent = {name: value for name, value in {**usual, **headers}.items() if value}
    request = urllib.request.Request(f"http://{page.address}notes", content, sent, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as refused:
        body = refused.read()
        return refused.code, json.loads(body) if body.startswith(b"{") else {}


def test_the_list_has_all_runs_and_says_which_are_broken(page: Served) -> None:
    runs = rows(page)
    assert len([name for name in runs if name.isdecimal()]) == 18
    assert runs["0000"]["outcome"] == "done"
    assert "cannot be read" in str(runs["broken"]["damage"])
    assert "link that leaves" in str(runs["linked"]["damage"])
    assert runs["bad\\xff\\xfe"]["outcome"] == "broken"
    assert "not UTF-8" in str(runs["bad\\xff\\xfe"]["damage"])
    assert runs["ab/001-a"]["experiment"] == "ab"
    assert listed(page)["experiments"] == [{"name": "ab", "kind": "ab"}]
    assert "secret" not in json.dumps(listed(page))


def test_the_list_is_sent_again_only_when_it_has_changed(page: Served) -> None:
    wait_until(lambda: not listed(page)["reading"], page.process)
    revision = str(listed(page)["revision"])
    assert asked(page.address, f"runs?revision={revision}")[:2] == (204, b"")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("report?run=0003", "compile"),
        ("compare?a=0003&b=0012", "0012"),
        ("experiment?name=ab", "run in turn"),
        ("history?figure=p90(compile)", "0010"),
        (f"report?{urlencode({'run': HOSTILE})}", "p90"),
    ],
)
def test_documents_are_whole_pages_in_a_sandbox(page: Served, path: str, words: str) -> None:
    status, body, headers = asked(page.address, path)
    text = body.decode()
    assert (status, words in text, text.startswith("<!doctype html>")) == (200, True, True)
    assert "<img" not in text.split("<script>")[0]
    assert "sandbox allow-scripts" in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "allow-same-origin" not in headers["content-security-policy"]


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("report?run=linked", 404, "not followed"),
        ("report?run=broken", 404, "cannot be read"),
        ("report?run=../elsewhere", 404, "there is no run"),
        ("report?run=last", 404, "there is no run"),
        ("report", 404, "there is no run"),
        ("compare?a=0001", 404, "there is no run"),
        ("experiment?name=0001", 404, "there is no experiment"),
        ("history?figure=p91", 400, "is no figure"),
        ("history?figure=p90&by=moon", 400, "write one of"),
        ("history?figure=p90&since=soon", 400, "write a date"),
        (f"report?{urlencode({'run': '<script>alert(1)</script>'})}", 404, "&lt;script&gt;"),
    ],
)
def test_what_cannot_be_shown_is_said(page: Served, path: str, status: int, words: str) -> None:
    request = urllib.request.Request(f"http://{page.address}{path}")
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=PATIENCE_S)
    text = refused.value.read().decode()
    assert (refused.value.code, words in text) == (status, True), text
    assert "<script" not in text


@pytest.mark.parametrize("path", ["", "lab.js", "runs", "report?run=0000", "history?figure=p90"])
def test_nothing_is_told_without_the_token_or_to_the_pages_of_others(page: Served, path: str) -> None:
    host, token = page.address.split("/")[:2]
    assert asked(page.address, path)[0] == 200
    assert asked(f"{host}/{token[:-1]}{'y' if token.endswith('x') else 'x'}/", path)[0] == 404
    for headers in ({"Host": "rebound.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        assert asked(page.address, path, **headers)[0] == 404, headers


def test_notes_are_written_beside_the_run_and_nowhere_else(page: Served, root: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    status, written = posted(page, {"run": "0001", "tags": ["kernel 6.6"], "note": HOSTILE, "mark": ""})
    assert (status, written["tags"], written["note"]) == (200, ["kernel 6.6"], HOSTILE)
    after = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    assert {path for path in after if after[path] != before.get(path)} == {root / "0001" / "notes.json"}
    assert rows(page)["0001"]["note"] == HOSTILE
    status, present = posted(page, {"run": "0001", "tags": [], "note": "other", "mark": ""})
    assert (status, present["note"], present["mark"]) == (409, HOSTILE, written["mark"])


@pytest.mark.parametrize(
    ("members", "headers", "status"),
    [
        ({"run": "0002", "tags": [], "note": "x"}, {"Origin": "http://elsewhere.example"}, 404),
        ({"run": "0002", "tags": [], "note": "x"}, {"Origin": ""}, 404),
        ({"run": "0002", "tags": [], "note": "x"}, {"Origin": "null"}, 404),
        ({"run": "0002", "tags": [], "note": "x"}, {"Content-Type": "text/plain"}, 404),
        ({"run": "linked", "tags": [], "note": "x"}, {}, 400),
        ({"run": "../elsewhere", "tags": [], "note": "x"}, {}, 400),
        ({"run": "\ud800", "tags": [], "note": "x"}, {}, 400),
        ({"run": "0002", "tags": [], "note": "x" * 200_000}, {}, 413),
        ({"run": "0002", "tags": 5, "note": "x"}, {}, 400),
        (b"[", {}, 400),
        (b"[]", {}, 400),
        (b"[" * 100_000, {}, 400),
    ],
)
def test_a_note_that_is_none_of_ours_is_refused(
    page: Served, root: Path, members: object, headers: dict[str, str], status: int
) -> None:
    assert posted(page, members, **headers)[0] == status
    assert not (root / "0002" / "notes.json").exists()
    assert not (root.parent / "elsewhere" / "notes.json").exists()


def test_the_server_takes_no_other_method(page: Served) -> None:
    host, port = page.address.split("/")[0].split(":")
    for method, path in (("POST", "runs"), ("PUT", "notes"), ("DELETE", "report"), ("GET", "notes")):
        with socket.create_connection((host, int(port)), PATIENCE_S) as line:
            path = f"/{page.address.split('/')[1]}/{path}"
            line.sendall(f"{method} {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
            first = line.makefile("rb").readline()
        assert b" 405 " in first or b" 404 " in first, (method, first)


def test_a_new_run_appears_by_itself(page: Served, root: Path) -> None:
    made_run(root / "later", FIRST_START, 1.0)
    wait_until(lambda: "later" in rows(page), page.process)
