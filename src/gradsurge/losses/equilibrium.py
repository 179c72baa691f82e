"""Measure, while a surgery loss trains, where its field comes to rest.

On voxels that the network cannot tell apart the field vanishes where the pull of the foreground
voxels, r (1-p) G_fg, equals that of the background voxels, (1-r) p G_bg. So p is the true
posterior r, shifted by log(G_fg / G_bg) in the logit. G is the field divided by e (and by the
decline, which both sides share): one number a sample and label for most losses, averaged here over
samples and time with the weights of `gradsurge.surgery.rates`.

That is about hard labels. A soft one has a field of its own, zero where p is the label, and no
ratio of two rates says where p comes to rest.
"""

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from torch import Tensor, nn

from gradsurge.losses.ranks import number_of_ranks
from gradsurge.surgery.rule import Activation

_LOOK_BACK = 0.1  # of the backward passes so far


class Equilibrium(NamedTuple):
    """Mean rates of K separate problems with L labels each (softmax: 1 of C, sigmoid: C of 2).

    ``region[k, t, c]`` is how hard the region loss pulls a voxel of true label t away from c,
    divided by p_c and the decline; ``cross_entropy[k, t]`` is cross-entropy's share, the same for
    every c. ``decline`` is the exponent, None for no decline.
    """

    region: Tensor
    cross_entropy: Tensor
    decline: float | None
    activation: Activation = "softmax"

    def shift(self) -> Tensor:
        """Return log(G_fg / G_bg) of each class against background (label 0), shape (C,).

        For softmax the first entry, background, is 0.
        """
        total = self.region + self.cross_entropy.unsqueeze(-1)
        b = torch.log(total[:, :, 0] / total[:, 0, :])
        if self.activation == "sigmoid":
            return b[:, 1]
        return torch.cat((torch.zeros_like(b[0, :1]), b[0, 1:]))


