"""How an array is cut: small blocks to decompress, gathered in chunks to look up.

Measured on a 512 x 512 x 300 float32 case and 80 x 96 x 80 patches, opened each time: blocks of
16³ in chunks of 64³ take 2.5 ms, 32³ in 64³ 3.5 ms. Bit-shuffled LZ4 against Zstandard 8: 3.3
times faster there and as small; on ISLES 1.1 times faster and 41 % larger; on 8-bit colour pictures
4 times faster and 81 % larger; written 10 to 50 times faster everywhere. Training reads a case
thousands of times: speed was taken. (nnU-Net 2.8.1 has LZ4HC, read alike and written more slowly.)
"""

import math
from collections.abc import Sequence

_BLOCK = {2: 64, 3: 16}
_CHUNK = {2: 512, 3: 64}

Shape = tuple[int, ...]


def chunks_and_blocks(shape: Sequence[int], dimensions: int) -> tuple[Shape, Shape]:
    """Return the chunk and the block of an array whose last axes are the spatial ones.

    Channels are separate blocks of one chunk: a patch needs them all, at the same place. Chunks
    are of equal size, so that an axis of 67 is not one chunk of 64 and a sliver.

    >>> chunks_and_blocks((2, 512, 300, 67), 3)
    ((2, 64, 64, 80), (1, 16, 16, 16))
    >>> chunks_and_blocks((960, 40), 2)
    ((512, 40), (64, 40))
    """
    leading = tuple(shape[: len(shape) - dimensions])
    sides = [_sides(n, _BLOCK[dimensions], _CHUNK[dimensions]) for n in shape[len(leading) :]]
    chunks = (*leading, *(chunk for chunk, _ in sides))
    blocks = (*(1 for _ in leading), *(block for _, block in sides))
    return chunks, blocks


def _sides(length: int, block: int, chunk: int) -> tuple[int, int]:
    if length <= block:
        return length, length
    pieces = max(1, round(length / chunk))
    return math.ceil(length / pieces / block) * block, block
