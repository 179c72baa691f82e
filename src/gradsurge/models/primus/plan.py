"""Sizes of Primus, and which patches it takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import nn

from gradsurge.models.checks import check_patch, check_positive, check_share, check_whole
from gradsurge.models.config import ModelConfig
from gradsurge.models.primus.network import Primus
from gradsurge.models.topology import Vector, round_up


@dataclass(frozen=True)
class Size:
    """A published size: channels of a token, blocks, heads."""

    width: int
    layers: int
    heads: int


SIZES = {
    "primus-s": Size(396, 12, 6),
    "primus-b": Size(792, 12, 12),
    "primus-m": Size(864, 16, 12),
    "primus-l": Size(1056, 24, 16),
}


def plan_primus(
    size: Size,
    patch: Vector,
    spacing: Sequence[float] | None,
    *,
    token: int | Sequence[int] = 8,
    width: int | None = None,
    layers: int | None = None,
    heads: int | None = None,
    drop_path: float = 0.2,
    layer_scale: float = 0.1,
) -> dict[str, Any]:
    """Return the options of the net for a patch.

    Args:
        size: published size.
        patch: in voxels, three axes.
        spacing: not used.
        token: voxels of a token, one number or one an axis, powers of two: 8, or 4 for small
            structures, at eight times the tokens.
        width: channels of a token, instead of the size's.
        layers: number of blocks, instead of the size's.
        heads: of the attention, instead of the size's.
        drop_path: probability to skip a branch of the last block while training.
        layer_scale: initial scale of the branches.
    """
    sides = _check_token(token)
    if (whole := round_primus_patch(patch, spacing, token=sides)) != patch:
        raise ValueError(f"patch: {patch} is not divisible by the token {sides}; use {whole}")
    options = {
        "token": sides,
        "width": check_whole("width", size.width if width is None else width),
        "layers": check_whole("layers", size.layers if layers is None else layers),
        "heads": check_whole("heads", size.heads if heads is None else heads),
        "drop_path": check_share("drop_path", drop_path),
        "layer_scale": check_positive("layer_scale", layer_scale),
    }
    _check_heads(options)
    return options


def round_primus_patch(
    patch: Vector,
    spacing: Sequence[float] | None,  # noqa: ARG001 - as in plan_primus
    *,
    token: int | Sequence[int] = 8,
    **_others: Any,
) -> Vector:
    """Return the smallest patch that holds ``patch`` and can be planned for."""
    if len(check_patch(patch)) != 3:
        raise ValueError(f"patch: Primus is 3D only, got {patch}; use residual-unet for images")
    return round_up(patch, _check_token(token))


def build_primus(config: ModelConfig) -> nn.Module:
    """Build the net of a planned configuration."""
    _check_token(config.options["token"])
    _check_heads(config.options)
    return Primus(config.in_channels, config.out_channels, config.patch, **config.options)


def _check_token(token: Any) -> Vector:
    sides = (token,) * 3 if isinstance(token, int) else token
    powers = isinstance(sides, Sequence) and all(
        isinstance(n, int) and n > 0 and n & (n - 1) == 0 for n in sides
    )
    if not powers or len(sides) != 3 or max(sides) < 2:
        raise ValueError(
            f"token: expected a power of two above 1, such as 8 or 4, or one for each of 3 axes, "
            f"got {token!r}"
        )
    return tuple(sides)


def _check_heads(options: Any) -> None:
    width, heads = options["width"], options["heads"]
    if width % (6 * heads):
        raise ValueError(
            f"heads: expected width / heads to be divisible by 6, a pair of channels for each of 3 "
            f"axes, got width {width} and {heads} heads"
        )
