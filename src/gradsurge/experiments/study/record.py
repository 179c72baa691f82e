"""A record: what is known of one run of a study, in one small JSON file.

FOLDER/records/<variant>/<run>.json holds numbers of six digits, and <run>.npz beside it the bins of
reliability curves. Both are written whole or not at all. A record stands for its run: the run's
folder can be deleted, and records can be committed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Self

from gradsurge.data.case_error import shown
from gradsurge.experiments.study.coarse_sketch import write_coarse
from gradsurge.experiments.study.measured import Measured, plain
from gradsurge.experiments.whole_file import write_whole

RECORDS = "records"
FORMAT, VERSION = "gradsurge record", 1
_UNREADABLE = (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError)


@dataclass(frozen=True)
class Record:
    """One run, measured.

    Attributes:
        recipe, scale: of the study.
        variant: its name in the recipe.
        run: name of the run's folder.
        point: what was searched, and the seed.
        wanted: digest of what the recipe asked for (`wanted_digest`).
        trained: digest of what was trained (`trained_digest`).
        selection: how the point was chosen: its kind, and every point tried with its validation
            Dice and NLL.
        validation: the run's own scores on validation cases: "dice", "own_dice" and, by
            correction, "nll"; "temperature", and "shifts" of the logit by correction.
        training: the surgery's strength and weights (older records have none, and mean the
            paper's), steps, the step of the best weights, seconds, and [step, Dice] of validations.
        measured: on test cases.
        provenance: commit, date, machine, versions, command.
    """

    recipe: str
    scale: str
    variant: str
    run: str
    point: Mapping[str, Any]
    wanted: str
    trained: str
    selection: Mapping[str, Any]
    validation: Mapping[str, Any]
    training: Mapping[str, Any]
    measured: Measured
    provenance: Mapping[str, str]

    @property
    def seed(self) -> int:
        """Of the training."""
        return int(self.point.get("training.seed", 0))

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        content = {item.name: getattr(self, item.name) for item in fields(self)}
        rounded = {name: plain(value) for name, value in content.items() if name != "measured"}
        # Points are compared with those of the recipe: all their digits count.
        exact = {"point": dict(self.point), "selection": dict(self.selection)}
        measured = {"measured": self.measured.to_json()}
        return {"format": FORMAT, "version": VERSION, **rounded, **exact, **measured}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return what `to_json` was made of.

        Raises:
            ValueError: it is something else, or of another version.
        """
        if stored.get("format") != FORMAT:
            raise ValueError(f"not a {FORMAT}")
        if stored.get("version") != VERSION:
            raise ValueError(f"version {stored.get('version')!r}, this gradsurge reads {VERSION}")
        parts = {item.name: stored[item.name] for item in fields(cls)}
        return cls(**{**parts, "measured": Measured.from_json(parts["measured"])})


def record_file(folder: Path, variant: str, run: str) -> Path:
    """Return the file of a record in the folder of a study."""
    return folder / RECORDS / variant / f"{run}.json"


def write_record(folder: Path, record: Record) -> Path:
    """Write a record and, before it, its bins; return its file."""
    file = record_file(folder, record.variant, record.run)
    measured = record.measured
    write_coarse(file.with_suffix(".npz"), measured.sketches, list(measured.structures))
    lines = (
        f"{json.dumps(name)}: {json.dumps(value, separators=(',', ':'), allow_nan=False)}"
        for name, value in record.to_json().items()
    )
    # A line a part: small, and a change shows where it is.
    write_whole(file, ("{\n" + ",\n".join(lines) + "\n}\n").encode())
    return file


def read_record(file: Path) -> Record:
    """Read a record.

    Raises:
        ValueError: it is missing, damaged, or something else.
    """
    try:
        return Record.from_json(json.loads(file.read_text(encoding="utf-8")))
    except _UNREADABLE as error:
        reason = " ".join(str(error).split())
        raise ValueError(
            f"{shown(file)}: not a record ({reason}); delete it, gradsurge reproduce makes it anew"
        ) from error


def read_records(folder: Path) -> tuple[list[Record], list[str]]:
    """Return the records of a study in the order of their names, and a line for each bad one."""
    found, problems = [], []
    for file in sorted((folder / RECORDS).glob("*/*.json")):
        if file.name.startswith("."):
            continue
        try:
            found.append(read_record(file))
        except ValueError as error:
            problems.append(str(error))
    return found, problems
