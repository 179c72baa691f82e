"""Recalibration as a post-processing transform, in the place of the softmax or sigmoid."""

from collections.abc import Hashable, Mapping
from os import PathLike
from typing import Any, Protocol, TypeVar, runtime_checkable

import torch
from monai.config import KeysCollection
from monai.transforms import MapTransform, Transform
from monai.utils import TransformBackends, convert_to_dst_type
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.calibration import Equilibrium, Recalibration, load_recalibration
from gradsurge.integrations.update import Input, check_input
from gradsurge.losses.equilibrium import Equilibrium as Rates

Values = TypeVar("Values", bound=NDArray[Any] | Tensor)


@runtime_checkable
class Measured(Protocol):
    """A surgery loss, which measures its equilibrium while it trains."""

    def equilibrium(self) -> Rates:
        """Return the measured rates."""


Source = str | PathLike[str] | Recalibration | Measured


class Recalibrate(Transform):  # type: ignore[misc]  # untyped
    """Recalibrated probabilities of a network's output (C, ...), with as many channels.

    It takes the place of ``Activations``: what comes out are probabilities. Metadata of a
    MetaTensor stay. Masks should still be made of the uncorrected probabilities, see the theory.

    Args:
        recalibration: a file that ``gradsurge recalibrate fit`` or `Recalibration.save` wrote, a
            `Recalibration`, or a surgery loss that trains: then the closed-form correction with
            what the loss has measured when the transform is called.
        input: "logits" or "probabilities"; it is not guessed from the values.

    >>> from gradsurge.calibration.recalibration import Temperature
    >>> halved = Temperature(kind="binary", classes=2, temperatures=(2.0,), limits=(16.6,))
    >>> Recalibrate(halved, "logits")(torch.tensor([[0.0], [2.0]])).flatten().round(decimals=4)
    tensor([0.2689, 0.7311])
    """

    backend = (TransformBackends.TORCH, TransformBackends.NUMPY)

    def __init__(self, recalibration: Source, input: Input) -> None:  # noqa: A002
        check_input(input)
        if isinstance(recalibration, str | PathLike):
            recalibration = load_recalibration(recalibration)
        if not isinstance(recalibration, Recalibration | Measured):
            raise TypeError(
                f"recalibration: expected a file, a Recalibration or a surgery loss, got "
                f"{type(recalibration).__name__}"
            )
        self.recalibration, self.input = recalibration, input

    def __call__(self, img: Values) -> Values:
        """Return probabilities of the same type, at least float32."""
        values = torch.as_tensor(img).as_subclass(Tensor)
        if values.dtype in (torch.float16, torch.bfloat16):
            values = values.float()  # near 1, half precision knows few probabilities
        found = self._current()
        apply = found.apply_logits if self.input == "logits" else found.apply_probabilities
        result = apply(values, channel_axis=0)
        converted: Values = convert_to_dst_type(result, img, dtype=result.dtype)[0]
        return converted

    def _current(self) -> Recalibration:
        if isinstance(self.recalibration, Recalibration):
            return self.recalibration
        return Equilibrium.from_rates(*self.recalibration.equilibrium()[:3])


class Recalibrated(MapTransform):  # type: ignore[misc]  # untyped
    """Dictionary version of `Recalibrate`.

    Args:
        keys: items to recalibrate, such as "pred".
        recalibration: see `Recalibrate`.
        input: see `Recalibrate`.
        allow_missing_keys: leave out keys that are not there.
    """

    backend = Recalibrate.backend

    def __init__(
        self,
        keys: KeysCollection,
        recalibration: Source,
        input: Input,  # noqa: A002
        allow_missing_keys: bool = False,
    ) -> None:
        super().__init__(keys, allow_missing_keys)
        self.recalibrate = Recalibrate(recalibration, input)

    def __call__(self, data: Mapping[Hashable, Any]) -> dict[Hashable, Any]:
        """Return the dictionary with recalibrated items."""
        items = dict(data)
        for key in self.key_iterator(items):
            items[key] = self.recalibrate(items[key])
        return items


RecalibrateD = RecalibrateDict = Recalibrated
