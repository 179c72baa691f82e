"""The state of a training in one file: weights-only loadable, checked when it is read."""

import pickle
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import IO, Any

import torch
from torch import Tensor

from gradsurge.training.durable_file import write_durably

FORMAT, VERSION = "gradsurge checkpoint", 1


@dataclass(frozen=True)
class Checkpoint:
    """The state after some steps.

    Attributes:
        config: plain values, enough to make the model again.
        settings: `TrainSettings.to_json`.
        step: steps done.
        validated: the last step that was validated; -1 for none.
        best: {"dice", "step"} of the best validation; None before the first.
        model: state of the model.
        ema: the same with averaged weights; None without.
        loss: state of the loss, among it the equilibrium measured so far.
        optimiser: its state.
        scaler: of the gradient, for "16-mixed"; empty otherwise.
        notes: further plain values, as the cases of a batch whose loss was not finite.

    Random numbers are no part of it: they follow from seed, step and rank.
    """

    config: Mapping[str, Any]
    settings: Mapping[str, Any]
    step: int
    validated: int
    best: Mapping[str, Any] | None
    model: Mapping[str, Tensor]
    ema: Mapping[str, Tensor] | None
    loss: Mapping[str, Any]
    optimiser: Mapping[str, Any]
    scaler: Mapping[str, Any]
    notes: Mapping[str, Any]

    @property
    def weights(self) -> Mapping[str, Tensor]:
        """The weights to predict with: the averaged ones where there are any."""
        return self.model if self.ema is None else self.ema


def write_checkpoint(file: Path, checkpoint: Checkpoint) -> None:
    """Write beside, force to the disk, rename.

    Raises:
        OSError: it could not be written; what was there before is untouched.
    """
    content = {field.name: getattr(checkpoint, field.name) for field in fields(checkpoint)}
    content = {"format": FORMAT, "version": VERSION} | content
    write_durably(file, lambda sink: torch.save(content, sink))  # type: ignore[arg-type]


def read_checkpoint(path: str | Path) -> Checkpoint:
    """Read a checkpoint, its tensors into main memory. Nothing in it is executed.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is something else, truncated, altered, or of another version.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such checkpoint; is it the folder of a run?")
    with path.open("rb") as stream:
        _check_archive(path, stream)
        stream.seek(0)
        try:
            content = torch.load(stream, map_location="cpu", weights_only=True)
        except (RuntimeError, pickle.UnpicklingError, ValueError, KeyError, EOFError) as error:
            raise _unreadable(path, error) from error
    if not isinstance(content, dict) or content.pop("format", None) != FORMAT:
        raise ValueError(f"{path}: not a {FORMAT}; give a last.pt or best.pt of gradsurge train")
    if (version := content.pop("version", None)) != VERSION:
        raise ValueError(
            f"{path}: version {version!r}, this gradsurge reads {VERSION}; "
            f"use the gradsurge that wrote it"
        )
    try:
        return Checkpoint(**content)
    except TypeError as error:
        raise _unreadable(path, error) from error


def _check_archive(path: Path, stream: IO[bytes]) -> None:
    """Compare all checksums, which torch.load does not, and refuse what would unpack to more."""
    try:
        with zipfile.ZipFile(stream) as archive:
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise ValueError(f"{path}: not a {FORMAT} (it is compressed)")
            if damaged := archive.testzip():
                raise ValueError(f"{path}: damaged (checksum of {damaged})")
    except (zipfile.BadZipFile, RuntimeError, EOFError, OSError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> ValueError:
    reason = " ".join(str(error).split())[:120] or type(error).__name__
    return ValueError(f"{path}: damaged, or not a {FORMAT} ({reason})")
