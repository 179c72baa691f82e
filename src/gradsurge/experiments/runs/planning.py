"""From a store and a few wishes to a run, fully resolved."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from gradsurge.data.patches import PatchSettings
from gradsurge.data.store import DatasetFile, Store
from gradsurge.experiments.runs.config import RunConfig
from gradsurge.experiments.runs.patch_size import median_shape, plan_patch
from gradsurge.experiments.runs.presets import Preset, find_preset
from gradsurge.experiments.runs.run_loss import make_run_loss
from gradsurge.experiments.runs.surgery_schedule import SurgerySchedule
from gradsurge.experiments.runs.task import Task, task_of
from gradsurge.experiments.runs.trained_run import open_run
from gradsurge.experiments.runs.validation import validation_names
from gradsurge.losses.strength import as_the_paper
from gradsurge.models import MODELS, ModelConfig, plan_model, round_patch
from gradsurge.surgery.targets import check_flag
from gradsurge.training import TrainSettings


@dataclass(frozen=True)
class RunRequest:
    """What a user asks for; everything else comes from the preset and the store.

    Attributes:
        loss: its name.
        loss_options: of `make_loss`.
        preset: one of `PRESETS`.
        model: one of `gradsurge.models.MODELS`.
        model_options: of `plan_model`, over those of the preset.
        patch: its size.
        patches: fields of `PatchSettings` but the size.
        augmentation: its name.
        training: fields of `TrainSettings`.
        surgery: when it sets in.
        validation_cases: how many are scored while training; as the preset says if None.
        init: folder of a run to start from; model and patch are that run's.
    """

    loss: str
    loss_options: Mapping[str, Any] = field(default_factory=dict)
    preset: str = "quick"
    model: str | None = None
    model_options: Mapping[str, Any] = field(default_factory=dict)
    patch: tuple[int, ...] | None = None
    patches: Mapping[str, Any] = field(default_factory=dict)
    augmentation: str | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    surgery: SurgerySchedule = field(default_factory=SurgerySchedule)
    validation_cases: int | None = None
    init: Path | None = None


def plan_run(store: Store, request: RunRequest) -> RunConfig:
    """Resolve every setting of a run.

    Raises:
        ValueError: the wishes contradict each other or the store; one line that names the setting.
    """
    facts = store_facts(store)
    axes = facts.dimensions
    preset = find_preset(request.preset, axes)
    task = task_of(facts)
    number = request.validation_cases
    number = preset.validation_cases if number is None else number
    validation_names(foreground_shares(store, facts), number)  # refuses what cannot be chosen
    before = None if request.init is None else _run_to_start_from(request.init)
    training = _settings(preset, request)
    _check_surgery_is_reached(request.surgery, training.steps)
    model = _plan_network(store, facts, task, request, preset, before)
    patches = preset.patches_of(axes, request.patches)
    config = RunConfig(
        store=str(store.path.resolve()),
        dataset=facts,
        loss=request.loss,
        loss_options=_loss_options(request),
        model=model,
        patches=PatchSettings(size=tuple(model.patch), **patches),
        augmentation=request.augmentation or preset.augmentation,
        training=training,
        surgery=request.surgery,
        validation_cases=number,
        init=None if request.init is None else str(request.init.resolve()),
    )
    make_run_loss(config, levels=1)  # its options are refused now, not after the data is read
    return config


def _loss_options(request: RunRequest) -> dict[str, Any]:
    """Return what was said: the rest is as usual in a new run, as it was in one that goes on."""
    said = dict(request.loss_options)
    paper = check_flag("loss option paper", said.pop("paper", False))
    return as_the_paper(request.loss, said) if paper else said


def store_facts(store: Store) -> DatasetFile:
    """Return what a run keeps of a store: all but its case folders and its test cases.

    Raises:
        ValueError: there are no training or no validation cases.
    """
    splits = {name: store.split(name) for name in ("train", "validation")}
    for name, cases in splits.items():
        if not cases:
            raise ValueError(f"{store.path}: no {name} cases; prepare the store with another split")
    return replace(store.dataset, splits=splits, cases={})


def foreground_shares(store: Store, facts: DatasetFile) -> dict[str, float]:
    """Return validation case -> share of foreground."""
    return {name: store.case(name).foreground for name in facts.splits["validation"]}


def _run_to_start_from(folder: Path) -> RunConfig:
    """Return the configuration of a finished run.

    Raises:
        ValueError: it is none, or not finished: its best weights may be those of a few steps.
    """
    try:
        return open_run(folder).config
    except ValueError as error:
        raise ValueError(f"init: {error}") from error


def _check_surgery_is_reached(surgery: SurgerySchedule, steps: int) -> None:
    """Raise if no step has the whole surgery: only weights of it can be a run's best."""
    if surgery.first_full_step(steps) >= steps:
        raise ValueError(
            f"surgery: full at {surgery.full:g} of {steps} steps, which none of them reaches, so "
            f"that no weights could be kept; start it earlier, or train longer"
        )


def _plan_network(
    store: Store,
    facts: DatasetFile,
    task: Task,
    request: RunRequest,
    preset: Preset,
    before: RunConfig | None,
) -> ModelConfig:
    if before is not None:
        return _network_of(before, facts, task, request)
    axes = facts.dimensions
    cases = [store.case(name) for name in facts.splits["train"]]
    spacing = tuple(median(sizes) for sizes in zip(*(c.spacing for c in cases), strict=True))
    shape = median_shape([case.shape for case in cases])
    name = request.model or preset.model
    if name not in MODELS:
        raise ValueError(f"model: unknown {name!r}; known: {', '.join(MODELS)}")
    options = preset.options_of(name, axes, request.model_options)
    patch = request.patch or preset.patch.get(axes)
    if patch is None:
        patch = round_patch(name, plan_patch(shape, preset.voxels[axes]), spacing, **options)
    if len(patch) != axes:
        raise ValueError(f"patch: the store has {axes} axes, got {'x'.join(map(str, patch))}")
    channels = len(facts.channel_names)
    return plan_model(name, channels, task.channels, tuple(patch), spacing, **options)


def _network_of(
    before: RunConfig, facts: DatasetFile, task: Task, request: RunRequest
) -> ModelConfig:
    """Return the network to start from, if it fits.

    Raises:
        ValueError: it tells something else, or another one was asked for.
    """
    model = before.model
    wishes = {
        "model": (request.model, model.name),
        "patch": (request.patch, tuple(model.patch)),
    }
    for what, (wish, there) in wishes.items():
        if wish is not None and wish != there:
            raise ValueError(f"init: that run's {what} is {there}, got {wish}; leave --{what} out")
    if request.model_options:
        raise ValueError("init: the model is that run's; leave --model-option out")
    mine = (len(facts.channel_names), task.activation, task.channels)
    its = (model.in_channels, before.task.activation, model.out_channels)
    if mine != its:
        raise ValueError(
            f"init: that run has {its[0]} image channels and {its[2]} {its[1]} outputs, the store "
            f"asks for {mine[0]} and {mine[2]} of {mine[1]}"
        )
    return model


def _settings(preset: Preset, request: RunRequest) -> TrainSettings:
    """Return the training's settings; what must be below the steps follows a smaller number."""
    chosen = {**preset.training, **request.training}
    steps = chosen["steps"]
    if isinstance(steps, int):
        for name in ("validate_every", "checkpoint_every"):
            if name not in request.training:
                chosen[name] = max(1, min(chosen[name], steps))
        if "warmup" in chosen and "warmup" not in request.training:
            chosen["warmup"] = min(chosen["warmup"], steps // 20)
    return TrainSettings(**chosen)
