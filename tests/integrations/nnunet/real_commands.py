"""nnU-Net's own commands from raw cases to predictions, run once."""

import json
from pathlib import Path
from typing import NamedTuple

from tests.integrations.nnunet.nnunet_environment import environment_of, run, run_until
from tests.integrations.nnunet.raw_cases import write_raw_cases

MODEL = "nnUNetTrainerSurgery__nnUNetPlans__3d_fullres"
CONFIGURATION = ("-d", "4", "-c", "3d_fullres")
TRAIN = ("4", "3d_fullres", "0", "-tr", "nnUNetTrainerSurgery", "-device", "cpu", "--npz")
SHORT = {
    "GRADSURGE_EPOCHS": "2",
    "GRADSURGE_ITERATIONS": "2",
    "GRADSURGE_VALIDATION_ITERATIONS": "1",
    "GRADSURGE_SAVE_EVERY": "1",
}
WITHOUT_GRADSURGE = """
import sys
sys.modules["gradsurge"] = None
from nnunetv2.inference.predict_from_raw_data import predict_entry_point
predict_entry_point()
"""


class Work(NamedTuple):
    """Where everything is, and what the commands printed."""

    root: Path
    python: str
    dataset: str
    printed: dict[str, str]

    @property
    def fold(self):
        return self.root / "results" / self.dataset / MODEL / "fold_0"

    @property
    def base(self):
        return self.root / "preprocessed" / self.dataset

    @property
    def raw(self):
        return self.root / "raw" / self.dataset

    def command(self, name):
        return Path(self.python).parent / name

    def variables(self, **more):
        return environment_of(self.root, **more)

    def gradsurge(self, *words):
        return run([self.python, "-m", "gradsurge", *words], self.variables())


def all_commands(root, python):
    """Plan, preprocess, train, kill, resume, validate, predict without gradsurge."""
    for folder in ("raw", "preprocessed", "results"):
        (root / folder).mkdir()
    dataset, names = write_raw_cases(root / "raw")
    work = Work(root, python, dataset, {})
    plan = [work.command("nnUNetv2_plan_and_preprocess"), *CONFIGURATION, "-np", "1", "-npfp", "1"]
    run(plan, work.variables(nnUNet_n_proc_DA="1"))  # planning sets as many threads
    _shrink(work.base, names)
    train = [work.command("nnUNetv2_train"), *TRAIN]
    written = work.gradsurge("nnunet", "install").startswith("Written")
    try:
        work.printed["train"] = run_until("Epoch 1", train, work.variables(**SHORT))
        work.printed["resume"] = run([*train, "--c"], work.variables())
    finally:
        if written:
            work.gradsurge("nnunet", "uninstall")
    predict = ["-i", work.raw / "imagesTs", "-o", root / "new", *CONFIGURATION, "-f", "0"]
    predict += ["-tr", "nnUNetTrainerSurgery", "-device", "cpu", "--save_probabilities"]
    run([python, "-c", WITHOUT_GRADSURGE, *predict, "-npp", "1", "-nps", "1"], work.variables())
    return work


def _shrink(base, names):
    """A network of a few channels, two validation cases, and a decline of the plans."""
    file = base / "nnUNetPlans.json"
    plans = json.loads(file.read_text())
    plan = plans["configurations"]["3d_fullres"]
    plan["batch_size"] = 2
    network = plan["architecture"]["arch_kwargs"]
    network["features_per_stage"] = [4] + [8] * (network["n_stages"] - 1)
    file.write_text(json.dumps(plans | {"gradsurge": {"decline": 10}}))
    split = {"train": names[2:], "val": names[:2]}
    (base / "splits_final.json").write_text(json.dumps([split]))
