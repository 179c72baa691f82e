"""What the figures of a study show, from its records alone."""

from gradsurge.experiments.figure_data.study.lines import LineName, NotInRecords
from gradsurge.experiments.figure_data.study.studies import StudyRecords, read_studies

__all__ = ["LineName", "NotInRecords", "StudyRecords", "read_studies"]
