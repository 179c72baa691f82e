"""What a step does, against torch written out."""

import copy
import dataclasses
import functools
import math
import sys
import time

import pytest
import torch
from torch import nn

from gradsurge.training import Observer, TrainSettings, read_checkpoint, train
from gradsurge.training.average import Average
from gradsurge.training.optimiser import make_optimiser
from gradsurge.training.schedule import learning_rate
from tests.training.small_job import CountingLoss, batch, small_job, small_model


class Notes(Observer):
    def __init__(self):
        self.facts, self.scores, self.order = [], [], []

    def started(self, start):
        self.order.append("started")

    def step(self, facts):
        self.facts.append(facts)
        self.order.append(facts.step)

    def validated(self, step, scores, best):
        self.scores.append((step, scores["dice"], best))
        self.order.append("validated")

    def stopped(self, end):
        self.order.append(end.reason)


def by_hand(settings, losses):
    """The same training as a plain loop over concatenated batches."""
    model = small_model(dropout=0.0)[::4]  # the convolutions alone: samples do not mix
    if settings.optimiser == "sgd":
        optimiser = torch.optim.SGD(
            model.parameters(),
            lr=1.0,
            momentum=settings.momentum,
            nesterov=True,
            weight_decay=settings.weight_decay,
        )
    else:
        weights = [p for p in model.parameters() if p.ndim > 1]
        others = [p for p in model.parameters() if p.ndim == 1]
        groups = [{"params": weights}, {"params": others, "weight_decay": 0.0}]
        decay = settings.weight_decay
        optimiser = torch.optim.AdamW(groups, betas=settings.betas, weight_decay=decay)
    for step in range(settings.steps):
        k = settings.accumulate
        parts = [batch(step * k + i) for i in range(k)]
        image, label = (torch.cat([p[name] for p in parts]) for name in ("image", "label"))
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(settings, step)
        optimiser.zero_grad()
        loss = nn.functional.cross_entropy(model(image), label.long())
        loss.backward()
        norm = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters()))
        scale = 1.0 if settings.clip is None else min(1.0, settings.clip / norm.item())
        for p in model.parameters():
            p.grad *= scale
        optimiser.step()
        losses.append((loss.item(), norm.item()))
    return model


@pytest.mark.parametrize("optimiser", ["sgd", "adamw"])
@pytest.mark.parametrize("accumulate", [1, 3])
@pytest.mark.parametrize("clip", [None, 0.05])
def test_like_a_plain_loop(fabric, tmp_path, optimiser, accumulate, clip):
    settings = TrainSettings(
        steps=6,
        optimiser=optimiser,
        learning_rate=0.02,
        weight_decay=0.1,
        momentum=0.9,
        warmup=2,
        clip=clip,
        accumulate=accumulate,
    )
    notes, model = Notes(), small_model(dropout=0.0)[::4]
    train(small_job(tmp_path, settings, model=model, observers=[notes], validate=None), fabric)
    losses = []
    expected = by_hand(settings, losses)
    assert [f.loss for f in notes.facts] == pytest.approx([x for x, _ in losses], rel=1e-4)
    assert [f.grad_norm for f in notes.facts] == pytest.approx([n for _, n in losses], rel=1e-3)
    for name, value in expected.state_dict().items():
        found = model.state_dict()[name]
        assert torch.allclose(found, value, rtol=1e-3, atol=1e-5), name


def test_it_learns_and_tells_in_order(fabric, tmp_path):
    settings = TrainSettings(
        steps=60, learning_rate=0.1, momentum=0.9, validate_every=20, checkpoint_every=7
    )
    notes = Notes()
    end = train(small_job(tmp_path, settings, observers=[notes]), fabric)
    assert end.best.dice > 0.85
    assert notes.facts[-1].loss < 0.5 * notes.facts[0].loss
    assert [step for step, _, _ in notes.scores] == [20, 40, 60]
    best = max(notes.scores, key=lambda score: score[1])
    assert (end.best.step, end.best.dice) == best[:2]
    assert notes.order[:2] == ["started", 1]
    assert notes.order[20:23] == [20, "validated", 21]
    assert notes.order[-2:] == ["validated", "finished"]
    assert all(0 <= f.waiting <= f.seconds for f in notes.facts)


def test_waiting_and_validation_are_told_apart(fabric, tmp_path):
    def slow(start):
        for number in range(start, 100):
            time.sleep(0.05)
            yield batch(number)

    def slow_validation(model, step):
        time.sleep(0.5)
        return {"dice": 0.5}

    notes, settings = Notes(), TrainSettings(steps=4, validate_every=2)
    job = small_job(tmp_path, settings, batches=slow, validate=slow_validation, observers=[notes])
    train(job, fabric)
    assert all(f.waiting >= 0.05 for f in notes.facts)
    assert notes.facts[2].seconds < 0.5  # the step after the validation


def test_a_mask_reaches_the_loss_and_before_step_comes_before(fabric, tmp_path):
    seen = []

    class Masked(CountingLoss):
        def forward(self, logits, label, mask):
            seen.append(mask.float().mean().item())
            return super().forward(logits, label)

    def masked(start):
        for number in range(start, 100):
            made = batch(number)
            yield made | {"mask": torch.full_like(made["label"], number % 2)}

    settings = TrainSettings(steps=3)
    job = small_job(tmp_path, settings, loss=Masked(), batches=masked, before_step=seen.append)
    train(job, fabric)
    assert seen == [0, 0.0, 1, 1.0, 2, 0.0]


