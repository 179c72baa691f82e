"""Our metrics in a `MetricCollection`: compute groups, names, reset, checkpoints, ranks."""

import pytest
import torch
import torch.distributed as dist
from lightning.pytorch import Trainer
from torchmetrics import MetricCollection, MetricTracker
from torchmetrics.classification import MulticlassCalibrationError

from gradsurge.calibration import scores
from gradsurge.integrations.torchmetrics import CalibrationMetric, CalibrationScore
from gradsurge.integrations.update import HIGHER_IS_BETTER
from tests.integrations.batches import batches, whole
from tests.integrations.lightning.tasks import QUIET, WARNINGS, Task, loader
from tests.ranks import RANKS, run_ranks, write

THREE = ("multiclass", 3)


def collection():
    return MetricCollection(
        {
            "nll": CalibrationScore("nll", "logits", *THREE),
            "ece": CalibrationScore("ece", "logits", *THREE),
            "fine_ece": CalibrationScore("ece", "logits", *THREE, bins=100),
            "all": CalibrationMetric("logits", *THREE),
            "theirs": MulticlassCalibrationError(3, n_bins=15),
        },
        prefix="val_",
    )


def filled():
    metrics = collection()
    for z, y in batches("multiclass"):
        metrics.update(z, y)
    return metrics


def test_scores_and_names():
    found, sketch = filled().compute(), whole("multiclass")
    assert found["val_nll"].item() == pytest.approx(sketch.nll(), rel=1e-12)
    assert found["val_ece"].item() == pytest.approx(sketch.ece(), rel=1e-12)
    assert found["val_fine_ece"].item() == pytest.approx(sketch.ece(100), rel=1e-12)
    assert found["val_all_brier"].item() == pytest.approx(sketch.brier(), rel=1e-12)
    theirs = found["val_theirs"].item()
    assert found["val_all_top_label_ece"].item() == pytest.approx(theirs, abs=1e-6)
    assert all(value.ndim == 0 for value in found.values())


def test_a_batch_is_counted_once(monkeypatch):
    """Equal states form a compute group; from the second batch on one member counts for all."""
    metrics = collection()
    counted = []
    for name in ("nll", "ece", "fine_ece", "all"):
        count = metrics[name].update
        monkeypatch.setattr(
            metrics[name],
            "update",
            lambda *a, name=name, count=count: (counted.append(name), count(*a)),
        )
    for z, y in batches("multiclass"):
        metrics.update(z, y)
    groups = sorted(sorted(group) for group in metrics.compute_groups.values())
    assert groups == [["all", "ece", "fine_ece", "nll"], ["theirs"]]
    assert len(counted) == 4 + 2
    assert metrics["fine_ece"].sketch == metrics["all"].sketch
    assert metrics["all"].sketch.voxels == whole("multiclass").voxels


def test_reset_and_again():
    metrics = filled()
    first = metrics.compute()
    metrics.reset()
    assert metrics["nll"].sketch.voxels == metrics["all"].sketch.voxels == 0
    for z, y in batches("multiclass"):
        metrics.update(z, y)
    for name, value in metrics.compute().items():
        assert torch.equal(value, first[name]), name


def test_forward_gives_the_batch():
    metrics = collection()
    for z, y in batches("multiclass"):
        alone = CalibrationScore("nll", "logits", *THREE)
        alone.update(z, y)
        assert metrics(z, y)["val_nll"] == alone.compute()
    assert metrics["nll"].sketch.voxels == whole("multiclass").voxels


def test_clones_and_checkpoints():
    metrics = filled()
    other = metrics.clone(prefix="test_")
    assert other.compute()["test_nll"] == metrics.compute()["val_nll"]
    metrics.persistent(True)
    twin = collection()
    twin.persistent(True)
    twin.load_state_dict(metrics.state_dict())
    for name in ("nll", "ece", "all"):
        assert twin[name].sketch == metrics[name].sketch


def test_a_tracker_finds_the_best_epoch():
    """NLL: lower is better; Dice: higher."""
    for score, best in (("nll", min), ("dice", max)):
        tracker = MetricTracker(CalibrationScore(score, "logits", *THREE), maximize=None)
        seen = []
        for z, y in batches("multiclass"):
            tracker.increment()
            tracker.update(z, y)
            seen.append(tracker.compute().item())
        assert tracker.best_metric() == pytest.approx(best(seen))


