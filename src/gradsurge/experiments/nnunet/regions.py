"""How predictions of nnU-Net are to be scored, where its `dataset.json` tells."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from gradsurge.data import LabelSet
from gradsurge.data.case_error import shown
from gradsurge.data.datasets.nnunet_description import read_description
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.experiments.nnunet.outputs import check_axes, description_file


def settings_for(folders: Iterable[Path], settings: Settings) -> Settings:
    """Return the settings, with nnU-Net's regions where nobody named structures.

    Channels of a model trained on regions may overlap; `dataset.json` has their names and numbers.

    Raises:
        ValueError: two models have other regions, or voxels without a label would count.
    """
    found: dict[Path, tuple[LabelSet, ...]] = {}
    for folder in folders:
        check_axes(folder)
        file = description_file(folder)
        if file is not None:
            description = read_description(file)
            found[file] = tuple(LabelSet(name, n) for name, n in description.sets.items())
            if description.ignore is not None and set(settings.regions) != {"mask"}:
                raise ValueError(
                    f"{shown(file)}: label {description.ignore} marks voxels without a label; set "
                    f"them to 0 in the labels, and leave them out by gradsurge evaluate --region "
                    f"mask --masks DIR (its sketches serve gradsurge recalibrate fit)"
                )
    if settings.label_sets or settings.multilabel or not any(found.values()):
        return settings
    first, *others = found
    for file in others:
        if found[file] != found[first]:
            raise ValueError(
                f"{shown(file)}: its regions are not those of {shown(first)}; name structures "
                f"that both have by --label"
            )
    return replace(settings, multilabel=True, label_sets=found[first])
