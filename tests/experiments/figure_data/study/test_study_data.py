"""What figures of a study show, against the rules that the records were made by."""

import json
import math
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gradsurge.experiments.figure_data.study import LineName, NotInRecords, StudyRecords
from gradsurge.experiments.figure_data.study.detection_curves import detection_curves
from gradsurge.experiments.figure_data.study.exponent_ablation import exponent_ablation
from gradsurge.experiments.figure_data.study.lines import band_of, lines_of, surgery_bases
from gradsurge.experiments.figure_data.study.raw_corrected import raw_corrected
from gradsurge.experiments.figure_data.study.reliability_panels import reliability_panels
from gradsurge.experiments.figure_data.study.shift_curves import shift_curves
from gradsurge.experiments.figure_data.study.studies import read_studies
from gradsurge.experiments.figure_data.study.volume_agreement import volume_agreement
from gradsurge.experiments.study.record import write_record
from gradsurge.experiments.study.study_folder import dataset_of
from tests.experiments.figure_data.records import FACTORS, TRUE, record, whole_study, with_bins

BASE = LineName("base", "dice", "none")
SCALED = LineName("scaled", "dice", "temperature")
CORRECTED = LineName("corrected", "dice-surgery", "equilibrium")


def study_of(records):
    return StudyRecords("isles", "paper", tuple(records), Path("nowhere"))


@pytest.fixture(scope="module")
def study():
    return study_of(whole_study())


def changed(study, **parts):
    """The study with other measurements in every record."""
    return study_of([replace(r, measured=replace(r.measured, **parts)) for r in study.records])


def test_lines_are_those_that_have_records(study):
    assert [(line.name.role, len(line.records)) for line in lines_of(study, "dice")] == [
        (role, 2) for role in ("reference", "base", "scaled", "surgery", "corrected")
    ]
    assert surgery_bases(study) == ["dice"]
    without = study_of([r for r in study.records if r.variant == "dice"])
    assert surgery_bases(without) == []
    assert [line.name.role for line in lines_of(without, "dice")] == ["base", "scaled"]


def test_a_correction_that_a_run_lacks_is_no_line(study):
    odd = record("dice-surgery", 0.04, 2, corrections=("none", "bias", "temperature"))
    roles = [line.name.role for line in lines_of(study_of([*study.records, odd]), "dice")]
    assert "corrected" not in roles
    assert "surgery" in roles


def test_bands_are_means_and_extremes_over_runs(study):
    rows = iter([[1.0, None, None], [3.0, 4.0, None]])
    band = band_of(study.records[:2], lambda _: next(rows))
    np.testing.assert_array_equal(band.mean, [2.0, 4.0, math.nan])
    np.testing.assert_array_equal(band.low, [1.0, 4.0, math.nan])
    np.testing.assert_array_equal(band.high, [3.0, 4.0, math.nan])
    assert band_of([], lambda _: [1.0]) is None
    assert band_of(study.records[:1], lambda _: [None]) is None
    odd = iter([[1.0], [1.0, 2.0]])
    assert band_of(study.records[:2], lambda _: next(odd)) is None


def test_shift_curves_begin_unshifted_and_follow_the_records(study):
    data = shift_curves(study, "dice")
    levels = np.array([0.1, 0.12])  # of two seeds
    steps = np.arange(1, 7)  # the record of step k says 1 + k
    for line, factor in ((BASE, 1.0), (SCALED, FACTORS["temperature"])):
        band = data.bands["blur", "nll"][line]
        np.testing.assert_allclose(band.mean, levels.mean() * factor * steps)
        np.testing.assert_allclose(band.low, levels.min() * factor * steps)
        np.testing.assert_allclose(band.high, levels.max() * factor * steps)
    dice = data.bands["noise", "dice"]
    assert {name.correction for name in dice} == {"none"}
    np.testing.assert_allclose(dice[BASE].mean, 0.8 - 0.05 * np.arange(6))


def test_a_strength_that_one_run_has_lost_is_a_gap(study):
    def lost(r):
        if (r.variant, r.seed) != ("dice", 1):
            return r
        shift = deepcopy(dict(r.measured.shift))
        shift["blur"]["none"]["nll"][2] = None
        return replace(r, measured=replace(r.measured, shift=shift))

    bands = shift_curves(study_of([lost(r) for r in study.records]), "dice").bands
    assert np.isnan(bands["blur", "nll"][BASE].mean).tolist() == [k == 3 for k in range(6)]
    assert not np.isnan(bands["blur", "nll"][SCALED].mean).any()


def test_without_shift_there_is_no_figure(study):
    with pytest.raises(NotInRecords, match="measured under shift"):
        shift_curves(changed(study, shift={}), "dice")
    short = {"blur": {"none": {"nll": [0.1], "ece": [0.1], "dice": [0.5]}}}
    with pytest.raises(NotInRecords):
        shift_curves(changed(study, shift=short), "dice")


