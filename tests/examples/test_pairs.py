"""The paired examples: few lines differ, both run, and the change does what it is for."""

import difflib
import functools
import os
import random

import numpy as np
import pytest
import torch
from monai.utils import set_determinism

from gradsurge.data import phantoms
from tests.examples.running import EXAMPLES, PAIRS, run

make_once = functools.cache(phantoms.make_phantom)  # all examples use the same cases
MOST_LINES = 6  # taken away or put in


@pytest.fixture
def own_state(monkeypatch, tmp_path):
    """What the scripts seed and set is as it was afterwards; what they write goes elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(phantoms, "make_phantom", make_once)
    kept = random.getstate(), np.random.get_state(), torch.get_num_threads()  # noqa: NPY002
    environment = dict(os.environ)
    yield
    set_determinism(None)
    random.setstate(kept[0])
    np.random.set_state(kept[1])  # noqa: NPY002
    torch.set_num_threads(kept[2])
    for name in set(os.environ) - set(environment):
        del os.environ[name]


def test_every_folder_is_a_pair():
    assert {p.name for p in EXAMPLES.iterdir() if p.is_dir()} == set(PAIRS)
    for name, files in PAIRS.items():
        assert all((EXAMPLES / name / file).is_file() for file in files), name


@pytest.mark.parametrize("name", PAIRS)
def test_the_diff_is_small(name):
    before, after = ((EXAMPLES / name / f).read_text().splitlines() for f in PAIRS[name])
    changed = [line[2:] for line in difflib.ndiff(before, after) if line[:2] in ("- ", "+ ")]
    code = [line for line in changed if not line.startswith("# python -m")]  # its own name
    assert 0 < len(code) <= 2 * MOST_LINES
    assert len([line for line in code if line in after]) <= MOST_LINES
    assert any("surgery" in line.lower() for line in code)
    assert not any("surgery" in line.lower() for line in before)


@pytest.mark.filterwarnings("default")  # a reader's run does not stop at a framework's warnings
@pytest.mark.parametrize("name", PAIRS)
def test_the_change_calibrates(name, own_state, capsys):
    if name == "smp":
        _skip_without_smp()
    before, after = (run(EXAMPLES / name / file, capsys) for file in PAIRS[name])
    assert set(before) == set(after) == {"NLL", "ECE", "Dice"}
    assert after["NLL"] < 0.8 * before["NLL"]
    assert after["Dice"] > before["Dice"] - 0.03


def _skip_without_smp():
    try:
        import segmentation_models_pytorch  # noqa: F401
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"segmentation-models-pytorch cannot be imported here: {error}")
