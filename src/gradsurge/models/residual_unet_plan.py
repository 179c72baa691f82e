"""Size of a residual U-Net from the patch."""

from collections.abc import Sequence
from typing import Any

from torch import nn

from gradsurge.models.checks import check_choice, check_patch, check_spacing, check_whole
from gradsurge.models.config import ModelConfig
from gradsurge.models.residual_unet import ResidualUNet
from gradsurge.models.topology import Topology, Vector, plan_topology, round_up

CAPS = {2: 512, 3: 320}


def plan_residual_unet(
    patch: Vector,
    spacing: Sequence[float] | None,
    *,
    features: int | Sequence[int] = 32,
    cap: int | None = None,
    max_depth: int | None = None,
    blocks: int | Sequence[int] = 1,
    resolution: str = "full",
    deep_supervision: bool = False,
) -> dict[str, Any]:
    """Return the options of the net for a patch.

    Args:
        patch: size in voxels.
        spacing: voxel size; all axes alike if None.
        features: channels of the finest level, doubled from level to level; or of each level.
        cap: of the doubling; 512 in 2D and 320 in 3D if None, as in nnU-Net.
        max_depth: levels not to be exceeded.
        blocks: residual blocks of each level of the encoder, one number for all or one a level
            (nnU-Net's large presets: 1, 3, 4, 6, 6, 6).
        resolution: "full", or "half", which leaves the finest level out: the net starts at the
            first halving and its logits come from a transposed convolution. On the CPU, a step in
            3D then takes a seventh of the time.
        deep_supervision: outputs at every level above the bottom in train() mode.
    """
    topology = _topology(patch, spacing, max_depth, resolution)
    if (whole := round_up(patch, topology.divisor)) != patch:
        raise ValueError(
            f"patch: {patch} is not divisible by the net's strides {topology.divisor}; use {whole}"
            f", or fewer levels (max_depth)"
        )
    levels = len(topology.strides)
    limit = CAPS[len(patch)] if cap is None else check_whole("cap", cap)
    if isinstance(features, int):
        first = check_whole("features", features)
        features = [min(limit, first * 2**i) for i in range(levels)]
    return {
        "strides": topology.strides,
        "kernels": topology.kernels,
        "features": _one_a_level("features", features, levels),
        "blocks": _one_a_level("blocks", blocks, levels),
        "deep_supervision": check_choice("deep_supervision", deep_supervision, (True, False)),
    }


def round_residual_unet_patch(
    patch: Vector,
    spacing: Sequence[float] | None,
    *,
    max_depth: int | None = None,
    resolution: str = "full",
    **_others: Any,
) -> Vector:
    """Return the smallest patch that holds ``patch`` and can be planned for."""
    return round_up(patch, _topology(patch, spacing, max_depth, resolution).divisor)


def build_residual_unet(config: ModelConfig) -> nn.Module:
    """Build the net of a planned configuration."""
    options = dict(config.options)
    axes, levels = len(config.patch), len(options["strides"])
    for name in ("strides", "kernels"):
        if len(options[name]) != levels or any(len(v) != axes for v in options[name]):
            raise ValueError(f"{name}: expected {levels} times {axes}, got {options[name]!r}")
    for name in ("features", "blocks"):
        _one_a_level(name, options[name], levels)
    return ResidualUNet(config.in_channels, config.out_channels, **options)


def _topology(
    patch: Vector, spacing: Sequence[float] | None, max_depth: int | None, resolution: str
) -> Topology:
    patch = check_patch(patch)
    least = 2 if check_choice("resolution", resolution, ("full", "half")) == "full" else 3
    if max_depth is not None:
        check_whole("max_depth", max_depth, least=least)
    topology = plan_topology(patch, check_spacing(spacing, patch), max_depth)
    if len(topology.strides) < least:
        raise ValueError(
            f"patch: {patch} is too small for a U-Net of {resolution} resolution; an axis is halved"
            f" only if 4 voxels or more remain, so use at least {2 ** (least + 1)} on each axis"
        )
    if resolution == "half":
        return Topology(topology.strides[1:], topology.kernels[1:])
    return topology


def _one_a_level(name: str, given: Any, levels: int) -> Vector:
    if isinstance(given, int):
        given = (given,) * levels
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != levels:
        raise ValueError(
            f"{name}: expected one number, or one for each of {levels} levels, got {given!r}"
        )
    return tuple(check_whole(name, n) for n in given)
