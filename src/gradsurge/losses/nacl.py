"""NACL: cross-entropy with logits held near the class proportions of the neighbourhood."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

from gradsurge.losses.class_weights import ClassWeights, weights_for
from gradsurge.losses.cross_entropy import hard_cross_entropy
from gradsurge.losses.mask_argument import refuse_mask
from gradsurge.losses.options import check_number
from gradsurge.losses.ranks import mean_over_ranks
from gradsurge.losses.voxel_loss import VoxelLoss
from gradsurge.losses.window_sum import window_sum


def neighbourhood_proportions(
    labels: Tensor, *, kept: Tensor | None = None, dtype: torch.dtype = torch.float32
) -> Tensor:
    """Return each class's share of the labelled voxels in the 3^d window, centre included.

    The window ends at the border, and voxels where ``kept`` (N, 1, *S) is False are not counted, so
    the shares sum to one wherever the window holds a label, and are 0 where it holds none.

    >>> neighbourhood_proportions(torch.tensor([[[1, 0, 0], [0, 1, 1]]]))
    tensor([[[0.5000, 0.3333, 0.0000],
             [0.5000, 0.6667, 1.0000]]])
    """
    if kept is None:
        kept = torch.ones((1, 1, *labels.shape[2:]), dtype=torch.bool, device=labels.device)
    else:
        labels = labels.bool() & kept
    # A window holds at most 27 voxels, so bytes do; that is four times less to move than floats.
    counts = window_sum(labels.to(torch.uint8), 1, replicate=False)
    total = window_sum(kept.to(torch.uint8), 1, replicate=False).clamp(min=1)
    return counts.to(dtype).div_(total)


class NACL(VoxelLoss):
    """Neighbour-aware calibration loss: cross-entropy plus a penalty on the raw logits.

    Forward: L = CE(z, y) + strength * mean over voxels and classes of abs(tau_c - z_c), where tau_c
    is the share of class c among the labelled voxels of the 3^d window round the voxel, the centre
    included. The window ends at the image's border: there tau is the share among the voxels that
    exist (MONAI's NACLLoss pads with zeros instead, so that its border targets sum to less than
    one; inside the image both agree).

    Backward: dL/dz_c = (p_c - y_c) / V + strength * sign(z_c - tau_c) / (C V) for V voxels in the
    batch; with norm "l2" the penalty is (tau_c - z_c)^2, its slope 2 (z_c - tau_c) / (C V).

    Args:
        strength: weight of the penalty, >= 0.
        norm: "l1" (the paper's) or "l2".
        class_weights: one number >= 0 a class; they weigh the cross-entropy, not the penalty.
        ignore_index: class index of voxels that contribute neither value nor gradient; they are
            not counted in their neighbours' windows either. What counts is counted over all ranks
            of a distributed training.
        check: look at label values and for NaN (a reduction each).

    Shapes: logits (N, C, *S), C >= 2; target (N, *S) or (N, 1, *S) class indices or hard one-hot
    (N, C, *S). Softmax only.

    Reference: Murugesan et al., Neighbor-aware calibration of segmentation networks with
    penalty-based constraints, Medical Image Analysis 2025.

    >>> logits = torch.tensor([[[0.0, 0.0], [1.0, 3.0]]])
    >>> round(NACL()(logits, torch.tensor([[1, 0]])).item(), 4)  # CE 1.6809 + 0.1 * 4 / 4
    1.7809
    """

    def __init__(
        self,
        strength: float = 0.1,
        *,
        norm: Literal["l1", "l2"] = "l1",
        class_weights: ClassWeights = None,
        ignore_index: int | None = None,
        check: bool = True,
    ) -> None:
        super().__init__(class_weights=class_weights, ignore_index=ignore_index, check=check)
        if norm not in ("l1", "l2"):
            raise ValueError(f"norm: expected 'l1' or 'l2', got {norm!r}")
        self.strength = check_number("strength", strength, least=0.0)
        self.norm = norm

    def forward(self, logits: Tensor, target: Tensor, mask: None = None) -> Tensor:
        if mask is not None:
            refuse_mask(self)
        z = self.working_logits(logits)
        numbers, labels, kept = self.hard_labels(target, z)
        tau = neighbourhood_proportions(labels, kept=kept, dtype=z.dtype)
        ce = hard_cross_entropy(z, numbers, kept, weights_for(z, self.class_weights))
        return ce + self.strength * self._penalty(z, tau, kept)

    def _penalty(self, z: Tensor, tau: Tensor, kept: Tensor | None) -> Tensor:
        distance = F.l1_loss if self.norm == "l1" else F.mse_loss
        if kept is None:
            return distance(z, tau)
        total = distance(z.masked_fill(~kept, 0.0), tau.masked_fill(~kept, 0.0), reduction="sum")
        counted = mean_over_ranks(kept.sum().to(total), total) * z.shape[1]
        return total / torch.where(counted > 0, counted, 1.0)
