"""Labels as they are published; skipped where the shared folder is absent."""

from pathlib import Path

import nibabel
import numpy as np
import pytest

from gradsurge.data import binarise, check_geometry, find_files, read_label, read_prediction

DATA = Path(__file__).parents[3] / "shared" / "data"


def real(pattern):
    found = sorted(DATA.glob(pattern))
    if not found:
        pytest.skip(f"no {pattern} in the shared data folder")
    return found


def test_kits():
    path = real("KiTS_labels_sample/dataset/*/segmentation.nii.gz")[0]
    label = read_label(path)
    assert label.array.dtype == np.uint8
    assert set(np.unique(label.array)) <= {0, 1, 2, 3}
    assert label.spacing == pytest.approx(nibabel.load(path).header.get_zooms(), rel=1e-4)
    assert 0 < binarise(label.array, (1, 2)).sum() < label.array.size / 10


def test_isles_as_its_own_prediction(tmp_path):
    folder = real("Dataset022_ISLES/labelsTr")[0]
    cases = find_files(folder)
    assert len(cases) == 125
    source = next(iter(cases.values()))[0]
    label = read_label(source)
    p = np.clip(label.array * np.float32(0.8) + np.float32(0.1), 0, 1)
    image = nibabel.load(source)
    nibabel.save(nibabel.Nifti1Image(p, image.affine, image.header, dtype="f4"), tmp_path / "p.nii")
    prediction = read_prediction([tmp_path / "p.nii"], label)
    check_geometry(prediction, label)
    assert prediction.array[0][label.array == 1].mean() == pytest.approx(0.9, abs=1e-6)


def test_chase_masks_are_zero_and_one():
    label = read_label(real("CHASE_DB1/1st_manual/*.png")[0])
    assert label.array.shape == (960, 999)
    assert 0.03 < label.array.mean() < 0.12
    assert set(np.unique(label.array)) == {0, 1}
