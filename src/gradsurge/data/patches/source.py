"""Batches of random patches, each to be had by its seed and step."""

from collections.abc import Sequence
from typing import TypedDict

import torch
from torch import Tensor

from gradsurge.data.augmentation import Arrays, Augmentation, make_augmentation
from gradsurge.data.case_error import CaseError, printable
from gradsurge.data.patches.cutting import cut_patch
from gradsurge.data.patches.foreground_turns import is_foreground_turn
from gradsurge.data.patches.generators import case_index, sample_generator
from gradsurge.data.patches.one_thread import one_thread
from gradsurge.data.patches.placing import foreground_start, random_start
from gradsurge.data.patches.settings import PatchSettings
from gradsurge.data.store import Store


class PatchBatch(TypedDict):
    """N patches of size P.

    Keys:
        image: float32 (N, C, *P).
        label: uint8 (N, *P), class numbers.
        case: the names of the cases they come from.
        extras: name -> (N, *P) or (N, K, *P), as stored; only those asked for.
    """

    image: Tensor
    label: Tensor
    case: list[str]
    extras: dict[str, Tensor]


class PatchSource:
    """Random patches of some cases of a store.

    Every patch has a random generator of its own, made of the seed, the step and its number in the
    batch. So a batch is the same whichever process makes it, and whatever was made before it.

    Args:
        store: where the cases are.
        cases: their names, as of ``store.split("train")``.
        settings: which patches.
        augmentation: "nnunet", "light" or "none", or one made for the same size.
        extras: further arrays to cut out with the image ("posterior"); floating ones are
            interpolated linearly where patches are rotated, others as labels.

    Raises:
        ValueError: these do not go together.
    """

    def __init__(
        self,
        store: Store,
        cases: Sequence[str],
        settings: PatchSettings,
        augmentation: str | Augmentation = "nnunet",
        extras: Sequence[str] = (),
    ) -> None:
        if isinstance(augmentation, str):
            augmentation = make_augmentation(augmentation, settings.size)
        self.store, self.cases, self.settings = store, list(cases), settings
        self.augmentation, self.extras = augmentation, tuple(extras)
        self._check()
        _ = augmentation.intensity  # imported here, once, and not by every worker

    def batch(self, seed: int, step: int, part: tuple[int, int] = (0, 1)) -> PatchBatch:
        """Return the batch of a step.

        Args:
            seed: of the stream, 0 or above.
            step: its number, from 0.
            part: (i, n) returns the i-th of n parts of the batch, for training in n processes: put
                together they are the batch.

        Raises:
            ValueError: there is no such part.
            CaseError: a case is damaged.
        """
        self.check_part(part)
        i, n = part
        first, last = (self.settings.batch * at // n for at in (i, i + 1))
        samples = range(first, last)
        names = [self._name(seed, step, k) for k in samples]
        with one_thread():
            made = [
                self._patch(name, seed, step, k) for name, k in zip(names, samples, strict=True)
            ]
            return {
                "image": torch.stack([patch.image for patch in made]),
                "label": torch.stack([patch.label for patch in made]),
                "case": names,
                "extras": {
                    e: torch.stack([patch.extras[e] for patch in made]) for e in self.extras
                },
            }

    def check_part(self, part: tuple[int, int]) -> None:
        """Raise ValueError unless the part is (i, n) with 0 <= i < n <= batch."""
        i, n = part
        if not 0 <= i < n <= self.settings.batch:
            raise ValueError(
                f"part: expected (i, n) with 0 <= i < n <= {self.settings.batch} (batch), got "
                f"{part}; use at most as many processes as patches in a batch"
            )

    def _name(self, seed: int, step: int, sample: int) -> str:
        return self.cases[case_index(self.settings, len(self.cases), seed, step, sample)]

    def _patch(self, name: str, seed: int, step: int, sample: int) -> Arrays:
        rng = sample_generator(seed, step, sample)
        size = self.settings.size
        try:
            case = self.store.case(name)
            if is_foreground_turn(self.settings, step, sample):
                start = foreground_start(case.shape, size, case.locations, rng)
            else:
                start = random_start(case.shape, size, rng)
            return cut_patch(case, start, self.augmentation, rng, self.extras)
        except CaseError:
            raise
        except ValueError as error:
            raise CaseError(f"{printable(name)}: {error}") from error

    def _check(self) -> None:
        axes, size = self.store.dataset.dimensions, self.settings.size
        if not self.cases:
            raise ValueError("cases: expected at least one, got none; choose another split")
        unknown = [name for name in self.cases if name not in self.store.dataset.cases]
        if unknown:
            raise ValueError(f"cases: the store has no {printable(unknown[0])!r}")
        if len(size) != axes:
            raise ValueError(f"size: the store's cases have {axes} axes, got {size}")
        if self.augmentation.size != tuple(size):
            raise ValueError(
                f"augmentation: made for patches of {self.augmentation.size}, got size {size}"
            )
        there = self.store.case(self.cases[0]).extras
        missing = [name for name in self.extras if name not in there]
        if missing:
            listed = ", ".join(there) or "none"
            raise ValueError(f"extras: no {missing[0]!r} in the store; there are: {listed}")
