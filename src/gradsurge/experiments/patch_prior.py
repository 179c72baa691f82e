"""How much more foreground training patches hold than whole cases, as a shift of the logit.

A network learns the prior of the patches it sees. Where patches are drawn to hold foreground, as
nnU-Net does and the paper, every loss overstates it on whole cases; no rate of a surgery loss
knows of that. ``python -m gradsurge.experiments.patch_prior RUN`` prints both shares.
"""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

from gradsurge.data.patches import PatchSettings
from gradsurge.data.store import Store
from gradsurge.experiments.plain_patches import plain_patches


@dataclass(frozen=True)
class PatchPrior:
    """Shares of foreground voxels.

    Attributes:
        cases: in whole training cases, all voxels together.
        patches: in patches as they are drawn, not augmented.
        empty: share of patches without foreground.
    """

    cases: float
    patches: float
    empty: float

    @property
    def shift(self) -> float:
        """Difference of the two in the logit.

        >>> round(PatchPrior(cases=0.01, patches=0.02, empty=0.5).shift, 3)
        0.703
        """
        return math.log(self.patches / (1 - self.patches)) - math.log(self.cases / (1 - self.cases))


def patch_prior(store: Store, settings: PatchSettings, steps: int, seed: int = 0) -> PatchPrior:
    """Count the foreground of the training cases, and of the patches of so many steps.

    Raises:
        ValueError: the training cases, or the patches, have no foreground.
    """
    labels = (store.case(name).read_label() > 0 for name in store.split("train"))
    inside, voxels = map(sum, zip(*((int(y.sum()), y.size) for y in labels), strict=True))
    if not inside:
        raise ValueError("the training cases have no foreground")
    found = []
    for batch in plain_patches(store, "train", settings, steps, seed):
        found += (batch["label"] > 0).flatten(1).float().mean(1).tolist()
    share = math.fsum(found) / len(found)
    if not share:
        raise ValueError("the patches have no foreground; look at more steps")
    return PatchPrior(inside / voxels, share, sum(one == 0 for one in found) / len(found))


def main() -> None:
    """Print the shares of a run's store and patches."""
    from gradsurge.experiments.runs.run_folder import read_config

    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("run", type=Path, help="folder of gradsurge train")
    parser.add_argument("--store", type=Path, help="where it lies now; the run's own if left out")
    parser.add_argument("--steps", type=int, default=2500)
    typed = parser.parse_args()
    config = read_config(typed.run)
    found = patch_prior(Store.open(typed.store or config.store), config.patches, typed.steps)
    print(  # noqa: T201
        f"foreground: {found.cases:.3%} of the voxels of training cases, {found.patches:.3%} of "
        f"patches ({found.empty:.0%} of them have none): {found.shift:+.2f} in the logit"
    )


if __name__ == "__main__":
    main()
