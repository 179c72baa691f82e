"""Flipped and missing bytes in pictures, DICOM and XML: one line, never another exception."""

import random
import struct
import warnings

import numpy as np
import pytest
import tifffile
from PIL import Image

from gradsurge.data import CaseError, read_label
from gradsurge.data.datasets.osirix import draw_polygons, read_polygons
from gradsurge.data.formats.dicom import read_dicom
from gradsurge.data.formats.picture import has_colours, read_picture
from tests.data.datasets import trees
from tests.data.test_damaged_files import damaged

COLOUR = trees.rng().integers(0, 255, (24, 20, 3), np.uint8)


def drawn(path):
    return draw_polygons(read_polygons(path, "Mass"), (64, 64))


def written(folder):
    """One good file of each kind, and what reads it."""
    yield trees.write_dicom(folder / "a.dcm", trees.rng().integers(0, 2**14, (24, 20))), read_dicom
    mass = trees.region("Mass", trees.circle(20, 20, 9, points=12))
    yield trees.write_osirix(folder / "b.xml", mass), drawn
    for name in ("c.png", "d.jpg", "e.tif"):
        Image.fromarray(COLOUR).save(folder / name)
        yield folder / name, read_picture
    Image.fromarray(COLOUR).quantize(8).save(folder / "f.png")
    yield folder / "f.png", has_colours


@pytest.mark.parametrize("seed", range(2))
def test_flipped_and_missing_bytes(tmp_path, seed, capfd):
    rng = random.Random(seed)
    for path, read in written(tmp_path):
        good, faults = path.read_bytes(), []
        for _ in range(60):
            path.write_bytes(damaged(good, rng))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    read(path)
            except CaseError as error:
                faults.append(str(error))
        assert len(faults) > 3
        assert all(path.name in fault and "\n" not in fault for fault in faults)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("big", [False, True])
def test_pages_in_a_circle_come_to_an_end(tmp_path, big):
    path = tmp_path / "a.tif"
    stack = COLOUR.transpose(2, 0, 1)
    tifffile.imwrite(path, stack, photometric="minisblack", bigtiff=big, metadata=None)
    assert read_label(path).array.shape == (3, 24, 20)
    with tifffile.TiffFile(path) as tiff:
        first, last = tiff.pages[0].offset, tiff.pages[2]
        layout, at = (
            ("<Q", last.offset + 8 + 20 * len(last.tags))
            if big
            else ("<I", last.offset + 2 + 12 * len(last.tags))
        )
    data = bytearray(path.read_bytes())
    struct.pack_into(layout, data, at, first)
    path.write_bytes(data)
    with pytest.raises(CaseError, match=r"a.tif: its pages run in a circle"):
        read_label(path)
