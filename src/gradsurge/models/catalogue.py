"""Every model by name: planned from the patch, built from the plan."""

import difflib
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import nn

from gradsurge.models.checks import check_patch, check_whole
from gradsurge.models.config import ModelConfig
from gradsurge.models.primus import SIZES, build_primus, plan_primus, round_primus_patch
from gradsurge.models.residual_unet_plan import (
    build_residual_unet,
    plan_residual_unet,
    round_residual_unet_patch,
)


@dataclass(frozen=True)
class _Maker:
    """How a model is planned and built, and what its planned options are called."""

    plan: Callable[..., dict[str, Any]]
    round_patch: Callable[..., tuple[int, ...]]
    build: Callable[[ModelConfig], nn.Module]
    planned: tuple[str, ...]


_UNET = ("strides", "kernels", "features", "blocks", "deep_supervision")
_PRIMUS = ("token", "width", "layers", "heads", "drop_path", "layer_scale")
_MAKERS = {
    "residual-unet": _Maker(
        plan_residual_unet, round_residual_unet_patch, build_residual_unet, _UNET
    ),
    **{
        name: _Maker(partial(plan_primus, size), round_primus_patch, build_primus, _PRIMUS)
        for name, size in SIZES.items()
    },
}
MODELS: tuple[str, ...] = tuple(_MAKERS)


def plan_model(
    name: str,
    in_channels: int,
    out_channels: int,
    patch: Sequence[int],
    spacing: Sequence[float] | None = None,
    **options: Any,
) -> ModelConfig:
    """Size a model from the patch.

    Args:
        name: one of `MODELS`.
        in_channels: of the image.
        out_channels: logits a voxel.
        patch: size in voxels, two axes or three.
        spacing: voxel size, which decides which axes a U-Net halves first; all alike if None.
        **options: of the U-Net: features, cap, max_depth, blocks, resolution, deep_supervision;
            of Primus: token, width, layers, heads, drop_path, layer_scale.

    >>> config = plan_model("residual-unet", 1, 3, (40, 56, 40), features=16)
    >>> config.options["features"]
    (16, 32, 64, 128)
    """
    maker = _maker(name)
    _refuse_unknown(name, options, _options_of(maker))
    for argument, value in (("in_channels", in_channels), ("out_channels", out_channels)):
        check_whole(argument, value)
    sizes = check_patch(patch)
    planned = maker.plan(sizes, spacing, **options)
    return ModelConfig(name, in_channels, out_channels, sizes, planned)


def round_patch(
    name: str, patch: Sequence[int], spacing: Sequence[float] | None = None, **options: Any
) -> tuple[int, ...]:
    """Return the smallest patch that holds ``patch`` and that `plan_model` takes.

    Args:
        name: one of `MODELS`.
        patch: size wished for.
        spacing: as for `plan_model`.
        **options: as for `plan_model`.

    >>> round_patch("residual-unet", (35, 51, 35))
    (40, 56, 40)
    """
    maker = _maker(name)
    _refuse_unknown(name, options, _options_of(maker))
    return maker.round_patch(check_patch(patch), spacing, **options)


def make_model(config: ModelConfig) -> nn.Module:
    """Build a model: image (N, C, *P) to logits (N, K, *P).

    Its weights are drawn from torch's generator: seed that for the same ones again. The module has
    ``levels``, the number of outputs in train() mode, and ``divisor``, what window sizes must be
    divisible by.

    Args:
        config: from `plan_model`, or read back from a file.

    >>> net = make_model(plan_model("residual-unet", 1, 3, (40, 56, 40), features=16))
    >>> net.levels, net.divisor
    (1, (8, 8, 8))
    """
    maker = _maker(config.name)
    _refuse_unknown(config.name, config.options, maker.planned)
    if missing := [o for o in maker.planned if o not in config.options]:
        raise ValueError(f"{config.name}: option {missing[0]!r} is missing; use plan_model")
    return maker.build(config)


def _maker(name: str) -> _Maker:
    if name not in _MAKERS:
        close = difflib.get_close_matches(str(name), MODELS, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ValueError(f"name: unknown model {name!r}; {hint}known: {', '.join(MODELS)}")
    return _MAKERS[name]


def _options_of(maker: _Maker) -> list[str]:
    parameters = inspect.signature(maker.plan).parameters.values()
    return [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]


def _refuse_unknown(name: str, given: Any, allowed: Sequence[str]) -> None:
    for option in given:
        if option not in allowed:
            raise ValueError(f"{name}: unknown option {option!r}; it takes {', '.join(allowed)}")
