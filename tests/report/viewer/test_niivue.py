"""NiiVue is found inside of ipyniivue, and its absence is told in one line."""

from importlib.metadata import PackageNotFoundError
from pathlib import Path
from urllib.parse import quote

import pytest

from gradsurge.report.viewer import niivue
from tests.report.viewer.browsing import needs_niivue

MODULE = "var a=1;" + "/* long */" * 12_000 + "export{a as Niivue,NVImage,COLORMAP_TYPE,SLICE_TYPE,"


@pytest.fixture
def _forgotten():
    niivue.niivue_script.cache_clear()
    yield
    niivue.niivue_script.cache_clear()


@needs_niivue
def test_the_installed_package_has_a_module_of_its_own():
    found = niivue.niivue_script()
    assert found.source.rstrip().endswith("};")
    assert "import(" not in found.source  # it needs nothing else
    assert 'from"http' not in found.source
    assert found.version.startswith("NiiVue 0.")
    assert "Redistributions" in found.licence


def test_a_module_is_taken_out_of_a_bundle_as_it_was():
    source = MODULE + "SHOW_RENDER};"
    bundle = f'var x="short";var o="{quote(source, safe="")}";export{{x as default}};'
    assert niivue.module_in(bundle) == source


@pytest.mark.parametrize(
    "bundle",
    [
        "",
        'var o="short"',
        f'var o="{quote(MODULE + "other};", safe="")}";',
        f'var o="{"%20" * 50_000}";',
    ],
)
def test_other_bundles_have_none(bundle):
    assert niivue.module_in(bundle) is None


@pytest.mark.usefixtures("_forgotten")
def test_a_missing_package_says_what_to_install(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(niivue, "distribution", missing)
    with pytest.raises(ValueError, match=r"pip install 'gradsurge\[view\]'") as error:
        niivue.niivue_script()
    assert "\n" not in str(error.value)


@pytest.mark.usefixtures("_forgotten")
@needs_niivue
def test_another_version_without_it_says_so(monkeypatch, tmp_path):
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "widget.js").write_text("export{x as default};")
    monkeypatch.setattr(niivue, "files", lambda _: tmp_path)
    with pytest.raises(ValueError, match=r"ipyniivue [0-9.]+: has no NiiVue module"):
        niivue.niivue_script()
    monkeypatch.setattr(niivue, "files", lambda _: Path("/nowhere"))
    with pytest.raises(ValueError, match="its script cannot be read"):
        niivue.niivue_script()
