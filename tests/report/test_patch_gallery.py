"""The gallery of augmented patches: its data, and that it can be drawn."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from gradsurge.data.augmentation import make_augmentation
from gradsurge.data.store import Store
from gradsurge.report.figures import patch_gallery
from gradsurge.report.figures.store_patches import rows_of_store
from gradsurge.report.style import save
from tests.data.patches.stores import case_of, make_store, phantom_store


@pytest.fixture(scope="module")
def volumes(tmp_path_factory):
    store = phantom_store(tmp_path_factory.mktemp("volumes"), "organs-3d", 2, (40, 36, 32))
    return [store.case(name) for name in store.cases]


def test_the_first_tile_is_the_patch_as_it_is(volumes):
    rows = patch_gallery.compute(volumes, make_augmentation("none", (20, 24, 16)), 2)
    assert [row.name for row in rows] == [case.name for case in volumes]
    for row in rows:
        assert len(row.tiles) == 3
        assert row.tiles[0].image.shape == (24, 20)  # across the thin axis, turned upright
        for tile in row.tiles[1:]:
            np.testing.assert_array_equal(tile.image, row.tiles[0].image)


def test_the_others_are_augmented_each_in_its_own_way(volumes):
    rows = patch_gallery.compute(volumes, make_augmentation("light", (20, 24, 16)), 4)
    images = {tile.image.tobytes() for row in rows for tile in row.tiles}
    assert len(images) == 2 * 5


def test_pictures_and_volumes_are_drawn(volumes, tmp_path):
    pictures = phantom_store(tmp_path, "vessels-2d", 1, (64, 64))
    for name, cases, size in (
        ("volumes", volumes, (20, 24, 16)),
        ("pictures", [pictures.case(pictures.cases[0])], (32, 48)),
    ):
        rows = patch_gallery.compute(cases, make_augmentation("nnunet", size), 3)
        (file,) = save(patch_gallery.draw(rows), tmp_path, name, ["png"])
        with Image.open(file) as image:
            pixels = np.asarray(image.convert("RGB"), int)
        cyan = (pixels[..., 0] < 120) & (pixels[..., 1] > 150) & (pixels[..., 2] > 150)
        assert cyan.sum() > 50, "the outline of class 1 is there"


def test_blank_patches_and_strange_names_are_drawn(tmp_path):
    blank = np.zeros((24, 20), np.uint8)
    name = "$\\alpha_ä" + "x" * 40
    store = make_store(tmp_path, [case_of(name, blank, np.zeros((1, 24, 20), np.float32))])
    rows = patch_gallery.compute([store.case(name)], make_augmentation("light", (16, 16)), 1)
    assert save(patch_gallery.draw(rows), tmp_path, "blank", ["png"])[0].stat().st_size > 0


def test_colours_stay_colours_and_classes_are_named(tmp_path):
    label = np.zeros((40, 60), np.uint8)
    label[10:30, 20:40] = 2
    image = np.random.default_rng(0).normal(size=(3, 40, 60)).astype(np.float32)
    store = make_store(tmp_path, [case_of("a", label, image), case_of("b", 0 * label, image)])
    store = Store(store.path, replace(store.dataset, channel_names=["Red", "green", "blue"]))
    (row,) = rows_of_store(store, "none", (16, 24))
    assert row.name == "a", "a case without foreground is not shown while there are others"
    assert row.tiles[0].image.shape == (16, 24, 3)
    figure = patch_gallery.draw([row], {0: "background", 1: "one", 2: "two"})
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["two"]
    width, height = figure.get_size_inches()
    assert height / width == pytest.approx(16 / 24 / 7, abs=0.1), "no empty space between rows"


def test_the_size_is_chosen_and_checked(volumes, tmp_path):
    store = phantom_store(tmp_path, "organs-3d", 1, (40, 36, 32))
    (row,) = rows_of_store(store, "none")
    assert row.tiles[0].label.shape == (22, 24)  # 0.6 of 36 and 40
    with pytest.raises(ValueError, match=r"size: the store's cases have 3 axes, got \(8, 8\)"):
        rows_of_store(store, "none", (8, 8))


def test_no_augmented_patch_is_refused(volumes):
    with pytest.raises(ValueError, match="number: expected at least 1, got 0"):
        patch_gallery.compute(volumes, make_augmentation("none", (8, 8, 8)), 0)
