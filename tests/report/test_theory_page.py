"""docs/theory.md shows every figure, and its example prints what it says."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from gradsurge.report.theory import FIGURES

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "theory.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FIGURES)
def test_shows_the_figure_and_it_is_small(name):
    assert f"](figures/{name}.png)" in PAGE
    assert 5_000 < (DOCS / "figures" / f"{name}.png").stat().st_size < 200_000


def test_the_files_it_names_exist():
    for file in re.findall(r"tests/[\w/]+(?:\.py)?", PAGE):
        assert (DOCS.parent / file).exists(), file


def test_its_example_prints_what_it_says():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    said = [line[2:] for line in code.splitlines() if line.startswith("# ")]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue().splitlines() == said
