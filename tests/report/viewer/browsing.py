"""A headless Chromium that draws with WebGL in software, and what is asked of the viewer in it."""

import importlib.util
import json
import time
from contextlib import contextmanager
from unittest import mock

import pytest

from tests.report.evaluation import browser

needs_niivue = pytest.mark.skipif(
    importlib.util.find_spec("ipyniivue") is None,
    reason="ipyniivue, of the extra [view], is not installed",
)
_SOFTWARE = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
_PATIENCE = 60.0


@contextmanager
def webgl_page():
    """Start a browser with software WebGL; skip if there is none."""
    flags = (*(flag for flag in browser.FLAGS if flag != "--disable-gpu"), *_SOFTWARE)
    with mock.patch.object(browser, "FLAGS", flags), browser.chromium() as page:
        page.resize(960, 640)
        yield page


def open_url(page, url):
    """Open a viewer, and wait until it has drawn the case or given up."""
    page.complaints.clear()
    page.requests.clear()
    page.call("Page.navigate", url=url)
    wait(page, "['ready', 'failed'].includes(document.querySelector('.gs-view')?.dataset.state)")
    page.settle()


def wait(page, condition):
    deadline = time.monotonic() + _PATIENCE
    while not page.evaluate(condition):
        if time.monotonic() > deadline:
            raise AssertionError(f"never came true: {condition}; {page.complaints}")
        time.sleep(0.05)


def ask(page, expression):
    """Return a value of the viewer, which is ``v`` in the expression."""
    root = "document.querySelector('.gs-view').viewer"
    text = f"(async (v) => JSON.stringify((await ({expression})) ?? null))({root})"
    return json.loads(page.evaluate(text))


def pixels(page, model, test):
    """Return how many pixels of a model's canvas have r, g, b for which ``test`` holds."""
    return ask(
        page,
        f"""(() => {{
          const nv = v.parts[{model}].panel.nv; nv.drawScene();
          const gl = nv.gl, w = gl.drawingBufferWidth, h = gl.drawingBufferHeight;
          const all = new Uint8Array(4 * w * h);
          gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, all);
          let n = 0;
          for (let i = 0; i < all.length; i += 4) {{
            const [r, g, b] = [all[i], all[i + 1], all[i + 2]]; if ({test}) n += 1;
          }}
          return n;
        }})()""",
    )


def colour_at(page, model, across, down):
    """Return [r, g, b] of a canvas at shares of its width and height."""
    return ask(
        page,
        f"""(() => {{
          const nv = v.parts[{model}].panel.nv; nv.drawScene();
          const gl = nv.gl, w = gl.drawingBufferWidth, h = gl.drawingBufferHeight;
          const one = new Uint8Array(4);
          const x = Math.floor({across} * w), y = Math.floor((1 - {down}) * h);
          gl.readPixels(x, y, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, one);
          return [...one].slice(0, 3);
        }})()""",
    )


def click(page, model, across, down):
    place = page.evaluate(
        f"""(() => {{
          const r = document.querySelectorAll('.gs-view canvas')[{model}].getBoundingClientRect();
          return [r.x + {across} * r.width, r.y + {down} * r.height];
        }})()"""
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=place[0],
            y=place[1],
            button="left",
            clickCount=1,
        )
    page.settle()


def slide(page, name, value):
    page.evaluate(
        f"""(() => {{
          const s = document.querySelector('.gs-view input[aria-label="{name}"]');
          s.value = '{value}'; s.dispatchEvent(new Event('input', {{ bubbles: true }}));
        }})()"""
    )
    page.settle()


def text(page, selector, number=0):
    return page.evaluate(f"document.querySelectorAll('.gs-view {selector}')[{number}].innerText")
