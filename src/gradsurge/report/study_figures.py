"""All figures that the records of a study allow."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from gradsurge.experiments.figure_data.study import NotInRecords, StudyRecords
from gradsurge.experiments.figure_data.study.detection_curves import detection_curves
from gradsurge.experiments.figure_data.study.exponent_ablation import exponent_ablation
from gradsurge.experiments.figure_data.study.lines import surgery_bases
from gradsurge.experiments.figure_data.study.raw_corrected import raw_corrected
from gradsurge.experiments.figure_data.study.reliability_panels import reliability_panels
from gradsurge.experiments.figure_data.study.shift_curves import shift_curves
from gradsurge.experiments.figure_data.study.volume_agreement import volume_agreement
from gradsurge.report.figures.study import bland_altman as volumes
from gradsurge.report.figures.study import detection_curves as detection
from gradsurge.report.figures.study import exponent_ablation as exponent
from gradsurge.report.figures.study import raw_corrected as corrections
from gradsurge.report.figures.study import reliability_panels as reliability
from gradsurge.report.figures.study import shift_curves as shift
from gradsurge.report.style import FORMATS, Format, save

_OF_STUDY: dict[str, Callable[[StudyRecords], list[Figure]]] = {
    "corrections": lambda study: [corrections.draw(raw_corrected(study))],
    "exponent": lambda study: [exponent.draw(exponent_ablation(study))],
}
# Of a loss and its surgery; volumes and lesions are those of one structure.
_OF_PAIR: dict[str, Callable[[StudyRecords, str], list[Figure]]] = {
    "reliability": lambda study, base: [reliability.draw(reliability_panels(study, base))],
    "shift": lambda study, base: [shift.draw(shift_curves(study, base))],
    "volumes": lambda study, base: [volumes.draw(d) for d in volume_agreement(study, base)],
    "detection": lambda study, base: [detection.draw(d) for d in detection_curves(study, base)],
}


@dataclass(frozen=True)
class StudyFigures:
    """What was drawn of a study, and what not.

    Attributes:
        files: figure -> its files.
        left_out: figure -> why it could not be drawn.
    """

    files: dict[str, list[Path]]
    left_out: dict[str, str]


def draw_study(
    study: StudyRecords,
    out: Path,
    formats: Sequence[Format] = FORMATS,
    on_figure: Callable[[str], object] = lambda _: None,
) -> StudyFigures:
    """Draw and write every figure that the records allow.

    Args:
        study: records of one recipe and scale.
        out: folder for the files.
        formats: of the files.
        on_figure: hears of each figure before its turn.
    """
    drawn = StudyFigures({}, {})
    bases = surgery_bases(study)
    if not bases:
        why = "no loss has records both as it is and with surgery"
        drawn.left_out.update(dict.fromkeys(_OF_PAIR, why))
    jobs = {name: partial(make, study) for name, make in _OF_STUDY.items()}
    for base in bases:
        jobs |= {f"{name}_{base}": partial(make, study, base) for name, make in _OF_PAIR.items()}
    for name, make in jobs.items():
        on_figure(name)
        try:
            figures = make()
        except NotInRecords as reason:
            drawn.left_out[name] = str(reason)
            continue
        for index, figure in enumerate(figures, start=1):
            # Structures are numbered: their names may not be fit for files.
            file = name if len(figures) == 1 else f"{name}_{index}"
            drawn.files[file] = save(figure, out, file, formats)
    return drawn
