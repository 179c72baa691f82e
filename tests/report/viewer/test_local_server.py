"""The local page: this machine, the right token, the named contents; nothing else."""

import http.client
import socket
import threading
from contextlib import contextmanager

import pytest

from gradsurge.report.viewer.contents import contents_of
from gradsurge.report.viewer.local_server import ADDRESS, LocalServer, Served, served_contents
from tests.report.viewer.browsing import needs_niivue
from tests.report.viewer.example import picture_view

THINGS = {"": Served(b"page", "text/html"), "parts/scan": Served(b"voxels", "application/gzip")}


@contextmanager
def running(things):
    with LocalServer(things) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            yield server
        finally:
            server.stop()
            thread.join()


@pytest.fixture(scope="module")
def server():
    with running(THINGS) as found:
        yield found


def ask(server, path, method="GET", **headers):
    """Send a path exactly as it is; return status, body and headers."""
    connection = http.client.HTTPConnection(ADDRESS, server.port, timeout=10)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers
    finally:
        connection.close()


def test_the_page_and_its_parts_are_served(server):
    status, body, headers = ask(server, f"/{server.token}/")
    assert (status, body, headers["Content-Type"]) == (200, b"page", "text/html")
    assert ask(server, f"/{server.token}/parts/scan")[:2] == (200, b"voxels")
    assert ask(server, f"/{server.token}/parts/scan?x=1")[:2] == (200, b"voxels")
    assert server.url == f"http://127.0.0.1:{server.port}/{server.token}/"


def test_an_address_copied_without_its_slash_leads_to_the_page(server):
    status, _, headers = ask(server, f"/{server.token}")
    assert (status, headers["Location"]) == (303, f"/{server.token}/")


def test_without_the_token_everything_is_forbidden(server):
    wrong = server.token[:-1] + ("a" if server.token[-1] != "a" else "b")
    paths = ["/", "", "/parts/scan", f"/{wrong}/", f"/{wrong}/parts/scan", "/favicon.ico"]
    paths += [f"/{server.token}x/", f"/x{server.token}/", "/%C3%A9/"]
    for path in paths:
        status, body, _ = ask(server, path or "/")
        assert (path, status, body) == (path, 403, b"403 Forbidden\n")


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        "parts/../../../etc/passwd",
        "%2e%2e/%2e%2e/etc/passwd",
        "parts/..%2fscan",
        "/etc/passwd",
        "parts",
        "parts/",
        "parts/other",
        "parts/scan/",
        "parts\\scan",
        "%00",
    ],
)
def test_no_other_path_leads_anywhere(server, path):
    assert ask(server, f"/{server.token}/{path}")[0] == 404


def test_tokens_are_long_and_never_the_same():
    tokens = set()
    for _ in range(5):
        with LocalServer(THINGS) as one:
            tokens.add(one.token)
    assert len(tokens) == 5
    assert min(map(len, tokens)) >= 32


def test_only_this_machine_can_connect(server):
    assert server._server.server_address[0] == "127.0.0.1"
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no address of its own to try")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((own, server.port), timeout=5).close()


def test_a_foreign_name_for_this_machine_is_refused(server):
    path = f"/{server.token}/"
    assert ask(server, path, Host="evil.example")[0] == 403
    assert ask(server, path, Host=f"localhost:{server.port}")[0] == 200


def test_nothing_is_changed_or_kept(server):
    path = f"/{server.token}/"
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        assert ask(server, path, method)[0] == 501
    status, body, headers = ask(server, path, "HEAD")
    assert (status, body, headers["Content-Length"]) == (200, b"", "4")
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers
    assert "Python" not in headers["Server"]


def test_the_token_is_in_no_log(server, capfd):
    ask(server, f"/{server.token}/")
    ask(server, "/wrong/")
    assert capfd.readouterr() == ("", "")


def test_the_token_is_compared_in_constant_time(server, monkeypatch):
    import hmac

    compared = []
    real = hmac.compare_digest
    monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append(a) or real(a, b))
    ask(server, "/wrong/")
    assert compared == [b"wrong", b"wrong"]  # with the token, and with the ticket


def test_a_ticket_leads_to_the_page_once():
    """It is for the command line of a browser, which everybody on the machine can list."""
    with running(THINGS) as one:
        path = one.ticket_url.removeprefix(f"http://{ADDRESS}:{one.port}")
        assert one.token not in path
        for refused in (f"{path}parts/scan", f"{path}x"):
            assert ask(one, refused)[0] == 403
        assert ask(one, path, "HEAD")[0] == ask(one, path, Host="evil.example")[0] == 403
        status, _, headers = ask(one, path)
        assert (status, headers["Location"]) == (303, f"/{one.token}/")
        assert ask(one, path)[0] == 403
        assert ask(one, "//")[0] == 403  # a ticket that is used up is not an empty one
        assert ask(one, f"/{one.token}/")[:2] == (200, b"page")


def test_a_port_that_is_taken(server):
    with pytest.raises(OSError, match="in use"):
        LocalServer(THINGS, server.port)


@needs_niivue
def test_a_case_is_served_by_the_names_of_its_parts():
    contents = contents_of(picture_view())
    things = served_contents(contents)
    assert set(things) == {"", "parts/niivue", "parts/scan", "parts/map-0-0"}
    assert things["parts/scan"].content == contents.parts["scan"]
    assert b"octet-stream" not in things[""].content
