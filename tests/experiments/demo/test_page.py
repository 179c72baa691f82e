"""The page of a demo, in a browser and as text."""

import html

import pytest

from gradsurge.experiments.demo.findings import sentences
from gradsurge.report.demo.page import write_pages
from gradsurge.report.figures import demo_maps
from tests.report.evaluation.browser import chromium


@pytest.fixture(scope="module")
def made(finished):
    """A result and the files of its pages."""
    return finished, write_pages(finished)


def test_the_page_says_what_was_found(made):
    result, files = made
    text = html.unescape((result.out / "report.html").read_text())
    assert files[0] == str(result.out / "report.html")
    for sentence in sentences(result.rows, result.correction):
        assert sentence in text
    for row in result.rows.values():
        assert f">{row.name}<" in text
        assert f">{row.dsc:.1f}<" in text
        assert f">{row.mask}<" in text
    assert text.count("data:image/svg+xml") == len(result.rows)
    assert text.count("MCE is the error of one bin") == 2  # under table and diagrams
    assert "expected and maximum calibration error, in 15 bins" in text
    assert "also chose the weights" not in text
    assert "<h2>Reliability</h2>" in text
    assert 'href="evaluation/report.html"' in text
    assert (result.out / "evaluation" / "report.html").is_file()


def test_maps_have_the_truth_first_and_every_model(made):
    result, _ = made
    rows = demo_maps.compute(result.looks)
    assert [next(iter(row.maps)) for row in rows] == ["true posterior"] * len(rows)
    assert all(len(row.maps) == len(result.rows) for row in rows)
    figure = demo_maps.draw(rows)
    titles = [axis.get_title().replace("\n", " ") for axis in figure.axes if axis.get_title()]
    assert titles == ["image and label", *rows[0].maps]
    with pytest.raises(ValueError, match="looks: expected at least one case"):
        demo_maps.compute([])


@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_shows_all_of_it_and_asks_for_nothing(made, width):
    result, _ = made
    with chromium() as page:
        page.resize(width, mobile=width == 390)
        page.open(result.out / "report.html")
        assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.complaints == []
        outside = [url for url in page.requests if not url.startswith(("file:", "data:"))]
        assert outside == []
