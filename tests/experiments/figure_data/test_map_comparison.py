"""Maps side by side: whose they are, of which cases, and how wrong each is."""

import math

import numpy as np
import pytest
import torch

from gradsurge.experiments.figure_data.interesting_cases import (
    cases_to_look_at,
    most_confidently_wrong,
)
from gradsurge.experiments.figure_data.map_comparison import MapName, compare_maps
from gradsurge.experiments.figure_data.network_on_store import open_on
from gradsurge.training.inference import sliding_window_logits
from tests.experiments.figure_data.tiny_runs import phantom_store


def test_maps_are_the_runs_own_predictions(volumes):
    case = volumes.store.splits["test"][0]
    (row,) = compare_maps([volumes.dice, volumes.surgery], [case])
    first, second = row.maps
    assert (first, second) == (MapName("", "dice", "none"), MapName("", "dice-surgery", "none"))
    image = torch.from_numpy(volumes.store.case(case).read_image())
    for name, network in ((first, volumes.dice), (second, volumes.surgery)):
        with torch.no_grad():
            z = sliding_window_logits(network.run.model(), image, (16, 16, 16))
        expected = np.rot90(z.softmax(0)[1].numpy()[..., row.shown.cut.at])
        np.testing.assert_allclose(row.maps[name], expected, atol=1e-6)
    label = np.rot90(volumes.store.case(case).read_label()[..., row.shown.cut.at]) == 1
    np.testing.assert_array_equal(row.shown.label, label)
    sure = np.abs(label - row.maps[first]) >= 0.9
    for name, p in row.maps.items():
        if sure.any():
            assert row.errors[name] == pytest.approx(np.abs(label - p)[sure].mean(), rel=1e-5)
        else:
            assert math.isnan(row.errors[name])


def test_maps_are_corrected_on_request(volumes):
    case = volumes.store.splits["test"][0]
    (row,) = compare_maps([volumes.surgery], [case], correction="equilibrium")
    (name,) = row.maps
    assert name == MapName("", "dice-surgery", "equilibrium")
    correction = volumes.surgery.run.corrections["equilibrium"]
    p = correction.apply_logits(volumes.surgery.logits(case), 0)[1].numpy()
    np.testing.assert_allclose(
        row.maps[name], np.rot90(p[..., row.shown.cut.at]).astype(np.float32), atol=1e-6
    )
    auto = volumes.surgery.correction_name("auto")
    assert auto == volumes.surgery.run.default_correction


def test_two_of_the_worst_test_cases_are_chosen(volumes):
    store = phantom_store(volumes.store.path)  # the same one, opened again
    network = open_on(store, volumes.dice.run.folder)
    assert cases_to_look_at(store, []) == store.splits["test"][:8]
    names = store.cases[:5]
    ordered = most_confidently_wrong(network, names)
    counts = {}
    for name in names:
        p = network.logits(name).softmax(0)[1].numpy()
        counts[name] = int((np.abs((store.case(name).read_label() == 1) - p) >= 0.9).sum())
    assert [counts[name] for name in ordered] == sorted(counts.values(), reverse=True)
    rows = compare_maps([network], number=1)
    assert [row.shown.case for row in rows] == most_confidently_wrong(
        network, store.splits["test"]
    )[:1]


def test_runs_of_one_loss_are_told_apart_by_their_folders(volumes, tmp_path):
    twin = tmp_path / "twin"
    twin.symlink_to(volumes.dice.run.folder)
    (tmp_path / "copy").mkdir()
    for file in volumes.dice.run.folder.iterdir():
        (tmp_path / "copy" / file.name).symlink_to(file)
    copy = open_on(volumes.store, tmp_path / "copy")
    (row,) = compare_maps([volumes.dice, copy], volumes.store.splits["test"][:1])
    assert [name.run for name in row.maps] == ["dice", "copy"]
    (tmp_path / "other" / "dice").mkdir(parents=True)
    for file in volumes.dice.run.folder.iterdir():
        (tmp_path / "other" / "dice" / file.name).symlink_to(file)
    namesake = open_on(volumes.store, tmp_path / "other" / "dice")
    (row,) = compare_maps([volumes.dice, namesake], volumes.store.splits["test"][:1])
    own = volumes.dice.run.folder.resolve().parent.name
    assert [name.run for name in row.maps] == [f"{own}/dice", "other/dice"]
    with pytest.raises(ValueError, match="given twice"):
        compare_maps([volumes.dice, open_on(volumes.store, twin)])


def test_mistakes_are_said(volumes, tmp_path):
    with pytest.raises(ValueError, match="at least one run"):
        compare_maps([])
    with pytest.raises(ValueError, match="has no 'nobody'; it has 8 cases"):
        compare_maps([volumes.dice], ["nobody"])
    with pytest.raises(ValueError, match="has no 'equilibrium', which needs a surgery loss"):
        compare_maps([volumes.dice], correction="equilibrium")
    with pytest.raises(ValueError, match="not a run of gradsurge train"):
        open_on(volumes.store, tmp_path)
    other = phantom_store(tmp_path / "other", "lesions-2d", (24, 24))
    with pytest.raises(ValueError, match=r"another kind of store .* give the store it was trained"):
        open_on(other, volumes.dice.run.folder)
