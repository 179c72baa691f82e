"""Predictions and labels from files: found, matched, read and checked, case by case."""

from gradsurge.data.case_error import CaseError
from gradsurge.data.case_files import find_files
from gradsurge.data.checks import check_logits, check_probabilities
from gradsurge.data.geometry import check_geometry
from gradsurge.data.images import find_image, read_image
from gradsurge.data.label_sets import LabelSet, parse_label_set
from gradsurge.data.labels import read_label, read_mask
from gradsurge.data.matching import MatchedCase, Matching, match_cases
from gradsurge.data.predictions import read_prediction
from gradsurge.data.regions import (
    binarise,
    check_class_labels,
    logits_of_sets,
    regions_from_channels,
    regions_per_channel,
)
from gradsurge.data.volume import Volume

__all__ = [
    "CaseError",
    "LabelSet",
    "MatchedCase",
    "Matching",
    "Volume",
    "binarise",
    "check_class_labels",
    "check_geometry",
    "check_logits",
    "check_probabilities",
    "find_files",
    "find_image",
    "logits_of_sets",
    "match_cases",
    "parse_label_set",
    "read_image",
    "read_label",
    "read_mask",
    "read_prediction",
    "regions_from_channels",
    "regions_per_channel",
]
