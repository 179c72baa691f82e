"""The site is built strictly: no dead link or anchor, no page that the navigation forgets."""

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer.main

import gradsurge
import gradsurge.calibration
import gradsurge.losses
from gradsurge.cli import app
from tests.report.evaluation.browser import chromium

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site; whoever asks the network for something fails."""
    pytest.importorskip("mkdocs", reason="no mkdocs: pip install 'gradsurge[docs]'")
    folder = tmp_path_factory.mktemp("site")
    dead = dict.fromkeys(
        ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://[::1]:9"
    )
    result = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, **dead, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return folder


class Resources(HTMLParser):
    """What a browser fetches by itself when it shows a page."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page.read_text())

    def handle_starttag(self, tag, attrs):
        facts = dict(attrs)
        if tag in ("script", "img", "iframe", "source", "video"):
            self.found.append(facts.get("src") or "")
        if tag == "link" and facts.get("rel") not in ("canonical", "next", "prev"):
            self.found.append(facts.get("href") or "")


def test_every_document_is_a_page(site):
    documents = sorted((ROOT / "docs").rglob("*.md"))
    pages = [d.relative_to(ROOT / "docs").with_suffix(".html") for d in documents]
    assert [page for page in pages if not (site / page).exists()] == []


def test_pages_fetch_nothing_from_elsewhere(site):
    for page in site.rglob("*.html"):
        assert [url for url in Resources(page).found if "//" in url] == [], page


def test_pictures_of_pages_are_there(site):
    for page in site.rglob("*.html"):
        if page.name == "404.html":
            continue  # its links are those of the server's root
        found = [url for url in Resources(page).found if url[:5] != "data:"]
        local = [unquote(url.partition("?")[0]) for url in found]
        assert [url for url in local if url and not (page.parent / url).exists()] == [], page


@pytest.mark.parametrize("package", [gradsurge, gradsurge.losses, gradsurge.calibration])
def test_public_names_are_in_the_reference(site, package):
    pages = " ".join(page.read_text() for page in (site / "reference").glob("*.html"))
    shown = {place.rpartition(".")[2] for place in re.findall(r'id="(gradsurge\.[\w.]+)"', pages)}
    constants = {name for name in package.__all__ if name.isupper() and name not in shown}
    assert set(package.__all__) - shown - constants == set()


def test_doctests_are_code_and_not_quotations(site):
    page = (site / "reference" / "losses.html").read_text()
    assert "<blockquote>" not in page
    assert 'class="language-pycon highlight"' in page


def names_of(command, before=""):
    for name, below in getattr(command, "commands", {}).items():
        yield f"{before}{name}"
        yield from names_of(below, f"{before}{name} ")


def test_every_command_and_option_is_in_the_reference(site):
    page = (site / "reference" / "commands.html").read_text()
    for name in names_of(typer.main.get_command(app)):
        assert f"gradsurge {name}" in page
    assert "--surgery-ramp F0 F1" in page
    assert "--tiny" not in page  # hidden


def test_the_copy_button_takes_what_is_typed(site):
    """What the theme's script does: mark the block, take the text that shows."""
    copied = """[...document.querySelectorAll('.language-console code')].map(block => {
        block.setAttribute('data-md-copying', '')
        return block.innerText.trim()
    })"""
    with chromium() as page:
        page.open(site / "tutorial.html")
        blocks = page.evaluate(copied)
    lines = [line for block in blocks for line in block.split("\n") if line]
    assert "gradsurge demo" in lines
    typed = ("python3.11 ", ". env", "pip ", "gradsurge ", "  ")  # and lines that go on
    assert [line for line in lines if not line.startswith(typed)] == []
