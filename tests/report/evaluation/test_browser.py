"""The page in a real browser: it runs without complaint, the slider moves, and it fits."""

import json
from dataclasses import replace

import pytest

from gradsurge.calibration.thresholds import dice_at
from gradsurge.report.evaluation import write_report
from tests.report.evaluation.browser import chromium
from tests.report.evaluation.example import example
from tests.report.evaluation.test_names import CASE, MODEL

CELL = "document.querySelector('#threshold-table tr[data-model=\"{}\"] [data-cell={}]').textContent"


@pytest.fixture(scope="module")
def study():
    return example(
        {MODEL: (1.0, 0.0), "ce+dice": (3.5, 0.3), "long" * 30: (1.2, 0.1)},
        cases=6,
        names=("kidney", "tumour"),
        shape=(6, 24, 24),
    )


@pytest.fixture(scope="module")
def page(study, tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    study.looks = [replace(look, case=CASE) for look in study.looks]
    write_report(study, file)
    with chromium() as found:
        found.resize(1280)
        found.open(file)
        yield found


@pytest.fixture(autouse=True)
def _same_start(page):
    page.resize(1280)
    page.emulate()
    choose(page, "threshold", "region", "all")
    choose(page, "threshold", "label", "0")
    move(page, 50)
    yield
    assert page.complaints == []


def choose(page, group, kind, value):
    page.evaluate(
        f"""(() => {{
          const s = document.querySelector('[data-chooser={group}] [data-choice={kind}]');
          s.value = '{value}'; s.dispatchEvent(new Event('change', {{ bubbles: true }}));
        }})()"""
    )


def move(page, step):
    page.evaluate(
        f"""(() => {{
          const s = document.getElementById('slider');
          s.value = '{step}'; s.dispatchEvent(new Event('input', {{ bubbles: true }}));
        }})()"""
    )
    page.settle()


def shown(page, model, cell):
    return page.evaluate(CELL.format(model, cell))


def number(text):
    return float(text.replace("\u202f", ""))


def test_the_page_asks_for_nothing_but_itself(page):
    outside = [url for url in page.requests if not url.startswith(("data:", "file:", "about:"))]
    assert outside == []
    assert len([url for url in page.requests if url.startswith("file:")]) == 1


def test_the_slider_moves_the_numbers_to_the_sketch_s(page, study):
    before = shown(page, 0, "dice")
    for step in (5, 73):
        move(page, step)
        for k, model in enumerate(study.models.values()):
            histogram = model.sketches["all"].lens(1)
            assert number(shown(page, k, "dice")) == pytest.approx(
                dice_at(histogram, step / 100), abs=6e-4
            )
            hits, false, missed = (number(shown(page, k, c)) for c in ("tp", "fp", "fn"))
            assert hits + missed == histogram.positives
            assert 2 * hits / (2 * hits + false + missed) == pytest.approx(
                dice_at(histogram, step / 100)
            )
        assert page.evaluate("document.getElementById('slider-value').textContent") == (
            f"{step / 100:.2f}"
        )
    assert shown(page, 0, "dice") != before


def test_arrow_keys_move_the_slider(page):
    page.evaluate("document.getElementById('slider').focus()")
    page.press("ArrowRight", 39)
    assert page.evaluate("document.getElementById('slider').value") == "51"
    assert page.evaluate("document.getElementById('slider').ariaValueText") == "0.51"
    page.press("ArrowLeft", 37)
    page.press("ArrowLeft", 37)
    assert page.evaluate("document.getElementById('slider-value').textContent") == "0.49"


def test_optimal_thresholds_are_marked_and_can_be_chosen(page, study):
    assert page.evaluate("document.querySelectorAll('#dice-chart .optimum').length") == 3
    best = next(iter(study.models.values())).lenses["all", "kidney"]
    page.evaluate("document.querySelector('#threshold-table [data-best]').click()")
    assert page.evaluate("document.getElementById('slider').value") == str(
        round(best.best_threshold * 100)
    )
    assert number(shown(page, 0, "bestDice")) == pytest.approx(best.best_dice, abs=6e-4)


def test_a_choice_switches_diagrams_and_numbers_together(page, study):
    choose(page, "reliability", "region", "active")
    choose(page, "reliability", "label", "1")
    model = next(iter(study.models.values()))
    curve = model.lenses["active", "tumour"].thresholds
    assert number(shown(page, 0, "tp")) == curve.true_positives[50]
    for group in ("reliability", "distributions"):
        visible = page.evaluate(
            f"[...document.querySelectorAll('[data-view={group}]')].filter(v => !v.hidden)"
            ".map(v => v.dataset.region + v.dataset.label)"
        )
        assert visible == ["active1"]
    assert page.evaluate("document.getElementById('threshold-view').textContent") == (
        "tumour, active region"
    )


def test_names_are_text(page):
    assert page.evaluate("document.querySelectorAll('img[src=x], script').length") == 2
    text = page.evaluate("document.querySelector('#worst h3').textContent")
    assert MODEL in text
    assert CASE in text


@pytest.mark.parametrize(
    ("width", "media"), [(390, "screen"), (768, "screen"), (1280, "screen"), (720, "print")]
)
def test_nothing_is_wider_than_the_screen(page, width, media):
    page.emulate(media)
    page.resize(width, mobile=width == 390)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    stretched = page.evaluate(
        "[...document.querySelectorAll('main > section, figure, .scroll')]"
        ".filter(e => e.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert stretched == 0


def test_headline_scores_are_all_on_a_phone_s_screen(page):
    page.resize(390, 844, mobile=True)
    cells = page.evaluate(
        "[...document.querySelectorAll('#headline td')].map(e => {"
        " const r = e.getBoundingClientRect(), s = getComputedStyle(e, '::before');"
        " return [s.content, e.innerText, r.left, r.right, r.height]; })"
    )
    assert len(cells) == 5 * 2 * 3
    titles = [json.loads(cell[0]) for cell in cells[:5]]
    assert titles == ["NLL ↓", "Brier ↓", "ECE ↓", "MCE ↓", "Dice ↑"]
    assert all(text and left >= 0 and right <= 390 for _, text, left, right, _ in cells)
    assert all(height > 20 for *_, height in cells)
    assert page.evaluate(
        "(e => e.scrollWidth <= e.clientWidth)(document.querySelector('#headline .scroll'))"
    )
    page.resize(1280)
    before = "getComputedStyle(document.querySelector('#headline td'), '::before').content"
    assert page.evaluate(before) == "none"


def test_pictures_are_all_drawn(page):
    assert page.evaluate("[...document.images].every(i => i.complete && i.naturalWidth > 0)")


def test_paper_has_no_controls(page):
    page.emulate("print")
    hidden = page.evaluate(
        "[...document.querySelectorAll('nav, select, input')]"
        ".every(e => e.offsetWidth === 0 && e.offsetHeight === 0)"
    )
    assert hidden
    assert page.pdf().startswith(b"%PDF-")


def test_dark_rooms_get_a_dark_page_with_white_figures(page):
    colour = "getComputedStyle(document.querySelector('{}')).backgroundColor"
    light = page.evaluate(colour.format("body"))
    page.emulate(scheme="dark")
    assert page.evaluate(colour.format("body")) != light
    assert page.evaluate(colour.format(".paper")) == "rgb(255, 255, 255)"
