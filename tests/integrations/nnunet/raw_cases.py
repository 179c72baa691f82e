"""A dozen cases as a raw folder of nnU-Net: of hippocampus if it is there, else phantoms."""

import json
import shutil
from pathlib import Path

import nibabel
import numpy as np

from gradsurge.data.phantoms import make_phantom
from tests.integrations.nnunet.nnunet_environment import ROOT

HIPPOCAMPUS = ROOT.parent / "shared" / "data" / "Dataset004_Hippocampus"
TRAINED, TESTED = 10, 2
SIZE = (32, 40, 24)


def write_raw_cases(raw: Path) -> tuple[str, list[str]]:
    """Write ten cases to train with, and two as new ones with labels apart, into a folder.

    Returns:
        The data set, and the names of the cases to train with.
    """
    if HIPPOCAMPUS.is_dir():
        name, facts, names = HIPPOCAMPUS.name, _read(HIPPOCAMPUS / "dataset.json"), _copy(raw)
    else:
        name, facts, names = "Dataset004_Phantoms", _FACTS, _make(raw)
    facts = facts | {"numTraining": TRAINED}
    (raw / name / "dataset.json").write_text(json.dumps(facts))
    return name, names[:TRAINED]


_FACTS = {
    "channel_names": {"0": "MRI"},
    "labels": {"background": 0, "front": 1, "back": 2},
    "file_ending": ".nii.gz",
}


def _read(file):
    return json.loads(file.read_text())


def _places(folder, number, case):
    """Where image and label of a case belong."""
    kind = "Tr" if number < TRAINED else "Ts"
    places = (
        folder / f"images{kind}" / f"{case}_0000.nii.gz",
        folder / f"labels{kind}" / f"{case}.nii.gz",
    )
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
    return places


def _copy(raw):
    files = sorted((HIPPOCAMPUS / "labelsTr").glob("*.nii.gz"))[: TRAINED + TESTED]
    names = [file.name.removesuffix(".nii.gz") for file in files]
    for number, name in enumerate(names):
        image, label = _places(raw / HIPPOCAMPUS.name, number, name)
        shutil.copyfile(HIPPOCAMPUS / "imagesTr" / image.name, image)
        shutil.copyfile(HIPPOCAMPUS / "labelsTr" / label.name, label)
    return names


def _make(raw):
    names = [f"phantom_{number:03d}" for number in range(TRAINED + TESTED)]
    for number, name in enumerate(names):
        case = make_phantom("organs-3d", number, size=SIZE)
        affine = np.diag([-case.spacing[0], case.spacing[1], case.spacing[2], 1.0])
        affine[:3, 3] = (number, -3.0, 7.0)
        for place, array in zip(
            _places(raw / "Dataset004_Phantoms", number, name),
            (case.image[0], case.label),
            strict=True,
        ):
            nibabel.save(nibabel.Nifti1Image(array, affine), place)
    return names