class EquilibriumMeter(nn.Module):
    """Running means of the rates, fed by the backward pass.

    The surgery functions return the rates as the gradient of a probe tensor, so measuring needs no
    side effect inside the graph; a hook on the probe adds them up here. The ranks of a distributed
    training add theirs in every backward pass, so that all of them hold what one process would have
    measured on the whole batch.

    Args:
        decline: the exponent of the rule that is measured.
        momentum: how much of the past is kept at each backward pass, at most; 0.99 looks back on a
            hundred. Early on less is kept, so that about a tenth of the passes so far is looked
            back on: in the first ones everything is in doubt, which would outweigh the rest.
        classes: number of classes, only needed to compile a loss before its first use.
        activation: "softmax" or "sigmoid".
    """

    totals: Tensor
    steps: Tensor

    def __init__(
        self,
        decline: float | None,
        *,
        activation: Activation = "softmax",
        classes: int = 2,
        momentum: float = 0.99,
    ) -> None:
        super().__init__()
        if not 0.0 <= momentum < 1.0:
            raise ValueError(f"momentum: expected a number in [0, 1), got {momentum!r}")
        self.decline, self.activation, self.momentum = decline, activation, momentum
        self.register_buffer("totals", torch.empty(0))
        self.register_buffer("steps", torch.empty(0))
        self._start(self._shape(classes), torch.device("cpu"))

    def _shape(self, classes: int) -> tuple[int, int, int]:
        return (1, classes, 2 * classes + 1) if self._softmax else (classes, 2, 5)

    def _classes(self, totals: Tensor) -> int:
        return totals.shape[1 if self._softmax else 0]

    @property
    def _softmax(self) -> bool:
        return self.activation == "softmax"

    def _start(self, shape: tuple[int, ...], device: torch.device) -> None:
        self.totals = torch.zeros(shape, device=device, dtype=torch.float32)
        self.steps = torch.zeros((), device=device, dtype=torch.float32)
        self._attach()

    def _attach(self) -> None:
        self._probe = torch.zeros_like(self.totals, requires_grad=True)
        self._probe.register_post_accumulate_grad_hook(self._fold)

    def probe(self, logits: Tensor) -> Tensor | None:
        """Return the tensor whose gradient will be the rates; None where nothing is learnt."""
        if not (self.training and torch.is_grad_enabled() and logits.requires_grad):
            return None
        compiling = torch.compiler.is_compiling()
        if not compiling and torch._C._functorch.is_functorch_wrapped_tensor(logits):
            return None  # torch.func takes derivatives of its own inputs only
        shape = self._shape(logits.shape[1])
        if self._probe.shape != shape or self._probe.device != logits.device:
            if compiling:
                raise RuntimeError(
                    f"equilibrium: built for {tuple(self._probe.shape)} on {self._probe.device}, "
                    f"used with {logits.shape[1]} classes on {logits.device}; before compiling, "
                    f"pass classes={logits.shape[1]} to the loss and move it with .to(device)"
                )
            if self._probe.shape == shape:
                self.to(logits.device)
            else:
                self._start(shape, logits.device)
        return self._probe

    def _fold(self, probe: Tensor) -> None:
        rates, probe.grad = probe.grad, None
        if rates is not None:  # a step with an infinite loss is skipped, without asking the device
            rates = _of_all_ranks(rates.detach())  # of create_graph=True nothing is kept
            usable = rates[..., : rates.shape[1] + 1].isfinite().all()  # the rest tells soft labels
            kept = (1.0 - 1.0 / (1.0 + _LOOK_BACK * self.steps)).clamp_max(self.momentum)
            self.totals.copy_(torch.where(usable, self.totals * kept + rates, self.totals))
            self.steps += usable

    def result(self) -> Equilibrium:
        """Return the mean rates measured so far."""
        labels = self.totals.shape[1]
        region, cross_entropy, doubt = self.totals.split((labels, 1, labels), dim=-1)
        if not bool(doubt.any()):
            raise RuntimeError(
                "equilibrium: nothing measured yet; it is measured in the backward pass, so train "
                "some steps with blend 1 or load a state_dict of this version first"
            )
        if not bool(doubt.isfinite().all()):
            raise RuntimeError(
                "equilibrium: the loss was trained with soft labels (strictly between 0 and 1), "
                "for which there is no closed form. Fit a recalibration on validation cases "
                "instead; or train with hard labels, with a loss that is built anew"
            )
        cross_entropy = (cross_entropy / doubt.sum(dim=-1, keepdim=True)).squeeze(-1)
        region, cross_entropy = _fill_unseen(region / doubt, cross_entropy)
        if bool((region + cross_entropy.unsqueeze(-1) < 0).any()):
            raise RuntimeError(
                "equilibrium: the loss pushes voxels away from their label (negative rates), so "
                "its field has no rest point; is it really a loss, lower for better masks?"
            )
        return Equilibrium(region, cross_entropy, self.decline, self.activation)

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "EquilibriumMeter":
        kept = self.totals, self.steps
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        self.totals, self.steps = (x.to(self.totals.device) for x in kept)  # never rounded to half
        self._attach()
        return self

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any) -> None:
        totals, steps = prefix + "totals", prefix + "steps"
        saved, (_, _, missing, _, errors) = state_dict.get(totals), args
        if saved is not None and steps not in state_dict:
            warnings.warn(
                f"{totals}: measured by an earlier version, in another way; measuring starts anew",
                stacklevel=2,
            )
            saved = None
        if saved is None:  # the state of a plain loss, or of an earlier version
            state_dict.pop(totals, None)
            state_dict.pop(steps, None)
            self._start(tuple(self.totals.shape), self.totals.device)
        elif saved.ndim != 3 or saved.shape != self._shape(self._classes(saved)):
            what = f"is not the equilibrium of a {self.activation} loss"
            errors.append(f"{totals}: {tuple(saved.shape)} {what}")
            return
        elif saved.shape != self.totals.shape:
            self._start(tuple(saved.shape), self.totals.device)
        super()._load_from_state_dict(state_dict, prefix, *args)
        missing[:] = [name for name in missing if name not in (totals, steps)]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_probe"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        if "steps" not in self._buffers:  # pickled by an earlier version: measuring starts anew
            self.register_buffer("steps", torch.empty(0))
            self._start(self._shape(self._classes(self.totals)), self.totals.device)
        self._attach()


def _of_all_ranks(rates: Tensor) -> Tensor:
    """Return the rates of the whole batch, from those of each rank's part.

    What acts on the weights is the mean of the ranks' fields; the last columns are sums of p.
    """
    if (ranks := number_of_ranks()) == 1:
        return rates
    total = rates.clone()
    dist.all_reduce(total)
    total[..., : total.shape[1] + 1] /= ranks
    return total


def _fill_unseen(region: Tensor, cross_entropy: Tensor) -> tuple[Tensor, Tensor]:
    """Return the rates with those that were never measured set so that they shift nothing.

    A pair of labels between which no voxel was in doubt in one direction gets the rate of the
    other direction, which balances it; without either, the mean of all rates, so that the labels
    stay connected. So does every pair of a label that never occurred.
    """
    unseen = cross_entropy.isnan()
    if bool(unseen.any()):
        names = [tuple(i) if len(region) > 1 else i[1] for i in unseen.nonzero().tolist()]
        warnings.warn(
            f"equilibrium: label {names} never occurred while measuring, or was never in doubt; "
            f"its shift is taken as 0",
            stacklevel=4,
        )
    region = torch.where(region.isfinite(), region, torch.nan)
    known = torch.where(region.isnan(), region.transpose(1, 2), region)
    typical = known.nanmean(dim=(1, 2), keepdim=True).nan_to_num(1.0)
    own = torch.eye(region.shape[1], dtype=torch.bool, device=region.device)
    region = torch.where(known.isnan(), typical, known).masked_fill(own, 0.0)
    background = cross_entropy[:, :1].where(~unseen[:, :1], cross_entropy.nanmean(-1, keepdim=True))
    return region, torch.where(unseen, background.nan_to_num(0.0), cross_entropy)
