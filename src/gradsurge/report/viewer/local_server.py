"""The viewer as a local page: bound to this machine, behind a token, with named contents only."""

import hmac
import secrets
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from gradsurge.report.viewer.contents import Contents
from gradsurge.report.viewer.page import NIIVUE, niivue_part, render

ADDRESS = "127.0.0.1"
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}


@dataclass(frozen=True)
class Served:
    """One thing that is served: its bytes and what they are."""

    content: bytes
    kind: str


def served_contents(contents: Contents) -> dict[str, Served]:
    """Return path -> what lies there; nothing else is served, and no file is ever opened."""
    page = render(contents, {}).encode("utf-8", errors="replace")
    parts = {**contents.parts, NIIVUE: niivue_part()}
    return {
        "": Served(page, "text/html; charset=utf-8"),
        **{f"parts/{name}": Served(data, "application/gzip") for name, data in parts.items()},
    }


@dataclass
class LocalServer:
    """A server for one case.

    The address of the page holds a token that nobody can guess: ``http://127.0.0.1:PORT/TOKEN/``.
    A request without it is refused, whatever it asks for.

    A browser that is started with an address tells it to everybody on the machine who lists
    processes. It is given `ticket_url` instead, which leads to the page once and then no more.

    Args:
        things: path -> what is served there.
        port: 0 for one that is free.
        token: made by chance.

    Raises:
        OSError: the port is taken.
    """

    things: Mapping[str, Served]
    port: int = 0
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def __post_init__(self) -> None:
        self._server = _Server((ADDRESS, self.port), _Handler)
        self._server.things, self._server.token = self.things, self.token.encode()
        self._server.ticket = secrets.token_urlsafe(24).encode()
        self.port = int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"http://{ADDRESS}:{self.port}/{self.token}/"

    @property
    def ticket_url(self) -> str:
        """An address for a command line: it leads to the page for whoever comes first."""
        return f"http://{ADDRESS}:{self.port}/{self._server.ticket.decode()}/"

    def serve(self) -> None:
        """Answer requests until `stop` or Ctrl-C."""
        self._server.serve_forever(poll_interval=0.2)

    def stop(self) -> None:
        """End `serve`, from another thread."""
        self._server.shutdown()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True  # a browser that keeps a connection open must not keep us
    things: Mapping[str, Served]
    token: bytes
    ticket: bytes  # empty once it is used
    turn = threading.Lock()  # each request has a thread of its own

    def takes(self, ticket: bytes) -> bool:
        """Tell whether it is the ticket, which no second request can use."""
        with self.turn:
            right = bool(self.ticket) and hmac.compare_digest(ticket, self.ticket)
            self.ticket = b"" if right else self.ticket
        return right


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version, sys_version = "gradsurge", ""
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        self._answer(self._found())

    def do_HEAD(self) -> None:
        self._answer(self._found(), body=False)

    def _found(self) -> Served | HTTPStatus:
        """Return what is asked for; whoever has no token is refused, and learns nothing."""
        token, slash, path = self.path.partition("?")[0].removeprefix("/").partition("/")
        if self.headers.get("Host") not in self._own_names():
            return HTTPStatus.FORBIDDEN  # another site's name was bent to this machine
        # Compared as bytes, in the same time wherever they differ.
        given = token.encode("utf-8", "replace")
        if hmac.compare_digest(given, self.server.token):
            # Copied without its last slash, the page would look for its parts beside itself.
            known = self.server.things.get(path, HTTPStatus.NOT_FOUND)
            return known if slash else HTTPStatus.SEE_OTHER
        if self.command == "GET" and not path and self.server.takes(given):
            return HTTPStatus.SEE_OTHER
        return HTTPStatus.FORBIDDEN

    def _own_names(self) -> tuple[str, str]:
        port = self.server.server_address[1]
        return f"{ADDRESS}:{port}", f"localhost:{port}"

    def _answer(self, found: Served | HTTPStatus, body: bool = True) -> None:
        if isinstance(found, HTTPStatus):
            text = f"{found.value} {found.phrase}\n".encode()
            status, served = found, Served(text, "text/plain; charset=utf-8")
        else:
            status, served = HTTPStatus.OK, found
        self.send_response(status)
        if status is HTTPStatus.SEE_OTHER:
            self.send_header("Location", f"/{self.server.token.decode()}/")
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", served.kind)
        self.send_header("Content-Length", str(len(served.content)))
        self.end_headers()
        if body:
            self.wfile.write(served.content)

    def log_message(self, *_: Any) -> None:
        """Say nothing: requests hold the token."""
