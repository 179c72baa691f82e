"""The data sets as they are published; skipped where the shared folder is absent."""

from pathlib import Path

import nibabel
import numpy as np
import pytest
from scipy import ndimage

from gradsurge.data import read_label
from gradsurge.data.datasets import Chase, Fives, Kits, NnUnet
from gradsurge.data.datasets.kits import tumours
from gradsurge.data.preprocessing import label_onto_grid, to_source

DATA = Path(__file__).parents[4] / "shared" / "data"


def folder(name):
    if not (DATA / name).is_dir():
        pytest.skip(f"no {name} in the shared data folder")
    return DATA / name


def test_hippocampus():
    dataset = NnUnet()
    found = dataset.find(folder("Dataset004_Hippocampus"))
    assert (len(found.cases), found.problems) == (260, [])
    assert dataset.label_names == {0: "background", 1: "anterior", 2: "posterior"}
    assert [len(s) for s in dataset.split(found.cases, 0).values()] == [166, 42, 52]
    for case in found.cases[::65]:
        prepared = dataset.load(case)
        assert prepared.image.mean() == pytest.approx(0, abs=1e-3)
        source = nibabel.load(case.files["label"]).get_fdata()
        one_hot = np.stack([prepared.label == n for n in range(3)]).astype(np.float32)
        np.testing.assert_array_equal(to_source(one_hot, prepared.grid).argmax(axis=0), source)


def test_isles_at_two_millimetres():
    dataset = NnUnet(spacing=(2.0, 2.0, 2.0))
    found = dataset.find(folder("Dataset022_ISLES"))
    assert (len(found.cases), found.problems) == (125, [])
    assert dataset.channel_names == ("DWI", "ADC")
    anisotropic = next(c for c in found.cases if max(read_label(c.files["label"]).spacing) > 4)
    prepared = dataset.load(anisotropic)
    assert prepared.spacing == pytest.approx((2, 2, 2), rel=0.03)
    label = read_label(anisotropic.files["label"])
    volume = label.array.sum() * np.prod(label.spacing)
    assert prepared.label.sum() * np.prod(prepared.spacing) == pytest.approx(volume, rel=0.15)
    one_hot = np.stack([prepared.label == n for n in range(2)]).astype(np.float32)
    back = to_source(one_hot, prepared.grid)[1] > 0.5
    dice = 2 * (back & (label.array == 1)).sum() / (back.sum() + label.array.sum())
    assert dice > 0.85


def test_isles_has_cases_without_lesion():
    dataset = NnUnet()
    found = dataset.find(folder("Dataset022_ISLES"))
    empty = [c for c in found.cases if not read_label(c.files["label"]).array.any()]
    assert empty
    assert not dataset.load(empty[0]).label.any()


def test_chase():
    dataset = Chase()
    found = dataset.find(folder("CHASE_DB1"))
    assert (len(found.cases), found.problems) == (28, [])
    assert len({c.group for c in found.cases}) == 14
    assert [len(s) for s in dataset.split(found.cases, 0).values()] == [16, 4, 8]
    first, second, drawn = 0, 0, 0
    for case in found.cases[:6]:
        prepared = dataset.load(case)
        assert prepared.image.shape == (3, 960, 999)
        rater = prepared.extras["second_rater"]
        first, second = first + int(prepared.label.sum()), second + int(rater.sum())
        drawn += int((prepared.label & rater).sum())
        assert prepared.extras["field_of_view"].mean() > 0.5
    assert 2 * drawn / (first + second) == pytest.approx(0.777, abs=0.03)


def test_fives_sample():
    dataset = Fives()
    found = dataset.find(folder("FIVES_sample"))
    assert [c.name for c in found.cases] == ["test_2_A", "test_3_A", "test_5_A"]
    assert dataset.split(found.cases, 0)["test"] == [c.name for c in found.cases]
    prepared = dataset.load(found.cases[0])
    assert prepared.image.shape == (3, 512, 512)
    assert 0.05 < prepared.label.mean() < 0.2
    # Vessels are darker in green than what lies beside them, if label and image fit.
    beside = ndimage.binary_dilation(prepared.label, iterations=4) & (prepared.label == 0)
    green = prepared.image[1]
    assert green[prepared.label == 1].mean() < green[beside].mean() - 0.2


def test_kits_labels():
    files = sorted(folder("KiTS_labels_sample").glob("dataset/*/segmentation.nii.gz"))
    found = Kits().find(DATA / "KiTS_labels_sample")
    assert [name for name, _ in found.problems] == [file.parent.name for file in files]
    shapes = []
    for file in files:
        label = read_label(file)
        grid = Kits().region_of_interest(label, label)
        shapes.append([stop - start for start, stop in grid.crop])
        number, volume = tumours(label.array, label.spacing)
        whole = (label.array == 2).sum() * np.prod(label.spacing)
        assert number >= 1
        assert volume == pytest.approx(whole, rel=0.01)
        prepared = label_onto_grid((label.array == 2).astype(np.uint8), grid)
        assert prepared.sum() * 1.5**3 == pytest.approx(whole, rel=0.1)
    np.testing.assert_allclose(np.median(shapes, axis=0), (218, 130, 160), atol=5)
