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
from gradsurge.experiments.prediction.hard_mask import HardMask
from gradsurge.experiments.prediction.input_cases import InputCase
from gradsurge.experiments.prediction.mask_rule import MaskRule
from gradsurge.experiments.prediction.on_source import (
    channel_on_source,
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
from gradsurge.experiments.prediction.result_files import LABELS, MASKS
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.prediction.voxel_files import write_map, write_mask


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
        with whole_files(*files.values()) as places:
            mask = self.rule.new_mask(shape) if found.mask is None else None
            channels = self._channels(found, grid, mask)
            write_map(places[0], channels, len(found.maps), frame, self.settings.bits)
            if found.mask is not None:
                write_mask(places[1], mask_on_source(found.mask, grid), frame)
            elif mask is not None:
                write_mask(places[1], mask.finished(), frame)
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

    def _channels(
        self, found: CaseProbabilities, grid: Grid | None, mask: HardMask | None
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the channels of the map on the source's grid; raw ones go into the mask."""
        background = len(found.maps) - len(self.rule.task.names)
        same = found.raw is not None and np.shares_memory(found.maps[-1:], found.raw[-1:])
        for index, channel in enumerate(found.maps):
            # Where the image was cropped away there is background, and certainly.
            on_source = channel_on_source(channel, grid, float(index < background))
            if mask is not None and found.raw is not None and index >= background:
                raw = found.raw[index - background]
                mask.add(index - background, on_source if same else channel_on_source(raw, grid))
            yield on_source
