"""Prediction files rewritten: values change, layout and geometry do not."""

from pathlib import Path

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

from gradsurge.data import CaseError
from gradsurge.data.maps import read_map, write_map

RNG = np.random.default_rng(0)
P = RNG.random((5, 6, 7), dtype=np.float32)


def test_nifti_keeps_header_and_geometry(tmp_path: Path) -> None:
    affine = np.array([[0, -1.5, 0, 10], [0.7, 0, 0, -4], [0, 0, 3, 2], [0, 0, 0, 1.0]])
    image = nibabel.Nifti1Image(P, affine)
    image.header.set_xyzt_units("mm", "sec")
    image.header["descrip"] = b"of the scanner"
    image.set_qform(affine, 1)
    image.set_sform(affine, 2)
    source, target = tmp_path / "a.nii.gz", tmp_path / "b.nii.gz"
    nibabel.save(image, source)
    write_map(P / 2, source, target)
    found = nibabel.load(target)
    np.testing.assert_array_equal(found.get_fdata(dtype=np.float32), P / 2)
    np.testing.assert_array_equal(found.affine, nibabel.load(source).affine)
    assert int(found.header["sform_code"]) == 2
    assert int(found.header["qform_code"]) == 1
    assert bytes(found.header["descrip"]).startswith(b"of the scanner")


def test_nifti_of_scaled_integers_becomes_plain_floats(tmp_path: Path) -> None:
    image = nibabel.Nifti1Image(np.arange(8, dtype=np.int16).reshape(2, 2, 2), np.eye(4))
    image.header.set_slope_inter(0.125, 0.0)
    nibabel.save(image, tmp_path / "a.nii")
    values = read_map(tmp_path / "a.nii").values
    np.testing.assert_array_equal(values.ravel(), np.arange(8) / 8)
    write_map(values, tmp_path / "a.nii", tmp_path / "b.nii")
    np.testing.assert_array_equal(nibabel.load(tmp_path / "b.nii").get_fdata(), values)


@pytest.mark.parametrize(("shape", "axis"), [((4, 5, 6), None), ((4, 5, 6, 3), 3)])
def test_nifti_channels_come_last(tmp_path: Path, shape: tuple[int, ...], axis: int | None) -> None:
    nibabel.save(nibabel.Nifti1Image(np.zeros(shape, np.float32), np.eye(4)), tmp_path / "a.nii")
    assert read_map(tmp_path / "a.nii").channel_axis == axis


def test_nnunet_archive_keeps_its_key_and_first_axis(tmp_path: Path) -> None:
    source, target = tmp_path / "a.npz", tmp_path / "b.npz"
    np.savez_compressed(source, probabilities=np.stack((1 - P, P)).astype(np.float16))
    values, axis = read_map(source)
    assert axis == 0
    assert values.dtype == np.float32
    write_map(values, source, target)
    with np.load(target, allow_pickle=False) as found:
        assert found.files == ["probabilities"]
        np.testing.assert_array_equal(found["probabilities"], values)


@pytest.mark.parametrize("channels_first", [False, True])
def test_arrays_have_channels_only_if_said(tmp_path: Path, channels_first: bool) -> None:
    np.save(tmp_path / "a.npy", P)
    assert read_map(tmp_path / "a.npy", channels_first).channel_axis == (
        0 if channels_first else None
    )


def test_pictures(tmp_path: Path) -> None:
    pixels = (P[0] * 255).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    values = read_map(tmp_path / "a.png").values
    np.testing.assert_allclose(values, pixels / 255, atol=1e-7)
    write_map(values, tmp_path / "a.png", tmp_path / "b.png")
    assert np.abs(read_map(tmp_path / "b.png").values - values).max() < 1 / 65535
    tifffile.imwrite(tmp_path / "a.tif", P)
    write_map(P / 3, tmp_path / "a.tif", tmp_path / "b.tif")
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "b.tif"), P / 3)


def test_no_half_file_is_left(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", P)
    with pytest.raises(CaseError, match="cannot be written"):
        write_map(P, tmp_path / "a.npy", tmp_path / "missing" / "b.npy")
    write_map(P, tmp_path / "a.npy", tmp_path / "b.npy")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["a.npy", "b.npy"]


def test_unreadable_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.nii.gz").write_bytes(b"no image")
    with pytest.raises(CaseError, match=r"a\.nii\.gz"):
        read_map(tmp_path / "a.nii.gz")
