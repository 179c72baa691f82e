"""Pictures of a validation case while training."""

import numpy as np
import pytest
import torch
from PIL import Image

from gradsurge.experiments.runs import Task
from gradsurge.experiments.runs.early_look import look_at
from gradsurge.report.figures import early_looks

THREE = Task(("a $\\x$ \u4f60", "b"), "softmax", 3, (), None)


def look(shape, spacing, label=None):
    label = torch.zeros(shape, dtype=torch.uint8) if label is None else label
    image, p = torch.randn(1, *shape), torch.rand(3, *shape).softmax(0)
    return look_at(THREE, "case", 7, image, label, p, (0.5, float("nan")), spacing), p


def test_the_slice_with_the_most_foreground_across_thick_voxels_is_shown():
    label = torch.zeros(6, 8, 10, dtype=torch.uint8)
    label[1:4, 5, 2:9] = 1
    label[2, 3, 4] = 2
    found, p = look((6, 8, 10), (1.0, 4.0, 2.0), label)
    assert np.array_equal(found.labels[0], np.rot90((label[:, 5] == 1).numpy()))
    assert np.allclose(found.probabilities, np.rot90(p[1:, :, 5].numpy(), axes=(-2, -1)))
    assert found.aspect == 2.0


def test_without_foreground_the_middle_is_shown():
    found, p = look((6, 8, 10), (1.0, 1.0, 1.0))
    assert np.allclose(found.probabilities[0], np.rot90(p[1, :, :, 5].numpy()))


@pytest.mark.parametrize("shape", [(20, 24), (12, 14, 16)])
def test_a_look_is_drawn(tmp_path, shape):
    found, _ = look(shape, (1.0,) * len(shape))
    file = early_looks.write(found, tmp_path / "looks")
    assert file.name == "step_000007.png"
    with Image.open(file) as picture:
        assert picture.width > 600
