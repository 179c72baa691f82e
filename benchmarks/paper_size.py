"""The recipe `paper-3d` at its full size: do ten steps of SGD on one batch lower the loss?

``python benchmarks/paper_size.py [--steps 10] [--json F]``: the preset's network, patch (80x96x80),
batch, rate and momentum, on patches of lesion phantoms; Dice surgery and CE + Dice surgery, with
today's strength and the paper's. Some ten minutes on two cores.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import torch
from _provenance import provenance, provenance_line

from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.patches import PatchSource, stream_batches
from gradsurge.data.store import Store
from gradsurge.experiments.preparing import prepare
from gradsurge.experiments.runs import RunRequest, plan_run
from gradsurge.experiments.runs.run_loss import make_run_loss
from gradsurge.models import make_model

SIZE = (96, 112, 96)
LOSSES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("dice-surgery", {}),
    ("ce+dice-surgery", {}),
    ("dice-surgery", {"paper": True}),
    ("ce+dice-surgery", {"paper": True}),
)


def losses_of(store: Store, name: str, options: dict[str, Any], steps: int) -> list[float]:
    """Return the loss before each step, and after the last."""
    config = plan_run(store, RunRequest(name, options, preset="paper-3d"))
    torch.manual_seed(0)
    model, loss = make_model(config.model), make_run_loss(config, levels=1)
    source = PatchSource(store, store.split("train"), config.patches, config.augmentation)
    batch = next(stream_batches(source, 0))
    target = config.task.target(batch["label"])
    how = config.training
    sgd = torch.optim.SGD(
        model.parameters(),
        how.learning_rate,
        momentum=how.momentum,
        nesterov=True,
        weight_decay=how.weight_decay,
    )
    found = []
    for step in range(steps + 1):
        value = loss(model(batch["image"]), target)
        found.append(value.item())
        print(f"{name} {options} step {step}: {found[-1]:.5f}", flush=True)
        if step < steps:
            sgd.zero_grad()
            value.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), how.clip or float("inf"))
            sgd.step()
    return found


def main() -> None:
    """Print the first and the last loss of each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work) / "store"
        prepare(PhantomSet("lesions-3d", 4, SIZE), Path(), folder)
        for name, options in LOSSES:
            found = losses_of(Store.open(folder), name, options, asked.steps)
            rows.append({"loss": name, **options, "losses": found})
            print(f"{name} {options}: {found[0]:.4f} -> {found[-1]:.4f}")
            if asked.json:  # as it goes: a loss takes minutes
                command = f"python benchmarks/paper_size.py --steps {asked.steps}"
                content = {**provenance(), "command": command, "rows": rows}
                asked.json.write_text(json.dumps(content, indent=1) + "\n")
    print(provenance_line())


if __name__ == "__main__":
    main()
