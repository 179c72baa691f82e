"""Every format, written by the library people use, comes back as (C, *S) in the label's axes."""

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

from gradsurge.data import CaseError, check_geometry, check_probabilities, read_prediction
from tests.data.files import AFFINE, SHAPE, classes, label_like, nifti, softmax

LABEL = label_like(classes())
PICTURE = label_like(classes(shape=(9, 11)), "label.png")
ARRAY = label_like(classes(), "label.npy")


def refused(path, like, message):
    with pytest.raises(CaseError, match=message) as caught:
        read_prediction([path], like)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)


@pytest.mark.parametrize("kind", [nibabel.Nifti1Image, nibabel.Nifti2Image])
@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz", "A.NII.GZ"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, ">f4"])
def test_nifti_channels_last(tmp_path, name, kind, dtype):
    p = softmax(3)
    path = nifti(tmp_path / name, np.moveaxis(p, 0, -1).astype(dtype), kind=kind)
    volume = read_prediction([path], LABEL)
    np.testing.assert_array_equal(volume.array, p)
    assert volume.array.dtype == (np.float64 if dtype is np.float64 else np.float32)
    assert volume.spacing == (1.5, 2.0, 3.0)
    np.testing.assert_array_equal(volume.affine, AFFINE)
    assert (volume.source, volume.step) == (path, 0.0)
    check_geometry(volume, LABEL)


def test_nifti_foreground_alone_and_vectors(tmp_path):
    p = softmax(2)
    foreground = nifti(tmp_path / "a.nii.gz", p[1])
    np.testing.assert_array_equal(read_prediction([foreground], LABEL).array, p[1:])
    one = nifti(tmp_path / "b.nii.gz", p[1][..., None])
    np.testing.assert_array_equal(read_prediction([one], LABEL).array, p[1:])
    vectors = nifti(tmp_path / "c.nii.gz", np.moveaxis(p, 0, -1)[..., None, :])
    np.testing.assert_array_equal(read_prediction([vectors], LABEL).array, p)


def test_channels_last_wins_where_both_orders_fit(tmp_path):
    p = softmax(2, (2, 2, 2))
    like = label_like(classes(2, (2, 2, 2)))
    volume = read_prediction([nifti(tmp_path / "a.nii", np.moveaxis(p, 0, -1))], like)
    np.testing.assert_array_equal(volume.array, p)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int16])
def test_integer_nifti_with_a_slope_is_scaled_in_float32(tmp_path, dtype):
    p = softmax(2)[1]
    image = nibabel.Nifti1Image(p, AFFINE)
    image.header.set_data_dtype(dtype)
    nibabel.save(image, tmp_path / "a.nii.gz")
    saved = nibabel.load(tmp_path / "a.nii.gz")
    volume = read_prediction([tmp_path / "a.nii.gz"], LABEL)
    assert volume.array.dtype == np.float32
    assert volume.step == pytest.approx(saved.dataobj.slope)
    np.testing.assert_allclose(volume.array[0], saved.get_fdata(), atol=1e-6)
    np.testing.assert_allclose(volume.array[0], p, atol=0.51 * volume.step)


def test_nifti_keeps_the_memory_order_of_the_file(tmp_path):
    path = nifti(tmp_path / "a.nii.gz", np.moveaxis(softmax(3), 0, -1))
    array = read_prediction([path], LABEL).array
    assert all(channel.flags.f_contiguous for channel in array)


def test_one_file_a_channel(tmp_path):
    p = softmax(3)
    files = [nifti(tmp_path / f"a_{c:04}.nii.gz", p[c]) for c in range(3)]
    volume = read_prediction(files, LABEL)
    np.testing.assert_array_equal(volume.array, p)
    assert all(channel.flags.f_contiguous for channel in volume.array)
    assert volume.source == files[0]
    nifti(files[1], p[1], np.eye(4))
    with pytest.raises(CaseError, match=r"a_0001.*affine differs from .*a_0000"):
        read_prediction(files, LABEL)
    nifti(files[1], np.moveaxis(p, 0, -1))
    with pytest.raises(CaseError, match=r"a_0001.*holds 3 channels.*\(4, 5, 6\)"):
        read_prediction(files, LABEL)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_nnunet_axes_are_turned_for_nifti_labels(tmp_path, dtype):
    p = softmax(3, dtype=dtype)
    # nnU-Net: (C, z, y, x); a segmentation key and a pickle beside it must not matter.
    np.savez_compressed(
        tmp_path / "a.npz", probabilities=p.transpose(0, 3, 2, 1), other=np.zeros(3)
    )
    volume = read_prediction([tmp_path / "a.npz"], LABEL)
    np.testing.assert_array_equal(volume.array, p.astype(np.float32))
    assert volume.array.dtype == np.float32
    assert volume.affine is None
    check_probabilities(volume.array, exclusive=True)


