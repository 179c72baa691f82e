"""What a prediction may write over, and what must not stay among its results."""

import json

import nibabel
import numpy as np
import pytest

from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.store import Store, only_writer
from gradsurge.experiments.prediction.predicting import predict_with
from gradsurge.experiments.prediction.result_files import earlier_files
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.preparing import prepare
from tests.experiments.prediction.fakes import (
    CPU,
    dicom_series,
    pictures_store,
    predictor,
    raw_tree,
    store_of,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("volumes")
    return store_of(raw_tree(folder / "raw"), folder / "store")


@pytest.fixture
def images(store, tmp_path):
    """Two images of its own, which a test may change."""
    place = tmp_path / "in"
    place.mkdir()
    for name in ("a_0000.nii.gz", "b_0000.nii.gz"):
        source = store.path.parent / "raw" / "imagesTr" / name
        (place / name).write_bytes(source.read_bytes())
    return place


def run(store, place, out, **options):
    return predict_with([predictor(store)], place, out, PredictSettings(), CPU, **options)


def contents(folder):
    return {f.relative_to(folder).as_posix(): f.read_bytes() for f in folder.rglob("*.*")}


def files_in(folder):
    return sorted(f.relative_to(folder).as_posix() for f in folder.rglob("*") if f.is_file())


def test_masks_that_are_not_ours_are_not_replaced(tmp_path):
    store, raw = pictures_store(tmp_path), tmp_path / "raw"
    before = contents(raw)
    with pytest.raises(ValueError, match=r"raw: holds masks/p\.png already and 4 more; --overwr"):
        run(store, raw / "images", raw)
    assert contents(raw) == before


def test_labels_of_phantoms_are_not_replaced(tmp_path):
    prepare(PhantomSet("lesions-2d", 5, (32, 32)), tmp_path, tmp_path / "store")
    store, labels = Store.open(tmp_path / "store"), tmp_path / "out" / "labels"
    labels.mkdir(parents=True)
    mine = labels / f"{store.split('test')[0]}.nii.gz"
    mine.write_bytes(b"mine")
    with pytest.raises(ValueError, match=r"holds labels/.*nii\.gz already"):
        run(store, store.path, tmp_path / "out", split="test")
    assert mine.read_bytes() == b"mine"


def linked(link, target):
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target)


def test_inputs_are_never_replaced_through_links(store, images, tmp_path):
    """Masks would go into the folder of the images, whose names have no channel."""
    (images / "a_0000.nii.gz").rename(images / "a.nii.gz")
    before = contents(images)
    linked(tmp_path / "folder" / "masks", images)
    linked(tmp_path / "file" / "a.nii.gz", images / "a.nii.gz")
    for out in ("folder", "file"):
        with pytest.raises(ValueError, match=r"a\.nii\.gz: is an input itself, or a link to one"):
            run(store, images / "a.nii.gz", tmp_path / out, overwrite=True)
    assert contents(images) == before


def test_raw_files_of_a_store_are_never_replaced(store, tmp_path):
    raw = store.path.parent / "raw"
    before = contents(raw)
    linked(tmp_path / "out" / "masks", raw / "labelsTr")
    with pytest.raises(ValueError, match="is an input itself"):
        run(store, store.path, tmp_path / "out", overwrite=True)
    assert contents(raw) == before


def test_nothing_is_written_into_a_series(store, tmp_path):
    dicom_series(tmp_path / "in" / "patient")
    linked(tmp_path / "out" / "masks", tmp_path / "in" / "patient")
    with pytest.raises(ValueError, match="is an input itself"):
        run(store, tmp_path / "in", tmp_path / "out", overwrite=True)


def test_a_case_that_fails_now_leaves_no_older_result(store, images, tmp_path):
    out = tmp_path / "out"
    run(store, images, out)
    (images / "b_0000.nii.gz").write_bytes(b"damaged")
    record = run(store, images, out, overwrite=True)
    assert [name for name, _ in record.failures] == ["b"]
    assert files_in(out) == ["a.nii.gz", "masks/a.nii.gz", "predictions.json"]


def test_a_failing_case_leaves_none_that_is_not_listed_either(store, images, tmp_path):
    out = tmp_path / "out"
    run(store, images, out)
    (out / "predictions.json").unlink()
    (images / "b_0000.nii.gz").write_bytes(b"damaged")
    run(store, images, out, overwrite=True)
    assert files_in(out) == ["a.nii.gz", "masks/a.nii.gz", "predictions.json"]


def test_a_case_that_is_gone_leaves_no_older_result(store, images, tmp_path):
    out = tmp_path / "out"
    run(store, images, out)
    (out / "notes.nii.gz").write_bytes(b"not ours")
    (images / "b_0000.nii.gz").unlink()
    run(store, images, out, overwrite=True)
    assert files_in(out) == ["a.nii.gz", "masks/a.nii.gz", "notes.nii.gz", "predictions.json"]


@pytest.mark.parametrize("name", ["../x", "/x", "masks/../../x", "a/b/x", "", 3, None])
def test_a_list_that_leads_elsewhere_is_not_followed(tmp_path, name):
    told = {"format": "gradsurge predictions", "cases": [{"probabilities": name, "mask": "m"}, 1]}
    (tmp_path / "predictions.json").write_text(json.dumps(told))
    assert earlier_files(tmp_path) == [tmp_path / "m"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "gradsurge predictions"}'])
def test_files_that_are_no_list_of_ours(tmp_path, text):
    (tmp_path / "predictions.json").write_text(text)
    assert earlier_files(tmp_path) == []


def test_another_prediction_at_work_is_left_alone(store, images, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    part = out / ".a.nii.gz.partial"
    part.write_bytes(b"half")
    with (
        only_writer(out, "predict"),
        pytest.raises(ValueError, match="another gradsurge predict is writing"),
    ):
        run(store, images, out, overwrite=True)
    assert part.exists()
    run(store, images, out)
    assert not list(out.rglob(".*"))
    assert np.isfinite(nibabel.load(out / "a.nii.gz").get_fdata()).all()
