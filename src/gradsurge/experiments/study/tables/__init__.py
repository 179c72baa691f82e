"""Tables made of records, one kind a file; `tables_of` finds the one of a name."""

from gradsurge.experiments.study.tables.catalogue import TABLES, tables_of

__all__ = ["TABLES", "tables_of"]
