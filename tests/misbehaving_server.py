"""A real HTTP server on loopback that answers chat completions in every way endpoints do."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, Any]
    at: float


Write = Callable[[bytes], None]


@dataclass
class Reply:
    """What the server does about one request."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    before: float = 0.0
    """Seconds of silence before anything is sent."""
    dribble: tuple[bytes, float, int] | None = None
    """A piece sent in front of the body, how often, and the pause between."""
    break_off: bool = False
    """Promise more bytes than are sent, then hang up."""


def ok(
    content: object,
    *,
    finish: str | None = "stop",
    usage: dict[str, Any] | None = None,
    **message: object,
) -> Reply:
    """A completion; `content` is the text of the answer."""
    document = {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "served-model",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": content, **message},
            }
        ],
        "usage": usage or {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150},
    }
    return Reply(body=json.dumps(document, ensure_ascii=False).encode())


def error(status: int, message: str, **headers: str) -> Reply:
    """An error in the usual form; underscores in header names stand for hyphens."""
    body = json.dumps({"error": {"message": message, "type": "some_error", "code": None}}).encode()
    return Reply(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class MisbehavingServer:
    """Gives the replies of a script in order, the last one again and again; records requests."""

    def __init__(self, *script: Reply | Callable[[Seen], Reply]) -> None:
        self.script = list(script)
        self.seen: list[Seen] = []
        self.url = ""
        self.closing = threading.Event()

    def next_reply(self, seen: Seen) -> Reply:
        self.seen.append(seen)
        step = self.script.pop(0) if len(self.script) > 1 else self.script[0]
        return step(seen) if callable(step) else step


class _Handler(BaseHTTPRequestHandler):
    behaviour: MisbehavingServer

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length) or b"{}")
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.behaviour.next_reply(Seen(self.path, headers, body, time.monotonic()))
        if self.behaviour.closing.wait(reply.before):
            return
        with suppress(OSError):  # a client that gives up is what some tests are about
            self._send(reply)

    def _send(self, reply: Reply) -> None:
        piece, pause, times = reply.dribble or (b"", 0.0, 0)
        length = len(piece) * times + len(reply.body) + (100 if reply.break_off else 0)
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(length))
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        for _ in range(times):
            self.wfile.write(piece)
            self.wfile.flush()
            if self.behaviour.closing.wait(pause):
                return
        self.wfile.write(reply.body)
        self.wfile.flush()
        if reply.break_off:
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Say nothing."""


@contextmanager
def serving(*script: Reply | Callable[[Seen], Reply]) -> Iterator[MisbehavingServer]:
    """A server with this script, on a free port, until the block ends."""
    behaviour = MisbehavingServer(*script)
    handler = type("Handler", (_Handler,), {"behaviour": behaviour})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    behaviour.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield behaviour
    finally:
        behaviour.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()
