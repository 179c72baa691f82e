"""Damaged and hostile files: one line that names the file, never another exception."""

import gzip
import io
import os
import pickle
import random
import struct
import zipfile
import zlib

import nibabel
import numpy as np
import pytest
import tifffile
from PIL import Image

from gradsurge.data import CaseError, read_label, read_prediction
from gradsurge.data.formats import READERS
from gradsurge.data.formats.dicom import read_dicom
from tests.data.files import classes, label_like, nifti, softmax

FLAT = classes(3, (24, 20))


def written(folder):
    """One good file of each kind."""
    p = softmax(2, (9, 8, 7))[1]
    nifti(folder / "a.nii", p)
    nifti(folder / "b.nii.gz", p)
    nifti(folder / "c.nii", p, kind=nibabel.Nifti2Image)
    np.save(folder / "d.npy", p)
    np.savez_compressed(folder / "e.npz", probabilities=p)
    Image.fromarray(FLAT).save(folder / "f.png")
    Image.fromarray(FLAT.astype(np.uint16)).save(folder / "g.png")
    tifffile.imwrite(folder / "h.tif", p, photometric="minisblack", compression="zlib")
    tifffile.imwrite(folder / "i.tiff", p, imagej=True)
    Image.fromarray(FLAT).save(folder / "j.tif", compression="tiff_lzw")
    return sorted(folder.iterdir())


def damaged(good, rng):
    data = bytearray(good)
    if rng.random() < 0.3:
        return bytes(data[: rng.randrange(len(data))])
    reach = len(data) if rng.random() < 0.5 else min(len(data), 400)
    for _ in range(rng.choice([1, 2, 5, 20])):
        data[rng.randrange(reach)] = rng.choice([0, 1, 128, 255, rng.randrange(256)])
    return bytes(data)


@pytest.mark.parametrize("seed", range(4))
def test_flipped_and_missing_bytes_read_or_raise_one_line(tmp_path, seed, capsys):
    rng = random.Random(seed)
    for path in written(tmp_path):
        good, faults = path.read_bytes(), []
        for _ in range(40):
            path.write_bytes(damaged(good, rng))
            try:
                read_label(path)
            except CaseError as error:
                faults.append(str(error))
        assert len(faults) > 5
        assert all(path.name in fault and "\n" not in fault for fault in faults)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("suffix", READERS)
@pytest.mark.parametrize("content", [b"", b"\0", b"not an image at all" * 40, b"\x1f\x8b"])
def test_empty_and_other_files(tmp_path, suffix, content):
    path = tmp_path / f"case{suffix}"
    path.write_bytes(content)
    with pytest.raises(CaseError, match=rf"case{suffix}: cannot be read as {suffix} \(.+\)"):
        read_label(path)


def test_half_a_gzip(tmp_path):
    path = nifti(tmp_path / "a.nii.gz", softmax(2)[1])
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(CaseError, match=r"a.nii.gz: cannot be read"):
        read_label(path)


def test_a_wrong_checksum_is_found(tmp_path):
    # nibabel alone stops reading before the checksum, and takes wrong voxels for right ones.
    path = nifti(tmp_path / "a.nii.gz", classes(200, (40, 50, 60)))
    data = bytearray(path.read_bytes())
    data[-8] ^= 1
    path.write_bytes(bytes(data))
    assert nibabel.load(path).get_fdata().shape == (40, 50, 60)
    with pytest.raises(CaseError, match="CRC"):
        read_label(path)


def test_a_plain_file_named_gz_and_the_other_way_round(tmp_path):
    plain = nifti(tmp_path / "a.nii", classes())
    plain.rename(tmp_path / "b.nii.gz")
    np.testing.assert_array_equal(read_label(tmp_path / "b.nii.gz").array, classes())
    nifti(tmp_path / "c.nii.gz", classes()).rename(tmp_path / "c.nii")
    np.testing.assert_array_equal(read_label(tmp_path / "c.nii").array, classes())


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
@pytest.mark.parametrize("dims", [(3, 32767, 32767, 32767), (7, *[32767] * 7), (3, 4, 5, 7)])
def test_a_header_that_promises_too_much(tmp_path, name, dims):
    path = nifti(tmp_path / name, classes())
    data = bytearray(
        gzip.decompress(path.read_bytes()) if name.endswith("gz") else path.read_bytes()
    )
    struct.pack_into(f"<{len(dims)}h", data, 40, *dims)
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    with pytest.raises(CaseError, match=r"promises|cannot be read"):
        read_label(path)


