"""Labels and masks come back as the class numbers that were written."""

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

from gradsurge.data import CaseError, read_label, read_mask
from tests.data.files import AFFINE, classes, nifti

FLAT = classes(3, (9, 11))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float32, np.float64, ">i2"])
@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
def test_nifti(tmp_path, name, dtype):
    path = nifti(tmp_path / name, classes().astype(dtype))
    volume = read_label(path)
    np.testing.assert_array_equal(volume.array, classes())
    assert volume.array.dtype == np.uint8
    assert volume.spacing == (1.5, 2.0, 3.0)
    np.testing.assert_array_equal(volume.affine, AFFINE)
    assert volume.source == path


def test_large_numbers_take_the_type_they_need(tmp_path):
    for number, dtype in ((255, np.uint8), (256, np.uint16), (70_000, np.uint32)):
        array = np.array([[[0, number]]], dtype=np.int32)
        volume = read_label(nifti(tmp_path / "a.nii", array))
        assert volume.array.dtype == dtype
        assert volume.array.max() == number


def test_scaled_nifti(tmp_path):
    image = nibabel.Nifti1Image(classes(), AFFINE)
    image.header.set_slope_inter(2.0, 1.0)
    nibabel.save(image, tmp_path / "a.nii")  # nibabel divides by the slope: stores (y - 1) / 2
    saved = np.asarray(nibabel.load(tmp_path / "a.nii").dataobj)
    np.testing.assert_array_equal(read_label(tmp_path / "a.nii").array, saved)


@pytest.mark.parametrize(("unit", "factor"), [("mm", 1), ("meter", 1000), ("micron", 0.001)])
def test_spacing_is_in_millimetres_whatever_the_unit(tmp_path, unit, factor):
    image = nibabel.Nifti1Image(classes(), AFFINE)
    image.header.set_xyzt_units(unit)
    nibabel.save(image, tmp_path / "a.nii")
    volume = read_label(tmp_path / "a.nii")
    assert volume.spacing == pytest.approx((1.5 * factor, 2 * factor, 3 * factor))
    np.testing.assert_allclose(volume.affine[:3], AFFINE[:3] * factor)


def test_axes_of_length_one(tmp_path):
    four = read_label(nifti(tmp_path / "a.nii", classes()[..., None, None]))
    np.testing.assert_array_equal(four.array, classes())
    thin = read_label(nifti(tmp_path / "b.nii", classes()[..., :1]))
    assert thin.array.shape == (4, 5, 1)
    flat = read_label(nifti(tmp_path / "c.nii", classes()[..., 0]))
    assert flat.spacing == (1.5, 2.0)


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_pictures(tmp_path, suffix, dtype):
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(FLAT.astype(dtype)).save(path)
    volume = read_label(path)
    np.testing.assert_array_equal(volume.array, FLAT)
    assert volume.array.dtype == np.uint8
    assert (volume.spacing, volume.affine) == (None, None)


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize(("dtype", "top"), [(np.uint8, 255), (np.uint16, 65535)])
def test_white_means_one_if_all_else_is_black(tmp_path, suffix, dtype, top):
    path, mask = tmp_path / f"a.{suffix}", FLAT > 0
    Image.fromarray((mask * top).astype(dtype)).save(path)
    np.testing.assert_array_equal(read_label(path).array, mask)
    Image.fromarray(np.full((9, 11), top, dtype)).save(path)
    np.testing.assert_array_equal(read_label(path).array, 1)
    mixed = (mask * top).astype(dtype)
    mixed[0, 0] = 7
    Image.fromarray(mixed).save(path)
    np.testing.assert_array_equal(read_label(path).array, mixed)


@pytest.mark.parametrize("options", [{}, {"compression": "group4"}])
def test_one_bit(tmp_path, options):
    mask = FLAT > 0
    Image.fromarray(mask).save(tmp_path / "a.png")
    Image.fromarray(mask).save(tmp_path / "a.tif", **options)
    tifffile.imwrite(tmp_path / "b.tif", ~mask, photometric="miniswhite")
    for name in ("a.png", "a.tif", "b.tif"):
        np.testing.assert_array_equal(read_label(tmp_path / name).array, mask)


