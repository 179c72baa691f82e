"""The viewer in a real browser: what it draws and tells is what the arrays hold."""

import itertools
import re
import threading
from dataclasses import replace

import numpy as np
import pytest

from gradsurge.experiments.viewing.laid_out import lay_out
from gradsurge.report.viewer.colours import probability_stops
from gradsurge.report.viewer.contents import contents_of
from gradsurge.report.viewer.local_server import LocalServer, served_contents
from gradsurge.report.viewer.page import write_page
from tests.report.viewer.browsing import (
    ask,
    click,
    colour_at,
    needs_niivue,
    open_url,
    pixels,
    slide,
    text,
    wait,
    webgl_page,
)
from tests.report.viewer.example import SHAPE, picture_view, volume_view
from tests.report.viewer.notebook_host import write_host

pytestmark = needs_niivue
HOSTILE = "<img src=x onerror=alert(1)>'\"&"


@pytest.fixture(scope="module")
def view():
    return volume_view(("dice", HOSTILE), case=HOSTILE)


@pytest.fixture(scope="module")
def browser():
    with webgl_page() as page:
        yield page


@pytest.fixture(scope="module")
def page(browser, view, tmp_path_factory):
    file = tmp_path_factory.mktemp("view") / "case.html"
    write_page(view, file)
    open_url(browser, file.as_uri())
    return browser


@pytest.fixture
def plain(page):
    """One axial slice, only the map, fully opaque."""
    shown = "shown: {map: true, label: false, mask: false}"
    opaque = "opacity: {map: 1, label: 1, mask: 1}"
    ask(page, f"v.change({{view: 'axial', cross: false, {shown}, {opaque}, structure: 1}})")
    yield page
    shown = "shown: {map: true, label: true, mask: true}"
    ask(page, f"v.change({{view: 'all', cross: true, {shown}, structure: 0, threshold: 0.05}})")


def in_file(view, laid):
    """Return the index in the source's array of a shown voxel, by laying out the indices."""
    numbers = view.layout.lay(np.arange(np.prod(SHAPE)).reshape(SHAPE))
    return np.unravel_index(numbers[tuple(laid)], SHAPE)


def test_the_file_opens_without_complaint_and_asks_for_nothing(page):
    assert page.evaluate("document.querySelector('.gs-view').dataset.state") == "ready"
    assert page.complaints == []
    outside = [u for u in page.requests if not u.startswith(("data:", "blob:", "file:"))]
    assert outside == []
    assert len([u for u in page.requests if u.startswith("file:")]) == 1


def test_names_are_text_whatever_they_hold(page):
    assert text(page, "h1") == HOSTILE
    assert text(page, "h2", 1) == HOSTILE
    assert page.evaluate("document.querySelectorAll('.gs-view img').length") == 0


def test_values_under_the_cursor_are_those_of_the_arrays(page, view):
    for laid in itertools.islice(itertools.product((3, 9), (2, 7), (5, 13)), 8):
        ask(page, f"v.moveTo({list(laid)})")
        source = in_file(view, laid)
        assert f"voxel {', '.join(map(str, source))}" in text(page, ".gs-place")
        mm = view.scan.affine @ [*source, 1]
        assert ", ".join(f"{x:.1f}" for x in mm[:3]) + " mm" in text(page, ".gs-place")
        for number, model in enumerate(view.models):
            p = 1 - model.maps[0][source]
            told = re.search(r"[<>=] ([0-9.]+)", text(page, ".gs-p", number))
            assert float(told[1]) == pytest.approx(p, abs=1e-3)
            words = ("background", "kidney", "tumour")
            assert f"label: {words[view.label[source]]}" in text(page, ".gs-cursor", number)
            assert f"mask: {words[model.mask[source]]}" in text(page, ".gs-cursor", number)


def test_a_click_in_one_model_moves_the_cursor_of_both(page):
    ask(page, "v.moveTo([1, 1, 1])")
    click(page, 1, 0.2, 0.3)
    moved = ask(page, "v.cursor")
    assert moved != [1, 1, 1]
    assert ask(page, "v.parts.map((part) => part.panel.cursor)") == [moved, moved]


def test_arrow_keys_move_by_one_voxel_and_stop_at_the_edge(page):
    ask(page, "v.moveTo([14, 5, 6])")
    for _ in range(3):
        page.press("ArrowRight", 39)
    page.press("PageUp", 33)
    assert ask(page, "v.cursor") == [15, 5, 7]


