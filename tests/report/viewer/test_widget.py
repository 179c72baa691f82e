"""The notebook's widget from Python's side; what it does on the screen is in test_browser."""

from pathlib import Path

import numpy as np
import pytest

from gradsurge.data.case_error import CaseError
from gradsurge.report.viewer import show_case
from gradsurge.report.viewer import widget as widgets
from gradsurge.report.viewer.contents import contents_of
from tests.experiments.viewing.folders import SHAPE, prediction_folder, save
from tests.report.viewer.browsing import needs_niivue
from tests.report.viewer.example import volume_view


@needs_niivue
def test_its_traits_are_checked():
    import traitlets

    widget = widgets.case_widget(volume_view())
    assert (widget.threshold, widget.structure, widget.cursor) == (0.05, "any structure", [])
    widget.structure, widget.threshold = "tumour", 0.5
    with pytest.raises(traitlets.TraitError, match="expected one of any structure, kidney, tumour"):
        widget.structure = "liver"
    for wrong in (0.0, 1.5, "half"):
        with pytest.raises(traitlets.TraitError):
            widget.threshold = wrong
    assert set(widget.parts) == {*contents_of(volume_view()).parts, "niivue"}
    assert widget.traits(sync=True).keys() >= {"description", "parts", "threshold", "cursor"}


@needs_niivue
def test_cases_are_shown_by_folder(tmp_path):
    one, two = (prediction_folder(tmp_path, name) for name in ("one", "two"))
    widget = show_case(one, two, case="b", names=("A", "B"))
    assert widget.description["case"] == "b"
    assert [m["name"] for m in widget.description["models"]] == ["A", "B"]
    assert np.prod(widget.description["grid"]["shape"]) == 9 * 11 * 7
    assert show_case(str(one)).description["models"][0]["name"] == "one"


@needs_niivue
def test_plain_files_are_shown_by_the_names_that_people_type(tmp_path):
    """Paths as text, and a single one without a list round it."""
    scan = str(save(tmp_path / "s.nii.gz", np.ones(SHAPE, np.float32)))
    p, q = (str(save(tmp_path / f"{n}.nii.gz", np.full(SHAPE, 0.5, np.float32))) for n in "pq")
    label = str(save(tmp_path / "l.nii.gz", np.ones(SHAPE, np.uint8)))
    alone = show_case(scan=scan, label=label).description
    assert (alone["case"], alone["label"]["title"]) == ("s", "l.nii.gz")
    one = show_case(scan=scan, maps=p, masks=label, structures="foreground").description
    assert [(m["name"], m["mask"]) for m in one["models"]] == [("p", "mask-0")]
    two = show_case(scan=scan, maps=[p, Path(q)], names=["ours", "theirs"]).description
    assert [m["name"] for m in two["models"]] == ["ours", "theirs"]
    with pytest.raises(ValueError, match=r"names: expected one for each of 2 models, got \['o'\]"):
        show_case(scan=scan, maps=[p, q], names="o")
    with pytest.raises(CaseError, match=r"nowhere\.nii\.gz"):
        show_case(scan=str(tmp_path / "nowhere.nii.gz"))


def test_mistakes_are_told(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="names: expected one for each of 1 models"):
        show_case(tmp_path, names=("a", "b"))
    with pytest.raises(ValueError, match="expected a folder of predictions"):
        show_case()

    def missing():
        raise ValueError(
            "ipyniivue is missing, which shows the case: pip install 'gradsurge[view]'"
        )

    monkeypatch.setattr(widgets, "niivue_script", missing)
    with pytest.raises(ValueError, match="pip install"):
        widgets.case_widget(volume_view())