@pytest.mark.parametrize("bits", [2, 4])
def test_few_bits_are_not_stretched(tmp_path, bits):
    image = Image.fromarray((FLAT * (255 // (2**bits - 1))).astype(np.uint8))
    image.save(tmp_path / "a.png", bits=bits)  # Pillow shrinks as it stretches
    assert (tmp_path / "a.png").read_bytes()[24] == bits
    np.testing.assert_array_equal(read_label(tmp_path / "a.png").array, FLAT)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_palettes_give_indices(tmp_path, bits):
    indices = FLAT % min(2**bits, 128)
    image = Image.fromarray(indices).copy()
    image.putpalette([200, 10, 10, 10, 200, 10, 10, 10, 200])
    image.save(tmp_path / "a.png", bits=bits)
    image.save(tmp_path / "a.tif")
    for name in ("a.png", "a.tif"):
        np.testing.assert_array_equal(read_label(tmp_path / name).array, indices)


def test_an_index_of_255_stays_one(tmp_path):
    image = Image.fromarray(np.where(FLAT > 0, 255, 0).astype(np.uint8)).convert("L")
    image.putpalette(list(range(256)) * 3)
    image.save(tmp_path / "a.png")
    assert read_label(tmp_path / "a.png").array.max() == 255


def test_stacks_and_arrays(tmp_path):
    tifffile.imwrite(tmp_path / "a.tif", classes(), photometric="minisblack")
    np.save(tmp_path / "a.npy", classes().astype(np.int64))
    np.savez_compressed(tmp_path / "a.npz", labels=classes())
    for name in ("a.tif", "a.npy", "a.npz"):
        np.testing.assert_array_equal(read_label(tmp_path / name).array, classes())


def test_masks_are_true_where_not_zero(tmp_path):
    nifti(tmp_path / "a.nii", classes().astype(np.float32))
    mask = read_mask(tmp_path / "a.nii")
    assert mask.array.dtype == np.bool_
    np.testing.assert_array_equal(mask.array, classes() > 0)
    assert mask.spacing == (1.5, 2.0, 3.0)
    Image.fromarray((FLAT > 0).astype(np.uint8) * 200).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_mask(tmp_path / "a.png").array, FLAT > 0)


BAD = [
    (np.full((3, 4, 5), 0.5), "whole numbers, got 0.5; is this a probability map"),
    (np.full((3, 4, 5), np.nan), "whole numbers, got nan"),
    (np.full((3, 4, 5), np.inf), "whole numbers, got inf"),
    (np.full((3, 4, 5), -1.0), "negative, got -1; .*mask file"),
    (np.array([[[-3, -2, 0, 1]]], np.int16), "negative, got -3, -2;"),
    (np.full((3, 4, 5), 1e30), "too large, got 1e\\+30"),
    (np.array([[[0, 2**40]]], np.uint64), r"too large, got 1\.09951e\+12"),
    (np.zeros((3, 4, 5, 2), np.uint8), r"two or three axes.*\(3, 4, 5, 2\)"),
    (np.linspace(0, 1, 60).reshape(3, 4, 5), r"got 0.0169492, .*, \.\.\.; is this"),
]


@pytest.mark.parametrize(("array", "message"), BAD)
@pytest.mark.parametrize("read", [read_label, read_mask])
def test_what_is_no_label(tmp_path, array, message, read):
    path = nifti(tmp_path / "a.nii.gz", array)
    with pytest.raises(CaseError, match=rf"a\.nii\.gz: .*{message}"):
        read(path)
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(CaseError, match=rf"a\.npy: .*{message}"):
        read(tmp_path / "a.npy")


def test_colours_are_refused_unless_grey(tmp_path):
    path = tmp_path / "a.png"
    grey = (FLAT > 0).astype(np.uint8) * 255
    Image.fromarray(np.stack([grey] * 3, axis=-1)).save(path)
    np.testing.assert_array_equal(read_label(path).array, FLAT > 0)
    Image.fromarray(np.stack([grey, grey, 255 - grey], axis=-1)).save(path)
    with pytest.raises(CaseError, match=r"a.png: is a colour picture"):
        read_label(path)
    tifffile.imwrite(tmp_path / "a.tif", np.stack([grey, grey, 255 - grey], -1), photometric="rgb")
    with pytest.raises(CaseError, match=r"a.tif: is a colour picture"):
        read_label(tmp_path / "a.tif")


def test_complex_and_colour_nifti_are_refused(tmp_path):
    nifti(tmp_path / "a.nii", np.zeros((2, 2, 2), np.complex64))
    with pytest.raises(CaseError, match=r"a.nii: holds complex64.*split it into files"):
        read_label(tmp_path / "a.nii")
    rgb = np.zeros((2, 2, 2), dtype=[("R", "u1"), ("G", "u1"), ("B", "u1")])
    nifti(tmp_path / "a.nii", rgb)
    with pytest.raises(CaseError, match="expected one number a voxel"):
        read_label(tmp_path / "a.nii")
