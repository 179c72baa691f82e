"""Batches of patches from a store."""

import numpy as np
import pytest
import torch

from gradsurge.data.augmentation import AffineChances, Augmentation, make_augmentation
from gradsurge.data.patches import PatchSettings, PatchSource, cut_patch
from tests.data.patches.stores import case_of, make_store, phantom_store


@pytest.fixture(scope="module")
def rare(tmp_path_factory):
    """Cases with two foreground classes: a voxel of one, a bar of the other."""
    cases = []
    for i in range(3):
        label = np.zeros((40, 36, 30), np.uint8)
        label[5 + i, 30, 3] = 1
        label[20:35, 10, 20] = 2
        cases.append(case_of(f"case {i}", label))
    return make_store(tmp_path_factory.mktemp("rare"), cases)


def plain(store, **settings):
    return PatchSource(store, store.split("train"), PatchSettings(**settings), "none")


def batches(source, steps, seed=0):
    return [source.batch(seed, step) for step in range(steps)]


def test_a_batch_is_what_its_type_says(tmp_path):
    store = phantom_store(tmp_path, "lesions-2d", 2, (64, 48))
    source = PatchSource(
        store, store.cases, PatchSettings((32, 40), batch=3), "nnunet", extras=["posterior"]
    )
    batch = source.batch(0, 0)
    assert batch["image"].shape == (3, 1, 32, 40)
    assert batch["image"].dtype == torch.float32
    assert batch["label"].shape == (3, 32, 40)
    assert batch["label"].dtype == torch.uint8
    assert batch["extras"]["posterior"].shape == (3, 1, 32, 40)
    assert len(batch["case"]) == 3
    assert set(batch["case"]) <= set(store.cases)
    assert all(t.is_contiguous() for t in (batch["image"], batch["label"]))


def test_the_share_of_patches_with_foreground_is_that_asked_for(rare):
    """Patches of 6³ in 40 x 36 x 30 meet the foreground by chance in few cases."""
    chance = plain(rare, size=(6, 6, 6), batch=4, oversample=0.0)
    asked = plain(rare, size=(6, 6, 6), batch=4, oversample=0.5)
    met = np.mean([(b["label"].flatten(1) > 0).any(1).float().mean() for b in batches(chance, 250)])
    held = [(b["label"].flatten(1) > 0).any(1).float().mean() for b in batches(asked, 250)]
    assert met < 0.1
    assert min(held) >= 0.5, "guaranteed in every batch"
    assert np.mean(held) == pytest.approx(0.5 + 0.5 * met, abs=0.03)


def test_foreground_classes_are_balanced(rare):
    source = plain(rare, size=(6, 6, 6), batch=8, oversample=1.0)
    labels = torch.cat([b["label"].flatten(1) for b in batches(source, 60)])
    ones, twos = ((labels == k).any(1).float().mean().item() for k in (1, 2))
    assert ones + twos == pytest.approx(1)  # never both: they lie far apart
    assert ones == pytest.approx(0.5, abs=4 * 0.5 / np.sqrt(480))


def test_a_patch_is_a_piece_of_its_case(rare):
    case = rare.case("case 1")
    image, label = case.read_image(), case.read_label()
    found = cut_patch(
        case, (3, 4, 5), make_augmentation("none", (6, 7, 8)), np.random.default_rng()
    )
    np.testing.assert_array_equal(found.image, image[:, 3:9, 4:11, 5:13])
    np.testing.assert_array_equal(found.label, label[3:9, 4:11, 5:13])


@pytest.mark.parametrize("ignore", [None, 9])
def test_a_case_smaller_than_the_patch_is_padded(tmp_path, ignore):
    label = np.ones((5, 20), np.uint8)
    image = np.ones((1, 5, 20), np.float32)
    store = make_store(tmp_path, [case_of("small", label, image)], ignore)
    found = plain(store, size=(8, 16), batch=1).batch(0, 0)
    fill = 0 if ignore is None else ignore
    np.testing.assert_array_equal(
        found["label"][0], np.pad(label[:, :16], [(2, 1), (0, 0)], constant_values=fill)
    )
    np.testing.assert_array_equal(found["image"][0, 0], np.pad(image[0, :, :16], [(2, 1), (0, 0)]))


