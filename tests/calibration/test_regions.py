import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from gradsurge.calibration.regions import (
    REGIONS,
    active_region,
    boundary_band,
    bounding_box,
    slabs,
)

small_masks = hnp.arrays(bool, hnp.array_shapes(min_dims=2, max_dims=3, max_side=5))


def nearest_of_the_other_kind(label, spacing):
    """Return the distance of every voxel to the nearest of the other kind, pair by pair."""
    points = np.argwhere(np.ones_like(label)) * np.asarray(spacing)
    apart = np.linalg.norm(points[:, None] - points[None], axis=-1)
    apart[label.ravel()[:, None] == label.ravel()[None]] = np.inf
    return apart.min(axis=1).reshape(label.shape)


def test_the_names():
    assert REGIONS == ("all", "active", "mask", "band")


def test_active_region_is_the_union():
    rng = np.random.default_rng(0)
    label, prediction = rng.random((2, 4, 5, 6)) > 0.6
    found = active_region(label, prediction)
    for index in np.ndindex(label.shape):
        assert found[index] == (label[index] or prediction[index])


@settings(max_examples=60, deadline=None)
@given(
    label=small_masks,
    spacing=st.lists(st.sampled_from([0.3, 0.7, 1.0, 2.5]), min_size=3, max_size=3),
    steps=st.integers(1, 4),
)
def test_band_by_its_definition(label, spacing, steps):
    spacing = spacing[: label.ndim]
    width = steps * spacing[0]  # on a voxel's own distance, where rounding could decide
    expected = nearest_of_the_other_kind(label, spacing) <= width + 1e-9
    np.testing.assert_array_equal(boundary_band(label, spacing, width), expected)


@pytest.mark.parametrize("corner", [(0, 0, 0), (9, 20, 4), (37, 36, 18)])
def test_cropping_changes_nothing(corner):
    from scipy.ndimage import distance_transform_edt

    label = np.zeros((40, 40, 20), bool)
    label[tuple(slice(c, c + 3) for c in corner)] = True
    spacing = (0.8, 1.0, 3.0)
    distance = np.where(
        label,
        distance_transform_edt(label, sampling=spacing),
        distance_transform_edt(~label, sampling=spacing),
    )
    np.testing.assert_array_equal(boundary_band(label, spacing, 5.0), distance <= 5.0)


def test_a_hole_has_a_boundary_too():
    label = np.ones((9, 9), bool)
    label[4, 4] = False
    band = boundary_band(label, (1.0, 1.0), 1.0)
    assert band.sum() == 5
    assert band[4, 4]


@pytest.mark.parametrize("full", [False, True])
def test_without_a_boundary_the_band_is_empty(full):
    assert not boundary_band(np.full((4, 5, 6), full), (1.0, 1.0, 1.0), 10.0).any()


def test_a_width_below_the_spacing_reaches_no_voxel():
    label = np.eye(4, dtype=bool)
    assert not boundary_band(label, (1.0, 1.0), 0.99).any()


@settings(max_examples=60, deadline=None)
@given(mask=small_masks, margin=st.integers(0, 3))
def test_bounding_box_is_the_smallest(mask, margin):
    box = bounding_box(mask, [margin] * mask.ndim)
    points = np.argwhere(mask)
    if len(points) == 0:
        assert box is None
        return
    low = np.maximum(points.min(axis=0) - margin, 0)
    high = np.minimum(points.max(axis=0) + margin + 1, mask.shape)
    assert [(s.start, s.stop) for s in box] == list(zip(low, high, strict=True))


@pytest.mark.parametrize("shape", [(7, 3, 2), (1, 5), (12, 1 << 20), (3, 1 << 22)])
def test_slabs_cover_every_layer_once(shape):
    layers = np.arange(shape[0])
    assert np.concatenate([layers[s] for s in slabs(shape)]).tolist() == layers.tolist()


MASK = np.eye(3, dtype=bool)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: active_region(MASK.astype(int), MASK), TypeError, "label: .*bool.*int64.*== 1"),
        (lambda: active_region(MASK, [[True]]), TypeError, "prediction: .*bool.*list"),
        (lambda: active_region(MASK, MASK[:2]), ValueError, r"prediction: .*\(3, 3\).*\(2, 3\)"),
        (lambda: active_region(MASK[0], MASK[0]), ValueError, r"label: .*2D or 3D.*\(3,\)"),
        (lambda: boundary_band(MASK[None, None], (1,) * 4, 1), ValueError, "batch and channel"),
        (lambda: boundary_band(MASK, (1.0,), 1.0), ValueError, r"spacing: expected 2.*\(1.0,\)"),
        (lambda: boundary_band(MASK, (1.0, 0.0), 1.0), ValueError, "spacing: .*> 0"),
        (lambda: boundary_band(MASK, (1.0, np.nan), 1.0), ValueError, "spacing: .*finite"),
        (lambda: boundary_band(MASK, (1.0, 1.0), 0.0), ValueError, "width_mm: .*> 0, got 0"),
        (lambda: boundary_band(MASK, (1.0, 1.0), np.inf), ValueError, "width_mm: .*got inf"),
    ],
)
def test_bad_input(call, error, text):
    with pytest.raises(error, match=text):
        call()
