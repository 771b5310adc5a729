"""The page of a run, served on loopback: read-only, behind an address that nobody can guess.

Every picture is asked for by the page and computed then, in one thread; a viewer that is slow or gone asks for nothing.
"""

from __future__ import annotations

import json
import math
import secrets
import socket
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from loadgo.errors import BadRun
from loadgo.watch_follow import Following, reach_of
from loadgo.watch_frame import frame_of
from loadgo.watch_play import title_of
from loadgo.watch_terminal import answer

ADDRESS = "127.0.0.1"
PAGE = Path(__file__).parent / "templates" / "watch.html"
MOST_COLUMNS, MOST_BANDS = 1200, 200
POLICY = "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'"
NARROWEST_NS = 1_000_000


def serve(following: Following, width_ns: int, target_ns: float | None, port: int, said: Callable[[str], None]) -> None:
    """Serves the run until an interrupt. Raises `OSError` when the port cannot be had, `BadRun` without a run."""
    following.look()
    token = secrets.token_urlsafe(24)
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind((ADDRESS, port))
        door.listen(128)
        at = f"{ADDRESS}:{door.getsockname()[1]}"
        said(f"watch it at http://{at}/{token}/ (Ctrl-C ends the watching, and not the run)")
        app = application(following, token, at, width_ns, target_ns)
        uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off", limit_concurrency=256)).run([door])


def application(following: Following, token: str, at: str, width_ns: int, target_ns: float | None) -> Starlette:
    """What answers at `http://AT/TOKEN/`: the page, and pictures of the run as JSON."""
    reading = Lock()

    def picture(question: dict[str, str]) -> dict[str, Any]:
        with reading:
            seen = following.look()
        reach = reach_of(seen)
        width = min(max(int(question.get("width", width_ns)), NARROWEST_NS), 1 << 62)
        end = min(max(int(question.get("end", reach)), 1), max(reach, 1))
        columns = min(max(int(question.get("columns", 200)), 10), MOST_COLUMNS)
        frame = frame_of(seen, end, width, columns)
        bands = dict(list(frame.bands.items())[:MOST_BANDS])
        told = {"bands": bands, "everybody": len(frame.bands), "reach_ns": reach, "ended": following.ended}
        return asdict(frame) | told | {"answer": answer(frame, target_ns), "title": title_of(seen.conditions)}

    async def page(request: Request) -> Response:
        if not _ours(request, token, at):
            return _nobody()
        nonce = secrets.token_urlsafe(12)
        text = PAGE.read_text(encoding="utf-8").replace("{{nonce}}", nonce)
        return HTMLResponse(text.replace("{{width}}", str(width_ns)), headers=_headers(nonce))

    async def frame(request: Request) -> Response:
        if not _ours(request, token, at):
            return _nobody()
        try:
            told = await run_in_threadpool(picture, dict(request.query_params))
        except ValueError:
            return PlainTextResponse("end, width and columns are whole numbers", 400, headers=_headers(""))
        except BadRun as damage:
            return JSONResponse({"damage": str(damage)}, 500, headers=_headers(""))
        return Response(
            json.dumps(told, default=_plain, allow_nan=False), media_type="application/json", headers=_headers("")
        )

    return Starlette(routes=[Route("/{token}/", page), Route("/{token}/frame", frame)])


def _ours(request: Request, token: str, at: str) -> bool:
    """Whether the right address was asked for, by its name, and by a page of ours."""
    given = str(request.path_params["token"])
    origin = request.headers.get("origin")
    here = request.headers.get("host") == at and origin in (None, f"http://{at}")
    site = request.headers.get("sec-fetch-site") in (None, "none", "same-origin")
    return secrets.compare_digest(given.encode(), token.encode()) and here and site


def _nobody() -> Response:
    return PlainTextResponse("there is nothing here", 404, headers=_headers(""))


def _headers(nonce: str) -> dict[str, str]:
    return {
        "content-security-policy": POLICY.format(nonce=nonce) + "; frame-ancestors 'none'; base-uri 'none'",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cache-control": "no-store",
        "cross-origin-resource-policy": "same-origin",
    }


def _plain(value: object) -> object:
    """Series as JSON has them: a null where nothing was measured, five digits where something was."""
    if isinstance(value, np.ndarray):
        return [None if math.isnan(one) else float(f"{one:.5g}") for one in value.tolist()]
    raise TypeError(f"{type(value).__name__} is not plain")