def test_validation_sees_averaged_weights_in_eval_mode(fabric, tmp_path):
    settings = TrainSettings(steps=5, learning_rate=0.1, ema=0.5, validate_every=5)
    model, seen = small_model(), {}

    def look(model, step):
        seen.update(training=model.training, grad=torch.is_grad_enabled())
        seen["weights"] = copy.deepcopy(model.state_dict())
        return {"dice": 0.5}

    average = Average(model, 0.5)

    class Follow(Observer):
        def step(self, facts):
            average.update(model, facts.step - 1)

    train(small_job(tmp_path, settings, model=model, validate=look, observers=[Follow()]), fabric)
    assert (seen["training"], seen["grad"], model.training) == (False, False, True)
    for name, value in average.state.items():
        assert torch.equal(seen["weights"][name], value), name
    assert not torch.equal(seen["weights"]["0.weight"], model.state_dict()["0.weight"])


def test_the_average_starts_where_it_is_told_to(fabric, tmp_path):
    """Three steps are followed, the fourth makes the average what an average of two steps is."""
    settings = TrainSettings(steps=4, learning_rate=0.1, ema=0.5, validate_every=1)
    model, seen, raw = small_model(), [], []

    def look(model, step):
        seen.append(model.state_dict()["0.weight"].clone())
        return {"dice": 0.5}

    class Follow(Observer):
        def step(self, facts):
            raw.append(model.state_dict()["0.weight"].clone())

    job = small_job(tmp_path, settings, model=model, validate=look, observers=[Follow()])
    train(dataclasses.replace(job, average_from=3), fabric)
    assert all(torch.equal(a, b) for a, b in zip(seen[:3], raw[:3], strict=True))
    assert torch.allclose(seen[3], 0.1 * raw[2] + 0.9 * raw[3], atol=1e-6)


def test_the_average_is_that_of_torch():
    from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

    model = small_model()
    ours = Average(model, 0.9)
    theirs = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9), use_buffers=True)
    theirs.update_parameters(model)  # the first only copies
    for step in range(1000, 1010):  # late, where the decay has its full value
        for p in model.parameters():
            p.data.add_(torch.randn_like(p))
        model(torch.randn(2, 1, 8, 8))
        ours.update(model, step)
        theirs.update_parameters(model)
    for name, value in theirs.module.state_dict().items():
        if value.is_floating_point():
            assert torch.allclose(ours.state[name], value, atol=1e-6), name
    assert ours.state["1.num_batches_tracked"] == 10  # a count is copied, not averaged


def test_the_average_forgets_the_first_weights():
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 100.0)
    average = Average(model, 0.9999)
    nn.init.zeros_(model.weight)
    for step in range(50):
        average.update(model, step)
    expected = 100.0 * math.prod((1 + t) / (10 + t) for t in range(50))
    assert average.state["weight"].item() == pytest.approx(expected, rel=1e-4)
    with pytest.raises(ValueError, match="ema: expected the averaged weights of this model"):
        average.load({"bias": torch.zeros(1)})


def test_frozen_parameters_do_not_learn(fabric, tmp_path):
    model = small_model()
    model[0].requires_grad_(False)
    before = model[0].weight.clone()
    settings = TrainSettings(steps=3, learning_rate=0.1, weight_decay=0.1)
    train(small_job(tmp_path, settings, model=model), fabric)
    assert torch.equal(model[0].weight, before)
    with pytest.raises(ValueError, match="model: Linear has no parameters that learn"):
        make_optimiser(nn.Linear(1, 1).requires_grad_(False), settings)


def test_no_momentum_is_plain_descent():
    settings = TrainSettings(steps=1, momentum=0.0)
    assert not make_optimiser(small_model(), settings).param_groups[0]["nesterov"]


def test_compile_by_flag(fabric, tmp_path, monkeypatch):
    """Traced for real; torch's own code generator, which is slow to start, is left out."""
    graphs = []

    def backend(graph, inputs):
        graphs.append(graph)
        return graph.forward

    monkeypatch.setenv("CXX", sys.executable)  # no C++ is compiled
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend=backend))
    settings = TrainSettings(steps=2, compile=True)
    train(small_job(tmp_path / "one", settings, model=small_model(dropout=0.0)), fabric)
    assert graphs
    number = len(graphs)
    without = dataclasses.replace(settings, compile=False)
    train(small_job(tmp_path / "other", without, model=small_model(dropout=0.0)), fabric)
    assert len(graphs) == number
    one, other = (read_checkpoint(tmp_path / n / "last.pt").model for n in ("one", "other"))
    assert one.keys() == other.keys()  # and no name tells of the wrapping
    assert all(torch.allclose(one[name], other[name], atol=1e-6) for name in one)
    # Torch's own code rounds otherwise, so a run does not change over to it half-way.
    with pytest.raises(ValueError, match=r"compile: .* with False, got True; use the same"):
        train(small_job(tmp_path / "other", settings, model=small_model(dropout=0.0)), fabric)


def test_deterministic_by_flag(fabric, tmp_path):
    seen = []
    for flag in (True, False):
        settings = TrainSettings(steps=1, deterministic=flag)
        look = lambda step: seen.append(torch.are_deterministic_algorithms_enabled())  # noqa: E731
        train(small_job(tmp_path / str(flag), settings, before_step=look), fabric)
    assert seen == [True, False]
