"""nnU-Net's raw folders: what dataset.json, splits and file names mean."""

import gzip
import json
import pickle
import struct

import nibabel
import numpy as np
import pytest

from gradsurge.data import CaseError
from gradsurge.data.datasets import NnUnet
from gradsurge.data.datasets.making import make_dataset
from tests.data.datasets import trees
from tests.data.files import AFFINE


def opened(raw, **options):
    dataset = NnUnet(**options)
    return dataset, dataset.find(raw)


def described(tmp_path, **entries):
    return opened(trees.nnunet(tmp_path, 1, **entries))


def test_channels_labels_and_files(tmp_path):
    dataset, found = opened(trees.nnunet(tmp_path))
    assert dataset.channel_names == ("DWI", "ADC")
    assert dataset.label_names == {0: "background", 1: "core", 2: "edge"}
    assert (dataset.dimensions, dataset.label_sets, dataset.ignore_label) == (3, {}, None)
    files = found.cases[3].files
    assert {role: file.name for role, file in files.items()} == {
        "image": "case_003_0000.nii.gz",
        "image_1": "case_003_0001.nii.gz",
        "label": "case_003.nii.gz",
    }


def test_voxels_are_kept_and_turned(tmp_path):
    dataset, found = opened(trees.nnunet(tmp_path, 1, affine=AFFINE))
    case = dataset.load(found.cases[0])
    for channel in range(2):
        file = found.cases[0].files["image_1" if channel else "image"]
        scan = nibabel.as_closest_canonical(nibabel.load(file))
        values = scan.get_fdata()
        expected = (values - values.mean()) / values.std()
        np.testing.assert_allclose(case.image[channel], expected, atol=1e-5)
    assert case.spacing == pytest.approx(scan.header.get_zooms())
    label = nibabel.as_closest_canonical(nibabel.load(found.cases[0].files["label"]))
    np.testing.assert_array_equal(case.label, label.get_fdata())


def test_a_spacing_of_ones_own(tmp_path):
    trees.nnunet(tmp_path, 1, affine=np.diag([0.5, 2.0, 1.0, 1.0]))
    dataset, found = opened(tmp_path, spacing=(1, 1, 1))
    case = dataset.load(found.cases[0])
    assert case.label.shape == (8, 40, 12)
    assert case.spacing == (1.0, 1.0, 1.0)
    assert set(np.unique(case.label)) == {0, 1, 2}
    assert dataset.settings["spacing"] == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match=r"spacing: expected 3 numbers, got \(1.0, 1.0\)"):
        opened(tmp_path, spacing=(1, 1))
    with pytest.raises(ValueError, match=r"spacing: expected mm above 0"):
        NnUnet(spacing=(1, 0, 1))


def test_cropping_to_what_is_not_zero(tmp_path):
    trees.nnunet(tmp_path, 1, labels={"background": 0, "core": 1, "edge": 2})
    inside = np.zeros((16, 20, 12), np.float32)
    inside[4:12, 5:15, 3:9] = trees.rng().normal(100, 20, (8, 10, 6))
    for channel in range(2):
        trees.write_nifti(tmp_path / f"imagesTr/case_000_{channel:04d}.nii.gz", inside)
    dataset, found = opened(tmp_path, crop="nonzero")
    case = dataset.load(found.cases[0])
    assert case.label.shape == (9, 11, 7)  # what is labelled is kept though the scan is 0 there
    brain = case.image[0] != 0
    assert case.image[0][brain].mean() == pytest.approx(0, abs=1e-5)
    with pytest.raises(ValueError, match="crop: expected 'none' or 'nonzero', got 'all'"):
        NnUnet(crop="all")


def test_regions(tmp_path):
    labels = {"background": 0, "whole": [1, 2], "edge": 2, "ignore": 3}
    dataset, found = described(tmp_path, labels=labels, regions_class_order=[1, 2])
    assert dataset.label_sets == {"whole": (1, 2), "edge": (2,)}
    assert dataset.label_names == {0: "background", 1: "class 1", 2: "edge"}
    assert dataset.ignore_label == 3
    assert dataset.settings["regions_class_order"] == [1, 2]
    label = nibabel.load(found.cases[0].files["label"]).get_fdata().astype(np.uint8)
    label[0] = 3
    trees.write_nifti(found.cases[0].files["label"], label)
    assert set(np.unique(dataset.load(found.cases[0]).label)) == {0, 1, 2, 3}


