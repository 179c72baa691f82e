"""What every phantom promises; a new one is tested by adding it to PHANTOMS and to the tables."""

import subprocess
import sys
from functools import cache
from hashlib import sha256

import numpy as np
import pytest
from scipy import stats

from gradsurge.calibration import CalibrationSketch
from gradsurge.data.phantoms import PHANTOMS, make_phantom
from gradsurge.data.phantoms.rater import LEVELS

SMALL = {
    "lesions-2d": (40, 36),
    "lesions-3d": (20, 24, 16),
    "vessels-2d": (36, 40),
    "organs-3d": (20, 24, 16),
}
# Share of the voxels in per cent: of a case at least and at most, and of all cases together.
SHARES = {
    "lesions-2d": (0.2, 2.0, (0.5, 1.1)),
    "lesions-3d": (0.2, 2.0, (0.5, 1.1)),
    "vessels-2d": (6.0, 9.5, (7.0, 8.2)),
    "organs-3d": (0.7, 6.5, (1.8, 3.2)),
}
MANY = {"lesions-2d": 160, "lesions-3d": 100, "vessels-2d": 40, "organs-3d": 40}
CHECKSUMS = {
    "lesions-2d": ["583a2e93316b3aee", "a4c0d722b7f10045"],
    "lesions-3d": ["fffd424a391b8b82", "da49816306c0facc"],
    "vessels-2d": ["3a2fa1905ef4d6e2", "115daa23053ecbbc"],
    "organs-3d": ["8ada1a326d78e38c", "463711fc19a77e4e"],
}
every = pytest.mark.parametrize("name", PHANTOMS)


def checksum(case):
    levels = np.rint(case.posterior.astype(np.float64) * LEVELS).astype("<i4")
    return sha256(case.label.tobytes() + levels.tobytes()).hexdigest()[:16]


def same(a, b):
    arrays = all((x == y).all() for x, y in zip(a[1:4], b[1:4], strict=True))
    return arrays and (a.name, a.spacing) == (b.name, b.spacing)


@cache
def made(name):
    return [make_phantom(name, i) for i in range(30 if len(SMALL[name]) == 2 else 10)]


@pytest.fixture
def cases(name):
    return made(name)


@every
def test_shapes_types_and_values(name, cases):
    phantom = PHANTOMS[name]
    for case in cases:
        assert case.image.shape == (len(phantom.channels), *phantom.grid.size)
        assert case.label.shape == phantom.grid.size
        assert case.posterior.shape == (len(phantom.classes) - 1, *phantom.grid.size)
        assert (case.image.dtype, case.label.dtype) == (np.float32, np.uint8)
        assert case.posterior.dtype == np.float32
        assert case.spacing == phantom.grid.spacing
        assert np.isfinite(case.image).all()
        assert case.posterior.min() == 0
        assert case.posterior.sum(axis=0, dtype=np.float64).max() <= 1
        assert (case.posterior * LEVELS % 1 == 0).all()


@every
def test_labels_hold_every_class_and_respect_certainty(name, cases):
    for case in cases:
        assert set(np.unique(case.label)) == set(range(len(PHANTOMS[name].classes)))
        for index, q in enumerate(case.posterior):
            assert (case.label[q == 1] == index + 1).all()
            assert (case.label[q == 0] != index + 1).all()


@every
def test_class_imbalance(name, cases):
    low, high, (least, most) = SHARES[name]
    axes = tuple(range(1, len(SMALL[name]) + 1))
    shares = 100 * np.array([case.posterior.mean(axis=axes, dtype=float) for case in cases])
    assert (shares > low).all()
    assert (shares < high).all()
    labels = [[(case.label == k + 1).mean() for k in range(shares.shape[1])] for case in cases]
    for mean in (shares.mean(axis=0), 100 * np.mean(labels, axis=0)):
        assert ((least < mean) & (mean < most)).all()


@every
def test_the_oracle_is_calibrated(name):
    """The floor: what is left is the sampling of labels; a distorted oracle is found out."""
    right, wrong = CalibrationSketch(), CalibrationSketch()
    for index in range(MANY[name]):
        case = make_phantom(name, index, size=SMALL[name])
        for k, q in enumerate(case.posterior):
            doubt = (q > 0) & (q < 1)
            right.update_probabilities(q[doubt], case.label[doubt] == k + 1)
            wrong.update_probabilities(np.sqrt(q[doubt]), case.label[doubt] == k + 1)
    assert right.ece(bins=15) < 0.03
    assert wrong.ece(bins=15) > 0.1


@every
def test_raters_err_together(name, cases):
    """Where q is in doubt, neighbours agree more often than independent draws would."""
    agreed, chance, number = 0.0, 0.0, 0
    for case in cases:
        q, y = case.posterior[0].astype(float), case.label == 1
        first, second = q[..., :-1], q[..., 1:]
        doubt = (np.minimum(first, second) > 0.2) & (np.maximum(first, second) < 0.8)
        agreed += (y[..., :-1] == y[..., 1:])[doubt].sum()
        chance += (first * second + (1 - first) * (1 - second))[doubt].sum()
        number += doubt.sum()
    assert number > 200
    assert agreed / number > chance / number + 0.2


@every
def test_the_image_shows_the_posterior_but_does_not_give_it_away(name, cases):
    """Brightness follows q, yet voxels with q = 0 are found among those of the surest."""
    sign = -1 if name == "vessels-2d" else 1
    channel = 1 if name == "vessels-2d" else 0  # green
    image = np.stack([case.image[channel] for case in cases]) * sign
    q = np.stack([case.posterior[0] for case in cases])
    steps = [image[(q > low) & (q <= low + 0.25)].mean() for low in (0, 0.25, 0.5, 0.75)]
    assert (np.diff(steps) > 0).all()
    sure = np.median(image[q > 0.9])
    assert 0.0005 < (image[q == 0] > sure).mean() < 0.5
    ranks = stats.spearmanr(image[q > 0], q[q > 0]).statistic
    assert 0.2 < ranks < 0.9


