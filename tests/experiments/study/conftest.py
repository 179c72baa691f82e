"""Runs that are trained once for all tests of studies."""

from functools import partial

import nibabel
import numpy as np
import pytest

from gradsurge.data.datasets import NnUnet
from gradsurge.experiments.evaluation import collect
from gradsurge.experiments.runs import RunRequest, open_run, plan_run, train_run
from gradsurge.experiments.statistics import bootstrap_mean
from tests.experiments.prediction.fakes import AFFINE, raw_tree, save, store_of

SMALL = {
    "patch": (8, 8, 8),
    "patches": {"batch": 2},
    "augmentation": "none",
    "model_options": {"features": 4, "cap": 8, "resolution": "full"},
    "training": {"steps": 4, "validate_every": 4, "checkpoint_every": 4, "learning_rate": 0.05},
}
CLASSES = {"background": 0, "organ": 1, "lesion": 2}
REGIONS = {"background": 0, "whole": [1, 2], "core": [2]}


@pytest.fixture(autouse=True, scope="session")
def few_resamples():
    """Intervals are tested with the statistics; here they would take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collect, "bootstrap_mean", partial(bootstrap_mean, resamples=100))
        yield


def trained(store, folder, loss):
    config = plan_run(store, RunRequest(loss, **SMALL))
    assert train_run(config, folder).state == "finished"
    return open_run(folder)


@pytest.fixture(scope="session")
def resampled(tmp_path_factory):
    """Raw folder, store at another spacing, and a run: two exclusive classes."""
    folder = tmp_path_factory.mktemp("resampled")
    raw = raw_tree(folder / "raw", CLASSES, cases="abcdefgh", shape=(14, 12, 10))
    store = store_of(raw, folder / "store", NnUnet(spacing=(2.0, 2.0, 2.0)))
    return raw, store, trained(store, folder / "run", "dice-surgery")


@pytest.fixture(scope="session")
def merged(tmp_path_factory):
    """One class made of two, at the voxels of the source."""
    folder = tmp_path_factory.mktemp("merged")
    raw = raw_tree(folder / "raw", CLASSES, cases="abcdefgh", shape=(14, 12, 10))
    store = store_of(raw, folder / "store", NnUnet(merge="both"))
    return raw, store, trained(store, folder / "run", "ce+dice-surgery")


@pytest.fixture(scope="session")
def regions(tmp_path_factory):
    """Overlapping regions, of images cut to what is not 0."""
    folder = tmp_path_factory.mktemp("regions")
    raw = raw_tree(folder / "raw", REGIONS, cases="abcdefgh", shape=(14, 12, 10))
    for file in (raw / "imagesTr").iterdir():
        inside = np.zeros((14, 12, 10), np.float32)
        inside[2:11, 1:11, 1:] = nibabel.load(file).get_fdata()[2:11, 1:11, 1:]
        save(file, inside, AFFINE)
        label = raw / "labelsTr" / file.name.replace("_0000", "")
        kept = np.where(inside > 0, nibabel.load(label).get_fdata(), 0).astype(np.uint8)
        save(label, kept, AFFINE)
    store = store_of(raw, folder / "store", NnUnet(crop="nonzero"))
    return raw, store, trained(store, folder / "run", "dice")
