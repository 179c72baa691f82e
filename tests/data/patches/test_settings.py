"""Settings that are refused."""

import pytest

from gradsurge.data.patches import PatchSettings


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ({"size": (32,)}, r"size: expected two or three whole numbers above 0, got \(32,\)"),
        ({"size": (32, 0)}, r"size: .* got \(32, 0\)"),
        ({"size": (32, 1.5)}, r"size: .* got \(32, 1\.5\)"),
        ({"batch": 0}, r"batch: expected a whole number above 0, got 0"),
        ({"batch": True}, r"batch: .* got True"),
        ({"patches_per_case": -1}, r"patches_per_case: .* got -1"),
        ({"oversample": 1.1}, r"oversample: expected a share from 0 to 1, got 1\.1"),
        ({"oversample": float("nan")}, r"oversample: .* got nan"),
        ({"draw": "sorted"}, r"draw: expected 'shuffled' or 'independent', got 'sorted'"),
    ],
)
def test_bad_settings(bad, message):
    with pytest.raises(ValueError, match=message) as caught:
        PatchSettings(**{"size": (32, 32), **bad})
    assert "\n" not in str(caught.value)
