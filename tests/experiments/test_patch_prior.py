"""The prior of patches, against what can be counted by hand."""

import math

import numpy as np
import pytest

from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.patches import PatchSettings
from gradsurge.data.store import Store
from gradsurge.experiments.patch_prior import patch_prior
from gradsurge.experiments.preparing import prepare


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prior")
    prepare(PhantomSet("lesions-2d", 10, (64, 64)), folder, folder / "store")
    return Store.open(folder / "store")


def test_whole_images_have_the_prior_of_the_cases(store):
    labels = [store.case(name).read_label() > 0 for name in store.split("train")]
    # Every patch is a whole image, every image comes equally often.
    found = patch_prior(store, PatchSettings(size=(64, 64), batch=1), steps=2 * len(labels))
    assert found.cases == pytest.approx(sum(y.mean() for y in labels) / len(labels))
    assert found.patches == pytest.approx(found.cases, rel=1e-6)
    assert found.shift == pytest.approx(0, abs=1e-6)


def test_patches_drawn_for_foreground_hold_more(store):
    by_chance, drawn = (
        patch_prior(store, PatchSettings(size=(16, 16), batch=4, oversample=share), steps=60)
        for share in (0.0, 1.0)
    )
    assert drawn.empty == 0
    assert drawn.patches > 2 * by_chance.patches
    assert math.exp(drawn.shift) > 2


def test_no_foreground_is_told(store, monkeypatch):
    empty = np.zeros((64, 64), np.uint8)
    monkeypatch.setattr("gradsurge.data.store.StoredCase.read_label", lambda *_: empty)
    with pytest.raises(ValueError, match="no foreground"):
        patch_prior(store, PatchSettings(size=(16, 16), batch=1), steps=1)
