"""Everything a run depends on, as plain values: kept beside its weights and inside them."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from gradsurge.data.augmentation import AUGMENTATIONS
from gradsurge.data.patches import PatchSettings
from gradsurge.data.store import DatasetFile
from gradsurge.experiments.runs.surgery_schedule import SurgerySchedule
from gradsurge.experiments.runs.task import Task, task_of
from gradsurge.losses import LOSSES
from gradsurge.losses.strength import as_the_paper, resolved
from gradsurge.models import ModelConfig
from gradsurge.training import TrainSettings

FORMAT, VERSION = "gradsurge run", 1


@dataclass(frozen=True)
class RunConfig:
    """A training, fully resolved.

    Attributes:
        store: folder of the prepared cases.
        dataset: the store's facts: enough to prepare new images without it. Of its splits, the
            names of training and validation cases.
        loss: one of `gradsurge.losses.LOSSES`.
        loss_options: of `make_loss`, the surgery's strength and the weights among them; older
            files do not say these, and mean the paper's. Activation and ignore_index follow
            from the store.
        model: rebuilds the network.
        patches: size, batch and oversampling.
        augmentation: one of `gradsurge.data.augmentation.AUGMENTATIONS`.
        training: steps, optimiser, seed, ...
        surgery: when it sets in.
        validation_cases: how many are scored while training; None for all. The end scores all.
        init: folder of the run whose weights it starts from.
    """

    store: str
    dataset: DatasetFile
    loss: str
    loss_options: Mapping[str, Any]
    model: ModelConfig
    patches: PatchSettings
    augmentation: str
    training: TrainSettings
    surgery: SurgerySchedule = field(default_factory=SurgerySchedule)
    validation_cases: int | None = None
    init: str | None = None

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise ValueError(f"loss: unknown {self.loss!r}; known: {', '.join(LOSSES)}")
        if self.augmentation not in AUGMENTATIONS:
            known = ", ".join(AUGMENTATIONS)
            raise ValueError(f"augmentation: unknown {self.augmentation!r}; known: {known}")
        if not self.surgery.from_the_start and not self.loss.endswith("-surgery"):
            raise ValueError(
                f"surgery: {self.loss} has none to start later; choose a loss that ends in -surgery"
            )
        if not self.surgery.from_the_start and "blend" in self.loss_options:
            raise ValueError(
                "loss option blend: a surgery that starts later sets it step by step; give one of "
                "--loss-option blend and --surgery-start or --surgery-ramp"
            )
        number = self.validation_cases
        whole = isinstance(number, int) and not isinstance(number, bool)
        if number is not None and not (whole and number >= 1):
            raise ValueError(f"validation_cases: expected a whole number above 0, got {number!r}")
        if tuple(self.model.patch) != tuple(self.patches.size):
            raise ValueError(
                f"model: made for patches of {tuple(self.model.patch)}, got {self.patches.size}"
            )

    @property
    def task(self) -> Task:
        """What the network is asked to tell."""
        return task_of(self.dataset)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        patches = asdict(self.patches)
        return {
            "format": FORMAT,
            "version": VERSION,
            **plain,
            "dataset": self.dataset.to_json(),
            "loss_options": resolved(self.loss, self.loss_options, self.training.optimiser),
            "model": self.model.to_json(),
            "patches": {**patches, "size": list(self.patches.size)},
            "training": self.training.to_json(),
            "surgery": self.surgery.to_json(),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return what `to_json` was made of.

        Raises:
            ValueError: it is something else, damaged, or of another version.
        """
        if stored.get("format") != FORMAT:
            raise ValueError(f"not the configuration of a {FORMAT}")
        if stored.get("version") != VERSION:
            raise ValueError(
                f"version {stored.get('version')!r}, this gradsurge reads {VERSION}; use the "
                f"gradsurge that wrote it"
            )
        try:
            parts = {f.name: stored[f.name] for f in fields(cls)}
            patches = parts["patches"]
            return cls(
                **{
                    **parts,
                    "loss_options": as_the_paper(parts["loss"], parts["loss_options"]),
                    "dataset": DatasetFile.from_json(parts["dataset"]),
                    "model": ModelConfig.from_json(parts["model"]),
                    "patches": PatchSettings(**{**patches, "size": tuple(patches["size"])}),
                    "training": TrainSettings.from_json(parts["training"]),
                    "surgery": SurgerySchedule.from_json(parts["surgery"]),
                }
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"damaged configuration ({error})") from error
