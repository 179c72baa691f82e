"""What every data set keeps: a new one is tested by one line in TREES."""

import json
import pickle
import random
from dataclasses import replace

import numpy as np
import pytest

from gradsurge.data import CaseError
from gradsurge.data.datasets import DATASETS, Dataset, dataset_of_store
from gradsurge.data.preprocessing import to_source
from gradsurge.data.store import DatasetFile, Store
from gradsurge.experiments.preparing import prepare
from tests.data.datasets import trees

TREES = {
    "fives": trees.fives,
    "inbreast": trees.inbreast,
    "brats-mets": trees.brats_mets,
    "kits": trees.kits,
    "nnunet": trees.nnunet,
    "images": trees.images,
    "chase": trees.chase,
}


@pytest.fixture(scope="module", params=DATASETS)
def opened(request, tmp_path_factory):
    """A data set, its raw folder and what it finds there."""
    raw = TREES[request.param](tmp_path_factory.mktemp("raw") / "folder")
    dataset = DATASETS[request.param]()
    return dataset, raw, dataset.find(raw)


def test_every_data_set_is_tried():
    assert set(TREES) == set(DATASETS)
    assert all(kind.name == name for name, kind in DATASETS.items())


def test_cases_are_found_without_problems(opened):
    dataset, raw, found = opened
    assert isinstance(dataset, Dataset)
    assert found.problems == []
    assert len(found.cases) >= 4
    assert len({case.name for case in found.cases}) == len(found.cases)
    assert all(file.is_relative_to(raw) for case in found.cases for file in case.files.values())


def test_a_prepared_case_is_as_promised(opened):
    dataset, _, found = opened
    case = pickle.loads(pickle.dumps(dataset)).load(found.cases[-1])  # as in another process
    assert case.name == found.cases[-1].name
    assert case.image.dtype == np.float32
    assert case.image.flags.c_contiguous
    assert case.image.shape == (len(dataset.channel_names), *case.label.shape)
    assert np.isfinite(case.image).all()
    assert case.label.dtype == np.uint8
    assert case.label.flags.c_contiguous
    assert case.label.ndim == dataset.dimensions == len(case.spacing)
    allowed = {*dataset.label_names, dataset.ignore_label}
    assert {*np.unique(case.label).tolist()} <= allowed
    assert case.label.any()
    assert all(
        extra.shape[-case.label.ndim :] == case.label.shape for extra in case.extras.values()
    )


def test_the_label_goes_back_to_where_it_was(opened):
    dataset, _, found = opened
    case = dataset.load(found.cases[-1])
    one_hot = np.stack([case.label == n for n in dataset.label_names]).astype(np.float32)
    back = to_source(one_hot, case.grid)
    assert back.shape[1:] == case.grid.source_shape
    np.testing.assert_allclose(back.sum(axis=0), 1.0, atol=1e-5)
    source_volume = np.prod(case.grid.source_spacing)
    voxel = np.prod(
        [
            s * n / m
            for s, n, m in zip(
                [case.grid.source_spacing[a] for a in case.grid.axes],
                [case.grid.source_shape[a] for a in case.grid.axes],
                case.grid.resampled_shape,
                strict=True,
            )
        ]
    )
    assert back[1:].sum() * source_volume == pytest.approx((case.label > 0).sum() * voxel, rel=0.15)


def test_an_image_is_prepared_alike_with_and_without_its_label(opened):
    dataset, _, found = opened
    whole = dataset.load(found.cases[-1])
    image = dataset.load_image(found.cases[-1])
    np.testing.assert_array_equal(image.image, whole.image)
    assert (image.name, image.spacing, image.grid) == (whole.name, whole.spacing, whole.grid)
    files = {role: f for role, f in found.cases[-1].files.items() if role.startswith("image")}
    alone = dataset.load_image(replace(found.cases[-1], files=files))
    # Without a label KiTS keeps the whole scan: what training saw is a part of it.
    part = tuple(
        slice(a - offset, b - offset)
        for (a, b), (offset, _) in zip(whole.grid.crop, alone.grid.crop, strict=True)
    )
    np.testing.assert_array_equal(alone.image[:, *part], whole.image)


