"""Images to predict on, however people keep them."""

import json
import shutil

import nibabel
import numpy as np
import pytest

from gradsurge.data import CaseError
from gradsurge.data.datasets import BratsMets, Fives, Inbreast, Kits, dataset_of_store
from gradsurge.data.datasets.making import make_dataset
from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.phantoms import make_phantom
from gradsurge.data.store import Store
from gradsurge.experiments.preparing import prepare
from tests.data.datasets import trees

VOLUME = trees.rng().normal(100, 20, (10, 12, 8)).astype(np.float32)


def files(found):
    return {c.name: {role: f.name for role, f in c.files.items()} for c in found.cases}


def brats(place):
    return BratsMets().find_images(place)


@pytest.fixture
def two_channels(tmp_path):
    dataset = make_dataset("nnunet")
    dataset.find(trees.nnunet(tmp_path / "raw", 2))
    return dataset


def test_one_channel_with_and_without_number(tmp_path):
    for name in ("a_0000.nii.gz", "b.nii.gz", "scan_2021.nii", ".hidden.nii.gz"):
        trees.write_nifti(tmp_path / name, VOLUME)
    (tmp_path / "readme.txt").write_text("mine")
    found = brats(tmp_path)
    assert found.problems == []
    assert files(found) == {
        "a": {"image": "a_0000.nii.gz"},
        "b": {"image": "b.nii.gz"},
        "scan_2021": {"image": "scan_2021.nii"},
    }
    prepared = BratsMets().load_image(found.cases[1])
    assert prepared.image.shape == (1, 10, 12, 8)
    assert prepared.image.mean() == pytest.approx(0, abs=1e-4)


def test_a_single_file(tmp_path, two_channels):
    file = trees.write_nifti(tmp_path / "in" / "a.nii.gz", VOLUME)
    assert files(brats(file)) == {"a": {"image": "a.nii.gz"}}
    for c in range(2):
        trees.write_nifti(tmp_path / "in" / f"b_{c:04d}.nii.gz", VOLUME)
    found = two_channels.find_images(tmp_path / "in" / "b_0000.nii.gz")
    assert files(found) == {"b": {"image": "b_0000.nii.gz", "image_1": "b_0001.nii.gz"}}
    assert two_channels.load_image(found.cases[0]).image.shape == (2, 10, 12, 8)


def test_several_channels(tmp_path, two_channels):
    for name in ("a_0000", "a_0001", "b_0000", "c", "d_0000", "d_0001", "d_0002"):
        trees.write_nifti(tmp_path / "in" / f"{name}.nii.gz", VOLUME)
    found = two_channels.find_images(tmp_path / "in")
    assert files(found) == {"a": {"image": "a_0000.nii.gz", "image_1": "a_0001.nii.gz"}}
    said = dict(found.problems)
    assert said["b"].startswith("expected b_0000 (DWI) and b_0001 (ADC), got b_0000.nii.gz; add")
    assert "got c.nii.gz" in said["c"]
    assert "d_0002.nii.gz" in said["d"]


def test_one_channel_that_has_more_or_twice(tmp_path):
    for name in ("a_0000.nii.gz", "a_0001.nii.gz", "b.nii", "b.nii.gz", "c.nii", "c_0000.nii"):
        trees.write_nifti(tmp_path / name, VOLUME)
    found = brats(tmp_path)
    assert found.cases == []
    said = dict(found.problems)
    assert "expected a_0000 (T1c), got a_0000.nii.gz, a_0001.nii.gz" in said["a"]
    assert "two files for a channel: b.nii, b.nii.gz; keep one" in said["b"]
    assert "keep one" in said["c"]


@pytest.mark.parametrize("place", ["absent", "empty", "note.txt"])
def test_nothing_to_predict_on(tmp_path, place):
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"expected .*") as caught:
        brats(tmp_path / place)
    assert place in str(caught.value)
    assert "\n" not in str(caught.value)


def test_pictures_keep_their_numbers(tmp_path):
    for name in ("frame_0000.png", "frame_0001.jpg", "other.tif"):
        trees.write_picture(tmp_path / name, np.zeros((64, 64, 3), np.uint8))
    found = Fives().find_images(tmp_path)
    assert list(files(found)) == ["frame_0000", "frame_0001", "other"]
    trees.write_picture(tmp_path / "other.png", np.zeros((64, 64, 3), np.uint8))
    found = Fives().find_images(tmp_path)
    ((_, said),) = found.problems
    assert "two cases have this name" in said


