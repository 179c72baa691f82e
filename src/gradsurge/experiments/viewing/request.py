"""What somebody asks to see."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

MOST_MODELS = 2


@dataclass(frozen=True)
class Named:
    """A file or folder, and what the model behind it is called."""

    name: str
    path: Path


@dataclass(frozen=True)
class ViewRequest:
    """One case, from folders of predictions, from runs, or from plain files.

    Attributes:
        folders: of ``gradsurge predict`` or ``gradsurge train``, one a model.
        case: its name; None for the first one.
        scan: file of the image, where it is not the one the prediction tells, or for plain files.
        label: file, or folder with a file named after the case.
        maps: files of probabilities, one a model, for plain files.
        masks: files of masks, one a model in the order of ``maps``, for plain files.
        channel: of the scan; None for the first, or for the colours of a picture.
        structures: those to show; all if empty.
        on_step: told what is being done.
    """

    folders: tuple[Named, ...] = ()
    case: str | None = None
    scan: Path | None = None
    label: Path | None = None
    maps: tuple[Named, ...] = ()
    masks: tuple[Path, ...] = ()
    channel: int | None = None
    structures: tuple[str, ...] = ()
    on_step: Callable[[str], object] = field(default=lambda _: None, compare=False)

    def __post_init__(self) -> None:
        count = max(len(self.folders), len(self.maps), len(self.masks))
        if count > MOST_MODELS:
            raise ValueError(f"expected one model or two side by side, got {count}")
        if self.folders and (self.maps or self.masks):
            raise ValueError(
                "--map and --mask belong to a plain scan; predictions and runs have their own"
            )
        if not self.folders and self.scan is None:
            raise ValueError("expected a folder of predictions, a run, or a scan; got none of them")
        if self.maps and len(self.masks) not in (0, len(self.maps)):
            raise ValueError(
                f"--mask: expected one for each of {len(self.maps)} maps, got {len(self.masks)}"
            )
        names = [model.name for model in (*self.folders, *self.maps)]
        if len(set(names)) < len(names):
            raise ValueError(
                f"two models are called {names[0]!r}; write NAME=... to tell them apart"
            )
