"""Figures 2, 3 and 7: marks, panels and numbers as the data have them."""

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Ellipse, Rectangle

from gradsurge.experiments.figure_data.confident_errors import Mark
from gradsurge.experiments.figure_data.gradients import LOSSES, LogitGradients
from gradsurge.experiments.figure_data.map_comparison import ComparedMaps, MapName
from gradsurge.experiments.figure_data.shown_case import ShownCase
from gradsurge.experiments.figure_data.slices import Slice
from gradsurge.experiments.figure_data.windows import Window
from gradsurge.report.figures import compared_maps, logit_gradients
from gradsurge.report.figures.full_colour import save_pictures
from tests.report.figures.files import assert_opens

MARKS = (Mark(20.0, 30.0, True), Mark(40.0, 25.0, False))
DICE, SURGERY = MapName("", "dice", "none"), MapName("", "dice-surgery", "equilibrium")


def shown(aspect=1.0, marks=MARKS, colours=False):
    rng = np.random.default_rng(0)
    label = np.zeros((60, 80), np.bool_)
    label[15:45, 20:50] = True
    image = rng.normal(size=(3, 60, 80) if colours else (60, 80)).astype(np.float32)
    return ShownCase(
        case="case_$1$",  # a user's name is no formula
        structure="lesion",
        cut=Slice(2, 4, 10, aspect),
        image=image,
        label=label,
        errors=np.zeros((60, 80), np.float32),
        marks=tuple(marks),
        window=Window(10, 50, 15, 55),
    )


def gradients(**options):
    rng = np.random.default_rng(1)
    pulls = {name: rng.random((60, 80)).astype(np.float32) for name in LOSSES}
    shares = dict(zip(LOSSES, (0.024, 0.9997, 0.1, 0.5), strict=True))
    return LogitGradients("ce+dice", shown(**options), pulls["Dice"], pulls, shares)


def rows(**options):
    rng = np.random.default_rng(2)
    maps = {name: rng.random((60, 80)).astype(np.float32) for name in (DICE, SURGERY)}
    return [ComparedMaps(shown(**options), maps, {DICE: 0.95, SURGERY: 0.6})] * 2


@pytest.mark.parametrize("colours", [False, True])
def test_gradients_mark_every_confident_error_in_every_panel(tmp_path, colours):
    data = gradients(aspect=2.0, colours=colours)
    figure = logit_gradients.draw(data)
    panels = figure.axes[:6]
    for axis in panels:
        circles = [p for p in axis.patches if isinstance(p, Ellipse)]
        assert [c.center for c in circles] == [(30.0, 20.0), (25.0, 40.0)]
        assert all(c.height == pytest.approx(c.width / 2) for c in circles)  # round on paper
        assert (axis.get_xlim(), axis.get_ylim()) == ((14.5, 54.5), (49.5, 9.5))
    titles = [axis.get_title() for axis in panels[2:]]
    assert titles == ["Dice\n2.4 %", "CE\n100 %", "Dice surgery\n10 %", "surgery, no decline\n50 %"]
    assert "trained with CE + Dice, " in figure.get_suptitle()
    assert "slice 5 of 10" in figure.get_suptitle()
    drawn = np.asarray(panels[2].images[0].get_array())
    np.testing.assert_allclose(drawn, data.pulls["Dice"][10:50, 15:55])
    if colours:
        assert_opens(save_pictures(figure, tmp_path, "gradients"))
    assert logit_gradients.numbers(data)[
        "CE: mean share of the largest gradient at confident errors"
    ] == pytest.approx(0.9997)


def test_gradients_without_a_confident_error_say_so():
    data = gradients(marks=())
    nothing = dict.fromkeys(data.pulls, math.nan)
    figure = logit_gradients.draw(
        LogitGradients("dice", data.shown, data.probability, data.pulls, nothing), zoomed=False
    )
    assert "no confident error" in figure.get_suptitle()
    assert figure.axes[2].get_title() == "Dice"
    assert figure.axes[0].get_xlim() == (-0.5, 79.5)


def test_zoomed_maps_have_an_arrow_to_each_mark(tmp_path):
    data = rows()
    figure = compared_maps.draw_zoomed(data)
    grid = figure.axes[:8]
    assert [axis.get_title() for axis in grid[:4]] == [
        *("image", "label", "Dice", "Dice surgery\ncorrected")
    ]
    for axis in (*grid[2:4], *grid[6:8]):
        assert [text.xy for text in axis.texts] == [(30.0, 20.0), (25.0, 40.0)]
    assert not grid[0].texts
    assert figure.get_suptitle() == "Arrows: here Dice is surely wrong (|y − p| ≥ 0.9)"
    drawn = np.asarray(grid[2].images[0].get_array())
    np.testing.assert_allclose(drawn, data[0].maps[DICE][10:50, 15:55])
    assert_opens(save_pictures(figure, tmp_path, "maps"))


def test_arrows_come_from_outside_of_the_structure():
    figure = compared_maps.draw_zoomed(rows())
    middle = np.array([34.5, 29.5])  # column and row of the label's middle
    for text in figure.axes[2].texts:
        away = np.array(text.xy) - middle
        start = np.array(text.xyann) * (1, -1)  # points go up, rows go down
        assert start @ away == pytest.approx(np.linalg.norm(start) * np.linalg.norm(away))


