"""What the page says, against the sketches and plain means."""

import base64
import hashlib
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from gradsurge.calibration.lesion_table import lesion_table
from gradsurge.calibration.thresholds import dice_at
from gradsurge.experiments.evaluation.definitions import DEFINITIONS
from gradsurge.experiments.evaluation.scoring import headline_scores
from gradsurge.experiments.evaluation.settings import ALL
from gradsurge.report.evaluation import numbers, write_report
from gradsurge.report.evaluation.lesion_tables import lesion_sections


def values(row):
    return [cell.values[0] if cell.values else None for cell in row[1:]]


def test_pooled_headline_scores_are_the_sketch_s(one_structure, one_structure_page):
    table = one_structure_page.table("Bold: the best mean")
    for name, model in one_structure.models.items():
        mean, pooled = (r for r in table.rows if r[0].text.endswith(f" {name}"))
        sketch = model.sketches["all"]
        expected = [sketch.nll(), sketch.brier(), sketch.ece(15), sketch.mce(15), None]
        assert values(pooled) == expected
        for cell, score in zip(mean[1:], headline_scores(one_structure.settings, 3), strict=True):
            of_cases = [r.scores[score] for r in model.rows if r.region == "all"]
            assert cell.values[0] == pytest.approx(np.mean(of_cases), rel=1e-12)
            found = model.means["all", "tumour", score]
            assert cell.text.endswith(numbers.interval(found.low, found.high))


def test_best_means_are_bold_whatever_way_is_better(one_structure, one_structure_page):
    page = one_structure_page.page
    bold = [float(v) for v in re.findall(r'<strong><data value="([^"]+)"', page)]
    means = {
        score: [m.means["all", "tumour", score].mean for m in one_structure.models.values()]
        for score in ("nll", "brier", "ece", "mce", "dice")
    }
    expected = {score: max(v) if score == "dice" else min(v) for score, v in means.items()}
    assert sorted(bold) == sorted(expected.values())


def test_every_score_of_every_region_and_structure_is_there(two_structures, two_structures_page):
    for region, caption in (("all", "Region: all voxels"), ("active", "Region: active region")):
        table = two_structures_page.table(caption)
        groups = [r[0].text for r in table.rows if len(r) == 1]
        assert groups == ["kidney", "tumour", f"{ALL} (which scores are means, which joint)"]
        rows = iter(table.rows[1:])
        for label in ("kidney", "tumour", ALL):
            next(rows)  # the group's title
            next(rows)  # voxels
            absent = {"nsd", "hd95"} | (set() if label == ALL else {"class_wise_ece"})
            for score in [s for s in DEFINITIONS if s not in absent]:
                for cell, model in zip(next(rows)[1:], two_structures.models.values(), strict=True):
                    assert cell.values[0] == model.means[region, label, score].mean
                    pooled = next(r for r in model.pooled if (r.region, r.label) == (region, label))
                    if score in pooled.scores:
                        assert cell.values[1] == pooled.scores[score]


def test_slider_data_are_the_sketch_s_dice_at_each_threshold(two_structures, two_structures_page):
    views = two_structures_page.data["views"]
    assert [(v["region"], v["label"]) for v in views] == [
        ("all", "0"),
        ("all", "1"),
        ("active", "0"),
        ("active", "1"),
    ]
    for view in views:
        for found, model in zip(view["models"], two_structures.models.values(), strict=True):
            sketch = model.sketches[view["region"]]
            histogram = sketch.lens(int(view["label"]) + 1)
            for step in (0, 1, 37, 50, 99):
                single = sum_of_case_dice(model, view, step)
                assert found["mean"][step] == pytest.approx(single, abs=1e-6)
                tp, fp, fn = (found[key][step] for key in ("tp", "fp", "fn"))
                assert 2 * tp / (2 * tp + fp + fn) == pytest.approx(found["dice"][step], abs=1e-6)
                assert tp + fn == histogram.positives
                expected = dice_at(histogram, step / 100)
                assert found["dice"][step] == pytest.approx(expected, abs=1e-6)
            assert found["thresholds"] == [k / 100 for k in range(100)]
            assert found["best"] == sketch.best_threshold(int(view["label"]) + 1).threshold


def sum_of_case_dice(model, view, step):
    lens = model.lenses[view["region"], view["structure"]]
    return np.nanmean(lens.case_dice[:, step])


def test_comparison_table_has_the_tests(one_structure, one_structure_page):
    table = one_structure_page.table("Difference: first less second")
    rows = [r for r in table.rows[1:] if len(r) > 1]
    assert len(rows) == len(one_structure.comparisons) == 15
    for row, paired in zip(rows, one_structure.comparisons, strict=True):
        means = [paired.first_mean, paired.second_mean, paired.difference.mean]
        assert values(row) == [*means, paired.p_value, paired.adjusted_p_value, None, None]
        assert row[6].text == "7"