def test_letters_switch_layers_and_move_the_threshold(page):
    page.press("p", 80)
    assert ask(page, "v.state.shown.map") is False
    assert ask(page, "v.look.map") == 0
    page.press("p", 80)
    before = ask(page, "v.state.threshold")
    page.press("u", 85)
    assert ask(page, "v.state.threshold") == pytest.approx(before + 0.05)
    page.press("d", 68)
    page.press("d", 68)
    assert ask(page, "v.state.threshold") == pytest.approx(0.01)  # not below


def test_the_threshold_hides_exactly_what_is_below(plain, view):
    """Coloured pixels are to all of the slice's as voxels at or above the threshold are."""
    laid = view.layout.lay(view.models[1].maps[1])[:, :, 6]
    ask(plain, "v.moveTo([0, 0, 6])")
    coloured = "Math.max(r, g, b) - Math.min(r, g, b) > 40"
    counts = {}
    for percent in (1, 20, 45, 70):
        slide(plain, "Threshold", percent)
        counts[percent] = pixels(plain, 1, coloured)
        assert f"show p ≥ 0.{percent:02d}" in text(plain, ".gs-value", 1)
    assert counts[1] > 20_000
    for percent, count in counts.items():
        expected = (laid >= np.float32(percent / 100)).sum() / (laid >= np.float32(0.01)).sum()
        assert count / counts[1] == pytest.approx(expected, abs=0.01)


def test_colours_are_those_of_the_legend(plain, view):
    p = view.layout.lay(view.models[1].maps[1])
    x, y = np.unravel_index(p[:, :, 6].argmax(), p.shape[:2])
    ask(plain, f"v.moveTo([{x}, {y}, 6])")
    slide(plain, "Threshold", 1)
    stops = np.array(probability_stops(), float)
    expected = [np.interp(p[x, y, 6], np.linspace(0, 1, len(stops)), c) for c in stops.T]
    near = " && ".join(f"Math.abs({n} - {v:.0f}) < 9" for n, v in zip("rgb", expected, strict=True))
    assert pixels(plain, 1, near) > 100


def test_the_table_counts_all_voxels(plain, view):
    slide(plain, "Threshold", 45)
    rows = text(plain, "table", 1)
    p, label = view.models[1].maps[1], view.label == 1
    above = p >= np.float32(0.45)
    dice = 2 * (above & label).sum() / (above.sum() + label.sum())
    found = dict(re.findall(r"^(.+?)\t([0-9.]+) ml", rows, re.MULTILINE))
    voxel = 1.5 * 1.0 * 2.0 / 1000  # ml
    expected = {"label": label.sum(), "p ≥ 0.45": above.sum(), "sum of p": p.sum()}
    for name, count in expected.items():
        assert float(found[name]) == pytest.approx(count * voxel, rel=4e-3)
    assert re.search(rf"p ≥ 0\.45\t.* ml\t{dice:.3f}", rows)


def test_outlines_have_their_colours_and_go_away(plain):
    cyan = "r < 60 && g > 180 && b > 200"
    white = "r > 250 && g > 250 && b > 250"
    ask(plain, "v.goToStructure()")
    assert (pixels(plain, 0, cyan), pixels(plain, 0, white)) == (0, 0)
    ask(plain, "v.change({shown: {map: false, label: true, mask: false}})")
    full = pixels(plain, 0, cyan)
    assert full > 200
    ask(plain, "v.change({shown: {map: false, label: false, mask: true}})")
    dashes = pixels(plain, 0, white)
    assert 0.3 * full < dashes < 0.8 * full  # much the same border, every second piece of it


def test_letters_tell_the_sides_of_the_body(plain):
    """L at the left edge and A at the upper one, in a colour that scans do not have."""
    ask(plain, "v.change({shown: {map: false, label: false, mask: false}})")
    left, middle, top = ask(
        plain,
        """(() => {
          const nv = v.parts[0].panel.nv; nv.drawScene();
          const gl = nv.gl, w = gl.drawingBufferWidth, h = gl.drawingBufferHeight;
          const all = new Uint8Array(4 * w * h);
          gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, all);
          const found = [0, 0, 0];
          for (let i = 0; i < all.length; i += 4) {
            if (all[i] - all[i + 2] < 100) continue;
            const x = (i / 4) % w, y = h - 1 - Math.floor(i / 4 / w); // rows come from below
            const [l, t, across] = nv.screenSlices[0].leftTopWidthHeight;
            if (Math.abs(x - l) < 16) found[0] += 1;
            else if (Math.abs(x - l - across / 2) < 16) found[Math.abs(y - t) < 24 ? 2 : 1] += 1;
          }
          return found;
        })()""",
    )
    assert (left > 10, middle, top > 10) == (True, 0, True)


