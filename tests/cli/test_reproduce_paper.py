"""Recipes of the paper from training to tables, on phantoms: a dozen steps of a tiny net each."""

import csv
import json

import pytest

from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.store import Store
from gradsurge.experiments.preparing import prepare
from gradsurge.experiments.published import published_table
from gradsurge.experiments.recipes import read_recipe, shipped_recipes
from gradsurge.experiments.search import TrialRuns, points_of
from gradsurge.experiments.study.store_check import check_store

FORMATS = ("md", "tex", "csv", "html")


@pytest.fixture(scope="module")
def flat(tmp_path_factory):
    folder = tmp_path_factory.mktemp("flat")
    prepare(PhantomSet("vessels-2d", 8, (32, 32)), folder, folder / "store")
    return folder / "store"


@pytest.fixture(scope="module")
def solid(tmp_path_factory):
    folder = tmp_path_factory.mktemp("solid")
    prepare(PhantomSet("lesions-3d", 8, (32, 32, 32)), folder, folder / "store")
    return folder / "store"


def typed(command, recipe, store, out, *others):
    words = (command, recipe, "--scale", "smoke", "--store", store, "--out", out)
    return (*words, "--device", "cpu", "--workers", 0, *others)


def note(result):
    """The line that tells of phantoms, of which there must be one."""
    (line,) = [t for t in result.stderr.splitlines() if t.startswith("gradsurge: note: ")]
    return line


def lines_of(out, table):
    """(row, column, "ours" or "paper") -> line of a table's CSV file."""
    with (out / "tables" / f"table{table}.csv").open(newline="") as file:
        return {
            (line["row"], line["column"], line["source"]): line for line in csv.DictReader(file)
        }


def check_table(out, table, block, rows, unpublished=(), *, ratios=True):
    """Assert that a table has our numbers, the published ones beside them, and their ratios."""
    for ending in FORMATS:
        assert "phantoms" in (out / "tables" / f"table{table}.{ending}").read_text()
    found = lines_of(out, table)
    assert list(dict.fromkeys(row for row, _, _ in found)) == [*rows, *unpublished]
    assert all(float(found[row, "nll", "ours"]["value"]) >= 0 for row in unpublished)
    for row in rows:
        has_ratio = ratios and row.endswith("-surgery")
        for column, cell in published_table(table).blocks[block].cells[row].items():
            ours, paper = found[row, column, "ours"], found[row, column, "paper"]
            assert float(paper["value"]) == cell.value
            assert float(ours["value"]) >= 0
            assert bool(paper["ratio"]) == has_ratio
            base = found[row.removesuffix("-surgery"), column, "ours"] if has_ratio else ours
            # A net of a dozen steps may find nothing, and nothing is a ratio to that.
            assert bool(ours["ratio"]) == (has_ratio and float(base["value"]) > 0)


def test_fives_the_best_of_some_and_the_exponent_at_their_point(run, flat, tmp_path):
    words = ("--table", 1, "--table", 4, "--losses", "dice,dice-surgery")
    result = run(*typed("reproduce", "fives", flat, tmp_path, *words))
    assert result.returncode == 0, result.stderr
    assert "of phantoms (vessels-2d) in place of fives" in note(result)
    for table in (1, 4):
        check_table(tmp_path, table, "fives", ["dice", "dice-surgery"], ["dice-surgery.ours"])
    of_two = [line for (*_, source), line in lines_of(tmp_path, 1).items() if source == "ours"]
    assert all(line["deviation"] for line in of_two)
    assert "over the 2 best of 3 runs" in (tmp_path / "tables" / "table1.md").read_text()
    words = ("--table", 3, "--losses", "dice-surgery.n1,dice-surgery.n20")
    more = run(*typed("reproduce", "fives", flat, tmp_path, *words))
    assert more.returncode == 0, more.stderr
    assert "runs/dice-surgery/" not in more.stderr  # its point is known
    check_table(tmp_path, 3, "fives", ["n1", "n20"], ratios=False)
    assert "phantoms vessels-2d" in (tmp_path / "tables" / "summary.md").read_text()


def test_kits_begun_by_a_search(run, solid, tmp_path):
    searched = run(*typed("search", "kits", solid, tmp_path, "--loss", "dice", "--json"))
    assert searched.returncode == 0, searched.stderr
    assert json.loads(searched.stdout)["done"] == 3
    assert "of phantoms (lesions-3d) in place of kits" in note(searched)
    words = ("--table", 2, "--table", 5, "--table", 6, "--losses", "dice,dice-surgery")
    result = run(*typed("reproduce", "kits", solid, tmp_path, *words))
    assert result.returncode == 0, result.stderr
    assert "training 12 steps" in result.stderr
    assert "runs/dice/" not in result.stderr  # nothing of the search is trained again
    for table in (2, 5):
        check_table(tmp_path, table, "kits", ["dice", "dice-surgery"], ["dice-surgery.ours"])
    sizes = (tmp_path / "tables" / "table6.md").read_text()
    for word in ("4346 to 15913 mm³", "0.9744", "ratio to the base", "phantoms lesions-3d"):
        assert word in sizes


def test_the_transformer(run, solid, tmp_path):
    result = run(*typed("reproduce", "kits-primus", solid, tmp_path, "--table", 7))
    assert result.returncode == 0, result.stderr
    check_table(tmp_path, 7, "kits-primus", ["ce+dice", "ce+dice-surgery"])


@pytest.mark.parametrize("scale", ["small", "paper"])
def test_elsewhere_phantoms_are_refused(run, flat, tmp_path, scale):
    words = typed("reproduce", "fives", flat, tmp_path / "out", "--scale", scale)
    result = run(*words)
    assert result.returncode == 1
    line = result.stderr.splitlines()[-1]
    assert "the recipe is for fives; give one of gradsurge prepare fives RAW STORE" in line
    assert "--scale smoke alone" in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", [name for name in shipped_recipes() if name != "phantoms"])
def test_every_recipe_can_be_tried_on_phantoms(flat, solid, tmp_path, name):
    recipe = read_recipe(name, "smoke")
    is_flat = recipe.data.dataset in ("chase", "fives", "inbreast")
    store = Store.open(flat if is_flat else solid)
    check_store(store, recipe)
    for variant in recipe.variants:
        if variant.point_of is None:
            point = points_of(recipe, variant)[0]
            assert TrialRuns(recipe, variant, store, tmp_path).plan(0, point).loss == variant.loss
