"""What every data set keeps: a new one is tested by one line in TREES."""

import json
import pickle
import random

import numpy as np
import pytest

from gradsurge.data import CaseError
from gradsurge.data.datasets import DATASETS, Dataset
from gradsurge.data.preprocessing import to_source
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