@pytest.mark.parametrize("ignore", [None, 3])
def test_augmented_patches_of_small_cases_hold_declared_labels_only(tmp_path, ignore):
    label = np.full((9, 10, 6), 2, np.uint8)
    store = make_store(tmp_path, [case_of("small", label)], ignore)
    source = PatchSource(store, ["small"], PatchSettings((16, 12, 12), batch=4), "nnunet")
    fill = 0 if ignore is None else ignore
    for batch in batches(source, 10):
        assert set(batch["label"].unique().tolist()) <= {2, fill}
        assert batch["image"].isfinite().all()


def test_cases_without_foreground_work(tmp_path):
    store = make_store(tmp_path, [case_of("empty", np.zeros((20, 20), np.uint8))])
    source = plain(store, size=(8, 8), batch=4, oversample=1.0)
    assert all(not batch["label"].any() for batch in batches(source, 5))


def test_rotated_patches_show_no_padding_inside_a_case(tmp_path):
    """Of an image of ones nothing but ones can be seen, however it is turned."""
    shape = (64, 64, 64)
    store = make_store(
        tmp_path, [case_of("ones", np.zeros(shape, np.uint8), np.ones((1, *shape), np.float32))]
    )
    chances = AffineChances(1.0, 30.0, 1.0, (0.7, 1.4))
    turning = Augmentation((20, 20, 20), chances, None, mirror=False)
    rng = np.random.default_rng(0)
    for _ in range(30):
        patch = cut_patch(store.case("ones"), (22, 22, 22), turning, rng)
        assert patch.image.min() > 0.9999


@pytest.mark.parametrize("part", [(0, 3), (5, 2), (0, 0), (-1, 2), (2, 2)])
def test_a_part_that_does_not_exist(rare, part):
    source = plain(rare, size=(8, 8, 8), batch=2)
    with pytest.raises(ValueError, match=r"part: expected \(i, n\) with 0 <= i < n <= 2") as caught:
        source.batch(0, 0, part)
    assert str(part) in str(caught.value)


def test_parts_put_together_are_the_batch(rare):
    source = PatchSource(rare, rare.cases, PatchSettings((8, 8, 8), batch=5), "light")
    whole = source.batch(4, 7)
    for n in (1, 2, 3, 5):
        parts = [source.batch(4, 7, (i, n)) for i in range(n)]
        assert torch.equal(torch.cat([p["image"] for p in parts]), whole["image"])
        assert torch.equal(torch.cat([p["label"] for p in parts]), whole["label"])
        assert [name for p in parts for name in p["case"]] == whole["case"]


def test_the_number_of_torchs_threads_changes_nothing(rare):
    """Sums of floats depend on it, and so would contrast and gamma."""
    source = PatchSource(rare, rare.cases, PatchSettings((36, 36, 30), batch=4), "nnunet")
    before = torch.get_num_threads()
    try:
        found = []
        for threads in (1, 4):
            torch.set_num_threads(threads)
            found.append([b["image"] for b in batches(source, 6)])
            assert torch.get_num_threads() == threads
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(a, b) for a, b in zip(*found, strict=True))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"cases": []}, "cases: expected at least one, got none; choose another split"),
        ({"cases": ["case 1", "case 9"]}, "cases: the store has no 'case 9'"),
        ({"settings": PatchSettings((8, 8))}, r"size: the store's cases have 3 axes, got \(8, 8\)"),
        ({"augmentation": "heavy"}, "augmentation: unknown 'heavy'; known: nnunet, light, none"),
        (
            {"augmentation": make_augmentation("light", (9, 9, 9))},
            r"augmentation: made for patches of \(9, 9, 9\), got size \(8, 8, 8\)",
        ),
        ({"extras": ["posterior"]}, "extras: no 'posterior' in the store; there are: none"),
    ],
)
def test_what_does_not_go_together_is_refused(rare, change, message):
    arguments = {"cases": ["case 1"], "settings": PatchSettings((8, 8, 8)), **change}
    with pytest.raises(ValueError, match=message) as caught:
        PatchSource(rare, **arguments)
    assert "\n" not in str(caught.value)
