"""The contact sheet: the right slice, upright, with its outline."""

import numpy as np
import pytest
from matplotlib.colors import to_hex
from PIL import Image

from gradsurge.data.datasets import Dataset, Found
from gradsurge.data.prepared import PreparedCase
from gradsurge.data.store import Stamp, Store, folder_name, write_case, write_dataset_file
from gradsurge.report.figures import contact_sheet
from tests.data.store.test_store import FACTS

NAMES = ["a", "$x_{$ <b>", "Fälle 例\n", "n" * 80]


class Any2d(Dataset):
    name, dimensions, channel_names = "any", 2, ("red", "green", "blue")
    label_names = {0: "background", 1: "organ", 2: "lesion"}  # noqa: RUF012
    settings = {}  # noqa: RUF012

    def find(self, raw):
        return Found([])

    def load(self, case):
        raise AssertionError("a sheet is drawn of what is stored")

    def split(self, cases, seed):
        return {}


class Any3d(Any2d):
    dimensions, channel_names = 3, ("ct",)


def make_store(folder, dataset, cases):
    for case in cases:
        write_case(folder, case, dataset, Stamp({}, ""))
    write_dataset_file(
        folder,
        type(FACTS)(
            **vars(FACTS)
            | {
                "dimensions": dataset.dimensions,
                "channel_names": dataset.channel_names,
                "splits": {"train": [case.name for case in cases]},
                "cases": {case.name: folder_name(case.name) for case in cases},
            }
        ),
    )
    return Store.open(folder)


def volume(name, spacing=(1.0, 1.0, 3.0), axis=2, at=7):
    """A lesion in one slice; the image grows to the right and, more, to the front."""
    label = np.zeros((10, 12, 14), np.uint8)
    label[3:6, 3:6, 3:6] = 1
    slab = [slice(2, 9)] * 3
    slab[axis] = at
    label[tuple(slab)] = 2
    x, y, _ = np.meshgrid(*map(np.arange, label.shape), indexing="ij")
    return PreparedCase(name, (x + 20 * y)[None].astype(np.float32), label, spacing)


@pytest.mark.parametrize(("axis", "spacing"), [(2, (1, 1, 3)), (0, (4, 1, 3)), (2, (1, 1, 1))])
def test_a_volume_is_cut_across_its_coarsest_axis_where_most_lies(tmp_path, axis, spacing):
    store = make_store(tmp_path, Any3d(), [volume("a", spacing, axis)])
    (tile,) = contact_sheet.compute(store, ["a"])
    plane = np.take(volume("a", spacing, axis).label, 7, axis)
    np.testing.assert_array_equal(tile.label, plane.T[::-1])
    across, up = (spacing[i] for i in range(3) if i != axis)
    assert tile.aspect == across / up or tile.aspect == up / across
    assert tile.aspect == up / across


def test_the_front_is_up_and_the_right_is_right(tmp_path):
    (tile,) = contact_sheet.compute(make_store(tmp_path, Any3d(), [volume("a")]), ["a"])
    assert tile.image[0, 5] > tile.image[-1, 5]
    assert tile.image[6, -1] > tile.image[6, 0]
    assert tile.image.min() >= 0
    assert tile.image.max() <= 1


def test_without_foreground_the_middle_is_shown(tmp_path):
    image = np.zeros((1, 8, 8, 11), np.float32)
    image[..., 5] = np.arange(8)
    case = PreparedCase("a", image, np.zeros((8, 8, 11), np.uint8), (1, 1, 1))
    (tile,) = contact_sheet.compute(make_store(tmp_path, Any3d(), [case]), ["a"])
    assert tile.image.max() > 0.9


def test_pictures_keep_their_colours_and_large_ones_shrink(tmp_path):
    image = np.random.default_rng(0).random((3, 900, 500)).astype(np.float32)
    label = np.zeros((900, 500), np.uint8)
    label[:, 250] = 1
    case = PreparedCase("a", image, label, (1, 1))
    (tile,) = contact_sheet.compute(make_store(tmp_path, Any2d(), [case]), ["a"])
    assert tile.image.shape == (300, 167, 3)
    np.testing.assert_array_equal(tile.label, label)


def test_many_cases_are_spread_over_the_sheet(tmp_path):
    names = [f"{i:03d}" for i in range(30)]
    store = make_store(tmp_path, Any3d(), [volume(name) for name in names])
    shown = [tile.name for tile in contact_sheet.compute(store, names, most=10)]
    assert shown == names[::3]
    assert len(contact_sheet.compute(store, names)) == contact_sheet.MOST
    assert len(contact_sheet.compute(store, names[:2])) == 2


def test_the_outline_runs_round_every_class(tmp_path):
    store = make_store(tmp_path, Any3d(), [volume("a")])
    tiles = contact_sheet.compute(store, ["a"])
    figure = contact_sheet.draw(tiles, dict(Any3d.label_names), None)
    (axes,) = figure.axes
    colours = [to_hex(c.get_edgecolor()[0]).upper() for c in axes.collections]
    assert colours == [contact_sheet._COLOURS[n - 1] for n in np.unique(tiles[0].label) if n]
    lesion = np.argwhere(tiles[0].label == 2)[:, ::-1]
    (outline,) = axes.collections[-1].get_paths()
    assert outline.contains_points(lesion).all()
    assert not outline.contains_points([(0, 0), lesion.min(axis=0) - 1]).any()


def test_a_sheet_of_any_names(tmp_path):
    store = make_store(tmp_path / "store", Any3d(), [volume(name) for name in NAMES])
    contact_sheet.write(store, store.cases, tmp_path / "new" / "sheet.png")
    with Image.open(tmp_path / "new" / "sheet.png") as picture:
        picture.load()
        assert picture.width > 800


def test_a_store_without_cases_gives_an_empty_sheet(tmp_path):
    store = make_store(tmp_path, Any3d(), [])
    contact_sheet.write(store, [], tmp_path / "sheet.png")
    assert (tmp_path / "sheet.png").stat().st_size > 0
