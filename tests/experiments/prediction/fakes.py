"""Small raw folders, and networks whose answer is known in closed form."""

import json
from pathlib import Path

import nibabel
import numpy as np
import torch
from PIL import Image
from torch import nn

from gradsurge.data.datasets import Images, NnUnet
from gradsurge.data.store import Store
from gradsurge.experiments.prediction.predictor import Predictor
from gradsurge.experiments.preparing import prepare
from gradsurge.experiments.runs.task import task_of

# Neither RAS nor square, with an origin that no float32 rounds to a whole number.
AFFINE = np.array([[0, -2, 0, 7.3], [1.5, 0, 0, -3.1], [0, 0, -3, 11.7], [0, 0, 0, 1.0]])
CPU = torch.device("cpu")


class Pointwise(nn.Module):
    """Logits (0, a x, -a x, ...) of the first channel x: the same in every window."""

    def __init__(self, outputs=2, slope=2.0, background=True):
        super().__init__()
        signs = [slope * (-1) ** k for k in range(outputs - background)]
        self.slopes = [0.0] * background + signs

    def forward(self, windows):
        return torch.cat([windows[:, :1] * slope for slope in self.slopes], dim=1)


def raw_tree(folder: Path, labels=None, cases=("a", "b", "c", "d", "e"), shape=(9, 11, 7)) -> Path:
    """Write an nnU-Net folder of one MR channel."""
    rng = np.random.default_rng(0)
    for sub in ("imagesTr", "labelsTr"):
        (folder / sub).mkdir(parents=True)
    labels = {"background": 0, "lesion": 1} if labels is None else labels
    highest = max(n for v in labels.values() for n in (v if isinstance(v, list) else [v]))
    for name in cases:
        image = rng.normal(40, 9, size=shape).astype(np.float32)
        save(folder / "imagesTr" / f"{name}_0000.nii.gz", image)
        label = rng.integers(0, highest + 1, shape).astype(np.uint8)
        save(folder / "labelsTr" / f"{name}.nii.gz", label)
    regions = [v for v in labels.values() if v != 0]
    content = {
        "channel_names": {"0": "MR"},
        "labels": labels,
        "numTraining": len(cases),
        "file_ending": ".nii.gz",
    }
    if any(isinstance(v, list) for v in regions):
        content["regions_class_order"] = list(range(1, len(regions) + 1))
    (folder / "dataset.json").write_text(json.dumps(content))
    return folder


def save(file, array, affine=AFFINE, kind=nibabel.Nifti1Image, qcode=1, scode=2):
    image = kind(array, affine)
    image.set_qform(affine, qcode)
    image.set_sform(affine, scode)
    nibabel.save(image, file)
    return file


def picture_tree(folder: Path) -> Path:
    rng = np.random.default_rng(1)
    for sub in ("images", "masks"):
        (folder / sub).mkdir(parents=True)
    for name in "pqrst":
        pixels = rng.integers(0, 255, (13, 10)).astype(np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{name}.png")
        drawn = ((pixels > 128) * 255).astype(np.uint8)
        Image.fromarray(drawn).save(folder / "masks" / f"{name}.png")
    return folder


def store_of(raw: Path, out: Path, dataset=None) -> Store:
    dataset = dataset or NnUnet()
    prepare(dataset, raw, out)
    return Store.open(out)


def pictures_store(folder: Path) -> Store:
    return store_of(picture_tree(folder / "raw"), folder / "store", Images())


def predictor(store: Store, window=(8, 8, 8), model=None, correction=None, thresholds=None, **more):
    task = task_of(store.dataset)
    if model is None:
        model = Pointwise(task.channels, background=task.activation == "softmax")
    return Predictor(
        run=more.get("run", "runs/one"),
        step=7,
        dataset=more.get("dataset", store.dataset),
        task=task,
        window=window[: store.dataset.dimensions],
        model=model,
        correction_name="none" if correction is None else correction.method,
        correction=correction,
        thresholds=(0.5,) * len(task.names) if thresholds is None else thresholds,
    )


def z_scored(array):
    values = np.asarray(array, np.float64)
    return (values - values.mean()) / values.std()


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def dicom_series(folder: Path, shape=(9, 11, 7)):
    """Write slices, and return the volume (x, y, z) with its affine to RAS+."""
    from pydicom.dataset import Dataset, FileMetaDataset
    from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian, generate_uid

    folder.mkdir(parents=True)
    values = np.random.default_rng(4).integers(0, 900, shape).astype(np.int16)
    uid = generate_uid()
    for z in range(shape[2]):
        image = Dataset()
        image.file_meta = FileMetaDataset()
        image.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
        image.file_meta.MediaStorageSOPClassUID = image.SOPClassUID = CTImageStorage
        image.file_meta.MediaStorageSOPInstanceUID = image.SOPInstanceUID = generate_uid()
        image.SeriesInstanceUID, image.InstanceNumber, image.Modality = uid, z + 1, "CT"
        image.Rows, image.Columns = shape[1], shape[0]
        image.PixelSpacing, image.SliceThickness = [2.0, 1.5], 3.0
        image.ImageOrientationPatient = [1, 0, 0, 0, 1, 0]
        image.ImagePositionPatient = [-10.0, -20.0, 5.0 + 3.0 * z]
        image.SamplesPerPixel, image.PhotometricInterpretation = 1, "MONOCHROME2"
        image.BitsAllocated = image.BitsStored = 16
        image.HighBit, image.PixelRepresentation = 15, 1
        image.PixelData = values[:, :, z].T.tobytes()
        image.save_as(folder / f"{z}.dcm", enforce_file_format=True)
    affine = np.diag([-1.5, -2.0, 3.0, 1.0])
    affine[:3, 3] = [10.0, 20.0, 5.0]
    return values, affine
