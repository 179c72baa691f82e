"""Volumes as nibabel reads them back, and the description beside them."""

import gzip
import itertools
import json
from dataclasses import replace

import nibabel
import numpy as np
import pytest

from gradsurge.report.viewer.colours import LABEL, MASK, probability_stops
from gradsurge.report.viewer.contents import contents_of
from gradsurge.report.viewer.precision import EIGHT_BITS, FULL, precision_of
from gradsurge.report.viewer.volume_file import colour_voxels
from tests.report.viewer.example import AFFINE, SHAPE, picture_view, volume_view


def read(part):
    return nibabel.Nifti1Image.from_bytes(gzip.decompress(part))


def canonical(array):
    made = nibabel.Nifti1Image(array.astype(np.float64), AFFINE)
    return nibabel.as_closest_canonical(made).get_fdata()


@pytest.fixture(scope="module")
def view():
    return volume_view()


@pytest.fixture(scope="module")
def contents(view):
    return contents_of(view)


def test_volumes_hold_what_the_arrays_hold(view, contents):
    label = read(contents.parts["label"])
    assert np.array_equal(label.dataobj, canonical(view.label))
    assert label.header.get_zooms() == pytest.approx((1.5, 1.0, 2.0))
    for number, model in enumerate(view.models):
        assert np.array_equal(read(contents.parts[f"mask-{number}"]).dataobj, canonical(model.mask))
        whole, kidney = (read(contents.parts[f"map-{number}-{n}"]) for n in (0, 1))
        assert kidney.get_data_dtype() == np.float32
        assert np.array_equal(kidney.dataobj, canonical(model.maps[1]))
        assert np.allclose(whole.dataobj, 1 - canonical(model.maps[0]), atol=1e-7)
        named = contents.description["models"][number]
        assert named["maps"] == [f"map-{number}-{n}" for n in range(3)]


def test_the_scan_is_kept_within_16_bits(view, contents):
    scan = read(contents.parts["scan"])
    assert scan.get_data_dtype() == np.uint16
    step = np.ptp(view.scan.values) / 65535
    assert np.abs(scan.get_fdata() - canonical(view.scan.values)).max() <= 0.51 * step
    low, high = contents.description["scan"]["window"]
    assert view.scan.values.min() <= low < high <= view.scan.values.max()


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint16, np.int32, np.bool_])
def test_whole_numbers_of_a_scan_stay_so(view, kind):
    values = np.random.default_rng(0).integers(0, 2, SHAPE).astype(kind)
    scan = replace(view.scan, values=values)
    stored = read(contents_of(replace(view, scan=scan)).parts["scan"])
    assert np.array_equal(stored.dataobj, canonical(values))


def test_scans_with_nan_infinity_or_one_value(view):
    values = np.full(SHAPE, 3.0, np.float32)
    flat = contents_of(replace(view, scan=replace(view.scan, values=values)))
    assert np.allclose(read(flat.parts["scan"]).get_fdata(), 3.0)
    assert flat.description["scan"]["window"] == [3.0, 4.0]
    values[0, 0, 0], values[1, 1, 1], values[2] = np.nan, np.inf, 5.0
    odd = contents_of(replace(view, scan=replace(view.scan, values=values)))
    assert read(odd.parts["scan"]).get_fdata().max() == pytest.approx(5.0)
    json.dumps(odd.description, allow_nan=False)


def test_a_case_without_scan_has_an_empty_one(view):
    none = contents_of(replace(view, scan=None))
    assert not np.asarray(read(none.parts["scan"]).dataobj).any()
    assert none.description["scan"]["title"] is None


def test_eight_bits_are_within_a_half_step_and_said(view):
    contents = contents_of(view, EIGHT_BITS)
    stored = read(contents.parts["map-1-1"])
    assert stored.get_data_dtype() == np.uint8
    assert np.abs(stored.get_fdata() - canonical(view.models[1].maps[1])).max() <= 0.5001 / 255
    assert "8 bits" in contents.description["precision"]["words"]
    exact = contents_of(view).description["models"][1]["amounts"]
    assert contents.description["models"][1]["amounts"] == exact


def test_small_maps_are_exact_and_large_ones_are_not(view):
    size = 4 * np.prod(SHAPE) * 3 * 2
    assert precision_of(view, limit=size) is FULL
    assert precision_of(view, limit=size - 1) is EIGHT_BITS


def test_colours_of_pictures_are_voxels_of_three():
    view = picture_view()
    voxels = np.asarray(read(contents_of(view).parts["scan"]).dataobj)
    assert voxels.shape == (32, 24, 1)
    assert tuple(voxels[0, 23, 0]) == (255, 0, 0)  # the top row lies highest
    assert tuple(voxels[0, 0, 0]) == (0, 0, 255)
    deep = colour_voxels(np.array([0, 65535, 32768], np.uint16).reshape(3, 1, 1))
    assert tuple(deep[0, 0]) == (0, 255, 128)


def test_the_same_case_gives_the_same_bytes(view, contents):
    assert contents_of(view).parts == contents.parts


def test_colours_rise_in_lightness_and_differ_from_the_lines():
    light = [np.dot(stop, (0.2126, 0.7152, 0.0722)) for stop in probability_stops()]
    assert all(a < b for a, b in itertools.pairwise(light))
    for line in (LABEL, MASK):
        colour = np.array([int(line[n : n + 2], 16) for n in (1, 3, 5)])
        assert min(np.linalg.norm(colour - stop) for stop in probability_stops()) > 90
