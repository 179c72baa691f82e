"""What surgery and calibration add to a trainer of nnU-Net, whichever trainer that is."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradsurge.integrations.nnunet.epoch_log import EpochLog
from gradsurge.integrations.nnunet.loss import Task, TrainerLoss, build_loss
from gradsurge.integrations.nnunet.progress_picture import add_calibration
from gradsurge.integrations.nnunet.settings import (
    NNUNETS_OWN,
    PLAN_ENTRY,
    PREFIX,
    TrainerSettings,
    from_environment,
    of_any_version,
)
from gradsurge.integrations.nnunet.settings_file import read_settings, write_settings
from gradsurge.integrations.nnunet.start_weights import checkpoint_of, load_weights
from gradsurge.integrations.nnunet.validation_counts import ValidationCounts

if TYPE_CHECKING:
    _Trainer = Any
else:
    _Trainer = object

_NUMBERS = {  # setting -> what nnU-Net calls it
    "epochs": "num_epochs",
    "iterations": "num_iterations_per_epoch",
    "validation_iterations": "num_val_iterations_per_epoch",
    "save_every": "save_every",
    "learning_rate": "initial_lr",
}


class SurgeryTraining(_Trainer):  # type: ignore[misc]  # nnU-Net is not here
    """Mixed into a trainer of nnU-Net: ``class Mine(SurgeryTraining, nnUNetTrainer_...): ...``.

    The loss is that of `TrainerSettings`; all else is the other trainer's. NLL and ECE of the
    validation patches are logged beside the pseudo Dice, and drawn below nnU-Net's curves.

    A checkpoint names the trainer that built the network where that is one of nnU-Net's, so that
    it is predicted with where gradsurge is not installed.

    Attributes:
        default_loss: where neither plans nor resumed training nor environment say one.
    """

    default_loss = TrainerSettings.loss

    def initialize(self) -> None:
        """Read the settings, then let nnU-Net build everything."""
        self.gradsurge = self._read_settings()
        for setting, name in _NUMBERS.items():
            value = getattr(self.gradsurge, setting)
            if value is not None:
                setattr(self, name, value)
        self.plans_manager.plans[PLAN_ENTRY] = self.gradsurge.to_json()  # so checkpoints hold it
        self.epoch_log = EpochLog(self.logger)
        super().initialize()
        self.logger.update_config({PLAN_ENTRY: self.gradsurge.to_json()})
        if self.gradsurge.start_from is not None and not self._resumes():
            self._start_from(checkpoint_of(self.gradsurge.start_from, self.fold))

    def _start_from(self, file: Path) -> None:
        fold = load_weights(self.network, file)
        self.print_to_log_file(f"Weights of {file}")
        if fold not in (self.fold, None) and self.fold != "all":
            self.print_to_log_file(
                f"WARNING: these weights are of fold {fold}, which may have been trained on the "
                f"validation cases of fold {self.fold}"
            )

    def _read_settings(self) -> TrainerSettings:
        told, unknown = from_environment(os.environ)
        if unknown:
            self.print_to_log_file(f"WARNING: {', '.join(unknown)}: not a setting of gradsurge")
        stored = read_settings(self.output_folder) if self._resumes() else {}
        planned = self.plans_manager.plans.get(PLAN_ENTRY, {})
        return TrainerSettings.merged(
            (type(self).__name__, {"loss": self.default_loss}),
            (f"plans, entry {PLAN_ENTRY!r}", of_any_version(planned)),
            (f"settings stored in {self.output_folder}", of_any_version(stored)),
            (PREFIX, told),
        )

    def _resumes(self) -> bool:
        kinds = ("final", "latest", "best")
        files = [Path(self.output_folder, f"checkpoint_{kind}.pth") for kind in kinds]
        return bool(self.logger.resume) and any(file.is_file() for file in files)

    def _build_loss(self) -> TrainerLoss:
        own = super()._build_loss()
        if self.gradsurge.loss == NNUNETS_OWN:
            return TrainerLoss(own)
        loss = build_loss(self.gradsurge, self._task(), getattr(own, "weight_factors", None))
        if self._do_i_compile():  # as nnU-Net compiles its own
            loss.loss.compile()
        return loss

    def _task(self) -> Task:
        labels = self.label_manager
        return Task(
            labels.num_segmentation_heads,
            labels.has_regions,
            labels.ignore_label,
            self.configuration_manager.batch_dice,
        )

    def on_train_start(self) -> None:
        """Begin as nnU-Net does, and say what with."""
        super().on_train_start()
        if self.local_rank == 0:
            write_settings(self.output_folder, self.gradsurge)
        for name, value in self.gradsurge.to_json().items():
            if value not in (None, {}) or name == "decline":
                self.print_to_log_file(f"gradsurge {name}: {value}", also_print_to_console=False)

    def on_train_epoch_start(self) -> None:
        """Begin an epoch with its share of surgery."""
        super().on_train_epoch_start()
        if self.gradsurge.surgical:
            blend = self.gradsurge.blend(self.current_epoch, self.num_epochs)
            self.loss.loss.blend = blend
            if self.gradsurge.surgery_start > 0:
                self.print_to_log_file(f"Surgery: {blend:g}")

    def on_validation_epoch_start(self) -> None:
        """Let the loss pass on what it sees of the validation."""
        super().on_validation_epoch_start()
        self.counts = ValidationCounts(self._task(), self.num_val_iterations_per_epoch)
        self.loss.watch = self.counts.add

    def on_validation_epoch_end(self, val_outputs: list[dict[str, Any]]) -> None:
        """Log NLL and ECE with the pseudo Dice."""
        self.loss.watch = None
        super().on_validation_epoch_end(val_outputs)
        nll, ece = self.counts.scores(self.device)
        self.epoch_log.add(nll, ece, self.current_epoch)
        self.print_to_log_file(f"Pseudo NLL {nll:.4f}, pseudo ECE {ece:.4f}")

    def on_epoch_end(self) -> None:
        """Draw the calibration below nnU-Net's curves."""
        super().on_epoch_end()
        if self.local_rank == 0:
            add_calibration(self.output_folder, *self.epoch_log.curves())

    def save_checkpoint(self, filename: str) -> None:
        """Save as nnU-Net does, under the name of a trainer that every nnU-Net has."""
        kind = type(self)
        name, kind.__name__ = kind.__name__, _network_builder(kind)
        try:
            super().save_checkpoint(filename)
        finally:
            kind.__name__ = name

    def load_checkpoint(self, filename_or_checkpoint: dict[str, Any] | str) -> None:
        """Load as nnU-Net does; the settings stay those of now."""
        super().load_checkpoint(filename_or_checkpoint)
        self.my_init_kwargs["plans"][PLAN_ENTRY] = self.gradsurge.to_json()
        self.epoch_log.fill_up(self.current_epoch)


def _network_builder(kind: type) -> str:
    """Return the name of the class whose `build_network_architecture` the trainer has.

    Of nnU-Net's own classes only: others are not found where this one is not.
    """
    (owner,) = [c for c in kind.__mro__ if "build_network_architecture" in vars(c)][:1]
    return owner.__name__ if owner.__module__.split(".")[0] == "nnunetv2" else kind.__name__
