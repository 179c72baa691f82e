"""Volumes of DICOM slices, against MONAI's reader."""

import numpy as np
import pytest

from gradsurge.data import CaseError
from gradsurge.data.datasets import Kits
from gradsurge.data.formats.dicom_series import read_series, slices_in
from tests.data.datasets import trees

SHAPE = (7, 12, 9)  # slices, rows, columns
TILT = np.deg2rad(12)
ORIENTATIONS = {
    "axial": (1, 0, 0, 0, 1, 0),
    "sagittal": (0, 1, 0, 0, 0, -1),
    "oblique": (1, 0, 0, 0, np.cos(TILT), np.sin(TILT)),
}


def write_series(folder, orientation="axial", apart=2.5, order=None, **tags):
    """Slices in an order that neither their names nor their numbers tell."""
    pixels = trees.rng().integers(0, 4000, SHAPE)
    directions = np.round(np.array(ORIENTATIONS[orientation], float), 8)  # 16 letters at most
    normal = np.cross(directions[:3], directions[3:])
    for place, n in enumerate(trees.rng(1).permutation(SHAPE[0]) if order is None else order):
        trees.write_dicom(
            folder / f"slice{place}.dcm",
            pixels[n],
            Modality="CT",
            InstanceNumber=int(n) + 1,
            PixelSpacing=[0.8, 0.6],  # rows apart, columns apart
            ImageOrientationPatient=directions.tolist(),
            ImagePositionPatient=np.round([-50, 20, -300] + n * apart * normal, 6).tolist(),
            SeriesInstanceUID=tags.pop("series", "1.2.3"),
            **{"RescaleSlope": "1", "RescaleIntercept": "-1024", **tags},
        )
    return pixels


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_values_and_affine_are_monais(tmp_path, orientation):
    from monai.data import PydicomReader

    pixels = write_series(tmp_path, orientation)
    found = read_series(tmp_path)
    assert found.array.dtype == np.float32
    assert found.array.shape == SHAPE[::-1]
    reader = PydicomReader(affine_lps_to_ras=True)
    values, meta = reader.get_data(reader.read(str(tmp_path)))
    # The one may count slices up and the other down: every value must lie in the same place.
    index = np.array([[0, 0, 0], [3, 5, 2], [8, 11, 6]])
    points = index @ found.affine[:3, :3].T + found.affine[:3, 3]
    theirs = np.linalg.inv(meta["affine"]) @ np.c_[points, np.ones(3)].T
    theirs = np.rint(theirs[:3]).astype(int)
    np.testing.assert_allclose(values[tuple(theirs)], found.array[tuple(index.T)], atol=1e-3)
    np.testing.assert_allclose(found.spacing, (0.6, 0.8, 2.5), atol=1e-6)
    np.testing.assert_array_equal(np.sort(found.array.ravel()), np.sort(pixels.ravel() - 1024.0))


def test_a_series_is_an_image_for_prediction(tmp_path):
    for name in ("first", "second"):
        write_series(tmp_path / name)
    (tmp_path / "empty").mkdir()
    found = Kits().find_images(tmp_path)
    assert [c.name for c in found.cases] == ["first", "second"]
    (alone,) = Kits().find_images(tmp_path / "first").cases
    prepared = Kits().load_image(alone)
    assert alone.name == "first"
    assert prepared.grid.flips == (True, True, False)  # DICOM counts to the left and the back
    assert prepared.image.shape == (1, 4, 6, 12)  # 5.4 x 9.6 x 17.5 mm at 1.5


def test_files_without_suffix_are_told_by_their_content(tmp_path):
    write_series(tmp_path)
    for n, file in enumerate(sorted(tmp_path.iterdir())):
        file.rename(tmp_path / f"1.3.6.1.{n}")
    (tmp_path / "README").write_text("not a slice")
    (tmp_path / "DICOMDIR").write_bytes(b"\0" * 128 + b"DICM")
    assert len(slices_in(tmp_path)) == SHAPE[0]
    assert read_series(tmp_path).array.shape == SHAPE[::-1]


