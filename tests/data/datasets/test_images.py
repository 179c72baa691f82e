"""Folders of pictures and masks, however people name them."""

import numpy as np
import pytest
import tifffile
from PIL import Image

from gradsurge.data import CaseError
from gradsurge.data.datasets import Images
from gradsurge.data.formats.picture import has_colours, read_picture
from tests.data.datasets import trees

GREY = trees.rng().integers(0, 255, (30, 40), np.uint8)
COLOUR = trees.rng().integers(0, 255, (30, 40, 3), np.uint8)


def opened(raw, **options):
    dataset = Images(**options)
    return dataset, dataset.find(raw)


def scored(array):
    return (array - array.mean()) / array.std()


@pytest.mark.parametrize("end", ["", "_mask", "_label", "_seg", "_gt"])
def test_masks_are_found_by_name(tmp_path, end):
    dataset, found = opened(trees.images(tmp_path, end=end))
    assert [c.name for c in found.cases] == [f"a{n}" for n in range(6)]
    case = dataset.load(found.cases[2])
    assert dataset.label_names == {0: "background", 1: "foreground"}
    assert case.label.sum() == 7 * 8
    assert case.image.shape == (1, 30, 40)
    raw = trees.rng(2).integers(0, 255, (30, 40), np.uint8)
    np.testing.assert_allclose(case.image[0], scored(raw.astype(float)), atol=1e-5)


@pytest.mark.parametrize("masks", ["labels", "mask"])
def test_other_folder_names_and_published_splits(tmp_path, masks):
    for split, count in (("train", 10), ("val", 3), ("test", 2)):
        trees.images(tmp_path / split, count)
        (tmp_path / split / "masks").rename(tmp_path / split / masks)
        for folder in ("images", masks):
            for file in (tmp_path / split / folder).iterdir():
                file.rename(file.with_name(f"{split}{file.name}"))
    dataset, found = opened(tmp_path)
    split = dataset.split(found.cases, 0)
    assert [len(names) for names in split.values()] == [10, 3, 2]
    assert all(name.startswith("validation_val") for name in split["validation"])


def test_equal_names_in_the_folders_of_splits(tmp_path):
    for split in ("train", "val", "test"):
        trees.images(tmp_path / split, 2)
    dataset, found = opened(tmp_path)
    assert found.problems == []
    assert dataset.split(found.cases, 0) == {
        s: [f"{s}_a0", f"{s}_a1"] for s in ("train", "validation", "test")
    }
    assert len({case.group for case in found.cases}) == 6


def test_one_colour_picture_makes_three_channels(tmp_path):
    trees.images(tmp_path, 3)
    trees.write_picture(tmp_path / "images" / "a1.png", COLOUR)
    dataset, found = opened(tmp_path)
    assert dataset.channel_names == ("red", "green", "blue")
    grey, colour, _ = (dataset.load(case).image for case in found.cases)
    np.testing.assert_array_equal(grey[0], grey[2])
    np.testing.assert_allclose(colour[2], scored(COLOUR[..., 2].astype(float)), atol=1e-5)


