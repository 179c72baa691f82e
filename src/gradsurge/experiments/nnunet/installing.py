"""One small module in nnU-Net's folder of trainers, by which it finds both of ours.

nnU-Net looks for a trainer in its own package, then in the folders that the variable
`nnUNet_extTrainer` names. Both ways lead to the same module, which is copied for the first.
"""

import importlib.util
import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal, NamedTuple

import gradsurge
from gradsurge.experiments.whole_file import write_whole

TRAINERS = ("nnUNetTrainerSurgery", "nnUNetTrainerDiceSurgery")
VARIABLE = "nnUNet_extTrainer"
_MODULE = f"{TRAINERS[0]}.py"
_OLDEST = "2.8"
_OURS = b"gradsurge nnunet install"  # in every version of the module
# The first folder of nnU-Net's search: deeper ones import all of its variants and timm before.
_PLACE = ("training", "nnUNetTrainer")

State = Literal["absent", "installed", "other version", "not ours"]


class Status(NamedTuple):
    """How nnU-Net stands to our trainers.

    Attributes:
        nnunet: version of nnU-Net.
        file: the module's place in its package.
        state: what is there: "not ours" is a file of that name which somebody else wrote.
        by_variable: whether `nnUNet_extTrainer` names our folder.
        trainers: those of `TRAINERS` that nnU-Net finds; the module of an older gradsurge has one.
    """

    nnunet: str
    file: Path
    state: State
    by_variable: bool
    trainers: tuple[str, ...]

    @property
    def found(self) -> bool:
        """Whether nnU-Net finds all of them."""
        return not self.missing

    @property
    def missing(self) -> list[str]:
        """Those that it does not find."""
        return [name for name in TRAINERS if name not in self.trainers]


def trainer_folder() -> Path:
    """Return the folder that holds the module and nothing else, for `nnUNet_extTrainer`."""
    return Path(gradsurge.__file__).parent / "integrations" / "nnunet" / "trainers"


def extended_variable(environment: Mapping[str, str]) -> str:
    """Return the value of `nnUNet_extTrainer` with our folder added to what it names.

    >>> extended_variable({"nnUNet_extTrainer": "/theirs"}).split(os.pathsep)[0]
    '/theirs'
    """
    named = [part for part in environment.get(VARIABLE, "").split(os.pathsep) if part.strip()]
    ours = str(trainer_folder())
    return os.pathsep.join(named if ours in named else [*named, ours])


def status(environment: Mapping[str, str]) -> Status:
    """Return how things are.

    Raises:
        ValueError: there is no nnU-Net in this environment, or one that is too old.
    """
    file = _place() / _MODULE
    _check_version()
    ours = str(trainer_folder()) in environment.get(VARIABLE, "").split(os.pathsep)
    state = _state(file)
    there = file.read_bytes() if state in ("installed", "other version") else b""
    trainers = tuple(name for name in TRAINERS if ours or name.encode() in there)
    return Status(_nnunet_version(), file, state, ours, trainers)


def install() -> tuple[Path, bool]:
    """Put the module into nnU-Net's folder of trainers.

    Returns:
        The file, and whether it had to be written.

    Raises:
        ValueError: there is no nnU-Net, one that is too old, or a file of that name which is not
            ours.
        OSError: the folder cannot be written.
    """
    file = _place() / _MODULE
    _check_version()
    state = _state(file)
    if state == "not ours":
        raise ValueError(
            f"{file}: is not of gradsurge; move it away, or leave it and use --print-env"
        )
    if state == "installed":
        return file, False
    write_whole(file, _content())
    return file, True


def uninstall() -> tuple[Path, bool]:
    """Remove the module; return its place, and whether it was there.

    Raises:
        ValueError: there is no nnU-Net, or the file of that name is not ours.
    """
    file = _place() / _MODULE
    state = _state(file)
    if state == "not ours":
        raise ValueError(f"{file}: is not of gradsurge and stays")
    file.unlink(missing_ok=True)
    return file, state != "absent"


def _place() -> Path:
    """Return nnU-Net's folder of trainers, without importing nnU-Net."""
    found = importlib.util.find_spec("nnunetv2")
    if found is None or not found.submodule_search_locations:
        raise ValueError(
            "nnU-Net is not installed in this environment: pip install 'gradsurge[nnunet]', or "
            "install gradsurge where nnU-Net is"
        )
    folder = Path(next(iter(found.submodule_search_locations)), *_PLACE)
    if not folder.is_dir():
        raise ValueError(
            f"{folder}: expected nnU-Net's folder of trainers there (nnU-Net {_OLDEST} or later, "
            f"found {_nnunet_version()}); use --print-env"
        )
    return folder


def _check_version() -> None:
    """Refuse an nnU-Net whose logger and trainers are others than ours leans on."""
    found = _nnunet_version()
    numbers = [int(n) for n in found.split(".")[:2] if n.isdigit()]
    if numbers and numbers < [int(n) for n in _OLDEST.split(".")]:
        raise ValueError(
            f"nnU-Net {found} is too old, the trainers of gradsurge need {_OLDEST} or later: "
            f"pip install -U 'gradsurge[nnunet]'"
        )


def _state(file: Path) -> State:
    if not file.exists():
        return "absent"
    there = file.read_bytes()
    if there == _content():
        return "installed"
    return "other version" if _OURS in there else "not ours"


def _content() -> bytes:
    return (trainer_folder() / _MODULE).read_bytes()


def _nnunet_version() -> str:
    try:
        return version("nnunetv2")
    except PackageNotFoundError:
        return "of unknown version"