@pytest.mark.parametrize("length", [0, -3])
def test_axes_without_voxels(tmp_path, length):
    path = nifti(tmp_path / "a.nii", classes())
    data = bytearray(path.read_bytes())
    struct.pack_into("<h", data, 42, length)
    path.write_bytes(data)
    with pytest.raises(CaseError, match="holds no voxels"):
        read_label(path)
    np.save(tmp_path / "a.npy", np.zeros((0, 4)))
    with pytest.raises(CaseError, match=r"a.npy: expected an array of numbers, got .*\(0, 4\)"):
        read_label(tmp_path / "a.npy")


def test_an_affine_of_nan(tmp_path):
    path = nifti(tmp_path / "a.nii", classes())
    data = bytearray(path.read_bytes())
    struct.pack_into("<f", data, 280, float("nan"))
    path.write_bytes(data)
    with pytest.raises(CaseError, match="affine holds NaN"):
        read_label(path)


def npy(shape, data=b"", descr="'|u1'"):
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (64 - (len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize("shape", [(1 << 50,), (1 << 62, 8), (100, 100, 100)])
def test_arrays_that_promise_too_much(tmp_path, shape):
    (tmp_path / "a.npy").write_bytes(npy(shape, b"few"))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("probabilities.npy", npy(shape, b"few"))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(CaseError, match=f"{name}: cannot be read"):
            read_label(tmp_path / name)


def test_a_zip_bomb_by_its_own_word(tmp_path):
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("probabilities.npy", npy((1 << 42,), b"\0" * 1000))
    data = path.read_bytes()
    real = struct.pack("<I", len(npy((1 << 42,), b"\0" * 1000)))
    path.write_bytes(data.replace(real, struct.pack("<I", 0xFFFFFFF0)))
    with pytest.raises(CaseError, match="promises 4,294,967,280 bytes"):
        read_label(path)


def test_a_picture_larger_than_memory(tmp_path):
    def chunk(kind, data):
        crc = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + crc

    size = 2**31 - 1
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + body)
    with pytest.raises(CaseError, match=r"a.png: its header promises"):
        read_label(tmp_path / "a.png")


class Boom:
    def __reduce__(self):
        return (os.mkdir, ("pickle-was-run",))


def test_pickles_are_never_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "a.npy", np.array([Boom()], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "a.npz", probabilities=np.array([Boom()], dtype=object))
    (tmp_path / "b.npz").write_bytes(pickle.dumps(Boom()))
    (tmp_path / "b.npy").write_bytes(pickle.dumps(Boom()))
    for name in ("a.npy", "a.npz", "b.npz", "b.npy"):
        with pytest.raises(CaseError, match=f"{name}: cannot be read"):
            read_label(tmp_path / name)
    assert not (tmp_path / "pickle-was-run").exists()


def test_odd_zips(tmp_path):
    path = tmp_path / "a.npz"
    buffer = io.BytesIO()
    np.save(buffer, classes())
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x.npy", buffer.getvalue())
    data = bytearray(path.read_bytes())
    for at in (6, data.index(b"PK\x01\x02") + 8):
        data[at] |= 1  # "encrypted"
    path.write_bytes(data)
    with pytest.raises(CaseError, match=r"a.npz: cannot be read.*encrypted"):
        read_label(path)


def test_a_tiff_that_asks_for_other_files(tmp_path):
    secret = tmp_path / "secret.tif"
    tifffile.imwrite(secret, np.full((24, 20), 9, np.uint8))
    xml = (
        '<?xml version="1.0"?><OME xmlns="http://www.openmicroscopy.org/Schemas/OME/2016-06">'
        '<Image ID="Image:0"><Pixels ID="Pixels:0" DimensionOrder="XYZCT" Type="uint8" SizeX="20" '
        'SizeY="24" SizeZ="2" SizeC="1" SizeT="1"><TiffData IFD="0" FirstZ="0"/>'
        '<TiffData IFD="0" FirstZ="1"><UUID FileName="secret.tif">urn:uuid:1</UUID></TiffData>'
        "</Pixels></Image></OME>"
    )
    tifffile.imwrite(tmp_path / "a.tif", FLAT, description=xml, metadata=None)
    np.testing.assert_array_equal(read_label(tmp_path / "a.tif").array, FLAT)


def test_a_stack_cut_off_is_not_filled_with_zeros(tmp_path):
    path = tmp_path / "a.tif"
    pages = [Image.fromarray(page) for page in classes(3, (5, 24, 20))]
    pages[0].save(path, save_all=True, append_images=pages[1:])
    path.write_bytes(path.read_bytes()[:-700])
    with pytest.raises(CaseError, match=r"a.tif: cannot be read"):
        read_label(path)


def test_images_of_different_size_in_one_tiff(tmp_path):
    with tifffile.TiffWriter(tmp_path / "a.tif") as tiff:
        tiff.write(FLAT)
        tiff.write(FLAT[:5, :5])
    with pytest.raises(CaseError, match="holds 2 images of different shape"):
        read_label(tmp_path / "a.tif")


def test_links_and_names(tmp_path):
    good = nifti(tmp_path / "real.nii.gz", classes())
    link = tmp_path / "link.nii.gz"
    link.symlink_to(good)
    np.testing.assert_array_equal(read_label(link).array, classes())
    good.unlink()
    with pytest.raises(CaseError, match=r"link\.nii\.gz: .*No such file"):
        read_label(link)
    loop = tmp_path / "loop.npy"
    loop.symlink_to(loop)
    with pytest.raises(CaseError, match=r"loop\.npy: .*symbolic links"):
        read_label(loop)
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(CaseError, match=r"folder\.png: .*directory"):
        read_label(tmp_path / "folder.png")
    with pytest.raises(CaseError, match=r"expected a file of type .nii.gz"):
        read_label(tmp_path / "a.pkl")
    with pytest.raises(CaseError, match=r"two\\nlines\.npy: .*No such file") as caught:
        read_label(tmp_path / "two\nlines.npy")
    assert "\n" not in str(caught.value)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    def denied(*args):
        raise PermissionError(13, "Permission denied")

    path = nifti(tmp_path / "a.nii.gz", classes())
    monkeypatch.setattr(type(path), "open", denied)  # root may read everything
    with pytest.raises(
        CaseError, match=r"a\.nii\.gz: cannot be read .*\(Permission denied\); make"
    ):
        read_label(path)


def test_links_that_lead_nowhere_or_in_a_circle(tmp_path):
    (tmp_path / "lost.nii").symlink_to(tmp_path / "nowhere")
    with pytest.raises(CaseError, match=r"lost.nii: .*\(No such file or directory\); put it there"):
        read_label(tmp_path / "lost.nii")
    (tmp_path / "a.nii").symlink_to(tmp_path / "b.nii")
    (tmp_path / "b.nii").symlink_to(tmp_path / "a.nii")
    with pytest.raises(CaseError, match=r"a.nii: .*; its links lead in a circle"):
        read_label(tmp_path / "a.nii")


def test_every_complaint_of_a_library_comes_with_a_cure(tmp_path):
    (tmp_path / "a.png").write_bytes(b"not a picture at all")
    with pytest.raises(CaseError, match=r"a.png: .*; it is damaged .*: write it again"):
        read_label(tmp_path / "a.png")
    (tmp_path / "a.dcm").write_bytes(b"not DICOM" * 100)
    with pytest.raises(CaseError, match=r"a.dcm: .*\(it has no DICOM header\); it is dam") as said:
        read_dicom(tmp_path / "a.dcm")
    assert "force" not in str(said.value)


def test_a_damaged_prediction_is_named_too(tmp_path):
    path = nifti(tmp_path / "a_0001.nii.gz", softmax(2)[1])
    path.write_bytes(path.read_bytes()[:100])
    first = nifti(tmp_path / "a_0000.nii.gz", softmax(2)[0])
    with pytest.raises(CaseError, match="a_0001"):
        read_prediction([first, path], label_like(classes()))
