"""What nnU-Net leaves behind: predictions of its folds' validation cases, or of new ones.

    nnUNetTrainer__nnUNetPlans__3d_fullres/       a trained model
        dataset.json, plans.json
        fold_0/validation/                        of `--npz`
            case.npz, case.pkl, case.nii.gz, summary.json

and, of ``nnUNetv2_predict --save_probabilities``, a folder of case.npz, case.pkl, case.nii.gz with
dataset.json and plans.json. Geometry is that of the masks beside; a .pkl is never opened.
"""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from gradsurge.data.case_error import shown
from gradsurge.data.case_files import find_files
from gradsurge.data.datasets.json_files import read_json
from gradsurge.data.formats import suffix_of

Files = dict[str, tuple[Path, ...]]
FOLD_ALL = "fold_all"
_TURNING = "WithReorient"  # readers of NIfTI and of SimpleITK end so
_VALIDATE = "nnUNetv2_train ... --val --npz"


class Found(NamedTuple):
    """Predictions of a folder, and the cases that should be among them.

    Attributes:
        files: case -> its file(s).
        expected: the cases nnU-Net validated on, where the folder is of a validation and says so;
            None if nothing is known of that.
    """

    files: Files
    expected: frozenset[str] | None = None

    def wanted(self, labels: Mapping[str, tuple[Path, ...]]) -> Files:
        """Return the labels that should have a prediction: other folds' cases need none here."""
        if self.expected is None:
            return dict(labels)
        return {case: files for case, files in labels.items() if case in self.expected}


def find_predictions(folder: Path, cases: Collection[str]) -> Found:
    """Return the predictions of a folder: any folder of maps, or one of nnU-Net's.

    Args:
        folder: of maps, of a fold, or a trained model of nnU-Net: then all its folds.
        cases: names of the labelled cases, as in `find_files`.

    Raises:
        ValueError: the folder is missing or holds nothing that can be read; nnU-Net's has masks
            only, a case in two folds, or probabilities on other axes than the images.
    """
    folds = validation_folders(folder)
    if not folds:
        check_level(folder)
        return Found(find_files(folder, cases))
    found: Files = {}
    for fold in folds:
        files = _validated(fold, cases)
        twice = sorted(set(files) & set(found))
        if twice:
            raise ValueError(
                f"{shown(fold)}: case {twice[0]} is in another fold too; name one fold's "
                f"validation folder"
            )
        found |= files
    lists = [_summarised(fold) for fold in folds]
    known = [cases for cases in lists if cases is not None]
    return Found(found, frozenset().union(*known) if len(known) == len(lists) else None)


def validation_folders(folder: Path) -> list[Path]:
    """Return the validation folders of a trained model's folds, or that of a fold.

    Of a model "fold_all" is left out: it was validated on the cases it was trained on.
    """
    here = folder.absolute()  # the name tells what it is, also of "."
    fold = here.parent if here.name == "validation" else here
    if fold.name.startswith("fold_"):
        return [f for f in (fold / "validation",) if f.is_dir()]
    found = sorted(f for f in here.glob("fold_*/validation") if f.is_dir())
    return [f for f in found if f.parent.name != FOLD_ALL]


def check_level(folder: Path) -> None:
    """Refuse a folder of nnU-Net's that holds no validated cases; other folders pass.

    Raises:
        ValueError: it holds several models, one that was trained on all cases, or one that was
            not validated.
    """
    if (folder / FOLD_ALL).is_dir():
        raise ValueError(
            f"{shown(folder)}: {FOLD_ALL} was validated on the cases it was trained on, which tell "
            f"nothing of new ones; train folds 0 to 4"
        )
    models = sorted({f.parents[1].name for f in folder.glob("*/fold_*/validation")})
    if models:
        raise ValueError(f"{shown(folder)}: holds models, name one: {', '.join(models)}")
    if any(any(folder.glob(f"{fold}checkpoint_*.pth")) for fold in ("", "fold_*/")):
        raise ValueError(f"{shown(folder)}: was not validated yet; {_VALIDATE} does it")


def description_file(folder: Path) -> Path | None:
    """Return nnU-Net's `dataset.json` that belongs to a folder of its predictions, if any."""
    places = [folder, *(fold.parents[1] for fold in validation_folders(folder)[:1])]
    files = [p / "dataset.json" for p in places if (p / "plans.json").is_file()]
    return next((file for file in files if file.is_file()), None)


def reference_folder(fold: Path) -> Path | None:
    """Return the folder of labels that nnU-Net compared a validation with, if it is still there."""
    for entry in _entries(fold):
        file = Path(str(entry.get("reference_file", "")))
        if file.is_file():
            return file.parent
    return None


def check_axes(folder: Path) -> None:
    """Refuse predictions of images that nnU-Net turned before it looked at them.

    Raises:
        ValueError: the plans name a reader that turns images.
    """
    file = description_file(folder)
    plans = {} if file is None else read_json(file.with_name("plans.json"), dict)
    reader = str(plans.get("image_reader_writer"))
    if reader.endswith(_TURNING):
        raise ValueError(
            f"{shown(folder)}: nnU-Net turned these images ({reader} in plans.json), so the axes "
            f"of its .npz files are not the images'; use SimpleITKIO or NibabelIO"
        )


def _validated(fold: Path, cases: Collection[str]) -> Files:
    files = find_files(fold, cases)
    if not any(suffix_of(f) == ".npz" for group in files.values() for f in group):
        raise ValueError(
            f"{shown(fold)}: holds masks, no probabilities; {_VALIDATE} writes them without "
            f"training anew"
        )
    return files


def _summarised(fold: Path) -> frozenset[str] | None:
    files = [str(entry.get("prediction_file", "")) for entry in _entries(fold)]
    return frozenset(Path(f).name[: -len(suffix_of(Path(f)) or "")] for f in files) or None


def _entries(fold: Path) -> list[Mapping[str, Any]]:
    """Return what `summary.json` says of the cases; nothing if the validation did not end."""
    file = fold / "summary.json"
    if not file.is_file():
        return []
    entries = read_json(file, dict).get("metric_per_case")
    return [e for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []
