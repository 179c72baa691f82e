"""``gradsurge evaluate`` as a user meets it: what is printed, written, and the exit code."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gradsurge import cli
from gradsurge.calibration.histogram import RESOLUTION
from gradsurge.cli import evaluate_options
from gradsurge.experiments.evaluation.settings import ALL
from tests.cli.test_cli import SCRIPT, run
from tests.experiments.evaluation import folders

FILES = {"metrics.json", "cases.csv", "report.html", "sketches"}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two models of six cases."""
    root = tmp_path_factory.mktemp("evaluate")
    folders.binary_folder(root, cases=6, model="good", noise=1.0)
    folders.binary_folder(root, cases=6, model="bad", noise=3.0)
    return root


@pytest.fixture
def call(monkeypatch, capsys):
    """Run the command in this process; a process each would cost seconds."""

    def run_here(*arguments):
        monkeypatch.setattr(sys, "argv", ["gradsurge", "evaluate", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            cli.main()
        code = stopped.value.code
        return subprocess.CompletedProcess(arguments, code, *capsys.readouterr())

    return run_here


def test_two_models_from_a_shell(root, tmp_path):  # about 5 s: a process that loads everything
    result = run(
        *("evaluate", f"A={root / 'good'}", root / "bad", root / "labels"),
        *("--out", tmp_path / "out"),
        command=SCRIPT,
    )
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert {f.name for f in (tmp_path / "out").iterdir()} == FILES
    for word in ("All voxels", "Active region", "A − bad", "6 cases", "pooled", "NLL", "DICE"):
        assert word in result.stdout
    assert str(tmp_path / "out" / "report.html") in result.stdout
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert report.lower().startswith("<!doctype html>")
    found = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert set(found["models"]) == {"A", "bad"}
    assert all(c["p_value"] == pytest.approx(2 / 2**6) for c in found["comparisons"])
    sketches = {
        str(f.relative_to(tmp_path / "out" / "sketches")) for f in (tmp_path / "out").rglob("*.npz")
    }
    assert len(sketches) == 2 * 2 * (6 + 1)
    assert {"A/pooled.all.npz", "bad/cases/case0.active.npz"} <= sketches


def test_json_alone_on_stdout(root, tmp_path, call):
    lonely = tmp_path / "model"
    lonely.mkdir()
    for file in (root / "good").iterdir():
        (lonely / file.name).symlink_to(file)
    (lonely / "case9.nii.gz").symlink_to(file)
    result = call(lonely, root / "labels", "--out", tmp_path / "out", "--json")
    assert result.returncode == 1
    found = json.loads(result.stdout)
    assert found == json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert found["models"]["model"]["cases"] == 6
    assert result.stderr.splitlines() == [
        "gradsurge: problem: model: case9: prediction case9.nii.gz has no label",
        "gradsurge: 1 problem; this case is left out",
    ]


def test_problems_are_a_line_each_and_counted(root, tmp_path, call):
    p, y = folders.binary_folder(tmp_path, cases=1, first=20)["case20"]
    names = ("[bold]x", "<script>alert(1)", "=1+1", "two  spaces")
    for name in names:
        folders.nifti(tmp_path / "labels" / f"{name}.nii", y)
        folders.nifti(tmp_path / "model" / f"{name}.nii", p + 1)
    folders.nifti(tmp_path / "labels" / "-alone.nii", y)
    result = call(tmp_path / "model", tmp_path / "labels", "--out", tmp_path / "out")
    assert result.returncode == 1
    *lines, last = result.stderr.splitlines()
    assert last == "gradsurge: 5 problems; these cases are left out"
    assert len(lines) == 5
    assert all(line.startswith("gradsurge: problem: model: ") for line in lines)
    for name in ("[bold]x", "<script>alert(1)", "=1+1", "two spaces"):
        assert sum(f"model: {name}: probabilities lie outside" in line for line in lines) == 1
    assert "1 cases" not in result.stdout
    assert "1 case" in result.stdout
    assert {f.name for f in (tmp_path / "out").iterdir()} == FILES
    report = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<script>alert(1)" not in report


def test_nothing_to_score(root, tmp_path, call):
    for name in ("case0", "case1"):
        folders.nifti(tmp_path / "model" / f"{name}.nii", np.full(folders.SHAPE, 7, np.float32))
    result = call(tmp_path / "model", root / "labels", "--out", tmp_path / "out")
    assert (result.returncode, result.stdout) == (1, "")
    *lines, count, last = result.stderr.splitlines()
    assert len(lines) == 6
    assert count == "gradsurge: 6 problems; these cases are left out"
    assert last == "gradsurge: error: no case could be scored"
    assert not (tmp_path / "out" / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{root}/nowhere", "{root}/labels"], ["no such folder", "nowhere"]),
        (["A={root}/nowhere", "{root}/labels"], ["no such folder", "nowhere"]),
        (["{root}/good", "{root}/nowhere"], ["LABELS", "nowhere"]),
        (["{root}/good"], ["LABELS is missing", "one folder only", "good"]),
        ([], ["Missing argument", "PREDICTIONS", "LABELS"]),
        (["{root}/good", "{root}/good/", "{root}/labels"], ["two models are called 'good'"]),
        (["A={root}/good", "A={root}/bad", "{root}/labels"], ["two models are called 'A'"]),
        (["..={root}/good", "{root}/labels"], ["plain name"]),
        (["{root}/good", "{root}/labels", "--bins", "17"], ["--bins", "divisor of 25200", "17"]),
        (["{root}/good", "{root}/labels", "--bins", "0"], ["--bins"]),
        (["{root}/good", "{root}/labels", "--region", "mask"], ["--masks"]),
        (["{root}/good", "{root}/labels", "--masks", "{root}/labels"], ["--region mask"]),
        (["{root}/good", "{root}/labels", "--region", "rind"], ["--region", "rind", "band"]),
        (["{root}/good", "{root}/labels", "--label", "tumour"], ["--label", "NAME=1", "tumour"]),
        (["{root}/good", "{root}/labels", "--label", "a=-1"], ["--label", "a=-1"]),
        (["{root}/good", "{root}/labels", "--label", "a=1,1"], ["--label", "twice"]),
        (["{root}/good", "{root}/labels", "--label", "a=1", "--label", "a=2"], ["two structures"]),
        (
            ["{root}/good", "{root}/labels", "--label", "all structures=1"],
            ["--label", "heads the row"],
        ),
        (["{root}/good", "{root}/labels", "--multilabel"], ["--multilabel", "--label"]),
        (["{root}/good", "{root}/labels", "--lesion-edges", "5,1"], ["--lesion-edges", "rising"]),
        (["{root}/good", "{root}/labels", "--lesion-edges", "0,nan,5"], ["--lesion-edges"]),
        (["{root}/good", "{root}/labels", "--band-mm", "nan"], ["--band-mm"]),
        (["{root}/good", "{root}/labels", "--surface-mm", "inf"], ["--surface-mm", "inf"]),
        (["{root}/good", "{root}/labels", "-j", "-1"], ["-j"]),
        (["{root}/good", "{root}/labels", "--images", "{root}/nowhere"], ["--images", "nowhere"]),
        (["{root}/good", "{root}/labels", "--profile", "best"], ["--profile", "best"]),
        (["{root}/good", "{root}/labels", "--nope"], ["--nope"]),
    ],
)
def test_mistakes_in_usage_are_one_line_and_touch_nothing(root, tmp_path, call, arguments, words):
    out = tmp_path / "out"
    out.mkdir()
    (out / "metrics.json").write_text("older results")
    result = call(*(a.format(root=root) for a in arguments), "--out", out, "--overwrite")
    assert (result.returncode, result.stdout) == (2, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line
    assert (out / "metrics.json").read_text() == "older results"


def old_results(out):
    (out / "sketches" / "old").mkdir(parents=True)
    for name in FILES - {"sketches"}:
        (out / name).write_text("old")
    (out / "notes.txt").write_text("mine")


def test_results_are_replaced_only_on_request(root, tmp_path, call):
    out = tmp_path / "out"
    old_results(out)
    refused = call(root / "good", root / "labels", "--out", out)
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr
    assert (out / "sketches" / "old").is_dir()
    result = call(root / "good", root / "labels", "--out", out, "--overwrite", "--no-lesions")
    assert result.returncode == 0, result.stderr
    assert {f.name for f in out.iterdir()} == FILES | {"notes.txt"}
    assert {f.name for f in (out / "sketches").iterdir()} == {"good"}
    assert json.loads((out / "metrics.json").read_text())["models"]["good"]["cases"] == 6


@pytest.mark.parametrize("fault", ["empty", "unreadable", "report"])
def test_a_failure_keeps_old_results(root, tmp_path, call, monkeypatch, fault):
    out, model = tmp_path / "out", tmp_path / "model"
    old_results(out)
    model.mkdir()
    if fault != "empty":
        folders.nifti(model / "case0.nii", np.full(folders.SHAPE, 7, np.float32))
    if fault == "report":
        model = root / "good"
        monkeypatch.setattr("gradsurge.report.evaluation.page.write_report", full_disk)
    result = call(model, root / "labels", "--out", out, "--overwrite")
    assert result.returncode == 1
    assert {f.name for f in out.iterdir()} == FILES | {"notes.txt"}
    assert all((out / name).read_text() == "old" for name in FILES - {"sketches"})
    assert (out / "sketches" / "old").is_dir()


def full_disk(*_):
    raise OSError(28, "No space left on device")


def test_a_folder_of_someone_else_s_is_never_removed(root, tmp_path, call):
    (tmp_path / "sketches" / "drawings").mkdir(parents=True)
    result = call(root / "good", root / "labels", "--out", tmp_path, "--overwrite")
    assert result.returncode == 2
    assert "holds sketches without metrics.json" in result.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["sketches"]
    assert (tmp_path / "sketches" / "drawings").is_dir()


def test_notes_are_a_line_each_and_no_failure(root, tmp_path, call):
    scans = tmp_path / "scans"
    scans.mkdir()
    result = call(
        *(root / "good", root / "labels", "--out", tmp_path / "out", "--no-lesions"),
        *("--logits", "--images", scans),
    )
    assert result.returncode == 0
    logits, images = result.stderr.splitlines()
    assert logits.startswith("gradsurge: note: good: --logits was given")
    assert images.startswith(f"gradsurge: note: --images: no scan of {scans}")
    found = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert [f"gradsurge: note: {note}" for note in found["notes"]] == [logits, images]


def columns(table):
    """Return heading -> numbers below it, of a printed table."""
    rows = [re.split("[│┃]", line)[1:-1] for line in table.splitlines() if line[:1] in "│┃"]
    head, *body = [[cell.strip() for cell in row] for row in rows]
    return {name: [row[k] for row in body] for k, name in enumerate(head)}


def test_columns_have_equal_decimals_and_surfaces_are_among_them(root, tmp_path, call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    result = call(
        *(root / "good", root / "bad", root / "labels", "--out", tmp_path / "out"),
        *("--surface-mm", "2", "--no-lesions", "--region", "all"),
    )
    assert result.returncode == 0, result.stderr
    table = columns(result.stdout.partition("Paired over cases")[0])
    assert list(table)[2:] == ["NLL", "BRIER", "ECE", "MCE", "DICE", "NSD", "HD95"]
    found = json.loads((tmp_path / "out" / "metrics.json").read_text())["models"]
    for name, numbers in list(table.items())[2:]:
        assert len({len(n.partition(".")[2]) for n in numbers if n != "–"}) == 1, name
        for model, shown in zip(("good", "bad"), numbers[::2], strict=True):
            mean = found[model]["mean_over_cases"]["all"]["foreground"][name.lower()]["mean"]
            assert float(shown) == pytest.approx(mean, rel=6e-3)


def test_the_resolution_is_the_sketch_s():
    assert evaluate_options.RESOLUTION == RESOLUTION


@pytest.mark.parametrize("folder", ["labels", "model"])
def test_a_folder_without_files_of_ours(root, tmp_path, call, folder):
    empty = tmp_path / folder
    empty.mkdir()
    labels = empty if folder == "labels" else root / "labels"
    model = empty if folder == "model" else root / "good"
    result = call(model, labels, "--out", tmp_path / "out")
    assert (result.returncode, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith(f"gradsurge: error: {empty}: holds no file of type .nii.gz")


def test_a_cluster_that_is_not_there_is_one_line(root, tmp_path, call, monkeypatch):
    monkeypatch.setattr("gradsurge.experiments.workers._ANSWER_SECONDS", 0.3)
    result = call(root / "good", root / "labels", "--out", tmp_path, "--dask", "127.0.0.1:9")
    assert (result.returncode, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: no Dask scheduler answers at 127.0.0.1:9")


def test_options_reach_the_measurement(root, tmp_path, call):
    result = call(
        *(root / "good", root / "labels", "--out", tmp_path / "out", "--json"),
        *("--label", "blob=1", "--region", "band", "--region", "mask", "--masks", root / "labels"),
        *("--band-mm", "3", "--profile", "paper", "--bins", "10", "--minimum-bin", "5"),
        *("--lesion-edges", "0,50,inf", "--surface-mm", "2", "--allow-empty"),
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert found["settings"] == {
        "logits": False,
        "multilabel": False,
        "label_sets": {"blob": [1]},
        "regions": ["band", "mask"],
        "masks": str(root / "labels"),
        "band_mm": 3.0,
        "profile": "paper",
        "bins": 10,
        "minimum": 5,
        "lesions": True,
        "lesion_edges": [0.0, 50.0, None],
        "surface_mm": 2.0,
        "allow_empty": True,
    }
    model = found["models"]["good"]
    assert set(model["pooled"]) == {"band", "mask"}
    assert [row["low"] for row in model["lesions"]["blob"]["sizes"]] == [0.0, 50.0]
    assert model["mean_over_cases"]["band"]["blob"]["nsd"]["mean"] > 0.5


def test_help_names_every_option_and_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['gradsurge', 'evaluate', '--help']\n"
        "from gradsurge.cli import main\n"
        "try: main()\n"
        "except SystemExit as stopped: assert not stopped.code\n"
        "heavy = {'torch', 'numpy', 'matplotlib', 'nibabel', 'scipy'} & sys.modules.keys()\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "all and active if left out" in " ".join(re.sub("[│\\s]+", " ", result.stdout).split())
    for option in ("--logits", "--label", "--region", "--jobs", "--dask", "--json", "--overwrite"):
        assert option in result.stdout


def test_real_labels_with_smoothed_copies_as_predictions(tmp_path, call):
    import nibabel
    from scipy.ndimage import gaussian_filter

    data = Path(__file__).parents[3] / "shared" / "data" / "Dataset004_Hippocampus"
    if not data.is_dir():
        pytest.skip("no Dataset004_Hippocampus in the shared data folder")
    for file in sorted((data / "labelsTr").glob("*.nii.gz"))[:3]:
        image = nibabel.load(file)
        y = np.asarray(image.dataobj).astype(np.uint8)
        p = np.stack([gaussian_filter((y == c).astype(float), 1.0) for c in range(3)])
        folders.nifti(tmp_path / "labels" / file.name, y, image.affine)
        folders.nifti(tmp_path / "model" / file.name, (p / p.sum(0)).astype("f4"), image.affine)
    result = call(
        *(tmp_path / "model", tmp_path / "labels", "--out", tmp_path / "out"),
        *("--images", data / "imagesTr", "--json"),
    )
    assert result.returncode == 0, result.stderr
    means = json.loads(result.stdout)["models"]["model"]["mean_over_cases"]["all"][ALL]
    assert means["dice"]["mean"] > 0.9
    assert 0.001 < means["ece"]["mean"] < 0.02
    assert "data:image/png" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
