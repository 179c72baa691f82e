"""One case with a fault among good ones: one clear line, and the rest goes on."""

import os

import nibabel
import numpy as np
import pytest

from gradsurge.data import parse_label_set
from gradsurge.experiments.evaluation import case as case_module
from gradsurge.experiments.evaluation.run import NothingToScore
from tests.experiments.evaluation import folders


@pytest.fixture
def root(tmp_path):
    folders.binary_folder(tmp_path, cases=2)
    return tmp_path


def good_case(seed=7, shape=folders.SHAPE):
    y = folders.blobs(seed, shape=shape)
    return folders.softmax(folders.logits(y, 2, seed))[1].astype(np.float32), y


def put(root, p, y, affine=folders.AFFINE):
    """Write a third case, which is neither first nor last."""
    folders.nifti(root / "labels" / "case0b.nii.gz", y)
    folders.nifti(root / "model" / "case0b.nii.gz", p, affine)


def only_problem(root, **settings):
    model = folders.measure(root, **settings).models["model"]
    assert model.cases == ["case0", "case1"]
    (problem,) = model.problems
    assert len(problem.message.splitlines()) == 1
    assert len(problem.message) < 400
    return problem


def prediction_without_label(root):
    folders.nifti(root / "model" / "case0b.nii.gz", good_case()[0])


def label_without_prediction(root):
    folders.nifti(root / "labels" / "case0b.nii.gz", good_case()[1])


def another_shape(root):
    p, y = good_case()
    put(root, p[1:], y)


def another_affine(root):
    put(root, *good_case(), affine=np.diag([1.0, 1.5, 2.5, 1.0]))


def another_origin(root):
    affine = folders.AFFINE.copy()
    affine[0, 3] = 4.0
    put(root, *good_case(), affine=affine)


def above_one(root):
    p, y = good_case()
    p[0, 0, 0] = 1.5
    put(root, p, y)


def below_zero(root):
    p, y = good_case()
    p[0, 0, 0] = -0.1
    put(root, p, y)


def channels_off(root):
    p, y = good_case()
    put(root, np.stack([p, p]), y)


def holds_nan(root):
    p, y = good_case()
    p[1, 2, 3] = np.nan
    put(root, p, y)


def empty_label(root):
    p, y = good_case()
    put(root, p, np.zeros_like(y))


def corrupt_prediction(root):
    put(root, *good_case())
    file = root / "model" / "case0b.nii.gz"
    file.write_bytes(file.read_bytes()[:200])


def corrupt_label(root):
    put(root, *good_case())
    (root / "labels" / "case0b.nii.gz").write_bytes(b"")


def hard_mask(root):
    p, y = good_case()
    put(root, (p > 0.5).astype(np.float32), y)


def more_channels(root):
    y = folders.blobs(7, 3)
    put(root, folders.softmax(folders.logits(y, 3, 7)).astype(np.float32), y)


def two_files(root):
    p, y = good_case()
    put(root, p, y)
    folders.nifti(root / "model" / "case0b.nii", p)


def labels_without_channel(root):
    p, y = good_case()
    y[0, 0, 0] = 5
    put(root, p, y)


def an_image(root):
    p, y = good_case(shape=(20, 30))
    put(root, p, y)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (prediction_without_label, ["prediction case0b.nii.gz has no label"]),
        (label_without_prediction, ["label case0b.nii.gz has no prediction"]),
        (another_shape, ["shape (8, 10, 12)", "(9, 10, 12)", "resampled"]),
        (another_affine, ["affine differs", "spacing 1x1.5x2.5"]),
        (another_origin, ["affine differs", "4 mm apart"]),
        (above_one, ["outside [0, 1]", "to 1.5", "--logits"]),
        (below_zero, ["outside [0, 1]", "from -0.1"]),
        (channels_off, ["do not sum to 1", "off by"]),
        (holds_nan, ["NaN 1 times"]),
        (empty_label, ["label is empty", "--allow-empty"]),
        (corrupt_prediction, ["model/case0b.nii.gz", "cannot be read"]),
        (corrupt_label, ["labels/case0b.nii.gz", "cannot be read"]),
        (hard_mask, ["hard mask"]),
        (more_channels, ["class 1, class 2", "foreground", "channels"]),
        (two_files, ["2 files for one case"]),
        (labels_without_channel, ["0, 1, 5", "--label"]),
        (an_image, ["2 axes", "3", "apart"]),
    ],
)
def test_one_line_and_the_rest_goes_on(root, make, words):
    make(root)
    problem = only_problem(root)
    assert (problem.model, problem.case) == ("model", "case0b")
    for word in words:
        assert word in problem.message