def test_they_are_plotted_as_others_are():
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot

    metric = CalibrationScore("nll", "logits", *THREE)
    seen = [metric(z, y) for z, y in batches("multiclass")]
    _, axes = metric.plot(seen)
    (line,) = axes.lines
    assert line.get_ydata().tolist() == pytest.approx([value.item() for value in seen])
    assert axes.get_ylim()[0] <= 0
    both = MetricCollection({n: CalibrationScore(n, "logits", *THREE) for n in ("nll", "ece")})
    both.update(*next(batches("multiclass")))
    assert len(both.plot()) == 2
    CalibrationMetric("logits", *THREE).plot({"nll": seen[0], "ece": seen[1]})
    pyplot.close("all")


def test_every_score_of_the_dictionary_stands_alone():
    z, y = next(batches("multiclass"))
    whole_one = CalibrationMetric("logits", *THREE)
    for name, value in whole_one(z, y).items():
        metric = CalibrationScore(name, "logits", *THREE)
        assert torch.equal(metric(z, y), value), name
        assert metric.higher_is_better == (name in HIGHER_IS_BETTER)


def test_unknown_scores_are_named():
    with pytest.raises(ValueError, match=r"scores: expected some of nll, .*, got eze"):
        CalibrationScore("eze", "logits")
    with pytest.raises(ValueError, match="got top_label_ece"):
        CalibrationScore("top_label_ece", "logits", "multilabel", 3)


class Logged(Task):
    """Logs a collection of scores as any metric, and a dictionary at the end of the epoch."""

    def __init__(self):
        super().__init__()
        self.scores = MetricCollection(
            {n: CalibrationScore(n, "logits", *THREE, bins=20) for n in ("nll", "ece")},
            prefix="val_",
        )
        self.all = CalibrationMetric("logits", *THREE)

    def validation_step(self, batch, batch_idx):
        self.scores.update(*batch)
        self.all.update(*batch)
        self.log_dict(self.scores)

    def on_validation_epoch_end(self):
        self.log_dict(self.all.compute())
        self.all.reset()


@WARNINGS
def test_lightning_logs_them(tmp_path):
    fit = Trainer(**QUIET, logger=False, default_root_dir=tmp_path)
    task, sketch = Logged(), whole("multiclass")
    for _ in range(2):  # the second time they have been reset
        (found,) = fit.validate(task, loader("multiclass"), verbose=False)
        assert found["val_nll"] == pytest.approx(sketch.nll(), rel=1e-6)
        assert found["val_ece"] == pytest.approx(sketch.ece(20), rel=1e-6)
        assert found["top_label_ece"] == pytest.approx(scores.ece(sketch.top_label), rel=1e-6)


def test_a_device_without_float64_leaves_the_state_on_the_cpu():
    class Mps:
        device = torch.device("mps")

    metric = CalibrationScore("nll", "logits")
    metric._apply(lambda tensor: Mps())
    assert metric.counts.device.type == metric.sums.device.type == metric.device.type == "cpu"
    assert (metric.counts.dtype, metric.sums.dtype) == (torch.int64, torch.float64)


def on_rank(rank, folder):
    """Count every other batch; rank 1 has one batch less."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    metrics, alone = collection(), CalibrationMetric("logits", *THREE)
    for z, y in list(batches("multiclass"))[rank::RANKS]:
        metrics.update(z, y)
        alone.update(z, y)
    own = alone.sketch
    found = metrics.compute() | {f"alone_{k}": v for k, v in alone.compute().items()}
    assert metrics["all"].sketch == alone.sketch == own  # the rank's own states are back
    alone.sync()
    found["voxels"] = torch.tensor(alone.sketch.voxels)
    alone.unsync()
    write(folder, rank, found)
    dist.barrier()


def test_two_ranks_sum_their_states(tmp_path):
    metrics, alone = filled(), CalibrationMetric("logits", *THREE)
    for z, y in batches("multiclass"):
        alone.update(z, y)
    expected = metrics.compute() | {f"alone_{k}": v for k, v in alone.compute().items()}
    for rank in run_ranks(__name__, tmp_path):
        assert rank.pop("voxels") == whole("multiclass").voxels
        assert set(rank) == set(expected)
        for name, value in expected.items():
            assert rank[name] == pytest.approx(value.item(), rel=1e-6), name
