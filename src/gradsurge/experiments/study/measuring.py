"""A finished run on held-out cases: one inference a case, every correction, every score."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from gradsurge.data import CaseError
from gradsurge.data.case_error import shown
from gradsurge.data.store import Store
from gradsurge.experiments.evaluation.scoring import mean_of
from gradsurge.experiments.prediction.ensemble import preparation_difference
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.runs.trained_run import TrainedRun
from gradsurge.experiments.study.case_voxels import case_voxels, on_source
from gradsurge.experiments.study.lesion_tally import THRESHOLDS
from gradsurge.experiments.study.measure_settings import MeasureSettings
from gradsurge.experiments.study.measured import Measured
from gradsurge.experiments.study.posterior_tally import POSTERIOR
from gradsurge.experiments.study.run_maps import RunMaps
from gradsurge.experiments.study.run_tally import OWN, PLAIN, RunTally
from gradsurge.experiments.study.shifted_scores import ShiftScores, shifted_scores

Problems = list[tuple[str, str]]


def measure_run(
    run: TrainedRun,
    store: Store,
    split: str = "test",
    *,
    settings: MeasureSettings | None = None,
    device: str = "auto",
    on_case: Callable[[str], object] = lambda _: None,
) -> Measured:
    """Measure a run on a split of a store.

    Probabilities are made on the prepared voxels, resampled to those of the source where these are
    measured (`case_voxels`), and scored by the code of ``gradsurge evaluate``; Dice, lesions and
    volumes are also those of the masks that ``gradsurge predict`` writes.

    Args:
        run: that has ended.
        store: prepared as the run's own.
        split: which of its cases.
        settings: what is measured.
        device: of the network; "auto" for an accelerator if there is one.
        on_case: called with the name of a case after each inference, 21 times with shifts; what it
            raises ends the measuring.

    Raises:
        ValueError: the store is another one or has no such case, or none could be measured.
    """
    settings = settings or MeasureSettings()
    names = _names(run, store, split)
    maps = RunMaps.of(run, device)
    exact = not any(on_source(store, store.case(name)) for name in names)
    tally = RunTally(maps, settings, exact=exact)
    problems: Problems = []
    for name in names:
        try:
            _count(store, name, maps, tally)
        except CaseError as error:
            problems.append((name, str(error)))
        on_case(name)
    if not tally.cases:
        raise ValueError(
            f"{shown(store.path)}: none of its {len(names)} {split} cases could be "
            f"measured; the first: {problems[0][0]}: {problems[0][1]}"
        )
    shift: ShiftScores = {}
    if settings.shift:
        shift, lost = shifted_scores(maps, store, tally.cases, settings, exact, on_case)
        problems += lost
    return _measured(run, split, tally, shift, problems)


def _names(run: TrainedRun, store: Store, split: str) -> Sequence[str]:
    difference = preparation_difference(store.dataset, run.config.dataset)
    if difference is not None:
        raise ValueError(
            f"{shown(store.path)}: is not prepared as the store of {shown(run.folder)} was: "
            f"{difference}"
        )
    if store.dataset.ignore_label is not None:
        raise ValueError(
            f"{shown(store.path)}: has an ignore label, which a study does not measure; use "
            f"gradsurge predict, and evaluate with --region mask"
        )
    names = store.split(split)
    if not names:
        raise ValueError(f"{shown(store.path)}: its split {split!r} has no case")
    return names


def _count(store: Store, name: str, maps: RunMaps, tally: RunTally) -> None:
    case, voxels = store.case(name), case_voxels(store, name)
    posterior = case.read_extra(POSTERIOR) if POSTERIOR in case.extras else None
    tally.add(name, maps.logits(case.read_image()), voxels, case.read_label(), posterior)


def _measured(
    run: TrainedRun, split: str, tally: RunTally, shift: ShiftScores, problems: Problems
) -> Measured:
    scores = tally.scores
    headline = scores[NONE].headline
    dice: dict[str, dict[str, float]] = {PLAIN: {}, OWN: {}}
    for (kind, name), values in tally.dice.items():
        dice[kind][name] = mean_of(values)
    posterior = {c: found.distances() for c, found in tally.posterior.items()}
    if posterior:
        posterior[POSTERIOR] = tally.true_posterior.pooled()["all"][headline]
    return Measured(
        split=split,
        cases=tally.cases,
        problems=problems,
        dimensions=tally.dimensions,
        structures=list(tally.maps.task.names),
        headline=headline,
        likelihood="logits" if tally.exact else "probabilities",
        default_correction=run.default_correction,
        pooled={c: found.pooled() for c, found in scores.items()},
        means={c: found.means() for c, found in scores.items()},
        dice=dice,
        by_case=_by_case(tally),
        lesions=_lesions(tally),
        detection=_detection(tally),
        logits={name: asdict(sums.means()) for name, sums in tally.logits.items()},
        volumes=_volumes(tally),
        posterior=posterior,
        shift=shift,
        sketches={
            c: {str(region): sketch for region, sketch in found.sketches.items()}
            for c, found in scores.items()
        },
    )


def _by_case(tally: RunTally) -> dict[str, dict[str, dict[str, list[float]]]]:
    raw, headline = tally.scores[NONE], tally.scores[NONE].headline
    found = {c: {"all": scores.by_case("all")} for c, scores in tally.scores.items()}
    found[NONE] = {str(region): raw.by_case(region) for region in raw.sketches}
    found[NONE]["all"] |= {
        "dice": tally.dice[PLAIN, headline],
        "own_dice": tally.dice[OWN, headline],
    }
    return found


def _lesions(tally: RunTally) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for (name, correction), lesions in tally.lesions.items():
        rows = lesions.sizes(tally.settings.lesion_edges)
        found.setdefault(name, {})[correction] = rows
    return found


def _detection(tally: RunTally) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for (name, correction), lesions in tally.lesions.items():
        about = {
            "lesions": len(lesions.lesions),
            "cases": len(tally.cases),
            "thresholds": list(THRESHOLDS),
        }
        found.setdefault(name, about)[correction] = {
            "detected": lesions.detected.tolist(),
            "false_positives": lesions.false.tolist(),
        }
    return found


def _volumes(tally: RunTally) -> dict[str, dict[str, Any]]:
    return {
        name: {"true": v.true, OWN: v.mask, PLAIN: v.plain, "expected": dict(v.expected)}
        for name, v in tally.volumes.items()
    }
