"""``gradsurge train``: one model from a store and the name of a loss."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from gradsurge.cli.output import check_directory
from gradsurge.cli.train_work import train_as_asked

_LOSS, _MODEL, _PATCHES = "Loss", "Model", "Patches"
_OPTIMISER, _KEEPING, _MACHINE = "Optimiser", "Validation and checkpoints", "Machine"


def train(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="Folder of gradsurge prepare.")],
    loss: Annotated[
        str,
        typer.Option(metavar="NAME", help="ce, dice, dice-surgery, ce+dice-surgery, tversky, ..."),
    ],
    out: Annotated[
        Path, typer.Option(metavar="RUN", help="Folder for the run.", callback=check_directory)
    ],
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the run that is there, if one is.")
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    loss_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Of the loss; repeatable: decline=40, batch=true, a=0.3.",
            rich_help_panel=_LOSS,
        ),
    ] = None,
    surgery_start: Annotated[
        float | None,
        typer.Option(
            metavar="F",
            help="Plain loss until this fraction of the training, then surgery.",
            rich_help_panel=_LOSS,
        ),
    ] = None,
    surgery_ramp: Annotated[
        tuple[float, float] | None,
        typer.Option(
            metavar="F0 F1",
            help="Surgery rises linearly between these fractions.",
            rich_help_panel=_LOSS,
        ),
    ] = None,
    init: Annotated[
        Path | None,
        typer.Option(
            metavar="RUN", help="Start from the weights of a trained run.", rich_help_panel=_MODEL
        ),
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="residual-unet, primus-s, primus-b, primus-m, primus-l.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    model_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Of the model; repeatable: features=32, blocks=2.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    deep_supervision: Annotated[
        bool,
        typer.Option(
            "--deep-supervision", help="A loss at coarser levels too.", rich_help_panel=_MODEL
        ),
    ] = False,
    patch: Annotated[
        str | None,
        typer.Option(
            metavar="N,N[,N]",
            help="Voxels of a patch; planned from the store if left out.",
            rich_help_panel=_PATCHES,
        ),
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(metavar="N", help="Patches, over all ranks.", min=1, rich_help_panel=_PATCHES),
    ] = None,
    oversample: Annotated[
        float | None,
        typer.Option(
            metavar="F",
            help="Share of patches with foreground.",
            min=0.0,
            max=1.0,
            rich_help_panel=_PATCHES,
        ),
    ] = None,
    patches_per_case: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Patches in a row from one case.", min=1, rich_help_panel=_PATCHES
        ),
    ] = None,
    augmentation: Annotated[
        Literal["nnunet", "light", "none"] | None,
        typer.Option(metavar="NAME", help="nnunet, light or none.", rich_help_panel=_PATCHES),
    ] = None,
    optimiser: Annotated[
        Literal["sgd", "adamw"] | None,
        typer.Option(metavar="NAME", help="sgd or adamw.", rich_help_panel=_OPTIMISER),
    ] = None,
    learning_rate: Annotated[
        float | None,
        typer.Option(metavar="X", help="The highest; it falls to 0.", rich_help_panel=_OPTIMISER),
    ] = None,
    weight_decay: Annotated[
        float | None, typer.Option(metavar="X", rich_help_panel=_OPTIMISER)
    ] = None,
    momentum: Annotated[
        float | None, typer.Option(metavar="X", help="Of sgd.", rich_help_panel=_OPTIMISER)
    ] = None,
    warmup: Annotated[
        int | None,
        typer.Option(metavar="N", help="Steps of rising rate.", min=0, rich_help_panel=_OPTIMISER),
    ] = None,
    clip: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Longest gradient; 0 for any.", min=0, rich_help_panel=_OPTIMISER
        ),
    ] = None,
    accumulate: Annotated[
        int | None,
        typer.Option(metavar="N", help="Batches a step.", min=1, rich_help_panel=_OPTIMISER),
    ] = None,
    ema: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="Moving average of the weights: 0.999.", rich_help_panel=_OPTIMISER
        ),
    ] = None,
    validate_every: Annotated[
        int | None, typer.Option(metavar="N", help="Steps.", min=1, rich_help_panel=_KEEPING)
    ] = None,
    validation_cases: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How many are scored while training; the end scores all.",
            min=1,
            rich_help_panel=_KEEPING,
        ),
    ] = None,
    checkpoint_every: Annotated[
        int | None, typer.Option(metavar="N", help="Steps.", min=1, rich_help_panel=_KEEPING)
    ] = None,
    device: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="auto, cpu, cuda, cuda:1, mps.", rich_help_panel=_MACHINE
        ),
    ] = "auto",
    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Processes that make patches, a rank.",
            min=0,
            rich_help_panel=_MACHINE,
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Of the computation, a rank.", min=1, rich_help_panel=_MACHINE
        ),
    ] = None,
    precision: Annotated[
        Literal["auto", "32-true", "16-mixed", "bf16-mixed"] | None,
        typer.Option(
            metavar="NAME", help="32-true, 16-mixed, bf16-mixed or auto.", rich_help_panel=_MACHINE
        ),
    ] = None,
    compile_model: Annotated[
        bool, typer.Option("--compile", help="By torch.compile.", rich_help_panel=_MACHINE)
    ] = False,
    any_order: Annotated[
        bool,
        typer.Option(
            "--no-deterministic",
            help="Let a GPU be faster; not the same bits again.",
            rich_help_panel=_MACHINE,
        ),
    ] = False,
) -> None:
    """Train one model on a store, and measure its calibration on the validation cases.

    gradsurge train stores/hippocampus --loss ce+dice-surgery --out runs/hippocampus

    Killed or stopped, it goes on where it was: the same command and --resume. Several devices:
    torchrun --nproc-per-node 4 -m gradsurge train ...
    """
    train_as_asked(locals())
