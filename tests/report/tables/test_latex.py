"""LaTeX: structure, cells read back by the reader of the paper's own source, and escapes."""

import re
import shutil
import subprocess
from dataclasses import replace

import pytest
from hypothesis import example, given, settings

from gradsurge.experiments.published import TABLES, published_table
from gradsurge.report.tables import as_published, to_latex
from gradsurge.report.tables.latex_text import latex_text
from tests.experiments.published.latex_cells import read_cell
from tests.report.tables.examples import NASTY, TEXT, compared, with_texts


def assert_well_formed(latex):
    """Braces, dollars and environments close; every row has the columns of its tabular."""
    code = re.sub(r"(?m)^%.*", "", latex)
    bare = code.replace(r"\\", "").replace(r"\{", "").replace(r"\}", "")
    depth = 0
    for sign in re.findall(r"[{}]", bare):
        depth += 1 if sign == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert bare.replace(r"\$", "").count("$") % 2 == 0
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\}", code):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    assert not re.search(r"(?<!\\)%", code)
    columns = len(re.search(r"\\begin\{tabular\}\{(\w+)\}", code)[1])
    for row in rows_of(code):
        assert sum(spans(cell) for cell in row) == columns, row


def rows_of(code):
    body = re.search(r"\\toprule\n(.*)\\bottomrule", code, re.S)[1]
    rows = [line for line in body.splitlines() if line.endswith(r" \\")]
    others = [line for line in body.splitlines() if not line.endswith(r" \\")]
    assert all(
        re.fullmatch(r"(\\(midrule|addlinespace|cmidrule\(lr\)\{\d+-\d+\}) ?)+", x) for x in others
    )
    return [re.split(r"(?<!\\)&", line.removesuffix(r"\\")) for line in rows]


def spans(cell):
    found = re.match(r"\s*\\multicolumn\{(\d+)\}", cell)
    return int(found[1]) if found else 1


def test_labels_of_two_studies_differ():
    labels = {
        re.search(r"\\label\{(.*)\}", to_latex(replace(compared(), study=study)))[1]
        for study in ("", "kits", "kits_primus")
    }
    assert labels == {"tab:table1", "tab:kits-table1", "tab:kits-primus-table1"}


def test_side_by_side():
    latex = to_latex(compared())
    assert_well_formed(latex)
    assert r"\multicolumn{2}{c}{DSC (\%) $\uparrow$} & \multicolumn{1}{c}{Logit}" in latex
    assert r"\cmidrule(lr){2-3} \cmidrule(lr){4-5} \cmidrule(lr){6-6}" in latex
    assert r"$\mathbf{0.0540^{*}}$ {\tiny $\pm 0.0010$}" in latex
    assert r"$\underline{0.0542}$ {\tiny $\pm 0.0011$}" in latex
    assert "Wilcoxon" in latex
    assert "fives -{}-table 1" in latex  # no dash


@pytest.mark.parametrize("number", TABLES)
def test_published_tables_come_back(number):
    table = published_table(number)
    latex = to_latex(as_published(table))
    assert_well_formed(latex)
    lines = iter(rows_of(latex))
    head = next(lines)
    assert len(head) == len(table.columns) + 1
    for block in table.blocks.values():
        title = next(lines)
        assert spans(title[0]) == len(head)
        for row in block.rows.values():
            _, *cells = next(lines)
            for cell, column in zip(cells, table.columns, strict=True):
                read, expected = read_cell(cell), row.cells[column.name]
                assert float(read.value) == expected.value
                assert (read.deviation and float(read.deviation)) == expected.deviation
                assert read.star == expected.star
        if any(row.base for row in block.rows.values()):
            next(lines)
            for _ in filter(lambda row: row.base, block.rows.values()):
                next(lines)
    assert next(lines, None) is None


@pytest.mark.parametrize("number", [3, 4, 5])
def test_marks_are_the_paper_s_where_those_are_right(number):
    table = published_table(number)
    wrong = {cell for note in table.notes if note.kind == "mark" for cell in note.cells}
    lines = [line for line in rows_of(to_latex(as_published(table))) if len(line) > 1][1:]
    titles = {latex_text(r.title) for b in table.blocks.values() for r in b.rows.values()}
    scores = iter([line for line in lines if line[0].strip() in titles])
    for name, block in table.blocks.items():
        for key, row in block.rows.items():
            _, *cells = next(scores)
            for cell, column in zip(cells, table.columns, strict=True):
                if (name, key, column.name) not in wrong:
                    marks = set(row.cells[column.name].marks) - {"italic"}
                    assert read_cell(cell).marks == marks


@settings(max_examples=100, deadline=None)
@given(TEXT)
@example(NASTY)
@example("[a")
@example("*")
def test_any_text_leaves_the_structure_alone(text):
    latex = to_latex(with_texts(text))
    assert_well_formed(latex)
    for row in rows_of(latex):
        assert not row[0].startswith(("[", "*"))  # an option of the row before


def test_signs_with_a_meaning_are_escaped():
    assert latex_text("a--b---c-d") == "a-{}-b-{}-{}-c-d"  # hyphens, no dashes
    assert latex_text(r"50 % a_b & #1 $ {x} ~ ^ \ ±2 <3> --n") == (
        r"50 \% a\_b \& \#1 \$ \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{} "
        r"$\pm$2 $<$3$>$ -{}-n"
    )


def has_tex():
    """Tell whether there is a LaTeX, and the packages that tables need with it."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return False
    asked = ["kpsewhich", "booktabs.sty", "adjustbox.sty"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    return len(found.split()) == len(asked) - 1


@pytest.mark.skipif(not has_tex(), reason="no pdflatex, booktabs or adjustbox on this machine")
@pytest.mark.parametrize("table", [compared(), with_texts(NASTY), as_published(published_table(1))])
def test_pdflatex_compiles_it(tmp_path, table):
    source = (
        r"\documentclass{article}\usepackage{booktabs,adjustbox}\begin{document}"
        f"\n{to_latex(table)}\\end{{document}}"
    )
    (tmp_path / "page.tex").write_text(source, "utf-8")
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
