"""The wheel, built and installed where nothing of the repository is on the path.

The environment is new and empty but for our wheel; requirements come from the one that runs the
tests, by a line in a path file, because installing torch once more takes minutes and a network.
"""

import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import gradsurge

ROOT = Path(__file__).parent.parent
LARGEST = 200_000  # bytes of a file


def call(*command, cwd, code=0):
    """Run a command as a user would: no path to the repository, no variable of the tests."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    result = subprocess.run(
        list(map(str, command)),
        cwd=cwd,
        env={name: value for name, value in os.environ.items() if name not in hidden},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == code, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The built wheel; hatchling is here, so that nothing is fetched."""
    pytest.importorskip("hatchling", reason="no hatchling: pip install 'gradsurge[dev]'")
    out = tmp_path_factory.mktemp("dist")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel")
    call(*pip, "--no-deps", "--no-build-isolation", "--no-index", "-w", out, ROOT, cwd=out)
    (file,) = out.glob("*.whl")
    return file


@pytest.fixture(scope="module")
def names(wheel):
    with zipfile.ZipFile(wheel) as content:
        return {info.filename: info.file_size for info in content.infolist()}


@pytest.fixture(scope="module")
def metadata(wheel):
    with zipfile.ZipFile(wheel) as content:
        (name,) = [n for n in content.namelist() if n.endswith(".dist-info/METADATA")]
        return Parser().parsestr(content.read(name).decode())


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    """The `bin` of a new environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("empty") / "env"
    venv.create(folder, with_pip=False, symlinks=os.name != "nt")
    scripts = folder / ("Scripts" if os.name == "nt" else "bin")
    python = scripts / "python"
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
    call(*pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    place = call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder)
    # Path files in that folder are not read a second time: the editable install stays out.
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(place.strip()) / "requirements.pth").write_text("\n".join(sorted(paths)) + "\n")
    return scripts


@pytest.mark.parametrize(
    "name",
    [
        "gradsurge/py.typed",
        "gradsurge/__main__.py",
        *(f"gradsurge/recipes/{file.name}" for file in (ROOT / "recipes").glob("*.toml")),
        *(f"gradsurge/experiments/published/data/table{n}.json" for n in range(1, 9)),
    ],
)
def test_the_wheel_holds(names, name):
    assert names[name] >= 0


def test_the_wheel_holds_every_file_of_the_package(names):
    sources = (ROOT / "src" / "gradsurge").rglob("*")
    wanted = {
        str(file.relative_to(ROOT / "src").as_posix())
        for file in sources
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert wanted <= names.keys()


def test_the_wheel_holds_nothing_else(names):
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"gradsurge", f"gradsurge-{gradsurge.__version__}.dist-info"}
    assert not [name for name in names if "test" in Path(name).stem.split("_")]
    assert not [name for name, size in names.items() if size > LARGEST]


def test_licence_and_extras(names, metadata):
    assert metadata["License-Expression"] == "Apache-2.0"
    assert [name for name in names if name.endswith("/licenses/LICENSE")]
    extras = set(metadata.get_all("Provides-Extra"))
    assert {"dask", "dev", "postgres", "view"} <= extras
    for text in metadata.get_all("Requires-Dist"):
        requirement = Requirement(text)  # refuses what pip could not read
        own = requirement.extras if requirement.name == "gradsurge" else set()
        assert own <= extras


def test_the_installed_command_runs_from_the_wheel(environment, tmp_path):
    code = "import gradsurge; print(gradsurge.__file__)"
    place = Path(call(environment / "python", "-c", code, cwd=tmp_path).strip())
    assert environment.parent.resolve() in place.resolve().parents
    said = call(environment / "gradsurge", "--version", cwd=tmp_path)
    assert said == f"gradsurge {gradsurge.__version__}\n"
    assert "Usage: gradsurge" in call(
        environment / "python", "-m", "gradsurge", "--help", cwd=tmp_path
    )


def test_the_doctor_finds_the_wheel_and_what_it_needs(environment, tmp_path):
    found = json.loads(call(environment / "gradsurge", "doctor", "--json", cwd=tmp_path))
    assert environment.parent.resolve() in Path(found["place"]).resolve().parents
    assert found["problems"] == []
    assert found["required"]["torch"] is not None


def test_the_demo_runs(environment, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_DISABLE_JIT", "1")  # compiling takes longer than so small a demo
    said = call(environment / "gradsurge", "demo", "--tiny", cwd=tmp_path)
    assert "Report: runs/demo/report.html" in said
    assert (tmp_path / "runs" / "demo" / "report.html").stat().st_size > 10_000
