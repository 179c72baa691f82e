"""Everything that is counted of a run, case by case."""

from collections import defaultdict
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.calibration.lesions import CaseLesions, find_lesions
from gradsurge.calibration.logit_table import LogitSums
from gradsurge.calibration.overlap import dice
from gradsurge.data import Volume
from gradsurge.experiments.evaluation.counting import count_regions, logit_sums
from gradsurge.experiments.evaluation.scoring import mean_of
from gradsurge.experiments.evaluation.settings import ALL
from gradsurge.experiments.evaluation.structures import Structures, structures_of
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.study.case_voxels import CaseVoxels, case_structures
from gradsurge.experiments.study.lesion_tally import LesionTally
from gradsurge.experiments.study.measure_settings import MeasureSettings
from gradsurge.experiments.study.posterior_tally import PosteriorTally
from gradsurge.experiments.study.run_maps import RunMaps
from gradsurge.experiments.study.score_tally import ScoreTally
from gradsurge.experiments.study.volume_tally import VolumeTally

PLAIN, OWN = "plain", "own"


class RunTally:
    """Counts a run on cases, each after every correction.

    Args:
        maps: the run at work.
        settings: what is counted.
        exact: whether likelihoods are those of logits: the measured voxels are the network's.

    Attributes:
        cases: names of those counted.
        scores: correction -> its scores.
        dice: (mask, structure) -> a value a case.
    """

    def __init__(self, maps: RunMaps, settings: MeasureSettings, *, exact: bool) -> None:
        self.maps, self.settings, self.exact = maps, settings, exact
        names = list(maps.task.names)
        self._evaluation = settings.evaluation(maps.task, logits=exact)
        self.cases: list[str] = []
        self.dimensions = 0
        self.scores = {c: ScoreTally(names, self._evaluation) for c in maps.corrections}
        self.dice: dict[tuple[str, str], list[float]] = defaultdict(list)
        self.lesions: dict[tuple[str, str], LesionTally] = defaultdict(LesionTally)
        self._by_own: dict[str, CaseLesions] = {}
        self.volumes: dict[str, VolumeTally] = {name: VolumeTally() for name in names}
        self.logits: dict[str, LogitSums] = {}
        self.posterior: dict[str, PosteriorTally] = defaultdict(PosteriorTally)
        self.true_posterior = ScoreTally(names, settings.evaluation(maps.task, logits=False))

    def add(
        self,
        case: str,
        logits: Tensor,
        voxels: CaseVoxels,
        prepared_label: NDArray[np.uint8],
        posterior: NDArray[Any] | None = None,
    ) -> None:
        """Count a case.

        Args:
            case: its name.
            logits: (K, *T) on the prepared voxels.
            voxels: where it is measured.
            prepared_label: (*T), which raw logits are sorted by.
            posterior: the true one, (F, *S), where it is known.

        Raises:
            CaseError: label and prediction do not fit; nothing of the case was counted then.
        """
        own = self.maps.own_masks(logits, voxels.grid)
        for correction in self.maps.corrections:
            found = case_structures(
                self.maps, logits, correction, voxels, self._evaluation, exact=self.exact
            )
            self.scores[correction].add(count_regions(found, voxels.label, self._evaluation))
            if correction == NONE:
                self._add_masks(found, own)
            self._add_maps(case, correction, found, own)
            if posterior is not None:
                self.posterior[correction].add(found.probabilities, posterior)
        self._add_logits(logits, prepared_label, voxels.label)
        if posterior is not None:
            self._add_posterior(posterior, voxels.label)
        self.cases.append(case)
        self.dimensions = voxels.label.array.ndim

    def _add_masks(self, found: Structures, own: NDArray[np.bool_]) -> None:
        """Take Dice and volumes of both masks, which are made of raw probabilities."""
        for kind, masks in ((PLAIN, found.masks), (OWN, own)):
            scores = [dice(m, y) for m, y in zip(masks, found.labels, strict=True)]
            for name, value in zip(self.maps.task.names, scores, strict=True):
                self.dice[kind, name].append(value)
            if len(scores) > 1:
                self.dice[kind, ALL].append(mean_of(scores))
        for k, tally in enumerate(self.volumes.values()):
            tally.add_masks(found.labels[k], own[k], found.masks[k], found.spacing)

    def _add_maps(
        self, case: str, correction: str, found: Structures, own: NDArray[np.bool_]
    ) -> None:
        """Take what probabilities say of volumes and lesions."""
        for k, (name, volumes) in enumerate(self.volumes.items()):
            p, truth = found.probabilities[k], found.labels[k]
            volumes.add_expected(correction, p, found.spacing)
            if self.settings.lesions:
                plain = find_lesions(p, truth, found.masks[k], found.spacing, case=case)
                if correction == NONE:  # the run's own mask is the same after every correction
                    self._by_own[name] = find_lesions(p, truth, own[k], found.spacing, case=case)
                self.lesions[name, correction].add(plain, self._by_own[name], p, truth)

    def _add_logits(self, logits: Tensor, label: NDArray[np.uint8], measured: Volume) -> None:
        spacing = (1.0,) * label.ndim
        target = Volume(label, spacing, None, measured.source)
        prediction = Volume(logits.numpy(), spacing, None, measured.source)
        settings = self.settings.evaluation(self.maps.task, logits=True)
        for name, sums in logit_sums(structures_of(prediction, target, settings)).items():
            self.logits[name] = self.logits[name] + sums if name in self.logits else sums

    def _add_posterior(self, posterior: NDArray[Any], label: Volume) -> None:
        """Score the truth itself: what no model can better but by luck."""
        q = posterior
        if self.maps.task.kind == "multiclass":
            q = np.concatenate((1.0 - posterior.sum(0, keepdims=True), posterior))
        settings = self.settings.evaluation(self.maps.task, logits=False)
        prediction = Volume(np.clip(q, 0.0, 1.0), label.spacing, None, label.source)
        found = structures_of(prediction, label, settings)
        self.true_posterior.add(count_regions(found, label, settings))
