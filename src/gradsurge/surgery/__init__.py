"""The gradient rules: what replaces p(1-p) in the backward pass. Torch only.

Legend of shapes, here and everywhere: N samples, C classes, ``*S`` one to three spatial axes,
V voxels.
"""

from gradsurge.surgery.rule import SurgeryRule
from gradsurge.surgery.sigmoid import surgery_sigmoid
from gradsurge.surgery.softmax import surgery_softmax

__all__ = ["SurgeryRule", "surgery_sigmoid", "surgery_softmax"]
