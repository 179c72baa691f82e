"""nnU-Net's commands for `nnunet_surgery.py`: what was done once is not done again."""

import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NUMBER, NAME = 4, "Dataset004_Hippocampus"
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
    """

    python: Path
    work: Path
    trainer: str
    say: Callable[[str], object]

    @property
    def test_labels(self) -> Path:
        """The labels of the test cases."""
        return self.work / "raw" / NAME / "labelsTs"

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
        return self.work / "results" / results / NAME / model / "fold_0"

    def prepare(self, data: Path, cases: Mapping[str, int], features: int, batch: int) -> None:
        """Copy cases, let nnU-Net plan and preprocess them, then set network, batch and split."""
        names = self.once("copy", lambda: self._copy(data, sum(cases.values()), cases["test"]))
        plan = ("-d", NUMBER, "-c", "3d_fullres", "-np", 1)
        command = "nnUNetv2_plan_and_preprocess"
        self.once("plan", lambda: self.run(command, *plan, results="plan"))
        self.once("shrink", lambda: self._shrink(names, cases["validation"], features, batch))
        if self.trainer == TRAINERS["sgd"]:
            self.run("gradsurge", "nnunet", "install", results="plan")

    def train(self, results: str, **settings: object) -> float:
        """Train fold 0, go on if it was interrupted; return the median of seconds per epoch."""
        variables = {f"GRADSURGE_{name.upper()}": str(value) for name, value in settings.items()}
        again = ["--c"] if list(self.fold(results).glob("checkpoint_*.pth")) else []
        fixed = ("3d_fullres", 0, "-tr", self.trainer, "-device", "cpu", "--npz")
        adam = str(Path(__file__).with_name("_nnunet_train.py"))
        command = adam if self.trainer == TRAINERS["adamw"] else "nnUNetv2_train"
        self.run(command, NUMBER, *fixed, *again, results=results, **variables)
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
        files = ("-i", self.work / "raw" / NAME / "imagesTs", "-o", out, "-npp", 1, "-nps", 1)
        model = ("-d", NUMBER, "-c", "3d_fullres", "-f", 0, "-tr", self.trainer)
        last = ("-device", "cpu", "--save_probabilities")
        self.run("nnUNetv2_predict", *files, *model, *last, results=results)
        return str(out)

    def _copy(self, data: Path, number: int, tested: int) -> list[str]:
        source, raw = data / NAME, self.work / "raw" / NAME
        labels = sorted((source / "labelsTr").glob("*.nii.gz"))[:number]
        if len(labels) < number:
            sys.exit(f"{source / 'labelsTr'}: expected {number} cases, got {len(labels)}")
        names = [label.name.removesuffix(".nii.gz") for label in labels]
        for name in names:
            kind = "Ts" if name in names[-tested:] else "Tr"
            for folder, file in (("images", f"{name}_0000.nii.gz"), ("labels", f"{name}.nii.gz")):
                (raw / f"{folder}{kind}").mkdir(parents=True, exist_ok=True)
                shutil.copy(source / f"{folder}Tr" / file, raw / f"{folder}{kind}")
        facts = json.loads((source / "dataset.json").read_text())
        facts["numTraining"] = number - tested
        (raw / "dataset.json").write_text(json.dumps(facts))
        return names[:-tested]

    def _shrink(self, names: list[str], validated: int, features: int, batch: int) -> None:
        base = self.work / "preprocessed" / NAME
        plans = json.loads((base / "nnUNetPlans.json").read_text())
        plan = plans["configurations"]["3d_fullres"]
        network = plan["architecture"]["arch_kwargs"]
        network["features_per_stage"] = [features * 2**i for i in range(network["n_stages"])]
        plan["batch_size"] = batch
        (base / "nnUNetPlans.json").write_text(json.dumps(plans))
        split = {"train": names[validated:], "val": names[:validated]}
        (base / "splits_final.json").write_text(json.dumps([split]))
