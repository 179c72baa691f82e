"""Sets of defaults for a training, by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Preset:
    """What is used where a user says nothing.

    Attributes:
        about: one line for the help.
        model: one of `gradsurge.models.MODELS`.
        model_options: of `plan_model`, by number of axes.
        voxels: most voxels of a patch planned from the store, by number of axes.
        patch: by number of axes, where it is fixed.
        batch: patches in a batch, by number of axes.
        patches: further fields of `PatchSettings`.
        augmentation: its name.
        training: fields of `TrainSettings`.
        validation_cases: how many are scored while training; None for all.
    """

    about: str
    model: str = "residual-unet"
    model_options: Mapping[int, Mapping[str, Any]] = field(default_factory=dict)
    voxels: Mapping[int, int] = field(default_factory=lambda: {2: 512**2, 3: 128**3})
    patch: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    batch: Mapping[int, int] = field(default_factory=lambda: {2: 12, 3: 2})
    patches: Mapping[str, Any] = field(default_factory=dict)
    augmentation: str = "nnunet"
    training: Mapping[str, Any] = field(default_factory=dict)
    validation_cases: int | None = None

    def options_of(self, model: str, axes: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options of a model: those given, over the preset's if it is its own model."""
        # Sizes of one kind of network mean nothing to another.
        own = self.model_options.get(axes, {}) if model == self.model else {}
        return {**own, **given}

    def patches_of(self, axes: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return fields of `PatchSettings`: those given, over the preset's."""
        return {"batch": self.batch[axes], **self.patches, **given}


# nnU-Net's 1000 epochs of 250 steps, SGD with Nesterov momentum 0.99, polynomial 0.9, clip 12.
# Half precision on a GPU, as there; "auto" is float32 on a CPU.
_NNUNET = {
    "steps": 250_000,
    "validate_every": 5_000,
    "checkpoint_every": 1_000,
    "precision": "auto",
}
# The middle of the ranges that the paper searches: log-uniform rate and decay, uniform momentum.
_PAPER = {**_NNUNET, "learning_rate": 3e-3, "weight_decay": 9e-6, "momentum": 0.975}

PRESETS: dict[str, Preset] = {
    "quick": Preset(
        about="a small U-Net that learns within minutes on a few cores; to try and compare",
        # A volume at half resolution takes a fifth of the time; pictures keep their thin lines.
        model_options={
            2: {"features": 16, "cap": 128},
            3: {"features": 16, "cap": 128, "resolution": "half"},
        },
        voxels={2: 192**2, 3: 40 * 56 * 40},
        batch={2: 4, 3: 2},
        # In few steps no case comes often enough to be learnt by heart.
        augmentation="none",
        # AdamW does not mind the scale of a loss: few steps are fair to all of them.
        training={
            "steps": 800,
            "optimiser": "adamw",
            "learning_rate": 3e-3,
            "weight_decay": 1e-2,
            "warmup": 40,
            "validate_every": 200,
            "checkpoint_every": 200,
        },
        validation_cases=16,
    ),
    "full": Preset(
        about="nnU-Net's sizes, deep supervision and schedule; for a GPU",
        model_options={axes: {"deep_supervision": True} for axes in (2, 3)},
        training=_NNUNET,
    ),
    "paper-2d": Preset(
        about="2D as in the paper: 512x512, SGD in the middle of the searched ranges",
        patch={2: (512, 512)},
        training=_PAPER,
    ),
    "paper-3d": Preset(
        about="3D as in the paper: 80x96x80, a third of the patches with foreground",
        patch={3: (80, 96, 80)},
        patches={"oversample": 0.33},
        training=_PAPER,
    ),
    "primus": Preset(
        about="the transformer Primus-M with its own optimiser; 3D, for a GPU",
        model="primus-m",
        voxels={2: 512**2, 3: 96**3},
        training={
            **_NNUNET,
            "optimiser": "adamw",
            "learning_rate": 3e-4,
            "weight_decay": 5e-2,
            "betas": (0.9, 0.98),
            "warmup": 12_500,
            "clip": 1.0,
        },
    ),
}


def find_preset(name: str, dimensions: int) -> Preset:
    """Return a preset.

    Raises:
        ValueError: there is none of that name, or it is not for so many axes.
    """
    if name not in PRESETS:
        raise ValueError(f"preset: unknown {name!r}; known: {', '.join(PRESETS)}")
    preset = PRESETS[name]
    only = {"paper-2d": 2, "paper-3d": 3, "primus": 3}.get(name, dimensions)
    if dimensions != only:
        raise ValueError(f"preset: {name} is for {only}D, the store is {dimensions}D")
    return preset