def test_nnunet_of_flat_pictures(tmp_path):
    p = softmax(2, (9, 11))
    np.savez_compressed(tmp_path / "a.npz", probabilities=p[:, None])
    np.testing.assert_array_equal(read_prediction([tmp_path / "a.npz"], PICTURE).array, p)
    flat = label_like(classes(shape=(11, 9)))  # NIfTI (x, y)
    turned = read_prediction([tmp_path / "a.npz"], flat).array
    np.testing.assert_array_equal(turned, p.transpose(0, 2, 1))
    thin = label_like(classes(shape=(11, 9, 1)))  # NIfTI (x, y, 1)
    turned = read_prediction([tmp_path / "a.npz"], thin).array
    np.testing.assert_array_equal(turned[..., 0], p.transpose(0, 2, 1))


def test_nnunet_of_tiff_stacks_is_not_turned(tmp_path):
    p = softmax(2)
    np.savez_compressed(tmp_path / "a.npz", probabilities=p)
    like = label_like(classes(), "label.tif")
    np.testing.assert_array_equal(read_prediction([tmp_path / "a.npz"], like).array, p)


@pytest.mark.parametrize("like", [LABEL, ARRAY])
def test_arrays_have_the_axes_of_the_label(tmp_path, like):
    p = softmax(2)
    np.save(tmp_path / "a.npy", p)
    np.save(tmp_path / "b.npy", np.asfortranarray(p[1]))
    np.savez(tmp_path / "c.npz", anything=p.astype(np.float64))
    np.testing.assert_array_equal(read_prediction([tmp_path / "a.npy"], like).array, p)
    np.testing.assert_array_equal(read_prediction([tmp_path / "b.npy"], like).array, p[1:])
    np.testing.assert_array_equal(read_prediction([tmp_path / "c.npz"], like).array, p)


@pytest.mark.parametrize(("dtype", "top"), [(np.uint8, 255), (np.uint16, 65535)])
@pytest.mark.parametrize("suffix", [".png", ".tif", ".TIFF"])
def test_integer_pictures_are_scaled(tmp_path, dtype, top, suffix):
    stored = np.rint(softmax(2, (9, 11)) * top).astype(dtype)
    stored[:, 0, 0] = 0, top
    files = [tmp_path / f"a_{c:04}{suffix}" for c in range(2)]
    for file, channel in zip(files, stored, strict=True):
        Image.fromarray(channel).save(file)
    volume = read_prediction(files, PICTURE)
    np.testing.assert_allclose(volume.array, stored / top, atol=1e-7)
    assert volume.array.max() == 1.0
    assert volume.step == pytest.approx(1 / top)
    assert check_probabilities(volume.array, exclusive=True, step=volume.step) is volume.array
    alone = read_prediction([files[1].rename(tmp_path / f"b{suffix}")], PICTURE)
    np.testing.assert_array_equal(alone.array, volume.array[1:])


@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}, {"tile": (16, 16)}])
def test_tiff_stacks(tmp_path, options):
    p = softmax(2)
    path = tmp_path / "a.tif"
    like = label_like(classes(), "label.tif")
    tifffile.imwrite(path, p[1], photometric="minisblack", **options)
    np.testing.assert_array_equal(read_prediction([path], like).array, p[1:])
    tifffile.imwrite(path, p, photometric="minisblack", **options)
    np.testing.assert_array_equal(read_prediction([path], like).array, p)
    tifffile.imwrite(path, p[:, 0], photometric="minisblack", **options)  # pages are channels
    flat = label_like(classes(shape=SHAPE[1:]), "label.png")
    np.testing.assert_array_equal(read_prediction([path], flat).array, p[:, 0])


def test_imagej_keeps_channels_behind_slices(tmp_path):
    p = softmax(2)
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, p.transpose(1, 0, 2, 3), imagej=True, metadata={"axes": "ZCYX"})
    like = label_like(classes(), "label.tif")
    np.testing.assert_array_equal(read_prediction([path], like).array, p)