def test_a_data_set_is_rebuilt_from_what_its_store_says(opened, tmp_path):
    dataset, raw, found = opened
    assert prepare(DATASETS[dataset.name](), raw, tmp_path / "store").failures == []
    facts = Store.open(tmp_path / "store").dataset
    stored = json.loads(json.dumps(facts.to_json()))
    rebuilt = dataset_of_store(DatasetFile.from_json(stored))
    assert type(rebuilt) is type(dataset)
    assert rebuilt.settings == dataset.settings
    for name in ("dimensions", "channel_names", "label_names", "label_sets", "ignore_label"):
        assert getattr(rebuilt, name) == getattr(dataset, name)
    case = found.cases[0]
    np.testing.assert_array_equal(rebuilt.load_image(case).image, dataset.load(case).image)
    stored["settings"]["resampling"] = "by hand"
    with pytest.raises(ValueError, match="other settings than this version has; use that"):
        dataset_of_store(DatasetFile.from_json(stored))
    with pytest.raises(ValueError, match="unknown data set 'x'; known: fives"):
        dataset_of_store(DatasetFile.from_json({**stored, "name": "x"}))
    with pytest.raises(ValueError, match="damaged"):
        DatasetFile.from_json({"name": "x"})


def test_splits_cover_the_cases_once_and_keep_groups_together(opened):
    dataset, _, found = opened
    for seed in range(5):
        split = dataset.split(found.cases, seed)
        assert list(split) == ["train", "validation", "test"]
        assert sorted(name for names in split.values() for name in names) == sorted(
            case.name for case in found.cases
        )
        assert split["train"]
        home = {name: s for s, names in split.items() for name in names}
        for group in {case.group for case in found.cases}:
            assert len({home[c.name] for c in found.cases if c.group == group}) == 1


def test_splits_depend_on_the_seed_alone(opened):
    dataset, _, found = opened
    shuffled = list(found.cases)
    random.Random(1).shuffle(shuffled)
    splits = [dataset.split(found.cases, seed) for seed in range(8)]
    assert dataset.split(shuffled, 0) == splits[0]
    assert any(s != splits[0] for s in splits)


def test_settings_are_json(opened):
    dataset, _, _ = opened
    assert json.loads(json.dumps(dataset.settings)) == dataset.settings


@pytest.mark.parametrize("name", DATASETS)
def test_another_folder_is_refused_in_one_line(name, tmp_path):
    (tmp_path / "holiday").mkdir()
    for raw in (tmp_path, tmp_path / "absent"):
        with pytest.raises(ValueError, match=r"expected|cannot be read") as caught:
            DATASETS[name]().find(raw)
        assert str(tmp_path) in str(caught.value)
        assert "\n" not in str(caught.value)


def test_links_out_of_the_folder_are_refused(opened, tmp_path_factory):
    dataset, raw, found = opened
    outside = tmp_path_factory.mktemp("outside")
    file = found.cases[0].files["image"]
    kept = file.rename(outside / file.name)
    try:
        file.symlink_to(kept)
        again = DATASETS[dataset.name]().find(raw)
        assert len(again.cases) == len(found.cases) - 1
        ((name, message),) = again.problems
        assert name == found.cases[0].name
        assert file.name in message
        assert "leads out of the folder" in message
    finally:
        file.unlink()
        kept.rename(file)


def test_a_truncated_image_is_named(opened):
    dataset, _, found = opened
    file = found.cases[0].files["image"]
    good = file.read_bytes()
    try:
        for content in (good[: len(good) // 2], b"", b"something else" * 30):
            file.write_bytes(content)
            with pytest.raises(CaseError, match=f"{file.name}: .*") as caught:
                dataset.load(found.cases[0])
            assert "\n" not in str(caught.value)
    finally:
        file.write_bytes(good)


def test_links_in_a_circle_are_told(opened):
    dataset, raw, found = opened
    file = found.cases[0].files["image"]
    kept = file.rename(file.with_name(f"{file.name}.kept"))
    other = file.with_name(f"{file.name}.link")
    try:
        file.symlink_to(other)
        other.symlink_to(file)
        again = DATASETS[dataset.name]().find(raw)
        said = [message for _, message in again.problems if file.name in message]
        assert len(again.cases) == len(found.cases) - 1
        assert len(said) == 1
        assert any(words in said[0] for words in ("in a circle; put the file", "missing"))
    finally:
        file.unlink()
        other.unlink()
        kept.rename(file)
