"""Lets ``nnUNetv2_train -tr nnUNetTrainerSurgery`` find the trainer of gradsurge.

Written by ``gradsurge nnunet install``, removed by ``gradsurge nnunet uninstall``. nnU-Net imports
every module of a folder in search of a trainer, so nothing of gradsurge is touched before this one
is asked for by name.
"""


def __getattr__(name):  # type: ignore[no-untyped-def]
    """Return the trainer; whoever looks for another one passes by."""
    if name != "nnUNetTrainerSurgery":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from gradsurge.integrations.nnunet import nnUNetTrainerSurgery
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "gradsurge":
            raise
        raise ImportError(
            "nnUNetTrainerSurgery needs gradsurge to train: pip install 'gradsurge[nnunet]'. "
            "To predict with its checkpoints, gradsurge is not needed."
        ) from error
    return nnUNetTrainerSurgery