def test_classes(tmp_path):
    trees.images(tmp_path, 2)
    mask = np.zeros((30, 40), np.uint8)
    mask[:5], mask[5:9] = 1, 2
    trees.write_picture(tmp_path / "masks" / "a1_mask.png", mask)
    dataset, found = opened(tmp_path)
    with pytest.raises(
        CaseError, match=r"a1_mask.png: holds class 2, but classes.txt .*declares 0, 1"
    ):
        dataset.load(found.cases[1])
    (tmp_path / "classes.txt").write_text("background\nLeber\nMilz\n\n", encoding="utf-8")
    dataset, found = opened(tmp_path)
    assert dataset.label_names == {0: "background", 1: "Leber", 2: "Milz"}
    np.testing.assert_array_equal(dataset.load(found.cases[1]).label, mask)
    dataset, _ = opened(tmp_path, classes=["nothing", "liver", "spleen"])
    assert dataset.label_names[2] == "spleen"
    (tmp_path / "classes.txt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"classes.txt: cannot be read as text"):
        Images().find(tmp_path)
    (tmp_path / "classes.txt").write_text("only one")
    with pytest.raises(ValueError, match=r"classes.txt: expected 2 to 256 names"):
        Images().find(tmp_path)
    with pytest.raises(ValueError, match="classes: expected 2 to 256 names, got 1"):
        Images(classes=["one"])


def test_what_has_no_partner(tmp_path):
    trees.images(tmp_path, 4)
    (tmp_path / "masks/a0_mask.png").unlink()
    (tmp_path / "images/a1.png").unlink()
    trees.write_picture(tmp_path / "masks/a2.png", GREY)
    trees.write_picture(tmp_path / "images/a3.jpg", GREY)
    trees.write_picture(tmp_path / "masks/a3.tif", GREY)
    _, found = opened(tmp_path)
    assert found.cases == []
    said = dict(found.problems)
    assert "a0.png has no mask of the same name in masks; add it" in said["a0"]
    assert "has no picture in images" in said["a1_mask"]
    assert "has 2 masks in masks: a2.png and a2_mask.png; keep one" in said["a2"]


def test_two_pictures_of_one_name(tmp_path):
    trees.images(tmp_path, 1, end="")
    trees.write_picture(tmp_path / "images/a0.jpg", GREY)
    trees.write_picture(tmp_path / "masks/a0_mask.png", GREY)
    _, found = opened(tmp_path)
    assert found.cases == []
    ((name, said),) = found.problems
    assert name == "a0"
    assert said == "a0.jpg and a0.png in images have one name; rename or remove one"


def test_masks_in_jpeg_are_cut(tmp_path):
    trees.images(tmp_path, 1)
    mask = Image.open(tmp_path / "masks/a0_mask.png")
    mask.save(tmp_path / "masks/a0_mask.jpg", quality=60)
    (tmp_path / "masks/a0_mask.png").unlink()
    dataset, found = opened(tmp_path)
    label = dataset.load(found.cases[0]).label
    assert set(np.unique(label)) == {0, 1}
    assert label.sum() == pytest.approx(70, abs=4)


@pytest.mark.parametrize(
    ("value", "names", "words"),
    [(1, None, "values up to"), (100, None, "values up to"), (255, "abc", "3 classes")],
)
def test_class_numbers_in_jpeg_are_refused(tmp_path, value, names, words):
    trees.images(tmp_path, 1)
    (tmp_path / "masks/a0_mask.png").unlink()
    mask = np.zeros((30, 40), np.uint8)
    mask[8:24, 8:32] = value
    trees.write_picture(tmp_path / "masks/a0_mask.jpg", mask)
    dataset, found = opened(tmp_path, classes=names)
    with pytest.raises(CaseError, match=rf"a0_mask.jpg: .*blurs.*{words}.*save masks as PNG"):
        dataset.load(found.cases[0])


def test_a_black_jpeg_is_an_empty_mask(tmp_path):
    trees.images(tmp_path, 1)
    (tmp_path / "masks/a0_mask.png").unlink()
    trees.write_picture(tmp_path / "masks/a0_mask.jpg", np.zeros((30, 40), np.uint8))
    dataset, found = opened(tmp_path)
    assert not dataset.load(found.cases[0]).label.any()


def test_sizes_that_differ(tmp_path):
    trees.images(tmp_path, 1)
    trees.write_picture(tmp_path / "images/a0.png", GREY[:20])
    dataset, found = opened(tmp_path)
    with pytest.raises(CaseError, match=r"a0.png: has 20x40 pixels but its label 30x40"):
        dataset.load(found.cases[0])


def test_patients(tmp_path):
    trees.images(tmp_path, 6)
    _, found = opened(tmp_path, patient=r"a([0-9])")
    assert [c.group for c in found.cases] == ["0", "1", "2", "3", "4", "5"]


@pytest.mark.parametrize(("pattern", "words"), [("a([0-2])", "does not match"), ("(", "regular")])
def test_patients_are_never_torn_apart_in_silence(tmp_path, pattern, words):
    trees.images(tmp_path, 6)
    with pytest.raises(ValueError, match=words):
        opened(tmp_path, patient=pattern)


# --- the reader -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "array", "channels"),
    [
        ("a.png", GREY, 1),
        ("a.PNG", COLOUR, 3),
        ("a.png", np.dstack([COLOUR, GREY]), 3),
        ("a.png", np.dstack([GREY, GREY]), 1),
        ("a.png", GREY.astype(np.uint16) * 200, 1),
        ("a.tif", GREY, 1),
        ("a.tif", COLOUR, 3),
        ("a.tiff", np.dstack([COLOUR, GREY]), 3),
        ("a.tif", GREY.astype(np.float32), 1),
    ],
)
def test_pictures_as_stored(tmp_path, name, array, channels):
    mode = "LA" if array.shape[2:] == (2,) else None
    image = Image.merge(mode, [Image.fromarray(GREY)] * 2) if mode else Image.fromarray(array)
    image.save(tmp_path / name)
    picture = read_picture(tmp_path / name)
    planes = array[None] if array.ndim == 2 else np.moveaxis(array, -1, 0)
    np.testing.assert_array_equal(picture, planes[:channels])
    assert has_colours(tmp_path / name) == (channels == 3)


def test_colours_of_sixteen_bits_in_tiff(tmp_path):
    deep = COLOUR.astype(np.uint16) * 200
    tifffile.imwrite(tmp_path / "a.tif", deep, photometric="rgb")
    np.testing.assert_array_equal(read_picture(tmp_path / "a.tif"), np.moveaxis(deep, -1, 0))


def test_palettes_become_colours(tmp_path):
    Image.fromarray(COLOUR).quantize(16).save(tmp_path / "a.png")
    assert read_picture(tmp_path / "a.png").shape == (3, 30, 40)
    assert has_colours(tmp_path / "a.png")


def test_pictures_that_are_none(tmp_path):
    with pytest.raises(CaseError, match=r"a.gif: expected a picture of type .png, .jpg"):
        read_picture(tmp_path / "a.gif")
    tifffile.imwrite(tmp_path / "a.tif", np.zeros((7, 30, 40), np.uint8), photometric="minisblack")
    with pytest.raises(CaseError, match=r"a.tif: has shape \(7, 30, 40\), a stack"):
        read_picture(tmp_path / "a.tif")
    tifffile.imwrite(tmp_path / "b.tif", np.full((30, 40), np.nan, np.float32))
    with pytest.raises(CaseError, match=r"b.tif: holds NaN or infinite pixels"):
        read_picture(tmp_path / "b.tif")
    Image.fromarray(GREY).save(tmp_path / "c.jpg")
    (tmp_path / "c.jpg").rename(tmp_path / "c.png")
    for read in (read_picture, has_colours):
        with pytest.raises(CaseError, match=r"c.png: cannot be read as .png \(not a PNG file\)"):
            read(tmp_path / "c.png")
