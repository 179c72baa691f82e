"""Where the cases of a study come from, and where its folder may be."""

import json
import threading
from dataclasses import replace

import pytest

from gradsurge.data.datasets import NnUnet
from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.store import Store, only_writer
from gradsurge.experiments.preparing import prepare
from gradsurge.experiments.recipes import DataPart
from gradsurge.experiments.study import NoData, enter_study, study_store, with_rows
from gradsurge.experiments.study.study_folder import (
    check_study,
    dataset_of,
    with_told_title,
)
from tests.experiments.prediction.fakes import raw_tree
from tests.experiments.study.records import recipe
from tests.experiments.study.tiny import Told


def of_data(dataset, most=None, **settings):
    data = DataPart(dataset, settings, "somewhere", most)
    return replace(recipe(["dice"], {"1": ["dice"]}), data=data)


PHANTOMS = of_data("lesions-2d", {"train": 2}, cases=5, size=[16, 16])


def test_raw_data_are_prepared_once(tmp_path):
    raw = raw_tree(tmp_path / "raw")
    made = of_data("nnunet", spacing=[2, 2, 2])
    out = tmp_path / "out"
    store = study_store(made, out, raw=raw)
    assert store.dataset.settings["spacing"] == [2.0, 2.0, 2.0]
    (raw / "labelsTr" / "a.nii.gz").unlink()  # what is prepared is not looked at again
    assert study_store(made, out).cases == store.cases
    with pytest.raises(ValueError, match=r"was prepared with spacing \[2.0, 2.0, 2.0\]"):
        study_store(of_data("nnunet", spacing=[1, 2, 2]), out)


def test_without_data(tmp_path):
    with pytest.raises(NoData, match=r"made: no data; give --data RAW .* from: somewhere"):
        study_store(of_data("nnunet"), tmp_path / "out")
    with pytest.raises(ValueError, match="nothing"):
        study_store(of_data("nnunet"), tmp_path / "out", raw=tmp_path / "nothing")


def test_phantoms_need_none_and_the_scale_limits_them(tmp_path):
    store = study_store(PHANTOMS, tmp_path)
    assert {split: len(names) for split, names in store.splits.items()} == {
        "train": 2,
        "validation": 1,
        "test": 1,
    }
    assert len(Store.open(tmp_path / "store").cases) == 5


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"dataset": "vessels-2d"}, "is a store of lesions-2d, the recipe is for vessels-2d"),
        ({"settings": {"cases": 7, "size": [16, 16]}}, "cases 5, the recipe says 7"),
        ({"settings": {"cases": 5, "size": [16, 32]}}, "size"),
    ],
)
def test_a_store_of_something_else(tmp_path, changes, words):
    prepare(PhantomSet("lesions-2d", 5, (16, 16)), tmp_path, tmp_path / "given")
    other = replace(PHANTOMS, data=replace(PHANTOMS.data, **changes))
    with pytest.raises(ValueError, match=words):
        study_store(other, tmp_path / "out", store=tmp_path / "given")


@pytest.fixture(scope="module")
def raw(tmp_path_factory):
    return raw_tree(tmp_path_factory.mktemp("nnunet") / "raw")


@pytest.mark.parametrize(
    ("options", "wanted", "words"),
    [
        ({}, {"spacing": "median"}, "spacing none, the recipe says 'median'"),
        ({"spacing": "median"}, {}, r"spacing \[[^]]*\], the recipe says none"),
        ({"merge": "all"}, {}, "merge 'all', the recipe says none"),
        ({}, {"merge": "all"}, "merge none, the recipe says 'all'"),
        ({"crop": "nonzero"}, {}, "crop 'nonzero', the recipe says 'none'"),
        ({"spacing": (2, 2, 2)}, {"spacing": [2, 2, 1]}, "spacing"),
    ],
)
def test_a_store_of_the_same_name_prepared_otherwise(tmp_path, raw, options, wanted, words):
    prepare(NnUnet(**options), raw, tmp_path / "given")
    with pytest.raises(ValueError, match=f"was prepared with {words}"):
        study_store(of_data("nnunet", **wanted), tmp_path, store=tmp_path / "given")


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({}, {}),
        ({"spacing": "median"}, {"spacing": "median"}),
        ({"spacing": (2, 2, 2), "fold": 0}, {"spacing": [2, 2, 2], "crop": "none"}),
        ({"merge": "all", "crop": "nonzero"}, {"merge": "all", "crop": "nonzero"}),
    ],
)
def test_a_store_prepared_as_the_recipe_says(tmp_path, raw, options, wanted):
    prepare(NnUnet(**options), raw, tmp_path / "given")
    made = of_data("nnunet", **wanted)
    assert len(study_store(made, tmp_path, store=tmp_path / "given").cases) == 5


def test_phantoms_stand_in_at_the_smallest_scale_alone(tmp_path):
    prepare(PhantomSet("lesions-2d", 5, (16, 16)), tmp_path, tmp_path / "given")
    fives, kits = of_data("fives"), of_data("kits")
    store = study_store(replace(fives, scale="smoke"), tmp_path, store=tmp_path / "given")
    assert store.dataset.name == "lesions-2d"
    for scale in ("small", "paper"):
        with pytest.raises(ValueError, match=r"prepare fives RAW STORE; .* --scale smoke alone"):
            study_store(replace(fives, scale=scale), tmp_path, store=tmp_path / "given")
    with pytest.raises(ValueError, match="have 2 axes, kits has 3; give a store of lesions-3d or"):
        study_store(replace(kits, scale="smoke"), tmp_path, store=tmp_path / "given")
    # Phantoms are made as a recipe of them says: others would be another study.
    other = replace(of_data("vessels-2d"), scale="smoke")
    with pytest.raises(ValueError, match="recipe is for vessels-2d; give another"):
        study_store(other, tmp_path, store=tmp_path / "given")


