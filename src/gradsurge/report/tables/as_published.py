"""The paper's tables as tables of ours, without any run."""

from collections.abc import Sequence

from gradsurge.experiments.published import PublishedBlock, PublishedTable
from gradsurge.experiments.result_table import ResultTable, TableBlock, TableRow

PAPER = "Lux et al., MIDL 2026, PMLR 315:3397-3423"


def as_published(published: PublishedTable, blocks: Sequence[str] | None = None) -> ResultTable:
    """Return a table of the published numbers alone.

    Bold and underlined cells are those that the printed values call for, not those that were
    printed; the notes list the differences.

    Args:
        published: from `gradsurge.experiments.published.published_table`.
        blocks: names of the blocks to keep; all by default.

    Raises:
        ValueError: there is no such block.
    """
    kept = tuple(published.blocks) if blocks is None else tuple(blocks)
    unknown = [name for name in kept if name not in published.blocks]
    if unknown:
        raise ValueError(
            f"published table {published.number}: expected blocks of "
            f"{', '.join(published.blocks)}, got {unknown[0]!r}"
        )
    return ResultTable(
        name=f"published-table{published.number}",
        title=f"Table {published.number} of the paper: {published.title}",
        caption=published.caption,
        columns=published.columns,
        blocks=[_block(published.blocks[name]) for name in kept],
        notes=[
            note.text
            for note in published.notes
            if not note.cells or any(block in kept for block, _, _ in note.cells)
        ],
        provenance={"source": f"{PAPER}, Table {published.number}"},
    )


def _block(block: PublishedBlock) -> TableBlock:
    rows = [
        TableRow(row.key, row.title, row.cells, row.group, row.base) for row in block.rows.values()
    ]
    return TableBlock(block.title, rows)