def test_cross_entropy_alone_is_no_figure_of_shift(study):
    def without(r):
        return r if r.variant == "ce" else replace(r, measured=replace(r.measured, shift={}))

    only = study_of([without(r) for r in study.records])
    assert any(r.measured.shift for r in only.records)
    with pytest.raises(NotInRecords, match="no record of dice or its surgery"):
        shift_curves(only, "dice")


def test_agreement_is_bland_and_altmans(study):
    (data,) = volume_agreement(study, "dice")
    assert (data.structure, data.unit) == ("lesion", "ml")
    found = data.lines[CORRECTED]
    truth = np.array(TRUE)
    runs = [truth * (1 + FACTORS["equilibrium"] * level) for level in (0.04, 0.048)]
    np.testing.assert_allclose(found.truth, np.tile(truth, 2))
    np.testing.assert_allclose(found.estimate, np.concatenate(runs))
    gaps = np.array([estimate - truth for estimate in runs])
    assert found.bias == pytest.approx(gaps.mean())
    spread = 1.96 * gaps.std(axis=1, ddof=1).mean()  # of each run: its cases are independent
    assert (found.low, found.high) == pytest.approx((found.bias - spread, found.bias + spread))


def test_cases_without_a_volume_are_left_out(study):
    volumes = {
        "lesion": {
            "true": [1.0, None, 3.0],
            "own": [],
            "plain": [],
            "expected": {"none": [1.5, 9.0, 3.0]},
        }
    }
    (data,) = volume_agreement(changed(study, volumes=volumes), "dice")
    assert set(data.lines) == {line for line in data.lines if line.correction == "none"}
    np.testing.assert_array_equal(data.lines[BASE].estimate[:2], [1.5, 3.0])
    assert data.lines[BASE].bias == pytest.approx(0.25)
    with pytest.raises(NotInRecords, match="volumes of two cases"):
        volume_agreement(changed(study, volumes={}), "dice")


def test_detection_is_of_lesions_and_false_alarms_of_cases(study):
    (data,) = detection_curves(study, "dice")
    assert (data.lesions, data.cases) == (38, 4)
    curve = data.lines[BASE]
    assert curve.thresholds[0] == 0.05
    np.testing.assert_allclose(curve.rate.mean, (38 - np.arange(19)) / 38)
    np.testing.assert_allclose(curve.false_positives.mean, 2 * (19 - np.arange(19)) / 4)
    with pytest.raises(NotInRecords, match="lesions counted"):
        detection_curves(changed(study, detection={}), "dice")
    none = {"lesion": {**study.records[0].measured.detection["lesion"], "lesions": 0}}
    with pytest.raises(NotInRecords):
        detection_curves(changed(study, detection=none), "dice")


def test_a_line_without_lesions_is_left_out_of_detection(study):
    records = [
        replace(r, measured=replace(r.measured, detection={})) if r.variant == "ce" else r
        for r in study.records
    ]
    (found,) = detection_curves(study_of(records), "dice")
    assert [name.variant for name in found.lines] == [*["dice"] * 2, *["dice-surgery"] * 2]
    assert found.cases == 4


def test_the_exponents_are_shares_beside_those_of_the_paper(study):
    data = exponent_ablation(study)
    assert (data.loss, data.reference, data.exponents) == ("dice-surgery", 20, (1, 5, 20, 100))
    np.testing.assert_allclose(data.ours["nll"].mean, [1.25, 1.125, 1.0, 1.05])
    np.testing.assert_allclose(data.ours["dsc"].mean, 1.0)
    # Table 3 of the paper: NLL 0.0565 at n = 1 and 0.0528 at n = 20, DSC 87.26 and 87.84.
    assert data.paper_exponents == (1, 2, 5, 20, 40, 60, 80, 100, 200, 1000)
    assert data.paper["nll"][0] == pytest.approx(0.0565 / 0.0528)
    assert data.paper["dsc"][0] == pytest.approx(87.26 / 87.84)


def test_exponents_need_two_and_do_without_twenty(study):
    few = study_of([r for r in study.records if not r.variant.endswith(("n1", "n5", "n100"))])
    with pytest.raises(NotInRecords, match="fewer than two exponents"):
        exponent_ablation(few)
    with pytest.raises(NotInRecords):
        exponent_ablation(study_of([record("dice", 0.1)]))
    other = study_of([record("dice-surgery.n7", 0.2), record("dice-surgery.n9", 0.1)])
    data = exponent_ablation(other)
    assert (data.reference, data.paper) == (9, {})
    np.testing.assert_allclose(data.ours["nll"].mean, [2.0, 1.0])


