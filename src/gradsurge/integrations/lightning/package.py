"""Lightning under either of its two names, which are different packages with equal contents."""

try:
    from lightning.pytorch import Callback, LightningModule, Trainer
except ImportError:
    try:
        from pytorch_lightning import Callback, LightningModule, Trainer
    except ImportError as error:
        raise ImportError(
            "gradsurge.integrations.lightning needs Lightning: pip install 'gradsurge[lightning]'"
        ) from error

__all__ = ["Callback", "LightningModule", "Trainer"]
