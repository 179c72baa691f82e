"""A mask given as a probability map is refused; a confident map is not."""

import numpy as np
import pytest
import tifffile
from PIL import Image

from gradsurge.data import CaseError, read_prediction
from tests.data.files import classes, label_like, nifti, softmax

LABEL = label_like(classes())
PICTURE = label_like(classes(shape=(9, 11)), "label.png")
EMPTY = label_like(np.zeros((9, 11), np.uint8), "label.png")


def refused(path, like=LABEL):
    with pytest.raises(CaseError, match=rf"{path.name}: .*looks like a hard mask"):
        read_prediction([path], like)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32])
@pytest.mark.parametrize("count", [1, 2, 4])  # 1: empty, and still a mask
def test_integer_nifti(tmp_path, dtype, count):
    refused(nifti(tmp_path / "a.nii.gz", classes(count).astype(dtype)))


def test_a_slope_of_one_says_nothing(tmp_path):
    refused(nifti(tmp_path / "a.nii.gz", classes(2), scl_slope=1, scl_inter=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_and_ones_as_floats(tmp_path, dtype):
    mask = classes(2).astype(dtype)
    refused(nifti(tmp_path / "a.nii.gz", mask))
    np.save(tmp_path / "a.npy", np.stack([1 - mask, mask]))
    refused(tmp_path / "a.npy")
    np.savez(tmp_path / "a.npz", probabilities=np.stack([1 - mask, mask]).transpose(0, 3, 2, 1))
    refused(tmp_path / "a.npz")


def test_one_hot_files_a_channel(tmp_path):
    mask = classes(2).astype(np.float32)
    files = [nifti(tmp_path / f"a_000{c}.nii", m) for c, m in enumerate([1 - mask, mask])]
    with pytest.raises(CaseError, match="hard mask"):
        read_prediction(files, LABEL)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int64])
def test_integer_arrays(tmp_path, dtype):
    np.save(tmp_path / "a.npy", classes(2).astype(dtype))
    refused(tmp_path / "a.npy")


@pytest.mark.parametrize("values", [(0, 255), (0, 1), (0, 2)])
def test_pictures(tmp_path, values):
    mask = np.array(values, dtype=np.uint8)[classes(2, (9, 11))]
    Image.fromarray(mask).save(tmp_path / "a.png")
    refused(tmp_path / "a.png", PICTURE)
    tifffile.imwrite(tmp_path / "a.tif", mask)
    refused(tmp_path / "a.tif", PICTURE)
    Image.fromarray(mask > 0).save(tmp_path / "b.png")
    refused(tmp_path / "b.png", PICTURE)
    tifffile.imwrite(tmp_path / "b.tif", mask > 0)
    refused(tmp_path / "b.tif", PICTURE)


def test_what_may_be_a_map_passes(tmp_path):
    # An empty case: 8 bits of a confident model, nearly all zero.
    faint = classes(2, (9, 11))
    Image.fromarray(faint).save(tmp_path / "a.png")
    volume = read_prediction([tmp_path / "a.png"], EMPTY)
    np.testing.assert_allclose(volume.array[0], faint / 255, atol=1e-9)
    # All background, in two channels of floats.
    np.save(tmp_path / "a.npy", np.stack([np.ones((9, 11)), np.zeros((9, 11))]))
    assert read_prediction([tmp_path / "a.npy"], EMPTY).array[0].min() == 1
    # One channel of zeros beside soft ones (a class that is absent).
    p = softmax(3, (9, 11))
    p[0] += p[2]
    p[2] = 0
    np.save(tmp_path / "b.npy", p)
    assert read_prediction([tmp_path / "b.npy"], PICTURE).array.shape == (3, 9, 11)
    # A single soft voxel in the last place looked at.
    one = classes(2, (300, 300)).astype(np.float32)
    one[-1, -1] = 0.5
    np.save(tmp_path / "c.npy", one)
    like = label_like(classes(2, (300, 300)), "label.png")
    assert read_prediction([tmp_path / "c.npy"], like).array[0, -1, -1] == 0.5


def test_a_faint_channel_of_several_is_no_mask(tmp_path):
    faint = classes(2, (9, 11))
    Image.fromarray(255 - faint).save(tmp_path / "a_0000.png")
    Image.fromarray(faint).save(tmp_path / "a_0001.png")
    files = [tmp_path / "a_0000.png", tmp_path / "a_0001.png"]
    np.testing.assert_allclose(read_prediction(files, PICTURE).array.sum(axis=0), 1, atol=1e-6)
