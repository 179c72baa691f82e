"""Everything the doctor looked at, in one place."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import Any

import gradsurge
from gradsurge.experiments.doctor.machine import Machine, look_at_machine
from gradsurge.experiments.doctor.requirements import Package, extras_of, required_packages

_NAME = "gradsurge"
_FOR_CONTRIBUTORS = ("dev", "docs")
# What an extra is for, in the words of somebody who decides whether to install it.
_PURPOSES = {
    "dask": "prepare and evaluate on a Dask cluster",
    "lightning": "the callback for Lightning",
    "monai": "MONAI's engines and handlers",
    "nnunet": "nnU-Net with nnUNetTrainerSurgery and nnUNetTrainerDiceSurgery",
    "postgres": "a search shared by PostgreSQL",
    "torchmetrics": "the metric for TorchMetrics",
    "view": "gradsurge view",
}
_NNUNET_FOLDERS = ("nnUNet_raw", "nnUNet_preprocessed", "nnUNet_results")


@dataclass(frozen=True)
class Part:
    """An optional part: an extra of the package.

    Attributes:
        name: of the extra.
        purpose: what it is for; empty where nobody has said.
        packages: what it needs.
    """

    name: str
    purpose: str
    packages: tuple[Package, ...]

    @property
    def missing(self) -> list[Package]:
        """What is not there, or not in the right version."""
        return [package for package in self.packages if not package.fits]

    @property
    def command(self) -> str:
        """The command that brings it."""
        return f"pip install '{_NAME}[{self.name}]'"


@dataclass(frozen=True)
class NnUnet:
    """nnU-Net in this environment.

    Attributes:
        version: of nnU-Net, None without it.
        finds_trainer: whether it finds both of our trainers.
        missing: those that it does not find.
        cure: what to type if not.
        folders: environment variable of nnU-Net -> its value, None where it is not set.
    """

    version: str | None
    finds_trainer: bool
    missing: list[str]
    cure: str
    folders: dict[str, str | None]


@dataclass(frozen=True)
class Diagnosis:
    """What is here.

    Attributes:
        gradsurge: version.
        place: folder of the package that runs.
        machine: Python, torch and devices.
        required: what gradsurge always needs.
        parts: optional ones.
        nnunet: nnU-Net, and whether it finds our trainers.
        problems: what keeps gradsurge from working, a line each with its cure.
    """

    gradsurge: str
    place: Path
    machine: Machine
    required: tuple[Package, ...]
    parts: tuple[Part, ...]
    nnunet: NnUnet
    problems: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        machine = self.machine._asdict()
        machine.pop("problems")
        return {
            "gradsurge": self.gradsurge,
            "place": str(self.place),
            **machine,
            "required": {p.name: p.found for p in self.required},
            "optional": {
                part.name: {
                    "complete": not part.missing,
                    "packages": {p.name: p.found for p in part.packages},
                    "command": part.command,
                }
                for part in self.parts
            },
            "nnunet": vars(self.nnunet),
            "problems": list(self.problems),
        }


def diagnose(environment: Mapping[str, str] = os.environ) -> Diagnosis:
    """Look at this environment; heavy packages are looked up, only torch is imported.

    Args:
        environment: variables of the shell.
    """
    machine = look_at_machine()
    problems = list(machine.problems)
    required: list[Package] = []
    parts: list[Part] = []
    try:
        required = required_packages(_NAME)
        parts = [_part(name) for name in extras_of(_NAME) if name not in _FOR_CONTRIBUTORS]
    except PackageNotFoundError:
        problems.append(
            f"{_NAME} runs from a folder that is not installed, so nobody knows what it needs: "
            f"pip install -e FOLDER"
        )
    problems += [package.complaint for package in required if not package.fits]
    return Diagnosis(
        gradsurge=gradsurge.__version__,
        place=Path(gradsurge.__file__).parent,
        machine=machine,
        required=tuple(required),
        parts=tuple(parts),
        nnunet=_look_at_nnunet(environment),
        problems=tuple(problems),
    )


def _part(name: str) -> Part:
    return Part(name, _PURPOSES.get(name, ""), tuple(required_packages(_NAME, name)))


def _look_at_nnunet(environment: Mapping[str, str]) -> NnUnet:
    from gradsurge.experiments.nnunet import installing

    folders = {name: environment.get(name) for name in _NNUNET_FOLDERS}
    try:
        found = installing.status(environment)
    except ValueError as error:
        return NnUnet(None, False, list(installing.TRAINERS), str(error), folders)
    cure = "" if found.found else "gradsurge nnunet install"
    return NnUnet(found.nnunet, found.found, found.missing, cure, folders)