def test_good_cases_score_the_same_beside_a_faulty_one(root):
    before = folders.measure(root).models["model"]
    holds_nan(root)
    after = folders.measure(root).models["model"]
    assert after.rows == before.rows
    assert after.sketches == before.sketches


def test_empty_labels_are_scored_on_request(root):
    empty_label(root)
    model = folders.measure(root, allow_empty=True).models["model"]
    assert (model.problems, model.cases) == ([], ["case0", "case0b", "case1"])
    scores = folders.row(model, "case0b", "foreground")
    assert scores["positives"] == 0
    assert scores["nll"] > 0
    assert scores["dice"] == 0  # something is predicted
    assert np.isnan(scores["auroc"])
    assert model.means["all", "foreground", "auroc"].cases == 2
    assert model.means["all", "foreground", "nll"].cases == 3


@pytest.mark.parametrize("fault", ["missing", "two", "shape", "affine"])
def test_masks_that_do_not_fit(root, fault):
    put(root, *good_case())
    for name in ("case0", "case0b", "case1"):
        mask = folders.random(0).integers(0, 2, folders.SHAPE).astype(np.uint8)
        affine = folders.AFFINE
        if name == "case0b":
            mask = mask[1:] if fault == "shape" else mask
            affine = np.eye(4) if fault == "affine" else affine
        folders.nifti(root / "masks" / f"{name}.nii", mask, affine)
    file = root / "masks" / "case0b.nii"
    if fault == "missing":
        file.unlink()
    if fault == "two":
        folders.nifti(root / "masks" / "case0b.nii.gz", np.ones(folders.SHAPE, np.uint8))
    problem = only_problem(root, regions=("mask",), masks=root / "masks")
    expected = {
        "missing": "holds none",
        "two": "case0b.nii, case0b.nii.gz",
        "shape": "shape (8, 10, 12)",
        "affine": "affine",
    }
    assert expected[fault] in problem.message


@pytest.mark.parametrize("as_logits", [False, True])
def test_a_model_keeps_its_number_of_channels_under_label_sets(tmp_path, as_logits):
    for seed, channels in ((0, 3), (1, 3), (2, 1)):
        y = folders.blobs(seed, 3)
        z = folders.logits(y, 3, seed)
        values = z if as_logits else folders.softmax(z).astype(np.float32)
        values = values if channels == 3 else values[2]
        folders.nifti(tmp_path / "labels" / f"{seed}.nii", y)
        folders.nifti(tmp_path / "model" / f"{seed}.nii", values)
    sets = (parse_label_set("tumour=2"),)
    model = folders.measure(tmp_path, label_sets=sets, logits=as_logits).models["model"]
    assert model.cases == ["0", "1"]
    assert "1 channel" in model.problems[0].message
    assert "before it 3" in model.problems[0].message


def test_two_models_may_differ_in_their_channels(tmp_path):
    for seed in range(2):
        y = folders.blobs(seed, 3)
        p = folders.softmax(folders.logits(y, 3, seed)).astype(np.float32)
        folders.nifti(tmp_path / "labels" / f"{seed}.nii", y)
        folders.nifti(tmp_path / "all" / f"{seed}.nii", p)
        folders.nifti(tmp_path / "tumour" / f"{seed}.nii", p[2])
    evaluation = folders.measure(
        tmp_path, "all", "tumour", label_sets=(parse_label_set("tumour=2"),)
    )
    assert evaluation.problems == []
    first, second = (model.rows for model in evaluation.models.values())
    assert [r.scores for r in first] == [r.scores for r in second]


def test_many_classes_of_8_bits_do_not_stop_the_others(tmp_path):
    """Twelve channels of which eleven round down to nothing sum to 0.976."""
    for seed in range(2):
        y = folders.blobs(seed, shape=(20, 30))
        folders.png(tmp_path / "labels" / f"{seed}.png", y)
        share = np.where(y, 250, 255 - seed * 6)
        for c in range(12):
            channel = {0: np.where(y, 5, share), 1: np.where(y, share, 0)}.get(c, y * 0)
            folders.png(tmp_path / "model" / f"{seed}_{c:04d}.png", channel.astype(np.uint8))
    model = folders.measure(tmp_path, allow_empty=True).models["model"]
    assert model.cases[:1] == ["0"]
    assert len(model.cases) + len(model.problems) == 2