def test_published_folders_without_labels(tmp_path):
    trees.kits(tmp_path / "kits", 2, level="")
    trees.brats_mets(tmp_path / "brats", 1)
    for label in (*tmp_path.rglob("segmentation.nii.gz"), *tmp_path.rglob("*-seg.nii.gz")):
        label.unlink()
    assert files(Kits().find_images(tmp_path / "kits")) == {
        f"case_{n:05d}": {"image": "imaging.nii.gz"} for n in range(2)
    }
    name = "BraTS-MET-00000-000"
    assert files(brats(tmp_path / "brats"))[name] == {"image": f"{name}-t1c.nii.gz"}


def test_links_are_followed(tmp_path):
    file = trees.write_nifti(tmp_path / "a.nii.gz", VOLUME)
    (tmp_path / "chosen").mkdir()
    (tmp_path / "chosen" / "b.nii.gz").symlink_to(file)
    (tmp_path / "chosen" / "lost.nii.gz").symlink_to(tmp_path / "nowhere")
    found = brats(tmp_path / "chosen")
    assert list(files(found)) == ["b", "lost"]
    with pytest.raises(CaseError, match=r"lost.nii.gz: cannot be read"):
        BratsMets().load_image(found.cases[1])


def test_mammograms(tmp_path):
    trees.inbreast(tmp_path, patients=2)
    shutil.rmtree(tmp_path / "AllXML")
    found = Inbreast().find_images(tmp_path / "AllDICOMs")
    assert len(found.cases) == 4
    prepared = Inbreast().load_image(found.cases[0])
    assert prepared.image.shape == (1, 512, 512)


def test_the_wrong_number_of_axes(tmp_path, two_channels):
    for c in range(2):
        trees.write_nifti(tmp_path / "in" / f"a_{c:04d}.nii.gz", VOLUME[..., 0])
    found = two_channels.find_images(tmp_path / "in")
    with pytest.raises(CaseError, match=r"a_0000.nii.gz: has shape \(10, 12\); expected 3 axes"):
        two_channels.load_image(found.cases[0])


def test_intensities_of_ct_come_with_the_settings(tmp_path):
    raw = trees.nnunet(tmp_path / "raw", 3, channel_names={"0": "CT"}, name="Lungs")
    prepare(make_dataset("nnunet", {"crop": "nonzero"}), raw, tmp_path / "store")
    facts = Store.open(tmp_path / "store").dataset
    assert facts.title == "Lungs"
    shutil.rmtree(raw / "labelsTr")
    (raw / "dataset.json").unlink()
    dataset = dataset_of_store(facts)
    found = dataset.find_images(raw / "imagesTr")
    assert len(found.cases) == 3
    stored = Store.open(tmp_path / "store").case("case_001")
    again = dataset.load_image(found.cases[1])
    np.testing.assert_array_equal(again.image, stored.read_image())
    assert again.grid == stored.grid


def test_colours_in_one_picture(tmp_path):
    raw = tmp_path / "raw"
    for n in range(2):
        colours = trees.rng(n).integers(0, 255, (20, 24, 3), np.uint8)
        trees.write_picture(raw / "imagesTr" / f"p{n}_0000.png", colours)
        trees.write_picture(raw / "labelsTr" / f"p{n}.png", np.eye(20, 24, dtype=np.uint8))
    description = {
        "channel_names": {"0": "R", "1": "G", "2": "B"},
        "labels": {"background": 0, "line": 1},
        "numTraining": 2,
        "file_ending": ".png",
    }
    (raw / "dataset.json").write_text(json.dumps(description))
    dataset = make_dataset("nnunet")
    cases = dataset.find(raw).cases
    found = dataset.find_images(raw / "imagesTr")
    assert list(files(found)) == ["p0", "p1"]
    np.testing.assert_array_equal(
        dataset.load_image(found.cases[0]).image, dataset.load(cases[0]).image
    )


def test_phantoms_from_files(tmp_path):
    dataset = PhantomSet("lesions-3d", 2, (24, 24, 20), seed=3)
    case = dataset.find(tmp_path).cases[1]
    made = make_phantom("lesions-3d", 1, 3, (24, 24, 20))
    np.testing.assert_array_equal(dataset.load_image(case).image, made.image)
    for c, channel in enumerate(made.image):
        nibabel.save(nibabel.Nifti1Image(channel, np.eye(4)), tmp_path / f"p_{c:04d}.nii.gz")
    found = dataset.find_images(tmp_path)
    np.testing.assert_array_equal(dataset.load_image(found.cases[0]).image, made.image)
    prepare(dataset, tmp_path, tmp_path / "store")
    rebuilt = dataset_of_store(Store.open(tmp_path / "store").dataset)
    assert (rebuilt.name, rebuilt.settings) == ("lesions-3d", dataset.settings)
