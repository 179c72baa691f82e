"""The sketch as a MONAI metric: against the sketch, and by the rules of MONAI."""

import numpy as np
import pytest
import torch
import torch.distributed as dist
from monai.data import MetaTensor, decollate_batch
from monai.metrics import CalibrationErrorMetric
from monai.networks import one_hot

from gradsurge.integrations.monai import CalibrationSketchMetric
from tests.integrations.batches import KINDS, batches, probabilities, whole
from tests.ranks import RANKS, run_ranks, write


def metric_of(kind, given="logits", **options):
    return CalibrationSketchMetric(given, kind, KINDS[kind], **options)


def filled(kind, **options):
    metric = metric_of(kind, **options)
    for z, y in batches(kind):
        metric(y_pred=z, y=y)
    return metric


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_the_sketchs(kind):
    metric, sketch = filled(kind, bins=20), whole(kind)
    found = metric.aggregate()
    for name in ("nll", "brier", "auroc"):
        assert found[name].item() == pytest.approx(getattr(sketch, name)(), rel=1e-12)
    for name in ("ece", "ace", "mce"):
        assert found[name].item() == pytest.approx(getattr(sketch, name)(20), rel=1e-12)
    counts = [h.counts for h in metric.sketch.histograms]
    np.testing.assert_array_equal(counts, [h.counts for h in sketch.histograms])


def test_it_agrees_with_monais_own_on_few_voxels():
    p = torch.rand(1, 1, 9, 9, dtype=torch.float64)
    y = (torch.rand(1, 1, 9, 9) < p).float()
    theirs = CalibrationErrorMetric(num_bins=15)
    theirs(y_pred=p, y=y)
    ours = CalibrationSketchMetric("probabilities")
    ours(y_pred=p, y=y)
    assert ours.aggregate()["ece"].item() == pytest.approx(theirs.aggregate().item(), abs=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_forms_of_labels(kind):
    """Indices or one-hot, whole or float, one tensor or a list of cases: all the same counts."""
    z, y = next(batches(kind))
    p = probabilities(kind, z)
    forms = [y, y.float()]
    if kind != "multilabel":
        wide = one_hot(y[:, None], z.shape[1])
        forms += [y[:, None], y[:, None].float(), wide, wide.bool(), wide.to(torch.uint8)]
    expected = metric_of(kind, "probabilities")
    expected(p, y)
    for form in forms:
        for arguments in ((p, form), (MetaTensor(p), MetaTensor(form))):
            metric = metric_of(kind, "probabilities")
            metric(*arguments)
            assert metric.sketch == expected.sketch
        if form.ndim == p.ndim:
            metric = metric_of(kind, "probabilities")
            metric(decollate_batch(p), decollate_batch(form))
            assert metric.sketch.voxels == expected.sketch.voxels
            assert metric.sketch.nll() == pytest.approx(expected.sketch.nll(), rel=1e-12)


def test_memory_does_not_grow_with_the_batches():
    metric = metric_of("binary")
    z, y = next(batches("binary"))
    for _ in range(5):
        metric(z, y)
    counts, sums = metric.get_buffer()
    assert len(metric) == counts.shape[0] == sums.shape[0] == 1
    assert (counts.dtype, sums.dtype) == (torch.int64, torch.float64)
    assert metric.sketch.voxels == 5 * y.numel()


def test_reset_and_again():
    metric = filled("binary")
    first = metric.sketch
    metric.reset()
    assert metric.sketch.voxels == 0
    assert bool(metric.aggregate()["nll"].isnan())
    for z, y in batches("binary"):
        metric(z, y)
        metric.aggregate()  # in between, it changes nothing
    assert metric.sketch == first


def test_masks():
    z, y = next(batches("multiclass"))
    mask = torch.rand(2, 6, 5) < 0.5
    metric = metric_of("multiclass")
    metric(z, y, mask=mask)
    assert metric.sketch.voxels == int(mask.sum())


def test_bad_labels_leave_no_trace():
    metric = metric_of("multiclass")
    z, y = next(batches("multiclass"))
    wide = one_hot(y[:, None], 3)
    for bad, text in (
        (y + 0.5, "y: expected whole numbers.* got fractions or NaN"),
        (y * torch.nan, "y: expected whole numbers.* got fractions or NaN"),
        (wide * 0, "one-hot labels in 3 channels, got shape"),
        (wide[:, :2], "one-hot labels in 3 channels, got shape"),
        (torch.stack((wide[:, 0] * 0 + 2, -wide[:, 0] * 0 - 1, wide[:, 0] * 0), 1), "one-hot"),
        (y + 1, r"labels: expected 0 \.\. 2, got"),
    ):
        with pytest.raises(ValueError, match=text):
            metric(z, bad)
    with pytest.raises(TypeError, match="y: expected a tensor of labels, got None"):
        metric(z)
    with pytest.raises(ValueError, match=r"probabilities: expected numbers in \[0, 1\]"):
        metric_of("multiclass", "probabilities")(z, y)
    assert metric.sketch.voxels == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("auto",), "input: expected 'logits' or 'probabilities', got 'auto'"),
        (("logits", "ternary"), "kind: expected one of"),
        (("logits", "binary", None, 11), "bins: expected a divisor of 25200, got 11"),
    ],
)
def test_bad_constructions(arguments, text):
    with pytest.raises(ValueError, match=text):
        CalibrationSketchMetric(*arguments)


def on_rank(rank, folder):
    """Rank 0 counts every batch, rank 1 none: it must neither hang nor matter."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    metric = filled("multilabel") if rank == 0 else metric_of("multilabel")
    write(folder, rank, metric.aggregate())
    split = metric_of("binary")
    for z, y in list(batches("binary"))[rank::RANKS]:
        split(z, y)
    found = split.sketch
    assert found.voxels == whole("binary").voxels
    np.testing.assert_array_equal(found.lens().counts, whole("binary").lens().counts)
    dist.barrier()


def test_two_ranks_sum_their_states(tmp_path):
    expected = filled("multilabel").aggregate()
    for rank in run_ranks(__name__, tmp_path):
        for name, value in expected.items():
            assert rank[name] == pytest.approx(value.item(), rel=1e-12), name