def test_no_case_left(root):
    for file in (root / "model").iterdir():
        file.write_bytes(b"nothing")
    with pytest.raises(NothingToScore) as caught:
        folders.measure(root)
    assert [p.case for p in caught.value.problems] == ["case0", "case1"]


def test_a_model_without_a_good_case_beside_another(root):
    for name in ("case0", "case1"):
        folders.nifti(root / "broken" / f"{name}.nii", np.full(folders.SHAPE, 2.5, np.float32))
    evaluation = folders.measure(root, "broken", "model")
    broken, good = evaluation.models.values()
    assert (broken.cases, len(broken.problems)) == ([], 2)
    assert good.cases == ["case0", "case1"]
    assert {c.cases for c in evaluation.comparisons} == {0}
    assert {look.model for look in evaluation.looks} == {"model"}


HOSTILE = [
    "<script>alert(1)",
    "<img src=x onerror=alert(1)>",
    "[bold]x",
    "=1+1",
    "-rf",
    "ünïcode 病例",
    "two  spaces",
    "pooled",
    "all structures",
    "%s{0}\\n",
    "quote'\"",
    "x" * 240,
    "ä" * 110,
]


def test_hostile_names_are_only_names(tmp_path):
    for seed, name in enumerate(HOSTILE):
        p, y = good_case(seed)
        folders.nifti(tmp_path / "labels" / f"{name}.nii", y)
        folders.nifti(tmp_path / "model" / f"{name}.nii", p)
    model = folders.measure(tmp_path, sketches=tmp_path / "sketches").models["model"]
    assert model.problems == []
    assert sorted(model.cases) == sorted(HOSTILE)
    assert {r.case for r in model.rows} == set(HOSTILE)
    (pooled,) = [r for r in model.pooled if r.region == "all"]
    assert pooled.scores["voxels"] == len(HOSTILE) * np.prod(folders.SHAPE)
    saved = list((tmp_path / "sketches" / "model" / "cases").iterdir())
    assert len(saved) == 2 * len(HOSTILE)
    assert {p.name for p in tmp_path.iterdir()} == {"labels", "model", "sketches"}


def test_a_name_that_is_not_text_is_escaped(tmp_path):
    p, y = good_case()
    for folder, array in (("labels", y), ("model", p)):
        folders.nifti(tmp_path / folder / os.fsdecode(b"\xff\n.nii"), array)
    model = folders.measure(tmp_path, sketches=tmp_path / "sketches").models["model"]
    assert model.cases == [r"\udcff\n"]


@pytest.mark.parametrize("error", [MemoryError(), "torch"])
def test_memory_that_runs_out_is_a_problem_of_the_case(root, monkeypatch, error):
    import torch

    def run_out(*_, **__):
        if error == "torch":
            torch.empty(1 << 55, dtype=torch.uint8)
        raise error

    monkeypatch.setattr(case_module, "find_lesions", run_out)
    with pytest.raises(NothingToScore) as caught:
        folders.measure(root)
    assert {p.message.partition(";")[0] for p in caught.value.problems} == {"out of memory"}


def test_errors_of_our_own_are_not_hidden(root, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr(case_module, "find_lesions", fail)
    with pytest.raises(RuntimeError, match="a bug"):
        folders.measure(root)


def test_a_file_that_changes_meanwhile_only_loses_its_picture(root, monkeypatch):
    from gradsurge.experiments.evaluation import run

    original = run.worst_looks

    def spoiled(*arguments):
        (root / "model" / "case0.nii.gz").write_bytes(b"")
        return original(*arguments)

    monkeypatch.setattr(run, "worst_looks", spoiled)
    assert [look.case for look in folders.measure(root).looks] == ["case1"]


def test_rotated_predictions_are_refused(root):
    p, y = good_case(shape=(9, 10, 9))
    nibabel.save(nibabel.Nifti1Image(y, np.eye(4)), root / "labels" / "case0b.nii.gz")
    flipped = np.diag([-1.0, 1.0, 1.0, 1.0])
    flipped[0, 3] = 8.0
    nibabel.save(nibabel.Nifti1Image(p[::-1], flipped), root / "model" / "case0b.nii.gz")
    assert "axes LAS" in only_problem(root).message
