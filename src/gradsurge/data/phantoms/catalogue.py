"""Phantoms by name, and `make_phantom`, which makes any case of them.

The best possible: nobody who does not know the rater's draw beats the posterior q, in expectation
and for any proper score; q is calibrated, so its pooled ECE is 0 up to the sampling of labels. A
network sees the image only. The best it can do is E[q | image]: calibrated too, but at a mean
|p - q| above 0, because gain and noise hide part of q.
"""

import difflib
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gradsurge.data.phantoms.case import PhantomCase
from gradsurge.data.phantoms.draws import Draws
from gradsurge.data.phantoms.grid import Grid, grid_of
from gradsurge.data.phantoms.lesions import lesions_scene
from gradsurge.data.phantoms.organs import organs_scene
from gradsurge.data.phantoms.rater import draw_label, posterior_of, thresholds_of, uniform_levels
from gradsurge.data.phantoms.scanner import Scene, scan
from gradsurge.data.phantoms.vessels import vessels_scene

SMALLEST = 16  # voxels along an axis


@dataclass(frozen=True)
class Phantom:
    """A kind of phantom.

    Args:
        grid: default size and spacing.
        channels: names of the image's channels.
        classes: names of the label's classes, background first.
        scene: makes what there is to see.
        noise: lowest and highest standard deviation of the image's noise.
        coherence: mm over which the rater's errors are alike.
    """

    grid: Grid
    channels: tuple[str, ...]
    classes: tuple[str, ...]
    scene: Callable[[Draws, Grid], Scene]
    noise: tuple[float, float]
    coherence: float


PHANTOMS: dict[str, Phantom] = {
    "lesions-2d": Phantom(
        grid=Grid((128, 128), (1.0, 1.0)),
        channels=("intensity",),
        classes=("background", "lesion"),
        scene=lesions_scene,
        noise=(0.05, 0.09),
        coherence=4.0,
    ),
    "lesions-3d": Phantom(
        grid=Grid((48, 48, 32), (1.0, 1.0, 1.5)),
        channels=("intensity",),
        classes=("background", "lesion"),
        scene=lesions_scene,
        noise=(0.05, 0.09),
        coherence=3.0,
    ),
    "vessels-2d": Phantom(
        grid=Grid((128, 128), (1.0, 1.0)),
        channels=("red", "green", "blue"),
        classes=("background", "vessel"),
        scene=vessels_scene,
        noise=(0.02, 0.04),
        coherence=4.0,
    ),
    "organs-3d": Phantom(
        grid=Grid((64, 64, 32), (1.0, 1.0, 2.0)),
        channels=("intensity",),
        classes=("background", "front", "back"),
        scene=organs_scene,
        noise=(0.04, 0.07),
        coherence=5.0,
    ),
}


def make_phantom(
    name: str, index: int, seed: int = 0, size: Sequence[int] | None = None
) -> PhantomCase:
    """Make case number ``index``: it depends on these four arguments alone, on no other case.

    A scene is drawn; its posterior q says how likely each voxel is foreground. A rater draws the
    label: P(y = k | scene) = q_k exactly, and neighbours err alike. A scanner shows q through
    blur, unknown gain and noise. Each has random numbers of its own.

    Args:
        name: one of `PHANTOMS`.
        index: number of the case, from 0 on.
        seed: another seed, other cases.
        size: voxels along each axis, at least 16 each; the phantom's own if left out. Larger
            sizes show the same amount of tissue at a finer spacing.

    >>> case = make_phantom("lesions-2d", 3, size=(64, 64))
    >>> case.image.shape, case.posterior.shape, case.spacing
    ((1, 64, 64), (1, 64, 64), (2.0, 2.0))
    """
    phantom = _known(name)
    index, seed = _whole("index", index), _whole("seed", seed)
    grid = phantom.grid if size is None else grid_of(_checked_size(name, size), phantom.grid)
    key = (name, index, seed, grid.size)
    scene = phantom.scene(Draws("scene", *key), grid)
    thresholds = thresholds_of(scene.posterior)
    levels = uniform_levels(Draws("rater", *key), grid, phantom.coherence)
    return PhantomCase(
        name=f"{name}_seed{seed}_{index:05d}",
        image=scan(scene, grid, phantom.noise, Draws("scanner", *key)).astype(np.float32),
        label=draw_label(thresholds, levels),
        posterior=posterior_of(thresholds),
        spacing=grid.spacing,
    )


def _known(name: str) -> Phantom:
    if name in PHANTOMS:
        return PHANTOMS[name]
    close = difflib.get_close_matches(str(name), PHANTOMS, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    raise ValueError(f"name: unknown phantom {name!r}; {hint}known: {', '.join(PHANTOMS)}")


def _whole(argument: str, value: int) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < 0:
        raise ValueError(f"{argument}: expected a whole number from 0 on, got {value!r}")
    return number


def _checked_size(name: str, size: Sequence[int]) -> tuple[int, ...]:
    axes = len(PHANTOMS[name].grid.size)
    wanted = f"size: {name} expects {axes} whole numbers of at least {SMALLEST}, got {size!r}"
    try:
        checked = tuple(operator.index(n) for n in size)
    except TypeError as error:
        raise ValueError(wanted) from error
    if len(checked) != axes or min(checked) < SMALLEST:
        raise ValueError(wanted)
    return checked
