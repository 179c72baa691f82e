"""Whether a record still is of what is asked for, and a study of what it was begun with.

A record holds two. The first is of the recipe's wish: data, loss, options, network, training, point
and what is measured. It tells, with nothing but the recipe at hand, whether the record answers it.
The second is of the run as it was trained: its whole configuration and the step of its best
weights, which with the same bits for the same settings stand for the weights. Folders, dates and
how often checkpoints are written are in neither.

Searches and runs of a study are known by their points alone. Were a recipe to change its steps or
a store its splits, old and new runs would stand side by side in one table; so a study keeps what
must stay the same.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gradsurge.experiments.runs.config import RunConfig
from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.losses.strength import resolved, without_the_papers
from gradsurge.training import TrainSettings
from gradsurge.training.state import FREE

if TYPE_CHECKING:
    from gradsurge.data.store import Store
    from gradsurge.experiments.recipes import DataPart, Recipe, Variant
    from gradsurge.experiments.runs.planning import RunRequest
    from gradsurge.experiments.study.measure_settings import MeasureSettings

_PLACES = ("store", "init")
_OF_STORE = ("raw", "date", "gradsurge")
# Rows may get other names and more seeds; other points are noticed by the search itself.
_FREE_OF_VARIANT = ("name", "title", "seeds", "space")


def wanted_digest(
    data: "DataPart",
    variant: "Variant",
    request: "RunRequest",
    settings: "MeasureSettings",
    *,
    as_said: bool = False,
) -> str:
    """Return the digest of a wish; ``request`` is that of the variant at the point.

    What the paper has is left out, as older recipes did not say it. ``as_said`` keeps it where it
    is said, as older digests did.
    """
    wish = asdict(request)
    wish["init"] = variant.init
    optimiser = _optimiser(request.preset, request.training)
    options = {k: v for k, v in request.loss_options.items() if k != "paper"}
    full = resolved(request.loss, request.loss_options, optimiser)
    wish["loss_options"] = without_the_papers(request.loss, full) | (options if as_said else {})
    wish["training"] = _without(wish["training"], FREE)
    about = {"dataset": data.dataset, "settings": data.settings, "cases": data.cases}
    return digest({"data": about, "run": wish, "measured": asdict(settings)})


def trained_digest(trained: RunConfig, step: int) -> str:
    """Return the digest of a run's configuration and the step of its best weights."""
    config = _without(trained.to_json(), _PLACES)
    config["dataset"] = _without(config["dataset"], _OF_STORE)
    config["training"] = _without(config["training"], FREE)
    config["loss_options"] = without_the_papers(trained.loss, trained.loss_options)
    return digest({"config": config, "step": step})


def digest(content: Mapping[str, Any]) -> str:
    """Return 16 hexadecimal digits of plain values, whatever their order.

    >>> digest({"a": 1, "b": (2,)}) == digest({"b": [2], "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def fixed_settings(recipe: "Recipe") -> dict[str, dict[str, Any]]:
    """Return part of the recipe -> its settings, plain values; a part for each variant."""
    data = {"dataset": recipe.data.dataset, "settings": recipe.data.settings}
    training = _without(recipe.run.get("training", {}), FREE)
    parts: dict[str, Mapping[str, Any]] = {
        "data": {**data, "cases": recipe.data.cases or {}},
        "run": {**recipe.run, "training": training},
        "search": {"kind": recipe.search.kind, "share": recipe.search.share},
        **{f"variants.{v.name}": _of_variant(v, recipe) for v in recipe.variants},
    }
    plain: dict[str, dict[str, Any]] = json.loads(json.dumps(parts))  # lists for tuples
    return plain


def cases_digest(store: "Store") -> str:
    """Return the digest of which cases are trained on, chosen by and measured."""
    return digest({"dataset": store.dataset.name, "splits": store.splits})


def _of_variant(variant: "Variant", recipe: "Recipe") -> dict[str, Any]:
    kept = _without(asdict(variant), _FREE_OF_VARIANT)
    training = {**recipe.run.get("training", {}), **variant.training}
    optimiser = _optimiser(recipe.run.get("preset", "quick"), training)
    options = resolved(variant.loss, variant.loss_options, optimiser)
    return {**kept, "loss_options": options, "training": _without(variant.training, FREE)}


def _optimiser(preset: str, training: Mapping[str, Any]) -> str:
    default = PRESETS[preset].training.get("optimiser", TrainSettings.optimiser)
    return str(training.get("optimiser", default))


def as_kept(part: str, there: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a part of `fixed_settings` to compare: older studies do not say what the paper has."""
    if not part.startswith("variants.") or "loss" not in there:
        return there
    options = without_the_papers(there["loss"], there.get("loss_options", {}))
    return {**there, "loss_options": options}


def _without(content: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name, value in content.items() if name not in names}
