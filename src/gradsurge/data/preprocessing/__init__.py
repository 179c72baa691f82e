"""The steps from a source to a prepared case, and back; one a file."""

from gradsurge.data.preprocessing.back_to_source import (
    slab_to_source,
    source_slabs,
    to_source,
)
from gradsurge.data.preprocessing.classes import distinct_classes
from gradsurge.data.preprocessing.cropping import (
    Box,
    bounding_box,
    central_box,
    scaled_box,
    widened_box,
)
from gradsurge.data.preprocessing.grids import (
    at_spacing,
    cropped,
    native_grid,
    prepared_spacing,
    region_grid,
    resized,
    turned_shape,
)
from gradsurge.data.preprocessing.intensity import nonzero_region, window, z_score
from gradsurge.data.preprocessing.onto_grid import image_onto_grid, label_onto_grid
from gradsurge.data.preprocessing.orientation import turn_to_ras, turned, turned_back
from gradsurge.data.preprocessing.resampling import How

__all__ = [
    "Box",
    "How",
    "at_spacing",
    "bounding_box",
    "central_box",
    "cropped",
    "distinct_classes",
    "image_onto_grid",
    "label_onto_grid",
    "native_grid",
    "nonzero_region",
    "prepared_spacing",
    "region_grid",
    "resized",
    "scaled_box",
    "slab_to_source",
    "source_slabs",
    "to_source",
    "turn_to_ras",
    "turned",
    "turned_back",
    "turned_shape",
    "widened_box",
    "window",
    "z_score",
]
