"""Prepared cases in a folder, of which patches are read without reading the volumes."""

from gradsurge.data.store.boxes import Box
from gradsurge.data.store.case_file import CaseFile
from gradsurge.data.store.dataset_file import DatasetFile, same_but_date, write_dataset_file
from gradsurge.data.store.folder_names import folder_name
from gradsurge.data.store.json_file import replace_json
from gradsurge.data.store.lock import only_writer
from gradsurge.data.store.room import check_apart, check_room
from gradsurge.data.store.stamp import SourceFile, Stamp, settings_hash, stamp_case
from gradsurge.data.store.store import Store
from gradsurge.data.store.stored_case import StoredCase
from gradsurge.data.store.upkeep import is_current, remove_case, remove_others
from gradsurge.data.store.writing import write_case

__all__ = [
    "Box",
    "CaseFile",
    "DatasetFile",
    "SourceFile",
    "Stamp",
    "Store",
    "StoredCase",
    "check_apart",
    "check_room",
    "folder_name",
    "is_current",
    "only_writer",
    "remove_case",
    "remove_others",
    "replace_json",
    "same_but_date",
    "settings_hash",
    "stamp_case",
    "write_case",
    "write_dataset_file",
]
