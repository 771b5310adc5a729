"""The routes of the laboratory's page: its files, the list, documents of runs, and the notes, the only writing one."""

from __future__ import annotations

import json
from collections.abc import Callable
from html import escape
from pathlib import Path

import polars as pl
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from loadgo.errors import BadRun, LoadgoError, error_in_words
from loadgo.laboratory.lab_view import LaboratoryView
from loadgo.laboratory.run_notes import MOST_NOTES_BYTES, ChangedMeanwhile, RunNotes
from loadgo.notation.figures import plain
from loadgo.serving.loopback import file_answer, files_of, is_allowed, not_found, page_headers

_FILES = files_of(Path(__file__).parent / "page")
DOCUMENT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:; "
    "sandbox allow-scripts"
)
"""The policy of a document. The sandbox gives it an origin of its own, which the list and the notes do not answer.

A document has its charts' code in it, and its own policy allows only that code."""
MOST_REQUEST_BYTES = 2 * MOST_NOTES_BYTES
"""Largest request that is read."""


def application(laboratory: LaboratoryView, token: str, at: str) -> Starlette:
    """The application at `http://AT/TOKEN/`."""

    async def file(request: Request) -> Response:
        return file_answer(request, _FILES, token, at)

    async def runs(request: Request) -> Response:
        if not is_allowed(request, token, at):
            return not_found()
        if request.query_params.get("revision") == laboratory.revision:
            return Response(status_code=204, headers=page_headers())
        return JSONResponse(await run_in_threadpool(laboratory.listed), headers=page_headers())

    def document(make: Callable[[Request], str]) -> Callable[[Request], object]:
        async def answer(request: Request) -> Response:
            if not is_allowed(request, token, at):
                return not_found()
            return await run_in_threadpool(_document, make, request)

        return answer

    async def notes(request: Request) -> Response:
        is_ours = request.headers.get("origin") == f"http://{at}"
        is_json = request.headers.get("content-type", "").partition(";")[0] == "application/json"
        if not is_allowed(request, token, at) or not is_ours or not is_json:
            return not_found()
        content = await _small_body(request)
        if content is None:
            return _refusal("the note is too long", 413)
        return await run_in_threadpool(_write_notes, laboratory, content)

    documents: dict[str, Callable[[Request], str]] = {
        "report": lambda request: laboratory.report(_given(request, "run")),
        "compare": lambda request: laboratory.comparison(_given(request, "a"), _given(request, "b")),
        "experiment": lambda request: laboratory.experiment(_given(request, "name")),
        "history": lambda request: laboratory.history(
            _given(request, "figure"),
            _given(request, "by") or "date",
            _given(request, "like"),
            _given(request, "since"),
        ),
    }
    routes = [Route(f"/{{token}}/{name}", document(make)) for name, make in documents.items()]
    routes += [Route("/{token}/", file), Route("/{token}/runs", runs), Route("/{token}/notes", notes, methods=["POST"])]
    return Starlette(routes=[*routes, Route("/{token}/{file}", file)])


def _given(request: Request, name: str) -> str:
    return request.query_params.get(name, "")


def _document(make: Callable[[Request], str], request: Request) -> Response:
    """A document of runs; a page with the reason where it cannot be made."""
    try:
        content, status = _labelled(make(request), request), 200
    except (LoadgoError, OSError, ValueError, TypeError, KeyError, pl.exceptions.PolarsError) as error:
        content, status = _reason_page(error_in_words(error)), 404 if isinstance(error, BadRun) else 400
    headers = page_headers(DOCUMENT_POLICY)
    # A browser refuses a page that is both in a sandbox and alone with its origin.
    del headers["cross-origin-opener-policy"]
    return Response(content, status, headers=headers, media_type="text/html")


def _labelled(page: str, request: Request) -> str:
    """The page with a line that says what it is of. Its sandbox may not ask for the list, so a link could not."""
    values = [request.query_params.get(name, "") for name in ("run", "a", "b", "name", "figure")]
    subject = " and ".join(filter(None, values))
    label = f'<p style="color:GrayText">Laboratory: {escape(plain(subject))}. The list is one page back.</p>'
    return page.replace("<main>", f"<main>\n{label}", 1)


def _reason_page(reason: str) -> str:
    lines = "\n".join(escape(plain(line)) for line in reason.replace("`", "").split("\n"))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><title>cannot be shown · loadgo</title>'
        f'<main style="max-width:60em;margin:3em auto;padding:0 1em;font:15px/1.5 system-ui,sans-serif">'
        f'<h1 style="font-size:21px">This cannot be shown</h1><pre style="white-space:pre-wrap">{lines}</pre>'
        "<p>The list is one page back.</p></main></html>"
    )


async def _small_body(request: Request) -> bytes | None:
    """The content of a request; None if it is too long."""
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > MOST_REQUEST_BYTES:
            return None
    return content


def _write_notes(laboratory: LaboratoryView, content: bytes) -> Response:
    try:
        given = json.loads(content)
        if not isinstance(given, dict):
            raise ValueError("the request is no object")
        written = laboratory.write_notes(str(given.get("run", "")), given)
    except ChangedMeanwhile as error:
        present = laboratory.notes(str(given["run"]))
        return JSONResponse(_notes_members(present) | {"refused": str(error)}, 409, headers=page_headers())
    except (LoadgoError, OSError, ValueError, RecursionError) as error:
        return _refusal(error_in_words(error), 400)
    return JSONResponse(_notes_members(written), headers=page_headers())


def _notes_members(notes: RunNotes) -> dict[str, object]:
    return {"tags": notes.tags, "note": notes.text, "mark": notes.mark}


def _refusal(reason: str, status: int) -> Response:
    shown = reason.encode("utf-8", "backslashreplace").decode()
    return JSONResponse({"refused": shown}, status, headers=page_headers())