def test_a_study_of_phantoms_in_place_of_data_says_so(tmp_path):
    prepare(PhantomSet("lesions-2d", 5, (16, 16)), tmp_path, tmp_path / "given")
    fives = replace(of_data("fives"), scale="smoke")
    enter_study(tmp_path, fives, study_store(fives, tmp_path, store=tmp_path / "given"))
    assert with_told_title(fives, tmp_path).title == "Made up (phantoms lesions-2d in its place)"
    assert dataset_of(tmp_path) == "lesions-2d"
    assert with_told_title(fives, tmp_path / "other") == fives
    enter_study(tmp_path / "out", PHANTOMS, study_store(PHANTOMS, tmp_path / "out"))
    assert with_told_title(PHANTOMS, tmp_path / "out") == PHANTOMS


def test_a_preparation_of_others_is_waited_for(tmp_path):
    class Waiter(Told):
        def waiting(self):
            release.set()

    release, entered = threading.Event(), threading.Event()

    def other():
        (tmp_path / "store").mkdir()
        with only_writer(tmp_path / "store"):
            entered.set()
            release.wait(20)

    thread = threading.Thread(target=other)
    thread.start()
    entered.wait(20)
    assert len(study_store(PHANTOMS, tmp_path, watcher=Waiter()).split("train")) == 2
    assert release.is_set()
    thread.join()


def test_a_study_needs_test_cases(tmp_path):
    few = of_data("lesions-2d", cases=4, size=[16, 16])  # every fifth is a test case
    with pytest.raises(ValueError, match="no test cases, which a study needs"):
        study_store(few, tmp_path)


def test_a_folder_holds_one_study(tmp_path):
    store = study_store(PHANTOMS, tmp_path)
    enter_study(tmp_path, PHANTOMS, store)
    enter_study(tmp_path, PHANTOMS, store)
    with pytest.raises(ValueError, match="holds a study with scale 'paper', got 'small'"):
        enter_study(tmp_path, replace(PHANTOMS, scale="small"), store)
    with pytest.raises(ValueError, match="holds a study with recipe 'made', got 'other'"):
        enter_study(tmp_path, replace(PHANTOMS, name="other"), store)
    for content in ("{", json.dumps({"format": "mine"}), "[]"):
        (tmp_path / "study.json").write_text(content)
        with pytest.raises(ValueError, match=r"study.json: not of a study"):
            enter_study(tmp_path, PHANTOMS, store)


def with_training(made, **training):
    return replace(made, run={**made.run, "training": training})


def test_a_study_does_not_go_on_with_another_recipe(tmp_path):
    store = study_store(PHANTOMS, tmp_path)
    made = with_training(PHANTOMS, steps=5, checkpoint_every=1)
    enter_study(tmp_path, made, store)
    enter_study(tmp_path, with_training(made, steps=5, checkpoint_every=2), store)
    with pytest.raises(ValueError, match=r"begun with run.training.steps 5, the recipe says 6"):
        enter_study(tmp_path, with_training(made, steps=6), store)
    (dice,) = made.variants
    ce = replace(dice, name="ce", loss="ce")
    enter_study(tmp_path, replace(made, variants=(replace(dice, seeds=9, title="D"), ce)), store)
    other = replace(made, variants=(replace(ce, loss_options={"label_smoothing": 0.1}),))
    with pytest.raises(ValueError, match=r"variants.ce.loss_options.label_smoothing 'not set'"):
        enter_study(tmp_path, other, store)


def test_a_study_does_not_go_on_with_other_cases(tmp_path):
    store = study_store(PHANTOMS, tmp_path / "out")
    enter_study(tmp_path / "out", PHANTOMS, store)
    swapped = {**store.splits, "test": store.splits["validation"]}
    other = Store(store.path, replace(store.dataset, splits=swapped))
    with pytest.raises(ValueError, match=r"other cases or splits than the store that the study in"):
        enter_study(tmp_path / "out", PHANTOMS, other)


def test_a_study_of_an_older_gradsurge_goes_on(tmp_path):
    about = {"format": "gradsurge study", "recipe": "made", "scale": "paper"}
    (tmp_path / "study.json").write_text(json.dumps(about))
    store = study_store(PHANTOMS, tmp_path)
    enter_study(tmp_path, PHANTOMS, store)
    with pytest.raises(ValueError, match=r"data.settings.cases 5, the recipe says 6"):
        check_study(tmp_path, of_data("lesions-2d", {"train": 2}, cases=6, size=[16, 16]))


def test_rows_that_are_asked_for():
    made = recipe(
        ["ce", "dice", "dice-surgery", "dice-surgery.n1"],
        {"1": ["ce", "dice", "dice-surgery"], "3": ["dice-surgery.n1"]},
    )
    asked = with_rows(made, ["1", "3"], ["dice-surgery"])
    assert asked.tables["1"].variants == ("dice-surgery",)
    assert asked.tables["3"].variants == ("dice-surgery.n1",)
    assert list(with_rows(made, ["1", "3"], ["dice"]).tables) == ["1"]
    assert with_rows(made, ["1"], []).tables["1"] == made.tables["1"]
    with pytest.raises(ValueError, match="no table '2'"):
        with_rows(made, ["2"], [])
    with pytest.raises(ValueError, match=r"no loss .dcie.; there are: ce, dice, dice-surgery$"):
        with_rows(made, ["1"], ["dcie"])
    with pytest.raises(ValueError, match="none of the tables 3 has a row of ce"):
        with_rows(made, ["3"], ["ce"])
