"""Lets ``nnUNetv2_train -tr nnUNetTrainerSurgery`` find the trainers of gradsurge.

Written by ``gradsurge nnunet install``, removed by ``gradsurge nnunet uninstall``. nnU-Net imports
every module of a folder in search of a trainer, so one module is enough for both, and nothing of
gradsurge is touched before one of them is asked for by name.
"""

_NAMES = ("nnUNetTrainerSurgery", "nnUNetTrainerDiceSurgery")


def __getattr__(name):  # type: ignore[no-untyped-def]
    """Return a trainer; whoever looks for another one passes by."""
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from gradsurge.integrations import nnunet
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "gradsurge":
            raise
        raise ImportError(
            f"{name} needs gradsurge to train: pip install 'gradsurge[nnunet]'. "
            "To predict with its checkpoints, gradsurge is not needed."
        ) from error
    return getattr(nnunet, name)
