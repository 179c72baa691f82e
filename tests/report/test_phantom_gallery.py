"""The gallery: what it shows of a case, and its files."""

import numpy as np
import pytest
from PIL import Image

from gradsurge.data.phantoms import PhantomCase, make_phantom
from gradsurge.report.figures import phantom_gallery
from gradsurge.report.style import save

SIZES = {"lesions-2d": (32, 32), "vessels-2d": (32, 32), "organs-3d": (20, 20, 16)}


@pytest.fixture(scope="module")
def cases():
    return {
        name: [make_phantom(name, i, size=size) for i in (0, 1)] for name, size in SIZES.items()
    }


def test_files_open(cases, tmp_path):
    figure = phantom_gallery.draw(phantom_gallery.compute(cases))
    pdf, png = save(figure, tmp_path, "phantoms")
    assert pdf.read_bytes().startswith(b"%PDF")
    with Image.open(png) as image:
        assert len(image.convert("RGB").getcolors(maxcolors=1 << 24)) > 100
        assert image.size[0] > 900


def test_every_case_has_its_panels_and_outlines(cases):
    figure = phantom_gallery.draw(phantom_gallery.compute(cases))
    panels = figure.axes[:-3]  # and a scale for one class, class 1 and class 2
    assert len(panels) == 3 * 2 * 3
    outlined = [len(axis.collections) for axis in panels]
    assert outlined == [0, 0, 1] * 4 + [0, 0, 2] * 2
    assert [axis.get_ylabel() for axis in panels if axis.get_ylabel()] == list(SIZES)


def test_without_several_classes_there_is_one_scale(cases):
    figure = phantom_gallery.draw(phantom_gallery.compute({"a": cases["lesions-2d"]}))
    assert len(figure.axes) == 2 * 3 + 1


def test_volumes_are_cut_where_the_rarest_class_is_largest():
    posterior = np.zeros((2, 4, 5, 3), np.float32)
    posterior[0, ..., 0] = 1.0
    posterior[0, ..., 2] = 0.5
    posterior[1, 1:3, 2, 2] = 0.5
    image = np.arange(60, dtype=np.float32).reshape(1, 4, 5, 3)
    label = np.zeros((4, 5, 3), np.uint8)
    label[2, 2, 2] = 2
    case = PhantomCase("c", image, label, posterior, (3.0, 1.5, 1.0))
    (view,) = phantom_gallery.compute({"c": [case]})["c"]
    np.testing.assert_array_equal(view.posterior, posterior[..., 2])
    np.testing.assert_array_equal(view.label, label[..., 2])
    assert view.aspect == 2.0
    assert view.image.shape == (4, 5, 3)
    assert (view.image.min(), view.image.max()) == (0.0, 1.0)


def test_colour_images_keep_their_colours():
    image = np.stack([np.full((4, 4), value, np.float32) for value in (-0.2, 0.5, 1.3)])
    zeros = np.zeros((4, 4), np.uint8)
    case = PhantomCase("c", image, zeros, zeros[None].astype(np.float32), (1.0, 1.0))
    (view,) = phantom_gallery.compute({"c": [case]})["c"]
    assert view.image[0, 0].tolist() == [0.0, 0.5, 1.0]


def test_colours_of_several_classes_mix_on_black():
    posterior = np.array([[[0.0, 1.0, 0.0, 0.5]], [[0.0, 0.0, 1.0, 0.5]]])
    black, one, two, both = phantom_gallery.posterior_colours(posterior)[0]
    assert black.tolist() == [0, 0, 0]
    np.testing.assert_allclose(both, (one + two) / 2)
    assert not np.allclose(one, two)


def test_values_round_to_a_tenth():
    at = np.array([[[0.0, 0.04, 0.06, 0.1]]])
    colours = phantom_gallery.posterior_colours(at)[0]
    assert (colours[0] == colours[1]).all()
    assert (colours[2] == colours[3]).all()
    assert (colours[1] != colours[2]).any()


@pytest.mark.parametrize(
    ("numbers", "message"),
    [({}, "got no rows"), ({"a": 0}, "got a 0"), ({"a": 1, "b": 2}, "as many .* got a 1, b 2")],
)
def test_rows_of_other_lengths_are_refused(cases, numbers, message):
    rows = {name: cases["lesions-2d"][:number] for name, number in numbers.items()}
    with pytest.raises(ValueError, match=message):
        phantom_gallery.compute(rows)
