"""The threshold for the masks of the true posterior, found where models find theirs."""

from gradsurge.calibration import CalibrationSketch
from gradsurge.data.store import Store
from gradsurge.experiments.runs.ending import best_thresholds


def posterior_threshold(store: Store) -> float:
    """Return the threshold with the best Dice on the posteriors of the validation cases.

    Args:
        store: of phantoms, which keep their posterior.
    """
    sketch = CalibrationSketch()
    for name in store.split("validation"):
        case = store.case(name)
        sketch.update_probabilities(case.read_extra("posterior")[None], case.read_label()[None])
    (threshold,) = best_thresholds(sketch)
    return threshold
