"""Whether the pages of a TIFF come to an end: tifffile follows a circle of them for ever."""

import struct
from pathlib import Path
from typing import IO

from gradsurge.data.case_error import CaseError, shown

_ORDERS = {b"II": "<", b"MM": ">"}
# Of the usual and of the big TIFF: the number of a page's tags, the bytes of a tag, an offset.
_CLASSIC, _BIG = ("H", 12, "I"), ("Q", 20, "Q")


def check_pages(path: Path) -> None:
    """Raise if a page is followed by one that came before it.

    Raises:
        CaseError: the pages run in a circle.
        struct.error: the file ends before its pages do.
    """
    with path.open("rb") as file:
        head = file.read(8)
        order = _ORDERS.get(head[:2])
        if order is None:
            return  # not a TIFF, as its reader will say
        version = struct.unpack(f"{order}H", head[2:4])[0]
        count, tag, offset = _BIG if version == 43 else _CLASSIC
        file.seek(8 if version == 43 else 4)
        seen: set[int] = set()
        while page := _number(file, order + offset):
            if page in seen:
                raise CaseError(f"{shown(path)}: its pages run in a circle; write it again")
            seen.add(page)
            file.seek(page)
            tags = _number(file, order + count)
            file.seek(tags * tag, 1)


def _number(file: IO[bytes], layout: str) -> int:
    return int(struct.unpack(layout, file.read(struct.calcsize(layout)))[0])
