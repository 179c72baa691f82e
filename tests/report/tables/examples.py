"""Tables to write, and texts that no format may trip over."""

from hypothesis import strategies as st

from gradsurge.report.tables import Cell, Column, ResultTable, TableBlock, TableRow

NLL = Column("nll", "NLL", "lower", 4)
DSC = Column("dsc", "DSC", "higher", 2, "%")
LOGIT = Column("logit", "Logit", None, 1)

NASTY = "a|b & 50 % of <b>_x_</b> $y$ #1 {z} ~ ^ \\ \"q\" 'r' `c` ± *s* [1] --n --- &amp; ]]>"
# Everything but lone surrogates, which are no text, and NUL, which HTML replaces.
TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30
) | st.text("\\`*_[]<>|~#$&;-+=1.)!:/\"'{}^% \t\r\na", max_size=20)


def compared():
    """Two blocks with published numbers, a missing cell, stars, deviations and a base."""
    first = TableBlock(
        "FIVES",
        [
            TableRow("ce", "CE", {"nll": Cell(0.0542, 0.0011), "dsc": Cell(87.54, 0.22)}, "ce"),
            TableRow("dice", "Dice", {"nll": Cell(0.3, 0.08), "dsc": Cell(88.0, 0.2)}, "dice"),
            TableRow(
                "dice-surgery",
                "Dice - Surgery",
                {"nll": Cell(0.054, 0.001, star=True), "dsc": Cell(None), "logit": Cell(-2.04)},
                "dice",
                "dice",
            ),
        ],
        {
            "ce": {"nll": Cell(0.0542, 0.0011), "dsc": Cell(87.54, 0.22)},
            "dice": {"nll": Cell(0.3118, 0.0864), "dsc": Cell(88.03, 0.25)},
            "dice-surgery": {"nll": Cell(0.054, 0.0013, star=True), "dsc": Cell(87.6, 0.12)},
            "not-shown": {"nll": Cell(0.0001), "dsc": Cell(99.0)},
        },
    )
    second = TableBlock(
        "CHASE", [TableRow("dice", "Dice", {"nll": Cell(1.375), "dsc": Cell(65.3)})]
    )
    return ResultTable(
        "table1",
        "Table 1",
        "Stars: Wilcoxon's signed-rank test at 0.01.",
        [NLL, DSC, LOGIT],
        [first, second],
        ["A note."],
        {"commit": "8d987d8", "command": "gradsurge reproduce fives --table 1"},
    )


def with_texts(text):
    """A table whose every text is this one."""
    rows = [
        TableRow("a", text, {"nll": Cell(0.5)}, text),
        TableRow("b", "other", {"nll": Cell(0.25)}, "", "a"),
    ]
    return ResultTable(
        "t",
        text,
        text,
        [Column("nll", text, "lower", 2)],
        [TableBlock(text, rows)],
        [text],
        {"x": text},
    )
