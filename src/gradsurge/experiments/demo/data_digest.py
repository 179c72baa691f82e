"""What the models of a demo were trained on, in a few letters: other data need other models."""

import hashlib
import json

from gradsurge.data.store import Store


def data_digest(store: Store) -> str:
    """Return a hash of all cases, their splits and how they were prepared.

    It is of what the arrays hold, not of when raw files were written: a copy of the raw folder is
    the same data.
    """
    cases = {}
    for name in sorted(store.cases):
        facts = store.case(name).facts
        checksums = {array: file.crc32 for array, file in facts.arrays.items()}
        cases[name] = [facts.stamp.settings, list(facts.spacing), checksums]
    text = json.dumps([store.splits, cases], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
