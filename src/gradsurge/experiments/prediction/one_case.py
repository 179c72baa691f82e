"""One case: prepared, predicted, brought back to its source, written."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gradsurge.data.grid import Grid
from gradsurge.data.prepared import PreparedImage
from gradsurge.experiments.prediction.frame import Frame, frame_of
from gradsurge.experiments.prediction.input_cases import InputCase
from gradsurge.experiments.prediction.listed_files import LABELS, MASKS
from gradsurge.experiments.prediction.mask_rule import MaskRule
from gradsurge.experiments.prediction.on_source import (
    channel_on_source,
    decided_on_source,
    keeps_voxels,
    mask_on_source,
)
from gradsurge.experiments.prediction.partial_file import whole_files
from gradsurge.experiments.prediction.predictor import Predictor
from gradsurge.experiments.prediction.probabilities import (
    CaseProbabilities,
    mean_probabilities,
    one_network,
)
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.prediction.voxel_files import write_map, write_mask

__all__ = ["LABELS", "MASKS", "CaseWork"]


@dataclass(frozen=True)
class CaseWork:
    """What is done with every case."""

    predictors: Sequence[Predictor]
    rule: MaskRule
    settings: PredictSettings
    device: torch.device
    out: Path

    def predict(
        self, case: InputCase, on_share: Callable[[float], object] = lambda _: None
    ) -> dict[str, Any]:
        """Write the map and the mask of a case.

        Returns:
            What is told of it in predictions.json.

        Raises:
            CaseError: its files are at fault, or the network makes nothing of it.
            OSError: it cannot be written; then nothing of it is there.
        """
        start = time.perf_counter()
        prepared = case.load()
        grid, spacing = prepared.grid, prepared.spacing
        frame = frame_of(case.files[0] if case.files else None, grid, spacing)
        found = self._probabilities(prepared, on_share)
        shape = prepared.image.shape[1:] if grid is None else grid.source_shape
        del prepared  # the image: its memory is needed now
        files = self._files(case, frame, len(shape))
        mask = self._mask(found, grid)
        count = len(found.maps)
        with whole_files(*files.values()) as places:
            write_map(places[0], self._channels(found, grid), count, frame, self.settings.bits)
            write_mask(places[1], mask, frame)
            if case.label is not None:
                write_mask(places[2], case.label(), frame)
        return {
            "case": case.name,
            **{role: str(file.relative_to(self.out)) for role, file in files.items()},
            "geometry": frame.origin,
            "shape": list(shape),
            "seconds": round(time.perf_counter() - start, 2),
        }

    def _files(self, case: InputCase, frame: Frame, axes: int) -> dict[str, Path]:
        mask = f"{case.name}{frame.mask_suffix(axes)}"
        files = {
            "probabilities": self.out / f"{case.name}{frame.map_suffix}",
            "mask": self.out / MASKS / mask,
        }
        return files if case.label is None else {**files, "label": self.out / LABELS / mask}

    def _probabilities(
        self, prepared: PreparedImage, on_share: Callable[[float], object]
    ) -> CaseProbabilities:
        image, settings, device = prepared.image, self.settings, self.device
        if len(self.predictors) == 1 and keeps_voxels(prepared.grid):
            return one_network(self.predictors[0], image, self.rule, settings, device, on_share)
        return mean_probabilities(self.predictors, image, settings, device, on_share)

    def _mask(self, found: CaseProbabilities, grid: Grid | None) -> NDArray[np.uint8]:
        """Return the mask on the source's grid; raw probabilities are not needed after it."""
        if found.mask is not None:
            return mask_on_source(found.mask, grid)
        mask = decided_on_source(found.raw, self.rule, grid)
        found.raw.clear()
        return mask

    def _channels(
        self, found: CaseProbabilities, grid: Grid | None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the channels of the map on the source's grid, and let each go."""
        background = len(found.maps) - len(self.rule.task.names)
        for index in range(len(found.maps)):
            # Where the image was cropped away there is background, and certainly.
            yield channel_on_source(found.maps.pop(0), grid, float(index < background))
