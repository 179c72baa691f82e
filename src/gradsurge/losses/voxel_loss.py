"""What the losses that look at every voxel share: options, class weights, labels a channel."""

import torch
from torch import Tensor, nn

from gradsurge.losses.class_weights import ClassWeights, check_class_weights
from gradsurge.losses.labelled import Labelled, class_numbers, label_channels, one_hot
from gradsurge.losses.labelled import working_logits as checked_logits
from gradsurge.losses.options import check_activation
from gradsurge.surgery.rule import Activation
from gradsurge.surgery.targets import check_flag


class VoxelLoss(nn.Module):
    """Base of the losses that are no function of region sums; each says what its options mean."""

    class_weights: Tensor | None

    def __init__(
        self,
        *,
        activation: Activation = "softmax",
        include_background: bool = True,
        class_weights: ClassWeights = None,
        ignore_index: int | None = None,
        check: bool = True,
    ) -> None:
        super().__init__()
        check_activation(activation, ignore_index)
        self.activation, self.ignore_index = activation, ignore_index
        self.check = check_flag("check", check)
        background = check_flag("include_background", include_background)
        self.first_class = 0 if background or activation == "sigmoid" else 1
        weights = check_class_weights(class_weights, self.first_class)
        self.register_buffer("class_weights", weights, persistent=False)

    def working_logits(self, logits: Tensor) -> Tensor:
        """Return the checked logits in the dtype to compute in."""
        channels = 2 if self.activation == "softmax" else 1
        return checked_logits(logits, min_channels=channels, check=self.check)

    def probabilities(self, z: Tensor) -> Tensor:
        """Return the probabilities of the classes that count."""
        if self.activation == "sigmoid":
            return torch.sigmoid(z)
        return torch.softmax(z, dim=1)[:, self.first_class :]

    def labels(self, target: Tensor, z: Tensor, mask: Tensor | None) -> Labelled:
        """Return one label for each class that counts, and the voxels that count."""
        of = self.activation, self.ignore_index, mask
        return label_channels(target, z, *of, first=self.first_class, check=self.check)

    def hard_labels(self, target: Tensor, z: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """Return class indices, the same as one-hot, and the voxels that count."""
        numbers, kept = class_numbers(target, z, self.ignore_index, check=self.check)
        return numbers, one_hot(numbers, z.shape[1], kept), kept