def test_raw_and_corrected_of_every_plain_loss(study):
    data = raw_corrected(study)
    assert data.losses == ("ce", "dice", "dice-surgery")
    surgery = data.scores["dice-surgery", "ece"]
    assert list(surgery) == ["none", "equilibrium", "temperature"]
    assert surgery["equilibrium"].mean[0] == pytest.approx(0.5 * 0.044)
    assert (surgery["none"].low[0], surgery["none"].high[0]) == pytest.approx((0.04, 0.048))
    assert list(data.scores["dice", "nll"]) == ["none", "temperature"]
    with pytest.raises(NotInRecords, match="plain name of a loss"):
        raw_corrected(study_of([record("dice-surgery.n7", 0.2)]))


def test_a_folder_is_read_by_recipe_and_scale(tmp_path):
    for one in (record("dice", 0.1), record("ce", 0.2), record("ce", 0.2, scale="smoke")):
        write_record(tmp_path / one.scale, one)
    found, problems = read_studies(tmp_path / "paper")
    assert problems == []
    assert found[0].dataset is None
    assert [(s.title, s.variants) for s in found] == [("isles", ["ce", "dice"])]
    write_record(tmp_path / "paper", record("dice", 0.1, 1, scale="smoke"))
    (tmp_path / "paper" / "records" / "dice" / "bad.json").write_text("{")
    found, problems = read_studies(tmp_path / "paper")
    assert {s.title for s in found} == {"isles", "isles, smoke scale"}
    assert "bad.json: not a record" in problems[0]
    with pytest.raises(ValueError, match="no record in records/; make some with"):
        read_studies(tmp_path)


def test_figures_call_a_study_as_tables_do(tmp_path):
    write_record(tmp_path, record("dice", 0.1))
    told = {"recipe": "isles", "title": "ISLES", "phantoms": "lesions-3d"}
    for part, title in (
        (("recipe", "title"), "ISLES"),
        (("recipe", "title", "phantoms"), "ISLES on phantoms"),
        (("title",), "isles"),  # of another recipe
        (("recipe",), "isles"),  # of a study begun before titles were kept
    ):
        (tmp_path / "study.json").write_text(json.dumps({name: told[name] for name in part}))
        ((found,), _) = read_studies(tmp_path)
        assert (found.name, found.title) == ("isles", title)


@pytest.mark.parametrize("told", ["{}", "{", "[1]", '{"settings": {"data": {"dataset": 3}}}'])
def test_a_folder_may_not_tell_its_data_set(tmp_path, told):
    (tmp_path / "study.json").write_text(told)
    assert dataset_of(tmp_path) is None


def test_areas_of_pictures_without_a_size_are_pixels(study, tmp_path):
    write_record(tmp_path, record("dice", 0.1))
    (tmp_path / "study.json").write_text('{"settings": {"data": {"dataset": "fives"}}}')
    ((fives,), _) = read_studies(tmp_path)
    for dataset, unit in ((fives.dataset, "100 pixels"), ("inbreast", "cm2"), (None, "cm2")):
        pictures = replace(changed(study, dimensions=2), dataset=dataset)
        (data,) = volume_agreement(pictures, "dice")
        assert data.unit == unit


def test_records_of_a_former_point_are_left_out(tmp_path):
    def at(rate, seed, day, kind="grid"):
        made = record("dice", 0.1, seed)
        return replace(
            made,
            run=f"lr{rate}_seed{seed}",
            point={**made.point, "training.learning_rate": rate},
            selection={**made.selection, "kind": kind},
            provenance={"date": f"2026-01-0{day}"},
        )

    for one in (at(0.01, 0, 1), at(0.003, 0, 2), at(0.003, 1, 3)):
        write_record(tmp_path / "grid", one)
    (found,), _ = read_studies(tmp_path / "grid")
    assert [r.run for r in found.records] == ["lr0.003_seed0", "lr0.003_seed1"]
    for one in (at(0.01, 0, 1, "random"), at(0.003, 0, 2, "random")):
        write_record(tmp_path / "random", one)
    (found,), _ = read_studies(tmp_path / "random")
    assert len(found.records) == 2


def test_reliability_pools_structures_and_keeps_runs_apart(tmp_path):
    records = with_bins(tmp_path, whole_study(structures=("front", "back")), positives=6)
    found = reliability_panels(StudyRecords("isles", "paper", records, tmp_path), "dice")
    assert [panel.name.role for panel in found.panels] == ["base", "scaled", "surgery", "corrected"]
    base = found.panels[0]
    (at,) = np.flatnonzero(base.voxels)
    assert at == 13  # (13/15, 14/15] holds 0.9
    assert base.voxels[at] == 40  # two runs, two structures, ten voxels
    assert base.probability[:, at] == pytest.approx([0.9, 0.9])
    assert base.frequency[:, at] == pytest.approx([0.6, 0.6])
    assert np.isnan(np.delete(base.frequency, at, axis=1)).all()


def test_reliability_needs_the_bins(study):
    with pytest.raises(NotInRecords, match="no bins of a record"):
        reliability_panels(study, "dice")
