"""nnU-Net's commands for `nnunet_surgery.py` and `nnunet_sgd.py`: what was done is not repeated."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nibabel
import numpy as np

NAME = "Dataset004_Hippocampus"
TRAINERS = {"adamw": "nnUNetTrainerAdamSurgery", "sgd": "nnUNetTrainerSurgery"}
_VERSIONS = """
import json
from importlib.metadata import version
print(json.dumps({name: version(name) for name in ("nnunetv2", "batchgeneratorsv2", "torch")}))
"""


@dataclass(frozen=True)
class Bench:
    """Where the work is done, and by which interpreter.

    Attributes:
        python: of an environment with nnU-Net and gradsurge.
        work: folder that keeps everything; the same command goes on where it was.
        trainer: of `TRAINERS`.
        say: prints a line.
        name: of the data set.
    """

    python: Path
    work: Path
    trainer: str
    say: Callable[[str], object]
    name: str = NAME

    @property
    def number(self) -> int:
        """The number of the data set."""
        return int(self.name[7:10])

    @property
    def test_labels(self) -> Path:
        """The labels of the test cases."""
        return self.work / "raw" / self.name / "labelsTs"

    def once(self, step: str, act: Callable[[], Any]) -> Any:
        """Do a step that leaves JSON behind; return what it left if it was done before."""
        file = self.work / "steps" / f"{step}.json"
        if not file.exists():
            self.say(f"{step} ...")
            found = act()
            file.parent.mkdir(parents=True, exist_ok=True)
            beside = file.with_name(f".{file.name}")
            beside.write_text(json.dumps(found))
            beside.replace(file)
        return json.loads(file.read_text())

    def check(self, settings: Mapping[str, Any]) -> None:
        """End unless the work in the folder was begun with the same settings."""
        known = self.once("settings", lambda: dict(settings))
        if known != json.loads(json.dumps(dict(settings))):
            sys.exit(f"{self.work}: was begun with {known}; name another --work")

    def versions(self) -> Any:
        """Return the versions of what is compared with."""
        found = subprocess.run(
            [self.python, "-c", _VERSIONS], capture_output=True, text=True, check=True
        )
        return json.loads(found.stdout)

    def run(self, command: str, *arguments: object, results: str, **variables: str) -> None:
        """Run a command of nnU-Net, or a script by its interpreter; the output goes to a log."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("GRADSURGE_", "nnUNet_"))}
        folders = {"raw": "raw", "preprocessed": "preprocessed", "results": f"results/{results}"}
        environment = {
            **clean,
            **{f"nnUNet_{kind}": str(self.work / place) for kind, place in folders.items()},
            "nnUNet_n_proc_DA": "1",
            "nnUNet_def_n_proc": "1",
            **variables,
        }
        (self.work / "results" / results).mkdir(parents=True, exist_ok=True)
        with (self.work / f"{results}.log").open("a") as log:
            script = [str(self.python)] if command.endswith(".py") else []
            whole = [*script, str(self.python.parent / command), *map(str, arguments)]
            done = subprocess.run(
                whole, env=environment, stdout=log, stderr=subprocess.STDOUT, check=False
            )
        if done.returncode:
            sys.exit(f"{command} failed, see {self.work / f'{results}.log'}")

    def fold(self, results: str) -> Path:
        """Return the folder of a training."""
        model = f"{self.trainer}__nnUNetPlans__3d_fullres"
        return self.work / "results" / results / self.name / model / "fold_0"

    def prepare(
        self,
        data: Path,
        cases: Mapping[str, int],
        features: int,
        batch: int,
        patch: Sequence[int] | None = None,
    ) -> None:
        """Copy cases, let nnU-Net plan and preprocess them, then set network, batch and split.

        Args:
            data: folder that holds the data set.
            cases: how many to train, to validate (each with all classes in it) and to test.
            features: channels of the first stage.
            batch: how many patches.
            patch: their size, nnU-Net's if None.
        """
        names = self.once("copy", lambda: self._copy(data, sum(cases.values()), cases["test"]))
        plan = ("-d", self.number, "-c", "3d_fullres", "-np", 1, "-npfp", 1)
        command = "nnUNetv2_plan_and_preprocess"
        self.once("plan", lambda: self.run(command, *plan, results="plan"))
        self.once(
            "shrink", lambda: self._shrink(names, cases["validation"], features, batch, patch)
        )
        if self.trainer == TRAINERS["sgd"]:
            self.run("gradsurge", "nnunet", "install", results="plan")

    def train(self, results: str, **settings: object) -> float:
        """Train fold 0, go on if it was interrupted; return the median of seconds per epoch."""
        variables = {f"GRADSURGE_{name.upper()}": str(value) for name, value in settings.items()}
        again = ["--c"] if list(self.fold(results).glob("checkpoint_*.pth")) else []
        fixed = ("3d_fullres", 0, "-tr", self.trainer, "-device", "cpu", "--npz")
        adam = str(Path(__file__).with_name("_nnunet_train.py"))
        command = adam if self.trainer == TRAINERS["adamw"] else "nnUNetv2_train"
        self.run(command, self.number, *fixed, *again, results=results, **variables)
        lines = [
            line
            for log in sorted(self.fold(results).glob("training_log_*.txt"))
            for line in log.read_text().splitlines()
            if "Epoch time:" in line
        ]
        return statistics.median(float(line.split()[-2]) for line in lines)

    def predict(self, results: str) -> str:
        """Predict the test cases with probabilities; return their folder."""
        out = self.work / "predictions" / results
        shutil.rmtree(out, ignore_errors=True)
        files = ("-i", self.work / "raw" / self.name / "imagesTs", "-o", out, "-npp", 1, "-nps", 1)
        model = ("-d", self.number, "-c", "3d_fullres", "-f", 0, "-tr", self.trainer)
        last = ("-device", "cpu", "--save_probabilities")
        self.run("nnUNetv2_predict", *files, *model, *last, results=results)
        return str(out)

    def _copy(self, data: Path, number: int, tested: int) -> list[str]:
        source, raw = data / self.name, self.work / "raw" / self.name
        labels = sorted((source / "labelsTr").glob("*.nii.gz"))[:number]
        if len(labels) < number:
            sys.exit(f"{source / 'labelsTr'}: expected {number} cases, got {len(labels)}")
        names = [label.name.removesuffix(".nii.gz") for label in labels]
        for name in names:
            kind = "Ts" if name in names[number - tested :] else "Tr"
            for folder, files in (("images", f"{name}_*.nii.gz"), ("labels", f"{name}.nii.gz")):
                (raw / f"{folder}{kind}").mkdir(parents=True, exist_ok=True)
                for file in (source / f"{folder}Tr").glob(files):
                    shutil.copy(file, raw / f"{folder}{kind}")
        facts = json.loads((source / "dataset.json").read_text())
        facts["numTraining"] = number - tested
        (raw / "dataset.json").write_text(json.dumps(facts))
        return names[: number - tested]

    def _shrink(
        self,
        names: list[str],
        validated: int,
        features: int,
        batch: int,
        patch: Sequence[int] | None,
    ) -> None:
        base = self.work / "preprocessed" / self.name
        plans = json.loads((base / "nnUNetPlans.json").read_text())
        plan = plans["configurations"]["3d_fullres"]
        network = plan["architecture"]["arch_kwargs"]
        if patch is not None:
            plan["patch_size"] = list(patch)
            fit_network(network, patch)
        network["features_per_stage"] = [features * 2**i for i in range(network["n_stages"])]
        plan["batch_size"] = batch
        (base / "nnUNetPlans.json").write_text(json.dumps(plans))
        checked = [name for name in names if self._holds_all(name)][:validated]
        split = {"train": [name for name in names if name not in checked], "val": checked}
        (base / "splits_final.json").write_text(json.dumps([split]))

    def _holds_all(self, name: str) -> bool:
        """Whether all classes are in a case; of an empty one a Dice says nothing."""
        folder = self.work / "raw" / self.name
        labels = json.loads((folder / "dataset.json").read_text())["labels"].values()
        image: Any = nibabel.load(folder / "labelsTr" / f"{name}.nii.gz")
        return set(labels) <= set(np.unique(image.dataobj).astype(int).tolist())


def fit_network(network: dict[str, Any], patch: Sequence[int]) -> None:
    """Leave out the deepest stages until the patch is big enough; 4 voxels an axis remain."""
    total, stages = np.ones(len(patch), dtype=int), 0
    for stride in network["strides"]:
        total = total * stride
        if (np.array(patch) % total).any() or (np.array(patch) // total < 4).any():
            break
        stages += 1
    network["n_stages"] = stages
    for name in ("strides", "kernel_sizes", "n_conv_per_stage"):
        network[name] = network[name][:stages]
    network["n_conv_per_stage_decoder"] = network["n_conv_per_stage_decoder"][: stages - 1]