def test_faults_are_named(tmp_path):
    write_series(tmp_path / "gap")
    next(f for f in (tmp_path / "gap").iterdir() if f.name == "slice3.dcm").unlink()
    write_series(tmp_path / "twice", apart=0.0)
    write_series(tmp_path / "two series")
    write_series(tmp_path / "two series" / "x", series="9.9")
    (tmp_path / "two series" / "x" / "slice0.dcm").rename(tmp_path / "two series" / "other.dcm")
    write_series(tmp_path / "scout")
    trees.write_dicom(
        tmp_path / "scout" / "zz.dcm",
        np.zeros((3, 3), int),
        PixelSpacing=[1, 1],
        ImageOrientationPatient=[1, 0, 0, 0, 1, 0],
        ImagePositionPatient=[0, 0, 0],
        SeriesInstanceUID="1.2.3",
    )
    write_series(tmp_path / "cut")
    (tmp_path / "cut" / "slice4.dcm").write_bytes(b"\0" * 128 + b"DICM" + b"rubbish")
    trees.write_dicom(tmp_path / "flat" / "a.dcm", np.zeros((3, 3), int))
    (tmp_path / "none").mkdir()
    expected = {
        "gap": "mm apart; add those that are missing",
        "twice": "two slices lie in the same place",
        "two series": "holds 2 series; put each into a folder",
        "scout": r"zz.dcm: has another size, spacing or direction",
        "cut": r"slice4.dcm: cannot be read as DICOM",
        "flat": r"a.dcm: has no ImagePositionPatient.*dcm2niix",
        "none": "holds no DICOM slice",
    }
    for folder, words in expected.items():
        with pytest.raises(CaseError, match=words) as caught:
            read_series(tmp_path / folder)
        assert "\n" not in str(caught.value)


def test_an_unreadable_folder_is_a_problem(tmp_path, monkeypatch):
    write_series(tmp_path / "good")
    (tmp_path / "locked").mkdir()
    from gradsurge.data.datasets import inputs

    def listing(folder):
        if folder.name == "locked":
            raise PermissionError(13, "Permission denied", str(folder))
        return slices_in(folder)

    monkeypatch.setattr(inputs, "slices_in", listing)
    found = Kits().find_images(tmp_path)
    assert [c.name for c in found.cases] == ["good"]
    ((name, said),) = found.problems
    assert name == "locked"
    assert "Permission denied" in said


def test_empty_rescaling_is_none(tmp_path):
    pixels = write_series(tmp_path, RescaleSlope=None, RescaleIntercept="")
    values = read_series(tmp_path).array
    np.testing.assert_array_equal(np.sort(values.ravel()), np.sort(pixels.ravel()))


def test_how_numbers_are_shown_does_not_change_them(tmp_path):
    write_series(tmp_path / "one")
    write_series(tmp_path / "two", PhotometricInterpretation="MONOCHROME1")
    one, two = (read_series(tmp_path / name).array for name in ("one", "two"))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize(
    ("tag", "value", "words"),
    [
        ("ImagePositionPatient", None, "has no ImagePositionPatient"),
        ("PixelSpacing", None, "has no PixelSpacing"),
        ("PixelSpacing", [0, 1], "PixelSpacing.* span no plane"),
        ("ImageOrientationPatient", [0] * 6, "ImageOrientationPatient.* span no plane"),
        ("ImageOrientationPatient", [1, 0, 0, 1, 0, 0], "ImageOrientationPatient.* span no plane"),
        ("ImageOrientationPatient", [1, 0, 0], "expected 6 numbers"),
    ],
)
def test_a_slice_that_lies_nowhere(tmp_path, tag, value, words):
    where = {
        "PixelSpacing": [1, 1],
        "ImageOrientationPatient": [1, 0, 0, 0, 1, 0],
        "ImagePositionPatient": [0, 0, 0],
    }
    file = trees.write_dicom(tmp_path / "a.dcm", np.zeros((3, 3), int), **{**where, tag: value})
    with pytest.raises(CaseError, match=words) as caught:
        read_series(tmp_path)
    assert str(caught.value).startswith(str(file))
    assert "dcm2niix" in str(caught.value)


def test_series_of_studies_of_patients(tmp_path):
    for name in ("P1/S1/arterial", "P1/S1/venous", "P1/S2/plain", "P2"):
        write_series(tmp_path / name)
    found = Kits().find_images(tmp_path)
    assert found.problems == []
    assert [c.name for c in found.cases] == ["P1_S1_arterial", "P1_S1_venous", "P1_S2_plain", "P2"]
    assert [c.name for c in Kits().find_images(tmp_path / "P1").cases] == [
        "S1_arterial",
        "S1_venous",
        "S2_plain",
    ]


def test_links_in_a_circle_end(tmp_path):
    write_series(tmp_path / "P1" / "S1")
    (tmp_path / "P1" / "again").symlink_to(tmp_path / "P1")
    assert "P1_S1" in [c.name for c in Kits().find_images(tmp_path).cases]


def test_one_slice_is_no_volume(tmp_path):
    write_series(tmp_path)
    with pytest.raises(ValueError, match="one slice of a DICOM series; give its folder"):
        Kits().find_images(tmp_path / "slice0.dcm")
