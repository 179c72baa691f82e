import json
from dataclasses import replace

import nibabel
import numpy as np
import pytest
import tifffile
import torch
from PIL import Image

from gradsurge.calibration.recalibration import Temperature
from gradsurge.data import read_label
from gradsurge.data.datasets import NnUnet
from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.preprocessing import to_source
from gradsurge.data.store import Store
from gradsurge.experiments.prediction import one_case, predicting
from gradsurge.experiments.prediction.predicting import PredictCalls, predict, predict_with
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.preparation import DiskFull
from gradsurge.experiments.preparing import prepare
from tests.experiments.prediction.fakes import (
    CPU,
    Pointwise,
    dicom_series,
    pictures_store,
    predictor,
    raw_tree,
    save,
    sigmoid,
    store_of,
    z_scored,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("predicting")


@pytest.fixture(scope="module")
def store(folder):
    return store_of(raw_tree(folder / "raw"), folder / "store")


@pytest.fixture(scope="module")
def images(store, folder):
    return folder / "raw" / "imagesTr"


def run(members, place, out, settings=None, **options):
    return predict_with(members, place, out, settings or PredictSettings(), CPU, **options)


def test_the_map_is_the_closed_form_on_the_images_own_grid(store, images, tmp_path):
    record = run([predictor(store, thresholds=(0.8,))], images, tmp_path / "out")
    assert record.complete
    assert record.failures == []
    assert [case["case"] for case in record.cases] == ["a", "b", "c", "d", "e"]
    for case in record.cases:
        source = nibabel.load(images / f"{case['case']}_0000.nii.gz")
        expected = sigmoid(2 * z_scored(source.get_fdata()))
        found = nibabel.load(tmp_path / "out" / case["probabilities"])
        np.testing.assert_allclose(found.get_fdata(), expected, atol=2e-6)
        assert np.array_equal(found.affine, source.affine)
        for code in ("qform_code", "sform_code"):
            assert found.header[code] == source.header[code]
        mask = nibabel.load(tmp_path / "out" / case["mask"])
        assert np.array_equal(np.asarray(mask.dataobj), expected > 0.8)
        assert np.array_equal(mask.affine, source.affine)
    assert not list((tmp_path / "out").rglob(".*"))


def test_the_json_says_what_was_done(store, images, tmp_path):
    record = run(
        [predictor(store, thresholds=(0.3,))],
        images / "b_0000.nii.gz",
        tmp_path / "out",
        PredictSettings(mirror=True, bits=16),
    )
    told = json.loads((tmp_path / "out" / "predictions.json").read_text())
    assert told == json.loads(json.dumps(record.to_json()))
    assert told["runs"][0] | {"run": "runs/one", "step": 7, "correction": "none"} == told["runs"][0]
    assert told["mask"]["thresholds"] == {"lesion": 0.3}
    assert told["probabilities"]["scale"] == 1 / 65535
    assert told["windows"]["mirrored_axes"] == [0, 1, 2]
    assert told["versions"]["torch"] == torch.__version__
    assert told["cases"][0]["seconds"] >= 0
    (case,) = told["cases"]
    assert nibabel.load(tmp_path / "out" / case["probabilities"]).get_data_dtype() == np.uint16


def test_resampled_and_cropped_cases_come_back(folder, images, tmp_path):
    dataset = NnUnet(spacing=(2.0, 2.0, 2.0), crop="nonzero")
    other = store_of(folder / "raw", tmp_path / "store", dataset)
    skull = tmp_path / "in" / "s_0000.nii.gz"
    skull.parent.mkdir()
    array = nibabel.load(images / "a_0000.nii.gz").get_fdata(dtype=np.float32)
    array[:3], array[..., 5:] = 0, 0
    save(skull, array)
    labels = {"background": 0, "one": 1, "two": 2}
    facts = replace(other.dataset, label_names={n: name for name, n in labels.items()})
    member = predictor(replace_dataset(other, facts), dataset=facts)
    member = replace(member, thresholds=None)
    run([member], skull.parent, tmp_path / "out")
    source = dataset_image(member, skull)
    logits = member.model(torch.from_numpy(source.image)[None])[0]
    expected = to_source(logits.softmax(0).numpy(), source.grid)
    found = nibabel.load(tmp_path / "out" / "s.nii.gz").get_fdata(dtype=np.float32)
    np.testing.assert_allclose(np.moveaxis(found, -1, 0), expected, atol=1e-5)
    np.testing.assert_allclose(found.sum(-1), 1.0, atol=1e-5)
    assert (found[..., 6, 0] > 0.99).all()  # cropped away: background
    mask = nibabel.load(tmp_path / "out" / "masks" / "s.nii.gz")
    agree = np.asarray(mask.dataobj) == expected.argmax(0)
    assert agree.mean() > 0.999  # but for rounding of equal probabilities


def replace_dataset(store, facts):
    return Store(store.path, facts)


def dataset_image(member, file):
    from gradsurge.data.datasets import dataset_of_store

    dataset = dataset_of_store(member.dataset)
    return dataset.load_image(dataset.find_images(file).cases[0])


def test_regions_are_painted_with_their_numbers(tmp_path):
    labels = {"background": 0, "whole": [1, 2], "core": [2]}
    store = store_of(raw_tree(tmp_path / "raw", labels), tmp_path / "store")
    member = predictor(store, thresholds=(0.4, 0.7))
    run([member], store.path, tmp_path / "out", split="test")
    (name,) = store.split("test")
    p = nibabel.load(tmp_path / "out" / f"{name}.nii.gz").get_fdata(dtype=np.float32)
    source = nibabel.load(tmp_path / "raw" / "imagesTr" / f"{name}_0000.nii.gz").get_fdata()
    z = 2 * z_scored(source)
    np.testing.assert_allclose(p[..., 0], sigmoid(z), atol=2e-6)
    np.testing.assert_allclose(p[..., 1], sigmoid(-z), atol=2e-6)
    expected = np.where(p[..., 1] > 0.7, 2, np.where(p[..., 0] > 0.4, 1, 0))
    mask = read_label(tmp_path / "out" / "masks" / f"{name}.nii.gz").array
    assert np.array_equal(mask, expected)


def test_a_store_gives_what_its_raw_files_give(store, images, tmp_path):
    member = predictor(store)
    run([member], images, tmp_path / "raw")
    record = run([member], store.path, tmp_path / "stored", split="train")
    names = [case["case"] for case in record.cases]
    assert names == store.split("train")
    for name in names:
        one, two = (nibabel.load(tmp_path / o / f"{name}.nii.gz") for o in ("raw", "stored"))
        assert np.array_equal(np.asarray(one.dataobj), np.asarray(two.dataobj))
        assert one.header.binaryblock == two.header.binaryblock


def test_pictures_become_tiff_and_png(tmp_path):
    store = pictures_store(tmp_path)
    record = run([predictor(store)], tmp_path / "raw" / "images", tmp_path / "out")
    assert len(record.cases) == 5
    pixels = np.asarray(Image.open(tmp_path / "raw" / "images" / "p.png"))
    expected = sigmoid(2 * z_scored(pixels))
    np.testing.assert_allclose(tifffile.imread(tmp_path / "out" / "p.tif"), expected, atol=2e-6)
    mask = np.asarray(Image.open(tmp_path / "out" / "masks" / "p.png"))
    assert np.array_equal(mask, expected > 0.5)


def test_phantoms_bring_their_labels(tmp_path):
    prepare(PhantomSet("lesions-2d", 5, (32, 32)), tmp_path, tmp_path / "store")
    store = Store.open(tmp_path / "store")
    record = run([predictor(store)], store.path, tmp_path / "out", split="test")
    (case,) = record.cases
    label = read_label(tmp_path / "out" / case["label"]).array
    assert np.array_equal(label, store.case(case["case"]).read_label())
    # Another seed is another draw of the same thing.
    prepare(PhantomSet("lesions-2d", 5, (32, 48), seed=3), tmp_path, tmp_path / "other")
    assert len(run([predictor(store)], tmp_path / "other", tmp_path / "more").cases) == 5


def test_damaged_files_are_told_and_the_rest_goes_on(store, images, tmp_path):
    place = tmp_path / "in"
    place.mkdir()
    for name in ("a", "b", "c"):
        (place / f"{name}_0000.nii.gz").write_bytes((images / f"{name}_0000.nii.gz").read_bytes())
    cut = place / "b_0000.nii.gz"
    cut.write_bytes(cut.read_bytes()[:400])
    shares = []
    calls = PredictCalls(on_share=shares.append)
    record = run([predictor(store)], place, tmp_path / "out", calls=calls)
    assert [case["case"] for case in record.cases] == ["a", "c"]
    ((name, problem),) = record.failures
    assert name == "b"
    assert "b_0000.nii.gz" in problem
    assert "\n" not in problem
    assert sum(shares) == pytest.approx(3.0)
    assert sorted(f.name for f in (tmp_path / "out").rglob("*.nii.gz")) == [
        "a.nii.gz",
        "a.nii.gz",
        "c.nii.gz",
        "c.nii.gz",
    ]


def test_results_are_replaced_only_if_that_is_said(store, images, tmp_path):
    place, out = images / "a_0000.nii.gz", tmp_path / "out"
    run([predictor(store)], place, out)
    before = (out / "a.nii.gz").read_bytes()
    other = predictor(store, model=Pointwise(slope=1.0))
    with pytest.raises(ValueError, match=r"holds a\.nii\.gz already and 1 more; --overwrite"):
        run([other], place, out)
    assert (out / "a.nii.gz").read_bytes() == before
    run([other], place, out, overwrite=True)
    assert (out / "a.nii.gz").read_bytes() != before


def test_an_interruption_leaves_whole_files_only(store, images, tmp_path, monkeypatch):
    written = []
    write = one_case.write_mask

    def write_mask(file, mask, frame):
        if len(written) == 2:
            raise KeyboardInterrupt
        written.append(file)
        write(file, mask, frame)

    monkeypatch.setattr(one_case, "write_mask", write_mask)
    with pytest.raises(KeyboardInterrupt):
        run([predictor(store)], images, tmp_path / "out")
    files = sorted(f.relative_to(tmp_path / "out").as_posix() for f in tmp_path.rglob("*.*"))
    assert [f for f in files if "/" not in f] == ["a.nii.gz", "b.nii.gz", "predictions.json"]
    assert not [f for f in files if "partial" in f]
    told = json.loads((tmp_path / "out" / "predictions.json").read_text())
    assert told["complete"] is False
    assert [case["case"] for case in told["cases"]] == ["a", "b"]


def test_a_full_disk_ends_the_work(store, images, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device", "x")

    monkeypatch.setattr(one_case, "write_map", full)
    with pytest.raises(DiskFull, match=r"out: the disk is full, 0 of 5 cases .*--overwrite"):
        run([predictor(store)], images, tmp_path / "out")
    assert [f.name for f in (tmp_path / "out").glob("*.*")] == ["predictions.json"]


def test_runs_of_different_preprocessing_are_no_ensemble(store, images, tmp_path):
    spaced = {**store.dataset.settings, "spacing": [1.0, 1.0, 1.0]}
    other = predictor(store, dataset=replace(store.dataset, settings=spaced), run="runs/two")
    with pytest.raises(ValueError, match=r"runs/two: .*runs/one: .*preprocessing.*spacing is"):
        run([predictor(store), other], images, tmp_path / "out")
    named = replace(store.dataset, label_names={0: "background", 1: "tumour"})
    other = predictor(store, dataset=named, run="runs/two")
    with pytest.raises(ValueError, match=r"classes differ, 1 is 'tumour' against 'lesion'"):
        run([predictor(store), other], images, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_packed_and_unpacked_files_are_one_ensemble(store, images, tmp_path):
    unpacked = {**store.dataset.settings, "ending": ".nii", "foreground": [2]}
    other = predictor(store, dataset=replace(store.dataset, settings=unpacked))
    record = run([predictor(store), other], images / "a_0000.nii.gz", tmp_path / "out")
    assert len(record.cases) == 1


def test_a_source_that_changed_since_it_was_prepared_gives_no_header(store, tmp_path):
    raw = raw_tree(tmp_path / "raw", cases="abcde")
    mine = store_of(raw, tmp_path / "store")
    image = raw / "imagesTr" / "a_0000.nii.gz"
    source = nibabel.load(image)
    moved = source.affine.copy()
    moved[0, 3] += 5
    save(image, source.get_fdata(dtype=np.float32), moved)
    save(raw / "imagesTr" / "b_0000.nii.gz", np.zeros((3, 3, 3), np.float32))
    record = run([predictor(mine)], mine.path, tmp_path / "out")
    told = {case["case"]: case["geometry"] for case in record.cases}
    assert told["a"] == told["b"] == "affine of the input"
    assert told["c"] == "header of the input"
    for name in "ab":
        found = nibabel.load(tmp_path / "out" / f"{name}.nii.gz")
        np.testing.assert_allclose(found.affine, source.affine, atol=1e-5)
        assert found.shape == source.shape


def test_thresholds_of_an_ensemble_are_the_mean(store, images, tmp_path):
    members = [predictor(store, thresholds=(t,)) for t in (0.2, 0.6)]
    record = run(members, images / "a_0000.nii.gz", tmp_path / "out")
    assert record.about["mask"]["thresholds"] == {"lesion": pytest.approx(0.4)}
    assert len(record.about["runs"]) == 2


def test_bad_places_are_told_before_anything_is_written(store, images, tmp_path):
    members = [predictor(store)]
    with pytest.raises(ValueError, match="no such file or folder"):
        run(members, tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(ValueError, match=r"split: .*no store"):
        run(members, images, tmp_path / "out", split="test")
    with pytest.raises(ValueError, match="no split 'best'"):
        run(members, store.path, tmp_path / "out", split="best")
    with pytest.raises(ValueError, match="folder of the input"):
        run(members, images, images)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="expected"):
        run(members, tmp_path / "empty", tmp_path / "out")
    with pytest.raises(ValueError, match="runs: expected at least one"):
        run([], images, tmp_path / "out")
    with pytest.raises(ValueError, match="not a run"):
        predict([tmp_path / "empty"], images, tmp_path / "out")
    with pytest.raises(ValueError, match="device: 'abacus'"):
        predict([], images, tmp_path / "out", PredictSettings(device="abacus"))
    assert not (tmp_path / "out").exists()


def test_a_store_of_other_preprocessing_is_refused(store, folder, tmp_path):
    other = store_of(folder / "raw", tmp_path / "other", NnUnet(spacing=(2, 2, 2)))
    with pytest.raises(ValueError, match=r"not prepared as .* predict its raw images"):
        run([predictor(store)], other.path, tmp_path / "out")


def test_names_that_lead_elsewhere_are_refused(store, tmp_path, monkeypatch):
    found = predicting.find_cases(store.path, store.dataset)
    found.cases[0] = replace(found.cases[0], name="../escape")
    monkeypatch.setattr(predicting, "find_cases", lambda *_: found)
    record = run([predictor(store)], store.path, tmp_path / "out")
    assert record.failures[0][0] == "../escape"
    assert not list(tmp_path.glob("escape*"))


@pytest.mark.parametrize("thresholds", [None, (0.2, 0.45)])
def test_one_network_and_an_ensemble_of_its_copies_agree(folder, tmp_path, thresholds):
    """Two ways to the mask: decided while predicting, or on the source from kept probabilities."""
    labels = {"background": 0, "one": 1, "two": 2}
    raw = raw_tree(tmp_path / "raw", labels)
    store = store_of(raw, tmp_path / "store", NnUnet(crop="nonzero"))
    skull = tmp_path / "in" / "s_0000.nii.gz"
    skull.parent.mkdir()
    array = nibabel.load(raw / "imagesTr" / "a_0000.nii.gz").get_fdata(dtype=np.float32)
    array[:3], array[..., 5:] = 0, 0
    save(skull, array)
    cooler = Temperature(kind="multiclass", classes=3, temperatures=(3.0,), limits=())
    member = replace(predictor(store, correction=cooler), thresholds=thresholds)
    run([member], skull, tmp_path / "one")
    run([member, member], skull, tmp_path / "two")
    one, two = (nibabel.load(tmp_path / o / "s.nii.gz").get_fdata() for o in ("one", "two"))
    np.testing.assert_allclose(one, two, atol=1e-6)
    masks = [
        np.asarray(nibabel.load(tmp_path / o / "masks" / "s.nii.gz").dataobj)
        for o in ("one", "two")
    ]
    assert np.array_equal(*masks)
    assert set(np.unique(masks[0])) == {0, 1, 2}
    assert not masks[0][:3].any()


def test_a_folder_of_dicom_slices(store, tmp_path):
    series = tmp_path / "in" / "patient"
    values, affine = dicom_series(series)
    record = run([predictor(store)], tmp_path / "in", tmp_path / "out")
    assert record.failures == []
    found = nibabel.load(tmp_path / "out" / "patient.nii.gz")
    np.testing.assert_allclose(found.affine, affine, atol=1e-5)
    np.testing.assert_allclose(found.get_fdata(), sigmoid(2 * z_scored(values)), atol=5e-6)
    assert record.cases[0]["geometry"] == "affine of the input"