def test_three_pages_that_tifffile_calls_colours(tmp_path):
    stored = np.rint(softmax(3, (9, 11)) * 255).astype(np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", stored, photometric="rgb", planarconfig="separate")
    volume = read_prediction([tmp_path / "a.tif"], PICTURE)
    np.testing.assert_allclose(volume.array, stored / 255, atol=1e-7)


def test_lzw_needs_no_further_package(tmp_path):
    stored = np.rint(softmax(3, (9, 11)) * 255).astype(np.uint8)
    pages = [Image.fromarray(page) for page in stored]
    path = tmp_path / "a.tif"
    pages[0].save(path, compression="tiff_lzw", save_all=True, append_images=pages[1:])
    volume = read_prediction([path], PICTURE)
    np.testing.assert_allclose(volume.array, stored / 255, atol=1e-7)


def test_white_is_zero(tmp_path):
    stored = np.rint(softmax(2, (9, 11))[1] * 255).astype(np.uint8)
    tifffile.imwrite(tmp_path / "a.tif", 255 - stored, photometric="miniswhite")
    volume = read_prediction([tmp_path / "a.tif"], PICTURE)
    np.testing.assert_allclose(volume.array[0], stored / 255, atol=1e-7)


def test_grey_saved_as_colour_is_grey(tmp_path):
    stored = np.rint(softmax(2, (9, 11))[1] * 255).astype(np.uint8)
    for mode in ("RGB", "RGBA", "LA"):
        Image.fromarray(stored).convert(mode).save(tmp_path / "a.png")
        volume = read_prediction([tmp_path / "a.png"], PICTURE)
        np.testing.assert_allclose(volume.array[0], stored / 255, atol=1e-7)


def test_a_slide_of_pathology_is_no_bomb(tmp_path, monkeypatch):
    # Pillow's guard warns from 89 million pixels on and refuses twice that: here, 40 and 80.
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 40)
    stored = np.rint(softmax(2, (9, 11))[1] * 255).astype(np.uint8)
    Image.fromarray(stored).save(tmp_path / "a.png")
    with pytest.raises(Image.DecompressionBombError):
        Image.open(tmp_path / "a.png")
    volume = read_prediction([tmp_path / "a.png"], PICTURE)
    np.testing.assert_allclose(volume.array[0], stored / 255, atol=1e-7)


def test_colours_are_refused(tmp_path):
    stored = np.rint(softmax(4, (9, 11)) * 255).astype(np.uint8).transpose(1, 2, 0)
    Image.fromarray(stored[..., :3]).save(tmp_path / "a.png")
    refused(tmp_path / "a.png", PICTURE, "colour picture.*one file a channel")
    stored[..., :3] = stored[..., :1]
    Image.fromarray(stored).save(tmp_path / "a.png")
    refused(tmp_path / "a.png", PICTURE, "transparency")
    Image.fromarray(stored[..., 0]).convert("P").save(tmp_path / "a.png")
    refused(tmp_path / "a.png", PICTURE, "integers.*scale")


def test_formats_with_different_axes_are_not_mixed(tmp_path):
    p = softmax(1, (6, 6))[0] * np.float32(0.5)
    Image.fromarray((p * 255).astype(np.uint8)).save(tmp_path / "a.png")
    refused(tmp_path / "a.png", label_like(classes(shape=(6, 6))), "picture.*NIfTI.*npy")
    path = nifti(tmp_path / "a.nii", p)
    refused(path, label_like(classes(shape=(6, 6)), "label.png"), "NIfTI.*picture.*npy")


@pytest.mark.parametrize(
    ("name", "shape", "like", "message"),
    [
        ("a.nii", (3, *SHAPE), LABEL, r"channels come first.*\(4, 5, 6, 'C'\)"),
        ("a.nii", (4, 5, 7), LABEL, r"\(4, 5, 7\) does not fit the label's \(4, 5, 6\)"),
        ("a.nii", (6, 5, 4), LABEL, "nothing is resampled"),
        ("a.nii", (4, 5), LABEL, "does not fit"),
        ("a.npy", (6, 5, 4), LABEL, "axes reversed.*transpose"),
        ("a.npy", (2, 6, 5, 4), ARRAY, "axes reversed.*transpose"),
        ("a.npy", (4, 5, 6, 3), ARRAY, "channels come last"),
        ("a.npy", (7,), ARRAY, "does not fit"),
        ("a.npz", (2, 4, 5, 7), LABEL, "does not fit"),
    ],
)
def test_shapes_that_do_not_fit(tmp_path, name, shape, like, message):
    values = np.random.default_rng(0).random(shape).astype(np.float32)
    path = tmp_path / name
    if name.endswith("nii"):
        nifti(path, values)
    elif name.endswith("npy"):
        np.save(path, values)
    else:
        np.savez(path, probabilities=values)
    refused(path, like, message)


def test_npz_must_say_which_array(tmp_path):
    np.savez(tmp_path / "a.npz", p=softmax(2), q=softmax(2))
    refused(tmp_path / "a.npz", LABEL, "holds p, q; expected one array.*'probabilities'")
    np.savez(tmp_path / "a.npz")
    refused(tmp_path / "a.npz", LABEL, "holds no array")


def test_logits_come_raw(tmp_path):
    z = np.random.default_rng(0).normal(size=(2, *SHAPE)).astype(np.float32) * 20
    np.save(tmp_path / "a.npy", z)
    np.testing.assert_array_equal(read_prediction([tmp_path / "a.npy"], LABEL).array, z)


def test_no_files_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="files: expected at least one"):
        read_prediction([], LABEL)
