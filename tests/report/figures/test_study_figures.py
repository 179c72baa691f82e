"""Figures of a study show the numbers of its records; what cannot be drawn is told."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from gradsurge.experiments.figure_data.study import StudyRecords
from gradsurge.experiments.figure_data.study.detection_curves import detection_curves
from gradsurge.experiments.figure_data.study.exponent_ablation import exponent_ablation
from gradsurge.experiments.figure_data.study.raw_corrected import raw_corrected
from gradsurge.experiments.figure_data.study.reliability_panels import reliability_panels
from gradsurge.experiments.figure_data.study.shift_curves import shift_curves
from gradsurge.experiments.figure_data.study.volume_agreement import volume_agreement
from gradsurge.report.figures.study import (
    bland_altman,
)
from gradsurge.report.figures.study import detection_curves as detection
from gradsurge.report.figures.study import (
    exponent_ablation as exponent,
)
from gradsurge.report.figures.study import raw_corrected as corrections
from gradsurge.report.figures.study import reliability_panels as reliability
from gradsurge.report.figures.study import shift_curves as shift
from gradsurge.report.study_figures import draw_study
from tests.experiments.figure_data.records import record, whole_study, with_bins
from tests.report.figures.files import assert_opens


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    return StudyRecords("isles", "small", with_bins(folder, whole_study()), folder)


def labelled(axis):
    return {line.get_label(): line for line in axis.lines if not line.get_label().startswith("_")}


def test_everything_is_drawn_of_a_whole_study(study, tmp_path):
    heard = []
    drawn = draw_study(study, tmp_path, on_figure=heard.append)
    assert (
        heard
        == list(drawn.files)
        == ["corrections", "exponent"]
        + [f"{name}_dice" for name in ("reliability", "shift", "volumes", "detection")]
    )
    assert drawn.left_out == {}
    for files in drawn.files.values():
        assert_opens(files)
    assert len(list(tmp_path.iterdir())) == 12


def test_what_is_missing_is_left_out_with_the_reason(study, tmp_path):
    records = [
        replace(r, measured=replace(r.measured, shift={}, detection={})) for r in study.records[:6]
    ]
    nowhere = tmp_path / "nowhere"
    drawn = draw_study(StudyRecords("isles", "small", tuple(records), nowhere), tmp_path, ())
    assert list(drawn.files) == ["corrections", "volumes_dice"]
    assert list(drawn.left_out) == ["exponent", "reliability_dice", "shift_dice", "detection_dice"]
    assert "no bins of a record" in drawn.left_out["reliability_dice"]
    assert "under shift" in drawn.left_out["shift_dice"]
    ce = StudyRecords("isles", "small", (record("ce", 0.1),), nowhere)
    alone = draw_study(ce, tmp_path, ())
    assert list(alone.files) == ["corrections"]
    assert set(alone.left_out) == {"reliability", "shift", "volumes", "detection", "exponent"}


def test_structures_get_a_figure_each(tmp_path):
    records = whole_study(structures=("front", "a/b"))
    drawn = draw_study(StudyRecords("isles", "paper", tuple(records), tmp_path), tmp_path, ())
    assert {"volumes_dice_1", "volumes_dice_2", "detection_dice_2"} <= set(drawn.files)


def test_reliability_panels_show_frequencies_and_scores(study):
    figure = reliability.draw(reliability_panels(study, "dice"))
    above = figure.axes[:4]
    told = [axis.get_title().split("\n") for axis in above]
    assert [title for title, _ in told] == [
        "Dice",
        "Dice + temperature",
        "Dice surgery",
        "Dice surgery, corrected",
    ]
    assert told[0][1] == "NLL 0.1100  ECE 0.1100"  # levels 0.1 and 0.12
    curves = above[0].lines[1:]
    assert len(curves) == 2  # a run each
    for curve in curves:
        drawn = ~np.isnan(curve.get_ydata())
        assert curve.get_xdata()[drawn] == pytest.approx(0.9)
        assert curve.get_ydata()[drawn] == pytest.approx(0.3)


def test_shift_panels_have_a_line_a_way_to_calibrate(study):
    data = shift_curves(study, "dice")
    figure = shift.draw(data)
    grid = np.array(figure.axes).reshape(3, 4)
    lines = labelled(grid[0, 0])
    assert list(lines) == [
        *("CE", "Dice", "Dice + temperature", "Dice surgery", "Dice surgery, corrected")
    ]
    np.testing.assert_allclose(lines["Dice"].get_ydata(), 0.11 * np.arange(1, 7))
    ticks = [text.get_text() for text in grid[-1, 1].get_xticklabels()]
    assert ticks == ["as is", "0.1", "0.2", "0.3", "0.5", "0.8"]
    assert "contrast" in grid[-1, 2].get_xlabel()
    assert list(labelled(grid[2, 0])) == ["CE", "Dice", "Dice surgery"]


def test_volumes_show_bias_and_limits(study):
    (data,) = volume_agreement(study, "dice")
    figure = bland_altman.draw(data)
    axis = figure.axes[1]
    agreement = list(data.lines.values())[1]
    gaps = (agreement.estimate - agreement.truth).reshape(2, -1)  # of two runs
    spread = 1.96 * gaps.std(axis=1, ddof=1).mean()
    low, high = gaps.mean() - spread, gaps.mean() + spread
    assert axis.get_title() == f"Dice\nbias +{gaps.mean():.0f} ml, limits {low:.0f} to +{high:.0f}"
    levels = sorted(float(np.asarray(line.get_ydata())[0]) for line in axis.lines[:4])
    assert levels == pytest.approx(sorted([0.0, agreement.bias, agreement.low, agreement.high]))
    points = axis.lines[4]
    np.testing.assert_allclose(points.get_ydata(), agreement.estimate - agreement.truth)
    np.testing.assert_allclose(points.get_xdata(), (agreement.estimate + agreement.truth) / 2)
    assert "volume as" in figure.get_suptitle()
    assert "area as" in bland_altman.draw(replace(data, unit="cm2")).get_suptitle()


def test_detection_has_false_alarms_along_its_axis(study):
    (data,) = detection_curves(study, "dice")
    left, right = detection.draw(data).axes
    curve = next(iter(data.lines.values()))
    np.testing.assert_allclose(labelled(left)["CE"].get_xdata(), curve.false_positives.mean)
    np.testing.assert_allclose(labelled(right)["CE"].get_xdata(), curve.thresholds)
    large = left.lines[1]
    assert large.get_xdata() == curve.false_positives.mean[9]  # threshold 0.5


def test_legends_of_long_names_stay_inside_the_picture(study):
    def renamed(lines):
        longer = {"dice": "ce+dice", "dice-surgery": "ce+dice-surgery"}
        return {replace(n, variant=longer.get(n.variant, n.variant)): v for n, v in lines.items()}

    (curves,) = detection_curves(study, "dice")
    shifted = shift_curves(study, "dice")
    bands = {key: renamed(lines) for key, lines in shifted.bands.items()}
    for figure in (
        detection.draw(replace(curves, lines=renamed(curves.lines))),
        shift.draw(replace(shifted, bands=bands)),
    ):
        (legend,) = figure.legends
        texts = [text.get_text() for text in legend.get_texts()]
        assert texts[-1] == "CE + Dice surgery, corrected"
        FigureCanvasAgg(figure).draw()
        inside = figure.bbox.padded(1)
        box = legend.get_window_extent()
        assert inside.contains(box.x0, box.y0)
        assert inside.contains(box.x1, box.y1)


def test_exponents_and_corrections_show_their_data(study):
    figure = exponent.draw(exponent_ablation(study))
    assert [axis.get_title()[:-2] for axis in figure.axes] == ["NLL", "ECE", "MCE", "Brier", "DSC"]
    ours = labelled(figure.axes[0])["ours, raw"]
    np.testing.assert_allclose(ours.get_xydata()[0], (1, 1.25))
    nll, _ = corrections.draw(raw_corrected(study)).axes
    assert [text.get_text() for text in nll.get_yticklabels()] == ["CE", "Dice", "Dice surgery"]
    diamonds = [line for line in nll.lines if line.get_marker() == "D"]
    assert [line.get_xydata()[0].tolist() for line in diamonds] == [[pytest.approx(0.022), 2]]
