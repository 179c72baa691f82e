"""Prediction files rewritten: values change, layout and geometry do not."""

import zipfile
from pathlib import Path

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

from gradsurge.data import CaseError
from gradsurge.data.map_writing import write_map
from gradsurge.data.maps import read_channel_maps, read_map

RNG = np.random.default_rng(0)
P = RNG.random((5, 6, 7), dtype=np.float32)
BINARY, CLASSES = (1, 2), (3,)


def values_in(file: Path) -> np.ndarray:
    """The values of a file without channels."""
    return read_map(file, BINARY).volume.array[0]


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
    image = nibabel.Nifti1Image(np.arange(8, dtype=np.int16).reshape(4, 2, 1), np.eye(4))
    image.header.set_slope_inter(0.125, 0.0)
    nibabel.save(image, tmp_path / "a.nii")
    values = values_in(tmp_path / "a.nii")
    np.testing.assert_array_equal(values.ravel(), np.arange(8) / 8)
    write_map(values, tmp_path / "a.nii", tmp_path / "b.nii")
    np.testing.assert_array_equal(nibabel.load(tmp_path / "b.nii").get_fdata(), values)


@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
@pytest.mark.parametrize("name", ["a.nii.gz", "a.NII.GZ", "a.nii"])
def test_nifti_packed_or_not_whatever_its_name(tmp_path: Path, kind: type, name: str) -> None:
    affine = np.diag([1.0, 2.0, 3.0, 1.0])
    (tmp_path / name).write_bytes(kind(P, affine).to_bytes())
    write_map(values_in(tmp_path / name) / 2, tmp_path / name, tmp_path / f"b {name}")
    np.testing.assert_array_equal(values_in(tmp_path / f"b {name}"), P / 2)
    found = nibabel.load(tmp_path / f"b {name}")
    assert type(found) is kind
    np.testing.assert_array_equal(found.affine, affine)
    packed = (tmp_path / f"b {name}").read_bytes()[:2] == b"\x1f\x8b"
    assert packed == (name != "a.nii")


def test_channels_are_where_the_format_has_them(tmp_path: Path) -> None:
    pair = np.stack((1 - P, P))
    nibabel.save(nibabel.Nifti1Image(np.moveaxis(pair, 0, -1), np.eye(4)), tmp_path / "a.nii")
    np.savez_compressed(tmp_path / "a.npz", probabilities=pair)
    for name, axis in (("a.nii", 3), ("a.npz", 0)):
        found = read_map(tmp_path / name, BINARY)
        assert found.channel_axis == axis
        np.testing.assert_array_equal(found.volume.array, pair)
        assert found.as_stored(pair).shape == ((5, 6, 7, 2) if axis else (2, 5, 6, 7))


def test_nnunet_archive_keeps_its_key_and_first_axis(tmp_path: Path) -> None:
    source, target = tmp_path / "a.npz", tmp_path / "b.npz"
    np.savez_compressed(source, probabilities=np.stack((1 - P, P)).astype(np.float16))
    values = read_map(source, BINARY).volume.array
    assert values.dtype == np.float32
    write_map(values, source, target)
    with np.load(target, allow_pickle=False) as found:
        assert found.files == ["probabilities"]
        np.testing.assert_array_equal(found["probabilities"], values)


