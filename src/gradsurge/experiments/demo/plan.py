"""What a demo does, fully said: its data, and one budget for all losses."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from gradsurge.experiments.runs import RunRequest
from gradsurge.experiments.runs.presets import find_preset
from gradsurge.experiments.runs.run_folder import flatten


@dataclass(frozen=True)
class DemoPlan:
    """A demo on phantoms, or on a raw folder of nnU-Net.

    Attributes:
        seed: of phantoms or splits, weights and patches.
        phantom: its name; None for real data.
        cases: number of phantoms.
        size: voxels of a phantom; its own if None.
        raw: nnU-Net's folder; None for phantoms.
        request: fields of `RunRequest`, the same for every loss.
    """

    seed: int
    phantom: str | None = None
    cases: int = 0
    size: tuple[int, ...] | None = None
    raw: str | None = None
    request: Mapping[str, Any] = field(default_factory=dict)

    def of_loss(self, loss: str) -> RunRequest:
        """Return what is asked of the training with a loss; only the loss differs."""
        fields = dict(self.request)
        if "patch" in fields:
            fields["patch"] = tuple(fields["patch"])
        training = {**fields.pop("training", {}), "seed": self.seed}
        return RunRequest(loss, training=training, **fields)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {**asdict(self), "size": None if self.size is None else list(self.size)}

    def differs_from(self, stored: Mapping[str, Any]) -> tuple[str, Any, Any] | None:
        """Return the first setting that is another than in `to_json` of a plan: name, its, ours."""
        its, ours = flatten(stored), flatten(self.to_json())
        for name in {**its, **ours}:
            if its.get(name) != ours.get(name):
                return name, its.get(name), ours.get(name)
        return None


# Whole cases as patches: every batch has foreground, at the share that test cases have. All is
# said, so that other defaults of `gradsurge train` do not make it another demo.
_TRAINING: dict[str, Any] = {
    "steps": 800,
    "optimiser": "adamw",
    "learning_rate": 5e-3,
    "weight_decay": 1e-2,
    "warmup": 40,
    "validate_every": 200,
    "checkpoint_every": 200,
}
_REQUEST: dict[str, Any] = {
    "model": "residual-unet",
    "model_options": {"features": 16, "cap": 64, "resolution": "half"},
    "patches": {"batch": 2},
    "augmentation": "light",
    "training": _TRAINING,
    "validation_cases": 16,
}
PRESETS: dict[str, DemoPlan] = {
    "2d": DemoPlan(
        seed=0, phantom="lesions-2d", cases=400, request={**_REQUEST, "patch": [128, 128]}
    ),
    "3d": DemoPlan(
        seed=0,
        phantom="lesions-3d",
        cases=200,
        request={
            **_REQUEST,
            "patch": [48, 48, 32],
            "training": {**_TRAINING, "steps": 400, "validate_every": 100, "checkpoint_every": 100},
        },
    ),
}


def plan_phantoms(preset: str, seed: int, steps: int | None = None) -> DemoPlan:
    """Return the demo of a preset.

    Raises:
        ValueError: there is none of that name.
    """
    if preset not in PRESETS:
        raise ValueError(f"preset: unknown {preset!r}; known: {', '.join(PRESETS)}")
    return _with_steps(replace(PRESETS[preset], seed=seed), steps)


def plan_real(raw: Path, seed: int, steps: int | None = None) -> DemoPlan:
    """Return the demo on a raw folder of nnU-Net, with the defaults of ``gradsurge train``."""
    return _with_steps(DemoPlan(seed=seed, raw=str(raw.absolute())), steps)


def smoke(plan: DemoPlan) -> DemoPlan:
    """Return the same demo too small to show anything but that it runs."""
    request = {
        "model_options": {"features": 4, "cap": 8},
        "patches": {"batch": 2},
        "augmentation": "none",
        "training": {"steps": 3, "validate_every": 2, "learning_rate": 5e-3},
    }
    if plan.phantom is None:
        return replace(plan, request=request)
    size = {"lesions-2d": (32, 32), "lesions-3d": (24, 24, 16)}[plan.phantom]
    return replace(plan, cases=10, size=size, request={**request, "patch": list(size)})


# Of real data, which ask for nothing else than ``gradsurge train`` does by itself.
_DEFAULT_STEPS = find_preset(RunRequest("ce").preset, 3).training["steps"]
_FOLLOW_STEPS = ("warmup", "validate_every", "checkpoint_every")


def _with_steps(plan: DemoPlan, steps: int | None) -> DemoPlan:
    training = plan.request.get("training", {})
    if steps in (None, training.get("steps", _DEFAULT_STEPS)):
        return plan
    kept = {k: v for k, v in training.items() if k not in _FOLLOW_STEPS}
    return replace(plan, request={**plan.request, "training": {**kept, "steps": steps}})
