"""Small raw folders in the exact published layouts, written by the libraries people use."""

import json
import plistlib

import nibabel
import numpy as np
import pydicom
from PIL import Image
from pydicom.dataset import FileDataset, FileMetaDataset
from pydicom.uid import ExplicitVRLittleEndian, generate_uid

LPS = np.diag([-1.0, -1.0, 1.0, 1.0])
KITS_AFFINE = np.array([[0, 0, -0.8, 0], [0, -0.8, 0, 0], [-5.0, 0, 0, 0], [0, 0, 0, 1]])


def rng(seed=0):
    return np.random.default_rng(seed)


def write_nifti(path, array, affine=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    image = nibabel.Nifti1Image(array, LPS if affine is None else affine, dtype=array.dtype)
    nibabel.save(image, path)
    return path


def write_picture(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path)
    return path


def disc(shape, radius, centre=None):
    centre = [(n - 1) / 2 for n in shape] if centre is None else centre
    axes = np.indices(shape)
    return sum((a - c) ** 2 for a, c in zip(axes, centre, strict=True)) <= radius**2


# --- FIVES ------------------------------------------------------------------------------------


def fives(root, train=3, test=2, size=64):
    for split, count in (("train", train), ("test", test)):
        for n in range(1, count + 1):
            name = f"{n}_{'ADGN'[n % 4]}.png"
            image = rng(n).integers(0, 255, (size, size, 3), dtype=np.uint8)
            mask = np.zeros((size, size, 3 + n % 2), np.uint8)  # three channels, or four
            mask[size // 2 - 4 : size // 2 + 4] = 255
            write_picture(root / split / "Original" / name, image)
            write_picture(root / split / "Ground truth" / name, mask)
    return root


# --- INbreast ---------------------------------------------------------------------------------


def write_dicom(path, pixels, **tags):
    path.parent.mkdir(parents=True, exist_ok=True)
    meta = FileMetaDataset()
    meta.MediaStorageSOPClassUID = "1.2.840.10008.5.1.4.1.1.1.2"  # digital mammography
    meta.MediaStorageSOPInstanceUID = generate_uid()
    meta.TransferSyntaxUID = ExplicitVRLittleEndian
    image = FileDataset(path, {}, file_meta=meta, preamble=b"\0" * 128)
    image.SOPClassUID, image.SOPInstanceUID = meta.MediaStorageSOPClassUID, generate_uid()
    image.Modality, image.PatientID, image.PhotometricInterpretation = (
        "MG",
        "removed",
        "MONOCHROME2",
    )
    image.Rows, image.Columns = pixels.shape
    image.SamplesPerPixel, image.PixelRepresentation = 1, 0
    image.BitsAllocated, image.BitsStored, image.HighBit = 16, 14, 13
    image.ImagerPixelSpacing = [0.07, 0.07]
    image.PixelData = pixels.astype("<u2").tobytes()
    for name, value in tags.items():
        setattr(image, name, value)
    pydicom.dcmwrite(path, image)
    return path


def region(name, points):
    return {
        "Area": 1.5,
        "Center": "(0.000000, 0.000000, 0.000000)",
        "Dev": 27.4,
        "IndexInImage": 0,
        "Name": name,
        "NumberOfPoints": len(points),
        "Point_mm": [f"({x:f}, {y:f}, 0.000000)" for x, y in points],
        "Point_px": [f"({x:f}, {y:f})" for x, y in points],
        "Type": 15,
    }


def write_osirix(path, *regions):
    """The property list OsiriX exports, document type and all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"Images": [{"ImageIndex": 0, "NumberOfROIs": len(regions), "ROIs": list(regions)}]}
    path.write_bytes(plistlib.dumps(content, fmt=plistlib.FMT_XML))
    return path


def circle(x, y, radius, points=72):
    angles = np.arange(points) * 2 * np.pi / points
    return [(x + radius * np.cos(a), y + radius * np.sin(a)) for a in angles]


def inbreast(root, patients=4, shape=(128, 96)):
    """Two views a patient: a mass on each, but none on the last patient's; some have no XML."""
    for p in range(patients):
        for v, view in enumerate(("CC", "ML")):
            number = 20586900 + 10 * p + v
            name = f"{number}_{p:016x}_MG_{'LR'[p % 2]}_{view}_ANON.dcm"
            pixels = rng(number).integers(0, 2**14, shape)
            write_dicom(root / "AllDICOMs" / name, pixels)
            calcification = region("Calcification", [(5.0, 5.0)])
            mass = region("Mass", circle(40, 60, 14))
            if p < patients - 1:
                write_osirix(root / "AllXML" / f"{number}.xml", calcification, mass)
            elif v == 0:
                write_osirix(root / "AllXML" / f"{number}.xml", calcification)
    (root / "INbreast.csv").write_text("Patient ID;File Name\nremoved;20586900\n")
    return root


# --- BraTS-METS -------------------------------------------------------------------------------


def brats_mets(root, patients=4, shape=(40, 44, 36)):
    """Two time points a patient, skull removed, LPS, at 1 and at 1.25 mm."""
    for p in range(patients):
        for t in range(2):
            name = f"BraTS-MET-{p:05d}-{t:03d}"
            affine = LPS @ np.diag([1.0, 1.0, 1.25 if t else 1.0, 1.0])
            brain = disc(shape, 15)
            scan = np.where(brain, rng(p).normal(300, 50, shape), 0).astype(np.float32)
            seg = np.zeros(shape, np.uint8)
            for label, centre in enumerate(
                [(14, 20, 18), (20, 14, 18), (26, 22, 18), (20, 30, 18)]
            ):
                seg[disc(shape, 3, centre)] = label + 1
            for end in ("t1n", "t1c", "t2w", "t2f"):
                write_nifti(root / name / f"{name}-{end}.nii.gz", scan, affine)
            write_nifti(root / name / f"{name}-seg.nii.gz", seg, affine)
    return root


# --- KiTS -------------------------------------------------------------------------------------


def kits_label(n, shape=(24, 80, 90)):
    label = np.zeros(shape, np.uint8)
    label[8:16, 40:55, 20:32] = label[8:16, 40:55, 60:72] = 1
    for k in range(n % 3):  # 0, 1 or 2 tumours
        label[10 : 11 + n % 4 + 1, 42 : 46 + n % 5, 22 + 40 * k : 28 + 40 * k] = 2
    label[14:16, 50:54, 62:66] = 3
    return label


def kits(root, cases=6, level="dataset", label="segmentation.nii.gz"):
    for n in range(cases):
        folder = root / level / f"case_{n:05d}"
        drawn = kits_label(n)
        scan = rng(n).normal(-200, 300, drawn.shape) * (drawn == 0) + 60.0 * drawn
        write_nifti(folder / "imaging.nii.gz", scan.astype(np.int16), KITS_AFFINE)
        write_nifti(folder / label, drawn, KITS_AFFINE)
    return root


# --- CHASE_DB1 --------------------------------------------------------------------------------


def chase(root, children=4, shape=(48, 50)):
    for c in range(1, children + 1):
        for eye in "LR":
            name = f"Image_{c:02d}{eye}"
            drawn = np.zeros(shape, bool)
            drawn[10:14] = True
            write_picture(
                root / "images" / f"{name}.jpg", rng(c).integers(0, 255, (*shape, 3), np.uint8)
            )
            write_picture(root / "1st_manual" / f"{name}_1stHO.png", drawn)
            write_picture(root / "2nd_manual" / f"{name}_2ndHO.png", np.roll(drawn, 1, axis=0))
            write_picture(root / "fov" / f"{name}.png", (disc(shape, 22) * 255).astype(np.uint8))
    return root


# --- images -----------------------------------------------------------------------------------


def images(root, count=6, end="_mask", shape=(30, 40)):
    for n in range(count):
        mask = np.zeros(shape, np.uint8)
        mask[5:12, 5 + n : 15] = 255
        write_picture(root / "images" / f"a{n}.png", rng(n).integers(0, 255, shape, np.uint8))
        write_picture(root / "masks" / f"a{n}{end}.png", mask)
    return root


# --- nnU-Net ----------------------------------------------------------------------------------


def nnunet(root, cases=6, shape=(16, 20, 12), affine=None, **entries):
    description = {
        "channel_names": {"0": "DWI", "1": "ADC"},
        "labels": {"background": 0, "core": 1, "edge": 2},
        "numTraining": cases,
        "file_ending": ".nii.gz",
        **entries,
    }
    root.mkdir(parents=True, exist_ok=True)
    (root / "dataset.json").write_text(json.dumps(description))
    for n in range(cases):
        add_nnunet_case(root, f"case_{n:03d}", shape, affine, len(description["channel_names"]), n)
    return root


def add_nnunet_case(root, name, shape=(16, 20, 12), affine=None, channels=2, seed=0, part="Tr"):
    label = np.zeros(shape, np.uint8)
    label[3:9, 4:12, 2:7] = 1
    label[4:6, 5:7, 3:5] = 2
    for c in range(channels):
        scan = rng(seed + 100 * c).normal(100, 20, shape).astype(np.float32) + 50 * label
        write_nifti(root / f"images{part}" / f"{name}_{c:04d}.nii.gz", scan, affine)
    write_nifti(root / f"labels{part}" / f"{name}.nii.gz", label, affine)
