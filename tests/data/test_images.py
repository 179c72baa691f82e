"""Scans for pictures: found by the case's name, read as grey, on the label's grid."""

import numpy as np
import pytest
import tifffile
from PIL import Image

from gradsurge.data import CaseError, find_image, read_image
from tests.data.files import AFFINE, label_like, nifti

PICTURE = label_like(np.zeros((4, 6), np.uint8), "label.png")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a.png", "a_0000.png", "b.png"], "a_0000.png"),
        (["a_0001.png", "a.jpg"], "a.jpg"),
        (["a.JPG"], "a.JPG"),
        (["a.NII.GZ", "a.csv"], "a.NII.GZ"),
        (["aa.png", "a.txt", ".png"], None),
    ],
)
def test_a_scan_is_found_by_the_cases_name(tmp_path, names, expected):
    for name in names:
        (tmp_path / name).touch()
    found = find_image(tmp_path, "a")
    assert found == (None if expected is None else tmp_path / expected)


@pytest.mark.parametrize("case", ["*", "[a]", "x y", "<b>", "-n", "日本"])
def test_names_are_taken_as_they_are(tmp_path, case):
    for name in (f"{case}.png", "a.png", "other.png"):
        (tmp_path / name).touch()
    assert find_image(tmp_path, case) == tmp_path / f"{case}.png"


def test_a_folder_is_no_scan(tmp_path):
    (tmp_path / "a.png").mkdir()
    assert find_image(tmp_path, "a") is None


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_16_bits_are_kept(tmp_path, suffix):
    array = (np.arange(24).reshape(4, 6) * 2500).astype(np.uint16)
    file = tmp_path / f"a{suffix}"
    Image.fromarray(array).save(file)
    found = read_image(file, PICTURE)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif"])
def test_colours_become_grey(tmp_path, suffix):
    colours = np.zeros((4, 6, 3), np.uint8)
    colours[:] = (200, 100, 50)
    file = tmp_path / f"a{suffix}"
    Image.fromarray(colours).save(file)
    grey = 0.299 * 200 + 0.587 * 100 + 0.114 * 50
    assert read_image(file, PICTURE) == pytest.approx(np.full((4, 6), grey), abs=2)


def test_floats_in_tiff_are_kept(tmp_path):
    array = np.linspace(-3, 4, 24, dtype=np.float32).reshape(4, 6)
    tifffile.imwrite(tmp_path / "a.tif", array)
    np.testing.assert_array_equal(read_image(tmp_path / "a.tif", PICTURE), array)


def test_the_first_channel_of_a_volume(tmp_path):
    label = label_like(np.zeros((4, 5, 6), np.uint8))
    array = np.random.default_rng(0).normal(size=(4, 5, 6, 2)).astype(np.float32)
    file = nifti(tmp_path / "a.nii.gz", array)
    np.testing.assert_array_equal(read_image(file, label), array[..., 0])


def test_a_volume_elsewhere_is_refused(tmp_path):
    label = label_like(np.zeros((4, 5, 6), np.uint8))
    array = np.zeros((4, 5, 6), np.float32)
    moved = AFFINE + np.array([[0, 0, 0, 9.0], *[[0] * 4] * 3])
    with pytest.raises(CaseError, match="affine differs"):
        read_image(nifti(tmp_path / "a.nii.gz", array, moved), label)
    with pytest.raises(CaseError, match="does not fit"):
        read_image(nifti(tmp_path / "b.nii.gz", array[1:]), label)


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".tif", ".nii.gz"])
@pytest.mark.parametrize("content", [b"", b"no picture at all", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"])
def test_what_is_no_picture_is_one_line(tmp_path, suffix, content):
    file = tmp_path / f"a{suffix}"
    file.write_bytes(content)
    with pytest.raises(CaseError, match="cannot be read") as caught:
        read_image(file, PICTURE)
    assert len(str(caught.value).splitlines()) == 1


def test_a_palette_with_transparency_does_not_warn(tmp_path):
    image = Image.fromarray(np.arange(24, dtype=np.uint8).reshape(4, 6) % 4).convert("P")
    image.save(tmp_path / "a.png", transparency=bytes([0, 100, 255, 255]))
    assert read_image(tmp_path / "a.png", PICTURE).shape == (4, 6)
