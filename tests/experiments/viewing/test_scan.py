"""Scans of all formats, against what was written."""

import nibabel
import numpy as np
import pytest
from PIL import Image

from gradsurge.data.case_error import CaseError
from gradsurge.experiments.viewing.overlays import read_classes, read_maps
from gradsurge.experiments.viewing.scan import read_scan
from tests.experiments.prediction.fakes import dicom_series
from tests.experiments.viewing.folders import AFFINE, SHAPE, save


def test_nifti_with_slope_and_channels(tmp_path):
    image = nibabel.Nifti1Image(np.arange(np.prod(SHAPE), dtype=np.int16).reshape(SHAPE), AFFINE)
    image.header.set_slope_inter(0.5, -3)
    nibabel.save(image, tmp_path / "a.nii")
    scan = read_scan(tmp_path / "a.nii")
    assert np.allclose(scan.values, np.asarray(nibabel.load(tmp_path / "a.nii").dataobj))
    assert np.allclose(scan.affine, AFFINE)
    two = np.random.default_rng(0).random((*SHAPE, 2)).astype(np.float32)
    file = save(tmp_path / "two.nii.gz", two)
    assert np.array_equal(read_scan(file).values, two[..., 0])
    assert np.array_equal(read_scan(file, 1).values, two[..., 1])
    with pytest.raises(CaseError, match="channels 0 to 1, got 2"):
        read_scan(file, 2)


def test_pictures_keep_their_colours(tmp_path):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 8, 3)).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    scan = read_scan(tmp_path / "a.png")
    assert scan.colours
    assert scan.values.shape == (3, 6, 8)
    assert scan.grid.array.shape == (6, 8)
    green = read_scan(tmp_path / "a.png", 1)
    assert not green.colours
    assert np.array_equal(green.values, pixels[..., 1])
    Image.fromarray(pixels[..., 0]).save(tmp_path / "grey.png")
    assert not read_scan(tmp_path / "grey.png").colours


def test_stacks_and_arrays(tmp_path):
    import tifffile

    stack = np.random.default_rng(0).integers(0, 256, (5, 6, 8)).astype(np.uint8)
    tifffile.imwrite(tmp_path / "s.tif", stack, photometric="minisblack")
    assert np.array_equal(read_scan(tmp_path / "s.tif").values, stack)
    np.save(tmp_path / "s.npy", stack)
    assert np.array_equal(read_scan(tmp_path / "s.npy").values, stack)
    np.save(tmp_path / "line.npy", stack[0, 0])
    with pytest.raises(CaseError, match="no image of two or three axes"):
        read_scan(tmp_path / "line.npy")


def test_dicom_folders(tmp_path):
    dicom_series(tmp_path / "series")
    scan = read_scan(tmp_path / "series")
    assert scan.values.shape == (9, 11, 7)
    assert scan.affine is not None


def test_a_file_that_is_none(tmp_path):
    (tmp_path / "a.nii.gz").write_bytes(b"nothing")
    with pytest.raises(CaseError, match=r"a\.nii\.gz: cannot be read"):
        read_scan(tmp_path / "a.nii.gz")


@pytest.fixture
def like(tmp_path):
    return read_scan(save(tmp_path / "scan.nii.gz", np.zeros(SHAPE, np.float32))).grid


def test_maps_must_be_probabilities_on_the_grid(tmp_path, like):
    p = np.random.default_rng(0).random(SHAPE).astype(np.float32)
    assert np.array_equal(read_maps(save(tmp_path / "p.nii.gz", p), like)[0], p)
    with pytest.raises(CaseError, match="expected probabilities from 0 to 1, got values from"):
        read_maps(save(tmp_path / "z.nii.gz", 5 * p - 2), like)
    p[0, 0, 0] = np.nan
    with pytest.raises(CaseError, match="logits and NaN are not shown"):
        read_maps(save(tmp_path / "n.nii.gz", p), like)
    with pytest.raises(CaseError, match="the scan's"):
        read_maps(save(tmp_path / "far.nii.gz", np.zeros(SHAPE, np.float32), np.eye(4)), like)
    with pytest.raises(CaseError, match="shape"):
        read_maps(save(tmp_path / "big.nii.gz", np.zeros((3, 3, 3), np.float32)), like)


def test_maps_that_are_all_zero_or_one_are_shown(tmp_path, like):
    """A saturated model's map is what somebody wants to look at; evaluation refuses it."""
    saturated = np.zeros(SHAPE, np.float32)
    saturated[2:4] = 1
    assert read_maps(save(tmp_path / "p.nii.gz", saturated), like).max() == 1


def test_classes_up_to_255(tmp_path, like):
    label = np.full(SHAPE, 300, np.int16)
    with pytest.raises(CaseError, match="class numbers up to 255 can be shown, got 300"):
        read_classes(save(tmp_path / "l.nii.gz", label), like)