@every
def test_faint_and_sure_structures_both_occur(name, cases):
    q = np.concatenate([case.posterior.ravel() for case in cases])
    counts, _ = np.histogram(q[q > 0], bins=5, range=(0, 1))
    assert (counts / counts.sum() > 0.04).all()


@every
def test_same_call_same_case_in_any_order(name):
    forward = [make_phantom(name, i, size=SMALL[name]) for i in range(3)]
    backward = [make_phantom(name, i, size=SMALL[name]) for i in reversed(range(3))][::-1]
    assert all(same(a, b) for a, b in zip(forward, backward, strict=True))


@every
def test_index_seed_and_size_each_change_the_case(name):
    size = SMALL[name]
    case = make_phantom(name, 1, seed=2, size=size)
    others = [
        make_phantom(name, 2, seed=2, size=size),
        make_phantom(name, 1, seed=3, size=size),
        make_phantom(name, 2, seed=1, size=size),
    ]
    for other in others:
        for a, b in zip(case[:4], other[:4], strict=True):
            assert np.not_equal(a, b).any()


@every
def test_cases_are_independent(name, cases):
    """The corners show noise alone, and that of other cases has nothing in common with it."""
    ends = [np.r_[: n // 8, n - n // 8 : n] for n in PHANTOMS[name].grid.size]
    ten = [*cases[:9], make_phantom(name, 0, seed=1)]
    noise = [case.image[0][np.ix_(*ends)].ravel() for case in ten]
    likeness = np.corrcoef(noise)[np.triu_indices(10, 1)]
    # Neighbouring voxels share noise, so one pair scatters by 0.05 and the mean of 45 by 0.007.
    assert np.abs(likeness).max() < 0.3
    assert abs(likeness.mean()) < 0.03


def test_the_default_size_is_the_size_when_asked_for():
    assert same(make_phantom("lesions-2d", 5), make_phantom("lesions-2d", 5, 0, (128, 128)))
    assert same(make_phantom("lesions-2d", 5), make_phantom("lesions-2d", np.int64(5)))


@every
def test_checksums_of_label_and_posterior(name):
    """Other platforms, NumPys and SciPys must make these very cases."""
    assert [checksum(make_phantom(name, i, size=SMALL[name])) for i in (0, 7)] == CHECKSUMS[name]


def test_another_process_makes_the_same_cases():
    code = (
        "from gradsurge.data.phantoms import PHANTOMS, make_phantom\n"
        "from hashlib import sha256\n"
        "for name, p in PHANTOMS.items():\n"
        "    case = make_phantom(name, 4, 9, [16] * len(p.grid.size))\n"
        "    print(name, sha256(b''.join(a.tobytes() for a in case[1:4])).hexdigest())\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    here = []
    for name, phantom in PHANTOMS.items():
        case = make_phantom(name, 4, 9, [16] * len(phantom.grid.size))
        here.append(f"{name} {sha256(b''.join(a.tobytes() for a in case[1:4])).hexdigest()}")
    assert run.stdout.splitlines() == here


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("lesions-2d", (16, 16)),
        ("lesions-2d", (17, 201)),
        ("vessels-2d", (16, 16)),
        ("vessels-2d", (133, 19)),
        ("lesions-3d", (16, 16, 16)),
        ("lesions-3d", (97, 16, 23)),
        ("organs-3d", (16, 16, 16)),
        ("organs-3d", (16, 25, 99)),
    ],
)
def test_any_size(name, size):
    for index in range(5):
        case = make_phantom(name, index, size=size)
        assert case.label.shape == size
        assert len(np.unique(case.label)) == len(PHANTOMS[name].classes)
        assert np.isfinite(case.image).all()
        extent = np.array(size) * case.spacing
        assert np.prod(extent) == pytest.approx(PHANTOMS[name].grid.volume)


def test_a_finer_grid_shows_as_much_foreground():
    coarse, fine = (
        np.mean([make_phantom("organs-3d", i, size=size).posterior.mean() for i in range(12)])
        for size in ((24, 24, 16), (36, 36, 24))
    )
    assert fine == pytest.approx(coarse, rel=0.3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lesion-2d", 0), "name: unknown phantom 'lesion-2d'; did you mean 'lesions-2d'. known: "),
        (("", 0), "name: unknown phantom ''; known: lesions-2d, "),
        (("lesions-2d", -1), "index: expected a whole number from 0 on, got -1"),
        (("lesions-2d", 1.0), "index: expected a whole number from 0 on, got 1.0"),
        (("lesions-2d", 0, -3), "seed: expected a whole number from 0 on, got -3"),
        (("lesions-2d", 0, None), "seed: expected a whole number from 0 on, got None"),
        (("lesions-2d", 0, 0, (32, 32, 32)), "size: lesions-2d expects 2 whole numbers of at "),
        (("organs-3d", 0, 0, (32, 32)), r"organs-3d expects 3 .* got \(32, 32\)"),
        (("lesions-2d", 0, 0, (32, 15)), r"at least 16, got \(32, 15\)"),
        (("lesions-2d", 0, 0, (32, 32.0)), r"whole numbers .* got \(32, 32.0\)"),
        (("lesions-2d", 0, 0, 32), "whole numbers .* got 32"),
        (("lesions-2d", 0, 0, ()), r"got \(\)"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_phantom(*arguments)