@pytest.mark.parametrize("key", ["file", "softmax"])
def test_an_archive_keeps_any_name_and_no_other_member(tmp_path: Path, key: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("a note.txt", b"of the scanner")
        with archive.open(f"{key}.npy", "w") as stream:
            np.lib.format.write_array(stream, P)
    write_map(values_in(tmp_path / "a.npz") / 2, tmp_path / "a.npz", tmp_path / "b.npz")
    with np.load(tmp_path / "b.npz", allow_pickle=False) as found:
        np.testing.assert_array_equal(found[key], P / 2)


UNCLEAR = {
    "two channels": (".npy", (2, 4, 5, 6), BINARY),
    "one channel": (".npy", (1, 4, 5, 6), BINARY),
    "another number of channels": (".npy", (4, 5, 6, 7), BINARY),
    "two slices": (".npy", (2, 5, 6), BINARY),
    "channels last": (".npy", (4, 5, 6, 2), BINARY),
    "two pages": (".tif", (2, 5, 6), BINARY),
    "flat NIfTI": (".nii.gz", (5, 6, 2), BINARY),
    "NIfTI the wrong way": (".nii.gz", (2, 5, 6), BINARY),
    "three classes": (".npy", (3, 4, 5), CLASSES),
    "three classes of a flat NIfTI": (".nii.gz", (4, 5, 3), CLASSES),
}


@pytest.mark.parametrize("case", UNCLEAR)
def test_what_may_be_channels_or_not_must_be_said(tmp_path: Path, case: str) -> None:
    suffix, shape, counts = UNCLEAR[case]
    file, values = tmp_path / f"a{suffix}", RNG.random(shape, dtype=np.float32)
    write(file, values)
    with pytest.raises(CaseError, match=r"may hold channels; say --channels-first .*--no-ch"):
        read_map(file, counts)
    place = len(shape) - 1 if suffix == ".nii.gz" else 0
    if shape[place] in counts:
        found = read_map(file, counts, has_channels=True)
        assert found.channel_axis == place
        np.testing.assert_array_equal(found.volume.array, np.moveaxis(values, place, 0))
        np.testing.assert_array_equal(found.as_stored(found.volume.array), values)
    if counts == BINARY:
        alone = read_map(file, counts, has_channels=False)
        assert alone.channel_axis is None
        np.testing.assert_array_equal(alone.as_stored(alone.volume.array), values)


@pytest.mark.parametrize(
    ("suffix", "shape", "counts", "has_channels", "got"),
    [
        (".npy", (4, 3, 5), CLASSES, None, 1),  # an inner axis is never the channels'
        (".npy", (4, 5, 6), CLASSES, True, 4),
        (".nii", (4, 5, 6, 3), BINARY, None, 3),
        (".npy", (3, 5, 6), BINARY, True, 3),
        (".png", (5, 6), CLASSES, None, 1),
    ],
)
def test_other_numbers_of_channels_are_refused(
    tmp_path: Path,
    suffix: str,
    shape: tuple[int, ...],
    counts: tuple[int, ...],
    has_channels: bool | None,
    got: int,
) -> None:
    write(tmp_path / f"a{suffix}", RNG.random(shape, dtype=np.float32))
    with pytest.raises(CaseError, match=rf"expected .* channels, got {got} in a file of shape"):
        read_map(tmp_path / f"a{suffix}", counts, has_channels)


def write(file: Path, values: np.ndarray) -> None:
    if ".nii" in file.name:
        nibabel.save(nibabel.Nifti1Image(values, np.eye(4)), file)
    elif file.suffix == ".png":
        Image.fromarray((values * 255).astype(np.uint8)).save(file)
    elif file.suffix == ".tif":
        tifffile.imwrite(file, values, photometric="minisblack")
    else:
        np.save(file, values)


def test_one_file_a_channel(tmp_path: Path) -> None:
    """A channel may be 0 and 1 alone where the others are not, and may have two slices."""
    hard = (P > 0.5).astype(np.float32)[:2]
    files = [tmp_path / f"a_{c:04}.npy" for c in range(3)]
    for file, values in zip(files, (hard, P[:2], P[2:4]), strict=True):
        write(file, values)
    np.testing.assert_array_equal(read_channel_maps(files).array, np.stack((hard, P[:2], P[2:4])))
    write(files[2], P)
    with pytest.raises(CaseError, match=r"a_0002.*\(5, 6, 7\) differs from \(2, 6, 7\)"):
        read_channel_maps(files)
    with pytest.raises(CaseError, match="only 0 and 1"):
        read_channel_maps(files[:1] * 2)


def test_hard_masks_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "floats.npy", (P > 0.5).astype(np.float32))
    np.save(tmp_path / "integers.npy", (P > 0.5).astype(np.uint8))
    for name in ("floats.npy", "integers.npy"):
        with pytest.raises(CaseError, match="hard mask"):
            read_map(tmp_path / name, BINARY)


def test_pictures(tmp_path: Path) -> None:
    pixels = (P[0] * 255).astype(np.uint8)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    values = values_in(tmp_path / "a.png")
    np.testing.assert_allclose(values, pixels / 255, atol=1e-7)
    write_map(values, tmp_path / "a.png", tmp_path / "b.png")
    assert np.abs(values_in(tmp_path / "b.png") - values).max() < 1 / 65535


@pytest.mark.parametrize("shape", [(5, 6), (5, 6, 7), (5, 6, 3), (3, 5, 6), (4, 5, 4)])
def test_a_tiff_stays_a_stack_and_is_no_colour_picture(
    tmp_path: Path, shape: tuple[int, ...]
) -> None:
    values = RNG.random(shape, dtype=np.float32)
    write(tmp_path / "a.tif", values)
    write_map(values / 3, tmp_path / "a.tif", tmp_path / "b.tif")
    np.testing.assert_array_equal(values_in(tmp_path / "b.tif"), values / 3)


def test_no_half_file_is_left(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", P)
    with pytest.raises(CaseError, match="cannot be written"):
        write_map(P, tmp_path / "a.npy", tmp_path / "missing" / "b.npy")
    write_map(P, tmp_path / "a.npy", tmp_path / "b.npy")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["a.npy", "b.npy"]


def test_unreadable_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.nii.gz").write_bytes(b"no image")
    with pytest.raises(CaseError, match=r"a\.nii\.gz"):
        read_map(tmp_path / "a.nii.gz", BINARY)
    with pytest.raises(CaseError, match=r"a\.nii\.gz: cannot be read"):
        write_map(P, tmp_path / "a.nii.gz", tmp_path / "b.nii.gz")
    nibabel.save(nibabel.Nifti1Image(P, np.eye(4)), tmp_path / "a.nii")
    with pytest.raises(CaseError, match=r"b\.nii: cannot be written"):
        write_map(np.zeros((1, 40000, 1)), tmp_path / "a.nii", tmp_path / "b.nii")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["a.nii", "a.nii.gz"]
