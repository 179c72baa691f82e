"""Runs predict the case that is looked at; stores tell where scans and labels lie."""

import shutil

import numpy as np
import pytest

from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.store import Store
from gradsurge.experiments.prediction.predicting import predict
from gradsurge.experiments.preparing import prepare
from gradsurge.experiments.runs import RunRequest, plan_run, train_run
from gradsurge.experiments.viewing.gathering import gather
from gradsurge.experiments.viewing.request import Named, ViewRequest
from tests.experiments.prediction.fakes import raw_tree, store_of


def trained(store, out, size):
    options = {"training": {"steps": 2}, "patches": {"batch": 1}, "augmentation": "none"}
    small = {"model_options": {"features": 4}, "patch": size}
    request = RunRequest("dice-surgery", **options, **small)
    train_run(plan_run(store, request), out)
    return out


@pytest.fixture(scope="module")
def volumes(tmp_path_factory):
    """An nnU-Net folder, its store, a run, and the run's prediction of the store."""
    folder = tmp_path_factory.mktemp("volumes")
    raw_tree(folder / "raw", {"background": 0, "one": 1, "two": 2}, shape=(18, 16, 13))
    store = store_of(folder / "raw", folder / "store")
    trained(store, folder / "run", (16, 16, 16))
    predict([folder / "run"], folder / "store", folder / "out", split="test")
    return folder


def viewed(place, **more):
    return gather(ViewRequest((Named(place.name, place),), **more))


def test_a_run_predicts_what_predict_writes(volumes):
    before = viewed(volumes / "out")
    now = viewed(volumes / "run", case=before.case)
    assert np.array_equal(now.models[0].maps, before.models[0].maps)
    assert np.array_equal(now.models[0].mask, before.models[0].mask)
    assert np.array_equal(now.label, before.label)
    assert now.scan.source == volumes / "raw" / "imagesTr" / f"{before.case}_0000.nii.gz"


def test_a_run_shows_a_test_case_first_and_any_scan(volumes):
    assert viewed(volumes / "run").case in Store.open(volumes / "store").split("test")
    scan = volumes / "raw" / "imagesTr" / "a_0000.nii.gz"
    view = viewed(volumes / "run", scan=scan)
    assert (view.case, view.label) == ("a", None)
    with pytest.raises(ValueError, match=r"--case: .* has no 'x'; it has"):
        viewed(volumes / "run", case="x")


def test_the_store_keeps_the_scan_when_its_file_is_gone(volumes, tmp_path):
    scan = viewed(volumes / "out").scan
    hidden = tmp_path / "hidden"
    shutil.move(scan.source, hidden)
    try:
        kept = viewed(volumes / "out").scan
    finally:
        shutil.move(hidden, scan.source)
    assert "its file is gone" in kept.title
    # Prepared scans are z-scored: the same up to a line.
    assert np.corrcoef(kept.values.ravel(), scan.values.ravel())[0, 1] == pytest.approx(1, abs=1e-5)
    assert np.allclose(kept.affine, scan.affine)


def test_a_run_without_its_store_says_what_to_do(volumes, tmp_path):
    shutil.move(volumes / "store", tmp_path / "elsewhere")
    try:
        with pytest.raises(ValueError, match="give the image with --scan, or predict first"):
            viewed(volumes / "run")
    finally:
        shutil.move(tmp_path / "elsewhere", volumes / "store")


def test_a_store_alone_has_nothing_to_show(volumes):
    with pytest.raises(ValueError, match="is a store, without any model"):
        viewed(volumes / "store")


def test_a_run_that_has_not_finished(tmp_path):
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ValueError, match="did not finish"):
        viewed(tmp_path)


def test_phantoms_have_image_and_label_of_their_store(tmp_path):
    prepare(PhantomSet("lesions-2d", 6, (32, 32)), tmp_path, tmp_path / "store")
    store = Store.open(tmp_path / "store")
    trained(store, tmp_path / "run", (16, 16))
    view = viewed(tmp_path / "run")
    stored = store.case(view.case)
    assert np.array_equal(view.scan.values, stored.read_image()[0])
    assert np.array_equal(view.label, stored.read_label())
    assert view.layout.flat