def test_the_page_fits_narrow_screens(page):
    page.resize(500, 900)
    wide = page.evaluate("document.documentElement.scrollWidth")
    page.resize(960, 640)
    assert wide <= 500


def test_pictures_stand_upright_in_their_colours(browser, tmp_path):
    write_page(picture_view(), tmp_path / "eye.html")
    open_url(browser, (tmp_path / "eye.html").as_uri())
    assert browser.complaints == []
    ask(browser, "v.change({cross: false, shown: {map: false, label: false, mask: false}})")
    top, bottom = colour_at(browser, 0, 0.5, 0.25), colour_at(browser, 0, 0.5, 0.75)
    assert (top[0] > 200, top[2] < 50, bottom[0] < 50, bottom[2] > 200) == (True,) * 4
    ask(browser, "v.moveTo([31, 23, 0])")
    assert "row, column 0, 31" in text(browser, ".gs-place")
    assert text(browser, ".gs-p") == "p = 1.000"
    assert "pixels" in text(browser, "table")
    assert "slice" not in text(browser, ".gs-controls")


def test_a_stack_of_pictures_has_no_sides(browser, tmp_path):
    """Nobody told which way is left, so no letter says so."""
    known = volume_view(("net",))
    stack = replace(known, layout=lay_out(SHAPE, None), scan=replace(known.scan, affine=None))
    write_page(stack, tmp_path / "stack.html")
    open_url(browser, (tmp_path / "stack.html").as_uri())
    assert browser.complaints == []
    ask(browser, "v.change({cross: false, shown: {map: false, label: false, mask: false}})")
    assert pixels(browser, 0, "r - b > 100") == 0
    assert "radiological" not in text(browser, ".gs-controls")


def test_the_local_page_shows_the_case(browser, view):
    with LocalServer(served_contents(contents_of(picture_view()))) as server:
        thread = threading.Thread(target=server.serve)
        thread.start()
        try:
            ticket = server.ticket_url
            open_url(browser, ticket)
            state = browser.evaluate("document.querySelector('.gs-view').dataset.state")
            asked = {u.removeprefix(server.url) for u in browser.requests if "http" in u[:4]}
            assert browser.evaluate("location.href") == server.url
        finally:
            browser.call("Page.navigate", url="about:blank")
            server.stop()
            thread.join()
    assert (state, browser.complaints) == ("ready", [])
    assert asked == {ticket, "", "parts/niivue", "parts/scan", "parts/map-0-0"}


def test_a_browser_without_webgl_is_told_what_is_missing(browser, tmp_path):
    source = "HTMLCanvasElement.prototype.getContext = () => null"
    added = browser.call("Page.addScriptToEvaluateOnNewDocument", source=source)
    try:
        write_page(picture_view(), tmp_path / "eye.html")
        open_url(browser, (tmp_path / "eye.html").as_uri())
        assert "no WebGL 2, which draws the slices" in text(browser, ".gs-failed")
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


def test_the_widget_hears_and_tells(browser, tmp_path):
    open_url(browser, write_host(volume_view(("net",)), tmp_path, {"threshold": 0.3}).as_uri())
    assert browser.complaints == []
    assert ask(browser, "v.state.threshold") == 0.3
    # In one breath: the structure, which takes a while to load, must not move the cursor after it.
    both = "model.change('structure', 'tumour'); model.change('cursor', [3, 4, 5])"
    browser.evaluate(both)
    wait(browser, "document.querySelector('.gs-view').viewer.state.structure === 2")
    wait(browser, "document.querySelector('.gs-place').textContent.includes('voxel 3, 4, 5')")
    slide(browser, "Threshold", 60)
    wait(browser, "model.saved.threshold === 0.6 && model.saved.cursor.join() === '3,4,5'")


def test_a_widget_that_goes_away_gives_its_graphics_back(browser, tmp_path):
    open_url(browser, write_host(volume_view(), tmp_path, {}).as_uri())
    wait(browser, "window.cleanUp !== undefined")
    browser.evaluate("cleanUp(); model.change('threshold', 0.9)")
    assert ask(browser, "v.parts.map((part) => part.panel.nv.gl.isContextLost())") == [True, True]
    assert ask(browser, "v.state.threshold") == 0.05  # nobody listens any more
    assert browser.complaints == []
