"""gradsurge for Lightning: ``pip install 'gradsurge[lightning]'``."""

from gradsurge.integrations.lightning.callback import CalibrationCallback

__all__ = ["CalibrationCallback"]
