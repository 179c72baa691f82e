"""What ``gradsurge doctor`` prints."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from gradsurge.experiments.doctor import Diagnosis
    from gradsurge.experiments.doctor.diagnosis import Part
    from gradsurge.experiments.doctor.machine import Machine

_INDENT = 16  # of all that belongs to the word at the beginning of a line


def print_diagnosis(found: "Diagnosis") -> None:
    """Print a line a fact; problems last, on stderr."""
    _line("gradsurge", f"{found.gradsurge}, {found.place}")
    _print_machine(found.machine)
    fitting = sum(package.fits for package in found.required)
    _line("required", f"{fitting} of {len(found.required)} packages are here")
    for number, part in enumerate(found.parts):
        _line("" if number else "optional", f"{part.name:<{_INDENT}}{_state(part)}")
    _print_nnunet(found)
    for problem in found.problems:
        typer.echo(f"gradsurge: problem: {problem}", err=True)
    if not found.problems:
        typer.echo("Nothing is missing that gradsurge needs.")


def _print_machine(machine: "Machine") -> None:
    _line("python", f"{machine.python}, {machine.system}, {machine.executable}")
    if machine.torch is not None:
        threads, cores = _count(machine.threads, "thread"), _count(machine.cores, "core")
        _line("torch", f"{machine.torch}, {threads} on {cores}")
    for name, what in machine.devices.items():
        _line("device", f"{name} ({what})")
    for note in machine.notes:
        _line("", note)


def _state(part: "Part") -> str:
    purpose = f" ({part.purpose})" if part.purpose else ""
    if part.missing:
        lacking = ", ".join(
            package.name
            if package.found is None
            else f"another {package.name} than {package.found}"
            for package in part.missing
        )
        return f"missing: {lacking}; {part.command}{purpose}"
    versions = ", ".join(f"{package.name} {package.found}" for package in part.packages)
    return f"{versions or 'nothing more is needed'}{purpose}"


def _print_nnunet(found: "Diagnosis") -> None:
    nnunet = found.nnunet
    if nnunet.version is None:
        _line("nnU-Net", "not in this environment")
        return
    trainer = "finds nnUNetTrainerSurgery and nnUNetTrainerDiceSurgery"
    if nnunet.missing:
        trainer = f"does not find {' and '.join(nnunet.missing)}: {nnunet.cure}"
    _line("nnU-Net", f"{nnunet.version}, {trainer}")
    unset = [name for name, value in nnunet.folders.items() if value is None]
    if unset:
        _line("", f"not set: {', '.join(unset)}")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def _line(word: str, text: str) -> None:
    typer.echo(f"{word:<{_INDENT}}{text}")
