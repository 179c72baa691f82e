"""Data sets in their published layout, one a file; `DATASETS` maps names to them."""

from gradsurge.data.datasets.brats_mets import BratsMets
from gradsurge.data.datasets.chase import Chase
from gradsurge.data.datasets.dataset import Dataset
from gradsurge.data.datasets.fives import Fives
from gradsurge.data.datasets.images import Images
from gradsurge.data.datasets.inbreast import Inbreast
from gradsurge.data.datasets.inputs import InputKind
from gradsurge.data.datasets.kits import Kits
from gradsurge.data.datasets.nnunet import NnUnet
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.datasets.rebuilding import dataset_of_store

DATASETS: dict[str, type[Dataset]] = {
    "fives": Fives,
    "inbreast": Inbreast,
    "brats-mets": BratsMets,
    "kits": Kits,
    "nnunet": NnUnet,
    "images": Images,
    "chase": Chase,
}

__all__ = [
    "DATASETS",
    "BratsMets",
    "Chase",
    "Dataset",
    "Fives",
    "Found",
    "Images",
    "Inbreast",
    "InputKind",
    "Kits",
    "NnUnet",
    "RawCase",
    "dataset_of_store",
]