def test_whole_slices_show_where_the_zoom_is(tmp_path):
    figure = compared_maps.draw_whole(rows())
    for axis in figure.axes[:8]:
        (frame,) = [p for p in axis.patches if isinstance(p, Rectangle)]
        assert (frame.get_xy(), frame.get_width(), frame.get_height()) == ((14.5, 9.5), 40, 40)
        assert axis.get_xlim() == (-0.5, 79.5)
    p = rows()[0].maps[DICE]
    share = (p[p > 0.05] < 0.95).mean()
    assert f"Dice {100 * share:.0f} %" in figure.get_suptitle()
    assert_opens(save_pictures(figure, tmp_path, "examples"))


def test_without_marks_nothing_is_claimed():
    figure = compared_maps.draw_zoomed(rows(marks=()))
    assert figure.get_suptitle().startswith("Dice is nowhere surely wrong")


def test_numbers_of_the_maps():
    found = compared_maps.numbers(rows())
    assert found == {
        "case_$1$: mean |y - p| where the first is surely wrong, Dice": 0.95,
        "case_$1$: mean |y - p| where the first is surely wrong, Dice surgery corrected": 0.6,
    }


SEEDS = [MapName(f"lesions_dice_learning_rate_0.01_seed{k}", "dice", "none") for k in range(2)]
MANY = [
    MapName("", loss, "none")
    for loss in ("dice", "dice-surgery", "ce+dice", "ce+dice-surgery", "tversky", "tversky-surgery")
]


def compared(maps, **options):
    return ComparedMaps(shown(**options), maps, dict.fromkeys(maps, 0.5))


def constant(value):
    return np.full((60, 80), value, np.float32)


def test_long_names_of_runs_are_not_mixed():
    row = compared(dict(zip(SEEDS, (constant(0.99), constant(0.3)), strict=True)))
    found = compared_maps.numbers([row])
    assert [name.rpartition(" ")[2] for name in found] == [name.run for name in SEEDS]
    figure = compared_maps.draw_whole([row])
    headline = " ".join(figure.get_suptitle().split())
    assert headline.endswith(f"Dice {SEEDS[0].run} 0 %, Dice {SEEDS[1].run} 100 %")
    titles = [axis.get_title() for axis in figure.axes[2:4]]
    assert len(set(titles)) == 2


def test_names_that_the_font_lacks_are_not_mixed_in_numbers():
    names = [MapName(run, "dice", "none") for run in ("病例", "病历")]
    row = compared(dict.fromkeys(names, constant(0.3)))
    assert [name.rpartition(" ")[2] for name in compared_maps.numbers([row])] == ["病例", "病历"]


def test_a_map_without_anything_to_see_is_no_nan():
    maps = dict(zip(SEEDS, (constant(0.01), constant(0.3)), strict=True))
    figure = compared_maps.draw_whole([compared(maps)])
    assert "nan" not in figure.get_suptitle()
    assert f"{SEEDS[0].run} has none" in " ".join(figure.get_suptitle().split())
    half = dict(zip(SEEDS, (constant(0.3), constant(0.3)), strict=True))
    both = compared_maps.draw_whole([compared(maps), compared(half)])
    assert f"{SEEDS[0].run} 100 %" in " ".join(both.get_suptitle().split())


def spans(figure):
    """Return how far each text of a figure reaches, as shares of its size."""
    FigureCanvasAgg(figure).draw()
    size = figure.bbox.size
    texts = [figure._suptitle, *(axis.yaxis.label for axis in figure.axes)]
    boxes = [text.get_window_extent() for text in texts if text.get_text()]
    return np.array([[box.x0, box.y0, box.x1, box.y1] for box in boxes]) / np.tile(size, 2)


def test_words_stay_inside_the_picture():
    long = replace(
        shown(),
        case="BraTS-MET-00012-000 äöü",
        structure="enhancing tumour",
        cut=Slice(2, 100, 155, 1.0),
    )
    data = replace(gradients(), loss="tversky-surgery", shown=long)
    maps = {name: constant(0.3) for name in MANY}
    row = ComparedMaps(long, maps, dict.fromkeys(maps, 0.5))
    seeds = ComparedMaps(long, {n: constant(0.3) for n in SEEDS}, dict.fromkeys(SEEDS, 0.5))
    for figure in (
        logit_gradients.draw(data),
        compared_maps.draw_whole([row] * 2),
        compared_maps.draw_zoomed([row] * 2),
        compared_maps.draw_zoomed([seeds] * 3),
    ):
        reach = spans(figure)
        assert reach.min() >= 0
        assert reach.max() <= 1
    assert "0.9" in logit_gradients.draw(data).get_suptitle()


def test_names_in_rows_and_columns_do_not_meet():
    many = [MapName(f"runs_of_a_long_study_number_{k}", "dice", "none") for k in range(5)]
    long = replace(shown(), case="lesions-2d_seed0_00019_of_a_long_list")
    row = ComparedMaps(long, {n: constant(0.3) for n in many}, dict.fromkeys(many, 0.5))
    figure = compared_maps.draw_zoomed([row] * 3)
    FigureCanvasAgg(figure).draw()
    grid = np.array(figure.axes[:21]).reshape(3, 7)
    titles = [axis.title.get_window_extent() for axis in grid[0]]
    assert all(a.x1 < b.x0 for a, b in pairwise(titles))
    places = [axis.yaxis.label.get_window_extent() for axis in grid[:, 0]]
    assert all(a.y0 > b.y1 for a, b in pairwise(places))


def test_numbers_of_gradients_without_a_confident_error_are_left_out():
    data = gradients()
    data.at_confident_errors.update(dict.fromkeys(LOSSES, math.nan))
    assert logit_gradients.numbers(data) == {}
