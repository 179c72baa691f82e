"""Studies: runs measured on held-out cases, kept as records, compared in tables."""

from gradsurge.experiments.study.measure_settings import MeasureSettings
from gradsurge.experiments.study.measured import Measured
from gradsurge.experiments.study.measuring import measure_run
from gradsurge.experiments.study.overview import Overview, overview_of
from gradsurge.experiments.study.protocol import Protocol
from gradsurge.experiments.study.record import Record, read_record, read_records, write_record
from gradsurge.experiments.study.reproduction import (
    Reproduction,
    for_files,
    reproduce,
    tables_from_records,
    with_rows,
)
from gradsurge.experiments.study.study_folder import check_entry, enter_study
from gradsurge.experiments.study.study_site import StudySite, StudyStopped, StudyWatcher
from gradsurge.experiments.study.study_store import NoData, study_store
from gradsurge.experiments.study.tables import TABLES, tables_of

__all__ = [
    "TABLES",
    "MeasureSettings",
    "Measured",
    "NoData",
    "Overview",
    "Protocol",
    "Record",
    "Reproduction",
    "StudySite",
    "StudyStopped",
    "StudyWatcher",
    "check_entry",
    "enter_study",
    "for_files",
    "measure_run",
    "overview_of",
    "read_record",
    "read_records",
    "reproduce",
    "study_store",
    "tables_from_records",
    "tables_of",
    "with_rows",
    "write_record",
]
