"""The notebook's widget from Python's side; what it does on the screen is in test_browser."""

import numpy as np
import pytest

from gradsurge.report.viewer import show_case
from gradsurge.report.viewer import widget as widgets
from gradsurge.report.viewer.contents import contents_of
from tests.experiments.viewing.folders import prediction_folder
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


def test_mistakes_are_told(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match="names: expected one for each of 1 folders"):
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