def test_all_foreground_as_one_class(tmp_path):
    labels = {"background": 0, "core": 1, "edge": 2, "ignore": 3}
    dataset, found = opened(trees.nnunet(tmp_path, 1, labels=labels), merge="lesion")
    assert dataset.label_names == {0: "background", 1: "lesion"}
    assert (dataset.label_sets, dataset.ignore_label) == ({}, 2)
    raw = nibabel.load(found.cases[0].files["label"]).get_fdata().astype(np.uint8)
    raw[0] = 3
    trees.write_nifti(found.cases[0].files["label"], raw)
    merged = dataset.load(found.cases[0]).label
    np.testing.assert_array_equal(
        np.bincount(merged.ravel()),
        [(raw == 0).sum(), np.isin(raw, (1, 2)).sum(), (raw == 3).sum()],
    )
    assert dataset.settings["merge"] == "lesion"
    assert dataset.settings["foreground"] == [1, 2]
    assert "foreground" not in opened(tmp_path)[0].settings


@pytest.mark.parametrize("name", ["", " ", "background"])
def test_the_foreground_needs_a_name_of_its_own(name):
    with pytest.raises(ValueError, match="merge: expected a name"):
        NnUnet(merge=name)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fold": -1}, "fold: expected a whole number of 0 or above, got -1"),
        ({"patient": "(P[0-9+"}, r"patient: '\(P\[0-9\+' is no regular expression"),
    ],
)
def test_options_are_refused_before_any_file_is_looked_for(options, message):
    with pytest.raises(ValueError, match=message):
        NnUnet(**options)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"labels": {"background": 0, "a": [1, 2]}}, "regions_class_order: expected one class"),
        ({"labels": {"background": 0, "a": [1, 2]}, "regions_class_order": [1, 2]}, "1 regions"),
        ({"labels": {"a": 1}}, "labels: expected names with numbers, 'background' as 0"),
        ({"labels": {"background": 1, "a": 0}}, "'background' as 0"),
        ({"labels": {"0": "background", "1": "a"}}, "'background' as 0"),
        ({"labels": {"background": 0, "a": "1"}}, "expected numbers from 0 to 255 for 'a'"),
        ({"labels": {"background": 0, "a": 256}}, "expected numbers from 0 to 255 for 'a'"),
        ({"labels": {"background": 0, "a": []}}, "expected numbers from 0 to 255 for 'a'"),
        ({"labels": {"background": 0, "a": 1, "b": 1}}, "two names have one number"),
        ({"labels": {"background": 0, "a": 1, "ignore": 5}}, "'ignore' must be the highest, 2"),
        ({"labels": [0, 1]}, "labels: expected names"),
        ({"channel_names": {"1": "MRI"}}, "channel_names: expected {'0': name"),
        ({"channel_names": {}}, "channel_names: expected"),
        ({"file_ending": ".mha"}, "file_ending: expected one of .nii.gz"),
        ({"file_ending": None}, "file_ending: expected one of .nii.gz"),
    ],
)
def test_descriptions_that_contradict_themselves(tmp_path, entries, message):
    trees.nnunet(tmp_path, 0)
    content = json.loads((tmp_path / "dataset.json").read_text())
    (tmp_path / "dataset.json").write_text(json.dumps({**content, **entries}))
    with pytest.raises(ValueError, match=r"dataset.json: ") as caught:
        NnUnet().find(tmp_path)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "is not JSON"),
        ("\ud800".encode("utf-8", "surrogatepass"), "is not JSON"),
        ("[1]", "expected a JSON object, got list"),
        ("{}", "lacks the entry 'labels'"),
        ('{"modality": {"0": "MRI"}, "labels": {"0": "background"}}', "nnUNetv2_convert_MSD"),
    ],
)
def test_files_that_are_no_description(tmp_path, text, message):
    (tmp_path / "dataset.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ValueError, match=rf"dataset.json: .*{message}"):
        NnUnet().find(tmp_path)


# --- files ------------------------------------------------------------------------------------


def test_missing_and_superfluous_files(tmp_path):
    trees.nnunet(tmp_path, 6)
    (tmp_path / "imagesTr/case_000_0001.nii.gz").unlink()
    (tmp_path / "labelsTr/case_001.nii.gz").unlink()
    for channel in range(2):
        (tmp_path / f"imagesTr/case_002_{channel:04d}.nii.gz").unlink()
    (tmp_path / "imagesTr/case_003_0000.nii.gz").rename(tmp_path / "imagesTr/case_003.nii.gz")
    extra = tmp_path / "imagesTr/case_004_0002.nii.gz"
    extra.write_bytes((tmp_path / "imagesTr/case_004_0001.nii.gz").read_bytes())
    (tmp_path / "imagesTr/notes.txt").write_text("not ours")
    _, found = opened(tmp_path)
    assert [c.name for c in found.cases] == ["case_005"]
    said = dict(found.problems)
    assert "channel 'ADC' of dataset.json is missing" in said["case_000"]
    assert "_0001.nii.gz in imagesTr" in said["case_000"]
    assert "has no label in labelsTr" in said["case_001"]
    assert "channel 'DWI' of dataset.json is missing" in said["case_002"]
    assert "expected <case>_0000.nii.gz" in said["case_003.nii.gz"]
    assert "has 3 channels, but dataset.json names 2" in said["case_004"]


def test_the_test_set_and_cases_that_come_twice(tmp_path):
    trees.nnunet(tmp_path, 5)
    for name in ("case_009", "case_002"):
        trees.add_nnunet_case(tmp_path, name, part="Ts")
    dataset, found = opened(tmp_path)
    assert [c.name for c in found.cases] == [
        "case_000",
        "case_001",
        "case_003",
        "case_004",
        "case_009",
    ]
    ((name, message),) = found.problems
    assert name == "case_002"
    assert "two cases have this name" in message
    split = dataset.split(found.cases, 0)
    assert split["test"] == ["case_009"]
    assert [len(split[s]) for s in ("train", "validation")] == [3, 1]


def test_test_images_without_labels_are_left_alone(tmp_path):
    trees.nnunet(tmp_path, 3)
    trees.add_nnunet_case(tmp_path, "case_009", part="Ts")
    (tmp_path / "labelsTs/case_009.nii.gz").unlink()
    (tmp_path / "labelsTs").rmdir()
    _, found = opened(tmp_path)
    assert len(found.cases) == 3
    assert found.problems == []


@pytest.mark.parametrize(
    "name", ["Fall ä ü 猫", "two\nlines", "a'; rm -rf b", "-rf", "%2e%2e", "\x1b[31m"]
)
def test_odd_names(tmp_path, name):
    trees.nnunet(tmp_path, 0)
    trees.add_nnunet_case(tmp_path, name)
    dataset, found = opened(tmp_path)
    assert found.problems == []
    case = dataset.load(found.cases[0])
    assert case.name.isprintable()
    assert case.label.any()
    found.cases[0].files["image"].write_bytes(b"no")
    with pytest.raises(CaseError, match="cannot be read") as caught:
        dataset.load(found.cases[0])
    assert str(caught.value).isprintable()


def test_patients_by_pattern(tmp_path):
    trees.nnunet(tmp_path, 0)
    for patient in range(4):
        for visit in range(2):
            trees.add_nnunet_case(tmp_path, f"P{patient}_{visit}")
    dataset, found = opened(tmp_path, patient=r"(P\d+)_")
    assert [c.group for c in found.cases][:3] == ["P0", "P0", "P1"]
    split = dataset.split(found.cases, 0)
    assert [len(split[s]) for s in split] == [4, 2, 2]


# --- splits -----------------------------------------------------------------------------------

FOLDS = [
    {"train": ["case_000", "case_001"], "val": ["case_002"]},
    {"train": ["case_002", "case_003"], "val": ["case_000", "case_077"]},
]


@pytest.mark.parametrize("place", ["nnUNet_raw/Dataset001_A", "nnUNet_preprocessed/Dataset001_A"])
def test_folds(tmp_path, place, caplog):
    raw = trees.nnunet(tmp_path / "nnUNet_raw" / "Dataset001_A", 4)
    (tmp_path / place).mkdir(parents=True, exist_ok=True)
    (tmp_path / place / "splits_final.json").write_text(json.dumps(FOLDS))
    dataset, found = opened(raw, fold=1)
    split = dataset.split(found.cases, 0)
    assert split == {"train": ["case_002", "case_003"], "validation": ["case_000"], "test": []}
    assert "1 cases are in no split" in caplog.text
    elsewhere = tmp_path / "mine.json"
    elsewhere.write_text(json.dumps(FOLDS))
    dataset, found = opened(raw, splits=elsewhere)
    assert dataset.split(found.cases, 0)["validation"] == ["case_002"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "has folds 0 to -1, got 0"),
        ({"train": []}, "expected a JSON list, got dict"),
        ([{"train": []}], "expected lists of cases 'train' and 'val'"),
        ([7], "expected lists of cases"),
        ([{"train": ["a"], "val": ["a"]}], "has a in 'train' and in 'val'"),
    ],
)
def test_splits_that_are_none(tmp_path, content, message):
    raw = trees.nnunet(tmp_path, 2)
    (raw / "splits_final.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match=f"splits_final.json: .*{message}"):
        NnUnet().find(raw)


# --- intensities ------------------------------------------------------------------------------


def test_schemes_by_name(tmp_path):
    names = ["noNorm", "rescale_to_0_1", "rgb_to_0_1", "T2"]
    trees.nnunet(tmp_path, 1, channel_names={str(i): n for i, n in enumerate(names)})
    dataset, found = opened(tmp_path)
    case = dataset.load(found.cases[0])
    raw = [nibabel.load(found.cases[0].files[f"image_{i}" if i else "image"]) for i in range(4)]
    raw = [nibabel.as_closest_canonical(r).get_fdata(dtype=np.float32) for r in raw]
    np.testing.assert_array_equal(case.image[0], raw[0])
    np.testing.assert_allclose((case.image[1].min(), case.image[1].max()), (0, 1), atol=1e-6)
    np.testing.assert_allclose(case.image[2], raw[2] / 255, rtol=1e-6)
    assert case.image[3].std() == pytest.approx(1, abs=1e-5)


def test_ct_by_the_foreground_of_all_cases(tmp_path):
    trees.nnunet(tmp_path, 5, channel_names={"0": "CT"})
    (tmp_path / "imagesTr/case_004_0000.nii.gz").write_bytes(b"damaged")
    dataset, found = opened(tmp_path)
    foreground = []
    for case in found.cases[:4]:
        scan, label = (nibabel.load(case.files[r]).get_fdata() for r in ("image", "label"))
        foreground.append(scan[label > 0])
    pooled = np.concatenate(foreground)
    measured = dataset.settings["intensity"]["0"]
    assert measured["mean"] == pytest.approx(pooled.mean(), rel=1e-5)
    assert measured["deviation"] == pytest.approx(pooled.std(), rel=1e-5)
    assert (measured["low"], measured["high"]) == pytest.approx(
        np.percentile(pooled, (0.5, 99.5)), rel=1e-5
    )
    case = dataset.load(found.cases[0])
    assert case.image.max() == pytest.approx(
        (measured["high"] - measured["mean"]) / measured["deviation"], rel=1e-5
    )


def test_ct_by_nnunets_own_fingerprint(tmp_path):
    raw = trees.nnunet(tmp_path / "nnUNet_raw/Dataset001_A", 1, channel_names={"0": "CT"})
    other = tmp_path / "nnUNet_preprocessed/Dataset001_A"
    other.mkdir(parents=True)
    numbers = {"mean": 100.0, "std": 50.0, "percentile_00_5": -58.0, "percentile_99_5": 302.0}
    file = other / "dataset_fingerprint.json"
    file.write_text(json.dumps({"foreground_intensity_properties_per_channel": {"0": numbers}}))
    dataset, _ = opened(raw)
    assert dataset.settings["intensity"]["0"] == {
        "low": -58.0,
        "high": 302.0,
        "mean": 100.0,
        "deviation": 50.0,
    }
    file.write_text("{}")
    with pytest.raises(
        ValueError, match=r"dataset_fingerprint.json: expected nnU-Net's foreground"
    ):
        NnUnet().find(raw)


def test_ct_without_foreground(tmp_path):
    trees.nnunet(tmp_path, 1, channel_names={"0": "CT"})
    trees.write_nifti(tmp_path / "labelsTr/case_000.nii.gz", np.zeros((16, 20, 12), np.uint8))
    with pytest.raises(ValueError, match="'CT' needs the intensities of labelled voxels"):
        NnUnet().find(tmp_path)


# --- pictures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".png", ".tif"])
def test_colour_pictures_in_one_file(tmp_path, ending):
    channels = {"0": "R", "1": "G", "2": "B"}
    trees.nnunet(
        tmp_path, 0, channel_names=channels, file_ending=ending, labels={"background": 0, "a": 1}
    )
    picture = trees.rng().integers(0, 255, (20, 30, 3), np.uint8)
    trees.write_picture(tmp_path / f"imagesTr/a_0000{ending}", picture)
    trees.write_picture(tmp_path / f"labelsTr/a{ending}", trees.disc((20, 30), 6).astype(np.uint8))
    dataset, found = opened(tmp_path)
    case = dataset.load(found.cases[0])
    assert (dataset.dimensions, case.image.shape) == (2, (3, 20, 30))
    red = picture[..., 0].astype(float)
    np.testing.assert_allclose(case.image[0], (red - red.mean()) / red.std(), atol=1e-5)


# --- damaged cases ----------------------------------------------------------------------------


def broken(tmp_path, change):
    """The message about the only case after a change to its folder."""
    trees.nnunet(tmp_path, 1)
    dataset, found = opened(tmp_path)
    change(found.cases[0].files)
    with pytest.raises(CaseError) as caught:
        dataset.load(found.cases[0])
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_header_of_a_trillion_voxels(tmp_path):
    def change(files):
        data = bytearray(gzip.decompress(files["image"].read_bytes()))
        struct.pack_into("<4h", data, 40, 3, 10000, 10000, 10000)
        files["image"].write_bytes(gzip.compress(data))

    assert "its header promises 4,000,000,000,000 bytes" in broken(tmp_path, change)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers(tmp_path, value):
    def change(files):
        scan = np.zeros((16, 20, 12), np.float32)
        scan[3, 4, 5] = value
        trees.write_nifti(files["image_1"], scan)

    said = broken(tmp_path, change)
    assert "case_000_0001.nii.gz: 1 of 3,840 values are NaN or infinite; replace them" in said


def test_scaling_that_overflows(tmp_path):
    def change(files):
        image = nibabel.Nifti1Image(np.full((16, 20, 12), 30000, np.int16), trees.LPS)
        image.header.set_slope_inter(1e36, 0)
        nibabel.save(image, files["image"])
        data = bytearray(gzip.decompress(files["image"].read_bytes()))
        struct.pack_into("<2f", data, 112, 1e36, 0.0)
        files["image"].write_bytes(gzip.compress(data))

    assert "NaN or infinite" in broken(tmp_path, change)


def test_a_median_that_no_file_tells(tmp_path):
    description = {
        "channel_names": {"0": "grey"},
        "labels": {"background": 0, "line": 1},
        "numTraining": 1,
        "file_ending": ".png",
    }
    trees.write_picture(tmp_path / "imagesTr" / "a_0000.png", np.eye(9, dtype=np.uint8))
    trees.write_picture(tmp_path / "labelsTr" / "a.png", np.eye(9, dtype=np.uint8))
    (tmp_path / "dataset.json").write_text(json.dumps(description))
    with pytest.raises(ValueError, match="do not tell their spacing; leave it out"):
        NnUnet(spacing="median").find(tmp_path)
    with pytest.raises(ValueError, match="spacing: expected mm or 'median', got 'mean'"):
        NnUnet(spacing="mean")


def nnunets_spacing(spacings, sizes):
    """The rule of nnU-Net's planner, with NumPy's percentiles."""
    target = np.percentile(spacings, 50, axis=0)
    size = np.percentile(sizes, 50, axis=0)
    worst = np.argmax(target)
    rest = [i for i in range(3) if i != worst]
    if target[worst] > 3 * max(target[rest]) and size[worst] * 3 < min(size[rest]):
        target[worst] = max(np.percentile(spacings[:, worst], 10), *target[rest])
    return target


@pytest.mark.parametrize("thick", [[2.0] * 5, [5.0, 5.0, 6.0, 4.0, 3.0], [9.0, 9.0, 9.0, 9.0, 0.1]])
def test_the_median_spacing_is_nnunets(tmp_path, thick):
    trees.nnunet(tmp_path, cases=0, channel_names={"0": "MRI"})
    spacings, sizes = [], []
    for n, slices in enumerate(thick):
        fine = 0.9 + 0.05 * n
        # Slices first, and counted downwards: the spacing belongs to the turned axes.
        affine = np.array([[0, fine, 0, 0], [0, 0, 1.0, 0], [-slices, 0, 0, 0], [0, 0, 0, 1]])
        trees.add_nnunet_case(tmp_path, f"c{n}", (9, 30, 40), affine, channels=1, seed=n)
        spacings.append((fine, 1.0, slices))
        sizes.append((30, 40, 9))
    dataset = make_dataset("nnunet", {"spacing": "median"})
    found = dataset.find(tmp_path)
    expected = nnunets_spacing(np.array(spacings), np.array(sizes))
    np.testing.assert_allclose(dataset.spacing, expected, atol=1e-5)
    assert dataset.settings["spacing"] == list(dataset.spacing)
    made = dataset.load(found.cases[0])
    np.testing.assert_allclose(made.spacing, expected, rtol=0.1)
    again = pickle.loads(pickle.dumps(dataset)).load(found.cases[0])  # as in a worker
    np.testing.assert_array_equal(again.image, made.image)


def test_other_grids(tmp_path):
    def smaller(files):
        trees.write_nifti(files["image"], np.zeros((16, 20, 11), np.float32))

    def shifted(files):
        affine = trees.LPS.copy()
        affine[0, 3] = 2.5
        trees.write_nifti(files["image_1"], np.zeros((16, 20, 12), np.float32), affine)

    def label(files):
        trees.write_nifti(files["label"], np.zeros((16, 20, 11), np.uint8))

    said = broken(tmp_path / "a", smaller)
    assert "_0001.nii.gz: shape (16, 20, 12) differs from the first channel's" in said
    said = broken(tmp_path / "b", shifted)
    assert "_0001.nii.gz: its affine differs from the first channel's" in said
    said = broken(tmp_path / "c", label)
    assert "_0000.nii.gz: shape (16, 20, 12) differs from the label's (16, 20, 11)" in said
    assert "bring both onto one grid" in said


def test_four_axes(tmp_path):
    def image(files):
        trees.write_nifti(files["image"], np.zeros((16, 20, 12, 3), np.float32))

    def label(files):
        trees.write_nifti(files["label"], np.zeros((16, 20, 12, 3), np.uint8))

    said = broken(tmp_path / "a", image)
    assert "_0000.nii.gz: has 4 axes, shape (16, 20, 12, 3)" in said
    assert "split channels and time points into files of their own" in said
    assert "case_000.nii.gz: a label has two or three axes" in broken(tmp_path / "b", label)


def test_classes_nobody_declared(tmp_path):
    def change(files):
        trees.write_nifti(files["label"], np.full((16, 20, 12), 9, np.uint8))

    said = broken(tmp_path, change)
    assert "case_000.nii.gz: holds class 9, but dataset.json declares 0, 1, 2" in said


def test_a_flat_case_among_volumes(tmp_path):
    def change(files):
        trees.write_nifti(files["label"], np.zeros((16, 20), np.uint8))

    assert "has 2 axes, the data set's other labels 3" in broken(tmp_path, change)


def test_a_label_of_fractions(tmp_path):
    def change(files):
        trees.write_nifti(files["label"], np.full((16, 20, 12), 0.5, np.float32))

    assert "labels must be whole numbers" in broken(tmp_path, change)


def test_an_empty_label_is_allowed(tmp_path):
    trees.nnunet(tmp_path, 1)
    trees.write_nifti(tmp_path / "labelsTr/case_000.nii.gz", np.zeros((16, 20, 12), np.uint8))
    dataset, found = opened(tmp_path)
    assert not dataset.load(found.cases[0]).label.any()
