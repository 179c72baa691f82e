"""The second rater's row: how far two people agree, which is a ceiling for models."""

from collections.abc import Sequence

from gradsurge.experiments.recipes import Variant
from gradsurge.experiments.result_table import Column, TableBlock
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.second_rater import SECOND_RATER
from gradsurge.experiments.study.tables.lines import Line, View, table_row
from gradsurge.experiments.study.tables.profile_scores import OWN_DSC
from gradsurge.experiments.study.tables.table_rows import RowRecords

_TITLE = "Second rater"
ABOUT_RATER = (
    "Second rater: another person's labels of the same cases, as a map of 0 and 1, against those "
    "of the first, which are the truth here. It takes no part in the ranking; its NLL is infinite."
)


def rater_blocks(
    records: Sequence[Record], columns: Sequence[Column], view: View
) -> list[TableBlock]:
    """Return a block of one row, which wins nothing; none if there is no second rater.

    Args:
        records: of a study; that of the rater is among them, or not.
        columns: of the table.
        view: which scores it shows.
    """
    kept = tuple(record for record in records if record.variant == SECOND_RATER)
    if not kept:
        return []
    row = RowRecords(Variant(SECOND_RATER, _TITLE, SECOND_RATER), kept)
    shown = [column for column in columns if column.name != OWN_DSC]  # a person has one mask
    return [TableBlock("", [table_row(Line(SECOND_RATER, _TITLE, row), shown, view, [])])]
