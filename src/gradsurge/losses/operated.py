"""A loss whose backward pass may be operated on: its rule, the blend, the measured equilibrium."""

from typing import Any

from torch import Tensor, nn

from gradsurge.losses.equilibrium import Equilibrium, EquilibriumMeter
from gradsurge.losses.options import check_whole_number
from gradsurge.surgery.rule import Activation, SurgeryRule, check_blend


class Operated(nn.Module):
    """Base of the losses that carry out a surgery themselves.

    Args:
        surgery: the rule; None for the ordinary gradient.
        activation: "softmax" or "sigmoid".
        classes: number of classes, only needed to compile the loss before its first use.
    """

    def __init__(self, surgery: SurgeryRule | None, activation: Activation, classes: int) -> None:
        super().__init__()
        if not (surgery is None or isinstance(surgery, SurgeryRule)):
            raise TypeError(f"surgery: expected a SurgeryRule or None, got {surgery!r}")
        classes = check_whole_number("classes", classes, least=2 if activation == "softmax" else 1)
        self.surgery, self.activation = surgery, activation
        self._blend = 1.0
        self.meter = None
        if surgery is not None:
            self.meter = EquilibriumMeter(surgery.decline, activation=activation, classes=classes)

    @property
    def blend(self) -> float:
        """Share of the surgery in the gradient, settable while training: 0 plain, 1 surgery.

        It belongs to the training schedule and is not part of the state_dict.
        """
        return self._blend if self.surgery is not None else 0.0

    @blend.setter
    def blend(self, value: float) -> None:
        if self.surgery is None:
            raise ValueError("blend: this loss has no surgery to blend; build it with surgery=...")
        self._blend = check_blend(value)

    def probe(self, logits: Tensor) -> Tensor | None:
        """Return the meter's probe while the whole surgery is at work: only then p is shifted."""
        return None if self.meter is None or self._blend < 1.0 else self.meter.probe(logits)

    def equilibrium(self) -> Equilibrium:
        """Return the measured rates of the field, see `gradsurge.losses.equilibrium`."""
        if self.meter is None:
            raise ValueError("equilibrium: only a loss with surgery has a shifted equilibrium")
        if self._blend < 1.0:
            raise RuntimeError(
                f"equilibrium: with blend {self._blend:g} the model does not come to rest at a "
                f"shifted posterior, so there is nothing to correct with; end the schedule at 1"
            )
        return self.meter.result()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        if self.meter is None:  # a plain loss takes the state of the operated one, less its meter
            for name in [key for key in state_dict if key.startswith(f"{prefix}meter.")]:
                state_dict.pop(name)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        """Show the rule in print(loss)."""
        return f"activation={self.activation!r}, surgery={self.surgery}"

    def equilibrium_shift(self) -> Tensor:
        """Return by how much each class's logit settles above the posterior's, shape (C,)."""
        return self.equilibrium().shift()
