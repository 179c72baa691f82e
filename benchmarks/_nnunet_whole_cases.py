"""Whole preprocessed cases, predicted by nnU-Net's sliding window; for its interpreter."""

# mypy: disable-error-code="import-not-found"
# nnunetv2 is in the other environment only.

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def predicted_cases(
    trainer: Any, names: Sequence[str] | None
) -> Iterator[tuple[Tensor, NDArray[np.integer[Any]]]]:
    """Yield logits and labels of cases: Gaussian window, overlap 1/2, no mirroring."""
    trainer.set_deep_supervision_enabled(False)
    predictor = _predictor_class()(
        tile_step_size=0.5,
        use_gaussian=True,
        use_mirroring=False,
        device=trainer.device,
        allow_tqdm=False,
    )
    predictor.manual_initialization(
        trainer.network,
        trainer.plans_manager,
        trainer.configuration_manager,
        None,
        trainer.dataset_json,
        type(trainer).__name__,
        None,
    )
    cases = trainer.dataset_class(trainer.preprocessed_dataset_folder, names)
    for name in cases.identifiers:
        image, label, *_ = cases.load_case(name)
        logits = predictor.predict_sliding_window_return_logits(torch.tensor(image[:]))
        yield logits, np.maximum(label[0], 0)
    trainer.set_deep_supervision_enabled(True)


@cache
def _predictor_class() -> Any:
    from nnunetv2.inference.predict_from_raw_data import nnUNetPredictor
    from nnunetv2.inference.sliding_window_prediction import compute_gaussian

    class Predictor(nnUNetPredictor):  # type: ignore[misc]
        """Its windows, some at a time: a single one is slow in torch with one thread."""

        def _internal_predict_sliding_window_return_logits(
            self, data: Tensor, slicers: Sequence[tuple[slice, ...]], do_on_device: bool = True
        ) -> Tensor:
            patch = tuple(self.configuration_manager.patch_size)
            weight = compute_gaussian(patch, 1 / 8, 10, torch.float32, self.device)
            total = torch.zeros(self.label_manager.num_segmentation_heads, *data.shape[1:])
            weights = torch.zeros(data.shape[1:])
            for first in range(0, len(slicers), 4):
                windows = slicers[first : first + 4]
                outputs = self.network(torch.stack([data[at] for at in windows]))
                for at, logits in zip(windows, outputs, strict=True):
                    total[at] += logits * weight
                    weights[at[1:]] += weight
            return total / weights

    return Predictor