def test_lesions_are_counted_by_size(one_structure, one_structure_page):
    table = one_structure_page.table("quartiles of the lesions")
    model = one_structure.models["ce+dice"]
    lesions = model.lesions["tumour"].lesions
    start = next(k for k, r in enumerate(table.rows) if "B ce+dice" in r[0].text)
    classes = lesion_table(lesions)
    for row, found in zip(table.rows[start + 1 :], classes, strict=False):
        assert (row[1].text, row[2].text) == (str(found.count), str(found.detected))
        assert values(row)[2:] == [found.detection_rate, found.mean_ece, found.mean_top_label_ece]
    whole = table.rows[start + 1 + len(classes)]
    assert (whole[0].text, whole[1].text) == ("all sizes", str(len(lesions)))


def test_lesions_outside_the_classes_are_told(one_structure):
    settings = replace(one_structure.settings, lesion_edges=(1e6, 2e6))
    (section,) = lesion_sections(replace(one_structure, settings=settings))
    number = len(one_structure.models["ce"].lesions["tumour"].lesions)
    assert [found.outside for found in section.models] == [number] * 3


def test_logit_table_says_that_it_holds_log_probabilities(two_structures, two_structures_page):
    table = two_structures_page.table("Mean log-probabilities")
    assert "These are log-probabilities, not logits" in two_structures_page.words
    expected = two_structures.models["ce"].logits["classes"].means()
    row = table.rows[1]
    assert [c.text for c in row[:2]] == ["A ce", "background"]
    assert [c.values[0] for c in row[3:]] == [*expected.means[0], expected.distances[0]]
    assert [c.text for c in table.rows[0][3:6]] == [
        "Channel background",
        "Channel kidney",
        "Channel tumour",
    ]


def test_every_number_s_definition_is_on_the_page(one_structure_page):
    places = {a["id"] for _, a in one_structure_page.elements if "id" in a}
    links = {a["href"] for a in one_structure_page.all("a")}
    for name, text in DEFINITIONS.items():
        assert f"def-{name}" in places
        assert text in one_structure_page.text
    assert {link[1:] for link in links} <= places


def test_notes_and_problems_are_told(one_structure_page):
    words = one_structure_page.words
    assert "Voxels are no independent samples." in words
    assert "The active region depends on the model." in words
    row = one_structure_page.table("What was left out").row("case_014")
    assert row[2].text == "case_014.nii.gz: values from -0.2 to 1.1; expected [0, 1]"


def test_nothing_outside_of_the_file_is_asked_for(one_structure_page):
    page = one_structure_page.page
    assert not re.search(r"https?://|//[a-z]+\.|url\(|@import", page)
    assert all(a["src"].startswith("data:image/") for a in one_structure_page.all("img"))
    assert {tag for tag, a in one_structure_page.elements if "src" in a} == {"img"}
    assert all(a["href"].startswith("#") for a in one_structure_page.all("a"))
    assert not one_structure_page.all("link")


def test_the_policy_allows_the_page_s_own_script_and_style_only(one_structure_page):
    (policy,) = (a["content"] for a in one_structure_page.all("meta") if "http-equiv" in a)
    for tag in ("script", "style"):
        text = one_structure_page.raw[tag][-1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert not any("style" in a for _, a in one_structure_page.elements)


def test_headings_tables_and_pictures_are_accessible(two_structures_page):
    page = two_structures_page
    assert page.all("html")[0]["lang"] == "en"
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all(table.caption for table in page.tables)
    assert all("scope" in a for a in page.all("th"))
    assert all("alt" in a for a in page.all("img"))
    ids = [a["id"] for _, a in page.elements if "id" in a]
    assert len(ids) == len(set(ids))


def test_the_file_is_small_and_the_same_each_time(two_structures, two_structures_page, tmp_path):
    file = tmp_path / "new" / "report.html"
    write_report(two_structures, file)
    assert file.read_text("utf-8") == two_structures_page.page
    assert file.stat().st_size < 3_000_000
    assert [f.name for f in file.parent.iterdir()] == ["report.html"]


def test_a_failed_write_leaves_the_old_page(one_structure, tmp_path, monkeypatch):
    monkeypatch.setattr("gradsurge.report.evaluation.page.render", lambda _: "new")
    file = tmp_path / "report.html"
    file.write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", _fail)
    with pytest.raises(OSError, match="disk"):
        write_report(one_structure, file)
    assert file.read_text() == "old"
    assert [f.name for f in tmp_path.iterdir()] == ["report.html"]


def _fail(*_):
    raise OSError("disk full")
