import nibabel
import numpy as np
import pytest
import tifffile

from gradsurge.data import read_label
from gradsurge.data.grid import Grid
from gradsurge.experiments.prediction.frame import frame_of
from gradsurge.experiments.prediction.voxel_files import write_map, write_mask
from tests.experiments.prediction.fakes import AFFINE, save

SHAPE = (5, 4, 37)  # more slices than are written at a time


def probabilities(channels, shape=SHAPE):
    return np.random.default_rng(0).dirichlet([1] * channels, shape).astype(np.float32)


def channels_of(p):
    return [np.ascontiguousarray(p[..., c]) for c in range(p.shape[-1])]


@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
@pytest.mark.parametrize("codes", [(1, 2), (0, 3), (2, 0)])
def test_nifti_has_the_geometry_of_the_source_bit_by_bit(tmp_path, kind, codes):
    image = np.random.default_rng(1).normal(size=SHAPE).astype(np.int16)
    source = save(tmp_path / "in.nii.gz", image, kind=kind, qcode=codes[0], scode=codes[1])
    frame, p = frame_of(source, None, ()), probabilities(3)
    write_map(tmp_path / "p.nii.gz", channels_of(p), 3, frame, 32)
    mask = p.argmax(-1).astype(np.uint8)
    write_mask(tmp_path / "m.nii.gz", mask, frame)
    before = nibabel.load(source)
    for file, values in (("p.nii.gz", p), ("m.nii.gz", mask)):
        after = nibabel.load(tmp_path / file)
        assert type(after) is kind
        assert np.array_equal(np.asarray(after.dataobj), values)
        assert after.get_data_dtype() == values.dtype
        assert np.array_equal(after.affine, before.affine)
        for field in ("qform_code", "sform_code", "srow_x", "srow_y", "srow_z", "quatern_b"):
            assert np.array_equal(after.header[field], before.header[field])
        assert np.array_equal(after.header["pixdim"][:4], before.header["pixdim"][:4])
        assert after.header.get_xyzt_units()[0] == before.header.get_xyzt_units()[0]


def test_a_big_endian_source_with_extensions_and_a_window(tmp_path):
    header = nibabel.Nifti1Header(endianness=">")
    image = nibabel.Nifti1Image(np.zeros(SHAPE, ">i2"), AFFINE, header)
    image.header["cal_max"] = 400
    image.header.extensions.append(nibabel.nifti1.Nifti1Extension("comment", b"of the scan"))
    nibabel.save(image, tmp_path / "in.nii")
    p = probabilities(2)[..., 1]
    write_map(tmp_path / "p.nii.gz", [p], 1, frame_of(tmp_path / "in.nii", None, ()), 32)
    found = nibabel.load(tmp_path / "p.nii.gz")
    assert np.array_equal(found.get_fdata(dtype=np.float32), p)
    assert np.array_equal(found.affine, nibabel.load(tmp_path / "in.nii").affine)
    assert found.header["cal_max"] == 0
    assert not found.header.extensions


def test_a_flat_source_whose_affine_is_a_quaternion_alone(tmp_path):
    source = save(tmp_path / "in.nii.gz", np.zeros((6, 5), np.int16), qcode=1, scode=0)
    p = probabilities(3, (6, 5))
    frame = frame_of(source, None, ())
    write_map(tmp_path / "p.nii.gz", channels_of(p), 3, frame, 32)
    write_mask(tmp_path / "m.nii.gz", p.argmax(-1).astype(np.uint8), frame)
    before = nibabel.load(source)
    for file in ("p.nii.gz", "m.nii.gz"):
        after = nibabel.load(tmp_path / file)
        assert after.header["sform_code"] == 0
        assert np.array_equal(after.affine, before.affine)


def test_sixteen_bits_round_to_the_nearest_step(tmp_path):
    source = save(tmp_path / "in.nii.gz", np.zeros(SHAPE, np.int16))
    p = probabilities(2)[..., 1]
    write_map(tmp_path / "p.nii.gz", [p], 1, frame_of(source, None, ()), 16)
    found = nibabel.load(tmp_path / "p.nii.gz")
    assert found.get_data_dtype() == np.uint16
    assert np.abs(found.get_fdata() - p).max() <= 0.5 / 65535 + 1e-7
    assert np.array_equal(found.dataobj.get_unscaled(), np.rint(p * 65535))


def test_views_of_turned_volumes_are_written_as_they_are_seen(tmp_path):
    source = save(tmp_path / "in.nii.gz", np.zeros((4, 37, 5), np.int16))
    p = probabilities(2)[..., 1].transpose(1, 2, 0)[:, ::-1]
    write_map(tmp_path / "p.nii.gz", [p], 1, frame_of(source, None, ()), 32)
    assert np.array_equal(nibabel.load(tmp_path / "p.nii.gz").get_fdata(dtype=np.float32), p)


def test_without_header_the_affine_is_kept(tmp_path):
    grid = Grid(SHAPE, (1.5, 2, 3), tuple(map(tuple, AFFINE.tolist())), (), (), SHAPE, ())
    frame = frame_of(tmp_path / "gone.nii.gz", grid, (1.5, 2, 3))
    write_mask(tmp_path / "m.nii.gz", np.ones(SHAPE, np.uint8), frame)
    found = nibabel.load(tmp_path / "m.nii.gz")
    np.testing.assert_allclose(found.affine, AFFINE, rtol=1e-7)
    assert (found.header["qform_code"], found.header["sform_code"]) == (1, 1)


def test_flat_phantoms_have_their_spacing(tmp_path):
    p = probabilities(3, (6, 5))
    frame = frame_of(None, None, (0.5, 0.75))
    write_map(tmp_path / "p.nii.gz", channels_of(p), 3, frame, 32)
    write_mask(tmp_path / "m.nii.gz", p.argmax(-1).astype(np.uint8), frame)
    assert nibabel.load(tmp_path / "p.nii.gz").shape == (6, 5, 3)
    label = read_label(tmp_path / "m.nii.gz")
    assert label.array.shape == (6, 5)
    assert label.spacing == pytest.approx((0.5, 0.75))


@pytest.mark.parametrize("shape", [(7, 5), (3, 7, 5)])
@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("bits", [16, 32])
def test_pictures_and_stacks(tmp_path, shape, channels, bits):
    grid = Grid(shape, (1.0,) * len(shape), None, (), (), shape, ())
    frame = frame_of(tmp_path / "in.png", grid, ())
    p = probabilities(max(channels, 2), shape)[..., :channels]
    write_map(tmp_path / "p.tif", channels_of(p), channels, frame, bits)
    found = tifffile.imread(tmp_path / "p.tif")
    expected = p[..., 0] if channels == 1 else np.moveaxis(p, -1, 0)
    scale = 1 if bits == 32 else 65535
    np.testing.assert_allclose(
        found / scale, expected, atol=0 if bits == 32 else 0.5 / 65535 + 1e-7
    )
    mask = tmp_path / f"m{frame.mask_suffix(len(shape))}"
    write_mask(mask, (p[..., 0] > 0.3).astype(np.uint8) * 2, frame)
    assert np.array_equal(read_label(mask).array, (p[..., 0] > 0.3) * 2)
