"""Whole preprocessed cases, predicted by nnU-Net's sliding window; for its interpreter."""

# mypy: disable-error-code="import-not-found"
# nnunetv2 is in the other environment only.

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def predicted_cases(
    trainer: Any, names: Sequence[str] | None
) -> Iterator[tuple[Tensor, NDArray[np.integer[Any]]]]:
    """Yield logits and labels of cases: Gaussian window, overlap 1/2, no mirroring."""
    from nnunetv2.inference.predict_from_raw_data import nnUNetPredictor

    trainer.set_deep_supervision_enabled(False)
    predictor = nnUNetPredictor(
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
