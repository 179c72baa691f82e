"""Figures of the report: their data against plain loops, their pictures pixel by pixel."""

import base64
import re
from io import BytesIO
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from gradsurge.calibration.reliability import reliability_curve
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.experiments.evaluation.result import CaseLook
from gradsurge.report.evaluation.pictures import svg_uri
from gradsurge.report.figures import case_distributions, case_look, reliability
from gradsurge.report.figures.model_looks import model_look

SVG = "{http://www.w3.org/2000/svg}"


def svg(uri):
    return ElementTree.fromstring(base64.b64decode(uri.partition(",")[2]))


@pytest.fixture
def curve():
    p = np.concatenate((np.full(400, 0.05), np.full(30, 0.55)))
    y = np.concatenate((np.arange(400) < 40, np.arange(30) < 24)).astype(int)
    sketch = CalibrationSketch().update_probabilities(p, y)
    return reliability_curve(sketch.lens(), bins=10)


def test_reliability_shows_occupied_bins_and_marks_small_ones(curve):
    data = reliability.compute(curve, [curve])
    np.testing.assert_allclose(data.probability, [0.05, 0.55])
    np.testing.assert_allclose(data.frequency, [0.1, 0.8])
    assert data.few.tolist() == [False, True]
    assert data.counts.sum() == 430
    assert len(data.edges) == 11
    assert len(data.others) == 1


def test_reliability_draws_intervals_only_where_there_are_any(curve):
    low = curve.low.copy()
    low[5] = np.nan
    figure = reliability.draw(reliability.compute(curve._replace(low=low)), model_look(1))
    above, below = figure.axes
    (bars,) = above.collections
    assert len(bars.get_segments()) == 1
    assert below.get_yscale() == "log"
    assert (above.get_xlim(), above.get_ylim()) == ((0, 1), (0, 1))


def test_an_empty_curve_can_be_drawn():
    curve = reliability_curve(CalibrationSketch().lens(), bins=5)
    assert svg_uri(reliability.draw(reliability.compute(curve), model_look(0)))


def test_boxes_are_quartiles_of_what_is_finite():
    values = [0.1, 0.2, 0.3, 0.4, 0.5, 5.0, np.nan, np.inf]
    data = case_distributions.compute([values, [0.2]])
    assert data.missing == [2, 0]
    assert data.boxes[1] is None
    first, median, third = np.percentile(values[:6], (25, 50, 75))
    assert data.boxes[0] == pytest.approx((0.1, first, median, third, 0.5))
    assert not data.logarithmic
    assert case_distributions.compute([[0.001, 1.0]]).logarithmic


def test_distributions_have_a_line_of_points_a_model():
    data = case_distributions.compute([[0.1, 0.2], [], [0.3]])
    figure = case_distributions.draw(data, [model_look(k) for k in range(3)])
    (axis,) = figure.axes
    assert [t.get_text() for t in axis.get_yticklabels()] == ["A", "B", "C"]
    assert [len(line.get_xdata()) for line in axis.lines] == [2, 0, 1]


@pytest.mark.parametrize("unit", [1.0, 1e-3, 1e-5])
def test_labels_of_ticks_keep_their_digits_on_the_page(unit):
    values = [unit * v for v in (2.1, 2.9, 3.4, 4.2, 5.05)]
    figure = case_distributions.draw(case_distributions.compute([values]), [model_look(0)])
    uri = svg_uri(figure)
    (axis,) = figure.axes
    low, high = axis.get_xlim()
    ticks = {t.get_text() for t in axis.get_xticklabels() if low <= t.get_position()[0] <= high}
    ticks = {t for t in ticks if t}
    shown = {"".join(node.itertext()).strip() for node in svg(uri).iter(f"{SVG}text")}
    assert len(ticks) >= 3
    assert ticks <= shown


def test_coordinates_of_a_drawing_are_short():
    data = case_distributions.compute([[1 / 3, 2 / 3, 1 / 7]])
    uri = svg_uri(case_distributions.draw(data, [model_look(0)]))
    paths = [node.get("d", "") for node in svg(uri).iter(f"{SVG}path")]
    assert any(re.search(r"\d\.\d\d", path) for path in paths)
    assert not any(re.search(r"\d\.\d{3}", path) for path in paths)


def test_looks_of_models_differ():
    looks = [model_look(k) for k in range(140)]
    assert len({(k.colour, k.marker, k.dashes) for k in looks}) == 140
    assert len({k.letter for k in looks}) == 140


def look(shape=(10, 20), aspect=1.0):
    label = np.zeros(shape, bool)
    label[2:5, 3:9] = True
    p = np.linspace(0, 1, label.size, dtype=np.float32).reshape(shape)
    return CaseLook("m", "c", "tumour", "slice 1", p * 900 - 40, label, p, aspect)


def opened(png):
    return np.asarray(Image.open(BytesIO(png)).convert("RGB")).astype(int)


@pytest.mark.parametrize(
    ("shape", "aspect", "size"),
    [
        ((10, 20), 1.0, (160, 320)),
        ((10, 20), 3.0, (300, 200)),
        ((10, 20), 0.5, (80, 320)),
        ((500, 1000), 1.0, (160, 320)),
        ((7, 9), 1.0, (245, 315)),
    ],
)
def test_pictures_have_the_slice_s_proportions(shape, aspect, size):
    pictures = case_look.draw(case_look.compute(look(shape, aspect), side=320))
    for png in pictures:
        assert opened(png).shape == (*size, 3)


def test_pixels_of_probability_and_error_have_the_colours_of_their_value():
    found = look()
    panels = case_look.compute(found, side=20)
    np.testing.assert_allclose(panels.error, np.abs(found.probability - found.label), atol=1e-6)
    pictures = case_look.draw(panels)
    bar = opened(case_look.colour_bar(case_look.PROBABILITY_COLOURS))[0]
    np.testing.assert_array_equal(opened(pictures.probability)[0, 0], bar[0])
    np.testing.assert_array_equal(opened(pictures.probability)[-1, -1], bar[-1])
    outline = opened(pictures.probability)[2, 3]
    assert not (bar == outline).all(axis=1).any()
    inside = opened(pictures.label)
    assert (inside[2:5, 3:9] == 255).all()
    assert inside.sum() == 18 * 3 * 255


def test_bad_pixels_and_bad_aspects():
    bad = look()
    bad.probability[0, 0] = np.nan
    bad.image[:] = np.nan
    pictures = case_look.draw(case_look.compute(bad, side=20))
    bar = opened(case_look.colour_bar(case_look.PROBABILITY_COLOURS))[0]
    np.testing.assert_array_equal(opened(pictures.probability)[0, 0], bar[0])
    with pytest.raises(ValueError, match="aspect: expected a number above 0, got 0"):
        case_look.compute(look(aspect=0.0))
