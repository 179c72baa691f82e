"""``gradsurge train``: one model from a store and the name of a loss."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from gradsurge.cli.completion import LOSSES, MODELS, one_of
from gradsurge.cli.output import check_directory
from gradsurge.cli.train_work import train_as_asked
from gradsurge.experiments.threads import limit_threads

_LOSS, _MODEL, _PATCHES = "Loss", "Model", "Patches"
_OPTIMISER, _KEEPING, _MACHINE = "Optimiser", "Validation and checkpoints", "Machine"
_EVERY = "Steps between {}; as the preset says (quick: 200) if left out."


def _of(panel: str, metavar: str, text: str, **limits: Any) -> Any:
    return typer.Option(metavar=metavar, help=text, rich_help_panel=panel, **limits)


def _flag(panel: str, name: str, text: str) -> Any:
    # Left to itself, the help shows a <bool> that a flag does not take.
    return typer.Option(name, metavar="", help=text, rich_help_panel=panel)


def train(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="Folder of gradsurge prepare.")],
    loss: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="ce, dice, dice-surgery, ce+dice-surgery, tversky, ...",
            autocompletion=one_of(*LOSSES),
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="RUN", help="Folder for the run.", callback=check_directory)
    ],
    resume: Annotated[
        bool, typer.Option("--resume", metavar="", help="Go on with the run, if one is there.")
    ] = False,
    preset: Annotated[
        Literal["quick", "full", "paper-2d", "paper-3d", "primus"],
        typer.Option(
            metavar="NAME",
            help="Defaults of all that follows: quick (minutes on two cores), full, paper-2d, "
            "paper-3d, primus.",
        ),
    ] = "quick",
    steps: Annotated[
        int | None, typer.Option(metavar="N", help="Steps of the optimiser.", min=1)
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Of weights, patches and augmentation.", min=0)
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
    loss_option: Annotated[
        list[str] | None,
        _of(_LOSS, "NAME=VALUE", "Of the loss; repeatable: decline=40, batch=true, paper=true."),
    ] = None,
    surgery_start: Annotated[
        float | None,
        _of(_LOSS, "F", "Plain loss until this fraction of the training, then surgery."),
    ] = None,
    surgery_ramp: Annotated[
        tuple[float, float] | None,
        _of(_LOSS, "F0 F1", "Surgery rises linearly between these fractions."),
    ] = None,
    init: Annotated[
        Path | None, _of(_MODEL, "RUN", "Start from the weights of a trained run.")
    ] = None,
    model: Annotated[
        str | None,
        _of(
            _MODEL,
            "NAME",
            "residual-unet, primus-s, primus-b, primus-m, primus-l.",
            autocompletion=one_of(*MODELS),
        ),
    ] = None,
    model_option: Annotated[
        list[str] | None,
        _of(_MODEL, "NAME=VALUE", "Of the model; repeatable: features=32, blocks=2."),
    ] = None,
    deep_supervision: Annotated[
        bool,
        _flag(_MODEL, "--deep-supervision", "A loss at coarser levels too."),
    ] = False,
    patch: Annotated[
        str | None,
        _of(_PATCHES, "N,N[,N]", "Voxels of a patch; planned from the store if left out."),
    ] = None,
    batch: Annotated[int | None, _of(_PATCHES, "N", "Patches, over all ranks.", min=1)] = None,
    oversample: Annotated[
        float | None, _of(_PATCHES, "F", "Share of patches with foreground.", min=0.0, max=1.0)
    ] = None,
    patches_per_case: Annotated[
        int | None, _of(_PATCHES, "N", "Patches in a row from one case.", min=1)
    ] = None,
    augmentation: Annotated[
        Literal["nnunet", "light", "none"] | None, _of(_PATCHES, "NAME", "nnunet, light or none.")
    ] = None,
    optimiser: Annotated[
        Literal["sgd", "adamw"] | None,
        _of(_OPTIMISER, "NAME", "sgd or adamw; surgery takes the strength that goes with it."),
    ] = None,
    learning_rate: Annotated[
        float | None, _of(_OPTIMISER, "X", "The highest; it falls to 0.")
    ] = None,
    weight_decay: Annotated[float | None, _of(_OPTIMISER, "X", "Of the weights.")] = None,
    momentum: Annotated[float | None, _of(_OPTIMISER, "X", "Of sgd.")] = None,
    warmup: Annotated[int | None, _of(_OPTIMISER, "N", "Steps of rising rate.", min=0)] = None,
    clip: Annotated[
        float | None, _of(_OPTIMISER, "X", "Longest gradient; 0 for any.", min=0)
    ] = None,
    accumulate: Annotated[int | None, _of(_OPTIMISER, "N", "Batches a step.", min=1)] = None,
    ema: Annotated[
        float | None, _of(_OPTIMISER, "X", "Moving average of the weights: 0.999.")
    ] = None,
    validate_every: Annotated[
        int | None, _of(_KEEPING, "N", _EVERY.format("validations"), min=1)
    ] = None,
    validation_cases: Annotated[
        int | None,
        _of(
            _KEEPING,
            "N",
            "How many are scored while training (quick: 16); the end scores all.",
            min=1,
        ),
    ] = None,
    checkpoint_every: Annotated[
        int | None, _of(_KEEPING, "N", _EVERY.format("checkpoints"), min=1)
    ] = None,
    device: Annotated[str, _of(_MACHINE, "NAME", "auto, cpu, cuda, cuda:1, mps.")] = "auto",
    workers: Annotated[
        int | None, _of(_MACHINE, "N", "Processes that make patches, a rank.", min=0)
    ] = None,
    threads: Annotated[
        int | None,
        _of(_MACHINE, "N", "Of the computation, a rank.", min=1, callback=limit_threads),
    ] = None,
    precision: Annotated[
        Literal["auto", "32-true", "16-mixed", "bf16-mixed"] | None,
        _of(_MACHINE, "NAME", "32-true, 16-mixed, bf16-mixed or auto."),
    ] = None,
    compile_model: Annotated[
        bool, _flag(_MACHINE, "--compile", "The model, by torch.compile.")
    ] = False,
    any_order: Annotated[
        bool,
        _flag(_MACHINE, "--no-deterministic", "Let a GPU be faster; not the same bits again."),
    ] = False,
) -> None:
    """Train one model on a store, and measure its calibration on the validation cases.

    gradsurge train stores/hippocampus --loss ce+dice-surgery --out runs/hippocampus

    Killed or stopped, it goes on where it was: the same command and --resume. Several devices:
    torchrun --nproc-per-node 4 -m gradsurge train ...
    """
    train_as_asked(locals())
