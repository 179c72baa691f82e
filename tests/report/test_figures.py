"""The theory figures: their data against closed forms, their files as a reader would open them."""

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

from gradsurge.experiments.equilibria import compare
from gradsurge.experiments.probe import LARGE, SMALL
from gradsurge.report.figures import equilibria, normalised_partials, partials, vector_fields
from gradsurge.report.style import save
from gradsurge.report.theory import FIGURES, draw_theory


@pytest.fixture(scope="module")
def curves():
    return partials.compute(points=41)


@pytest.fixture(scope="module")
def fields():
    return vector_fields.compute(points=9)


@pytest.fixture(scope="module")
def shapes():
    return normalised_partials.compute(points=101)


def dice_slopes(example, p_one, p_zero):
    """Return |dL/dp| of Dice on one foreground and one background voxel added to an example."""
    intersection = example.foreground * example.p_foreground + p_one
    predicted = intersection + example.background * example.p_background + p_zero
    size = predicted + example.foreground + 1
    return (2 * size - 2 * intersection) / size**2, 2 * intersection / size**2


def inside(data):
    return slice(1, len(data.p) - 1)


def test_partials_of_dice_are_the_closed_form(curves):
    dice = curves["dice"]
    expected = np.stack(dice_slopes(LARGE, dice.p, dice.p), axis=1) * (LARGE.voxels + 2)
    np.testing.assert_allclose(dice.slope, expected, rtol=1e-6)
    spread = (dice.p * (1 - dice.p))[:, None]
    np.testing.assert_allclose(dice.field, expected * spread, rtol=1e-6)


def test_partials_of_cross_entropy_are_one_over_the_true_probability(curves):
    ce = curves["ce"]
    np.testing.assert_allclose(ce.slope, np.stack((1 / ce.p, 1 / (1 - ce.p)), axis=1), rtol=1e-6)
    np.testing.assert_allclose(ce.field, np.stack((1 - ce.p, ce.p), axis=1), rtol=1e-6)


def test_surgery_keeps_the_slope_and_replaces_the_activation(curves):
    dice, surgery = curves["dice"], curves["dice-surgery"]
    np.testing.assert_allclose(surgery.slope, dice.slope, rtol=1e-6)
    e = np.stack((1 - surgery.p, surgery.p), axis=1)
    weight = 0.25 * e * (1 - e**20) * (1 - (1 - e) ** 20)
    np.testing.assert_allclose(surgery.activation, weight, rtol=1e-6)


def test_the_pulls_meet_where_the_theory_says(curves):
    assert curves["dice"].meetings.tolist() == [0.0, 1.0]
    assert curves["ce"].meetings == pytest.approx([0.5])
    (p,) = curves["dice-surgery"].meetings
    foreground, background = dice_slopes(LARGE, p, p)
    assert p / (1 - p) == pytest.approx(foreground / background, rel=1e-3)


def test_meetings_finds_a_crossing_between_points_and_on_a_point():
    p = np.array([0.0, 0.4, 1.0])
    between = partials.meetings(p, np.array([1.0, 0.8, 0.0]), np.array([0.0, 0.2, 1.0]))
    assert between == pytest.approx([0.4 + 0.6 * 0.375])
    on = partials.meetings(p, np.array([1.0, 0.5, 0.0]), np.array([0.0, 0.5, 1.0]))
    assert on == pytest.approx([0.4])


def test_fields_of_cross_entropy_and_dice_are_their_closed_forms(fields):
    second, first = np.meshgrid(fields.p, fields.p, indexing="ij")
    ce = np.stack((1 - first, -second), axis=-1) / (SMALL.voxels + 2)
    np.testing.assert_allclose(fields.descent["ce"], ce, rtol=1e-6)
    foreground, background = dice_slopes(SMALL, first, second)
    dice = np.stack(
        (first * (1 - first) * foreground, -second * (1 - second) * background), axis=-1
    )
    np.testing.assert_allclose(fields.descent["dice"], dice, rtol=1e-4)


def test_every_field_points_to_the_labels(fields):
    assert len(fields.descent) == 8
    for arrows in fields.descent.values():
        assert (arrows[..., 0] > 0).all()
        assert (arrows[..., 1] < 0).all()


def test_surgery_keeps_pulling_where_dice_gives_up(fields):
    left = vector_fields.numbers(fields)
    share = {name.split(":")[0]: value for name, value in left.items()}
    assert share["dice"] < 0.1 < 0.3 < share["dice-surgery"] < share["ce"]


def test_normalised_curves_have_maximum_one_and_the_shape_of_their_formula(shapes):
    assert all(np.allclose(curve.max(axis=0), 1.0) for curve in shapes.curves.values())
    p, at = shapes.p, inside(shapes)
    error = np.stack((1 - p, p), axis=1)
    np.testing.assert_allclose(shapes.curves["ce"], error, atol=1e-5)
    np.testing.assert_allclose(shapes.curves["dice-surgery, n = none"], error, atol=5e-3)
    np.testing.assert_allclose(
        shapes.curves["dice"], 4 * (p * (1 - p))[:, None] + 0 * error, atol=5e-3
    )
    weight = error * (1 - error**5) * (1 - (1 - error) ** 5)
    five = shapes.curves["dice-surgery, n = 5"]
    np.testing.assert_allclose(five[at], (weight / weight.max(axis=0))[at], atol=5e-3)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    before, heard = dict(mpl.rcParams), []
    result = draw_theory(tmp_path_factory.mktemp("theory"), on_figure=heard.append)
    assert dict(mpl.rcParams) == before  # the style is nobody else's business
    assert heard == list(FIGURES)
    return {d.name: d for d in result}


@pytest.mark.parametrize("name", FIGURES)
def test_files_open(drawn, name):
    pdf, png = drawn[name].files
    assert pdf.read_bytes().startswith(b"%PDF")
    with Image.open(png) as image:
        assert image.format == "PNG"
        width, height = image.size
        colours = image.convert("RGB").getcolors(maxcolors=width * height)
    assert width > 600
    assert height > 500
    assert len(colours) > 20  # something was drawn
    assert png.stat().st_size < 200_000
    assert all(np.isfinite(v) for v in drawn[name].numbers.values())


def test_the_same_data_give_the_same_files(tmp_path):
    data = compare(steps=5)
    first = save(equilibria.draw(data), tmp_path / "a", "equilibria")
    second = save(equilibria.draw(data), tmp_path / "b", "equilibria")
    assert [f.read_bytes() for f in first] == [f.read_bytes() for f in second]


def test_one_format_alone(tmp_path):
    files = save(equilibria.draw(compare(steps=5)), tmp_path, "only", formats=("png",))
    assert files == [tmp_path / "only.png"]
    assert list(tmp_path.iterdir()) == files
