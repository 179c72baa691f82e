"""Arrays on disk: any box equals NumPy's, and damage is named."""

import multiprocessing
from functools import partial

import blosc2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.data import CaseError
from gradsurge.data.store.array_file import check_array, read_array, write_array
from gradsurge.data.store.blocks import chunks_and_blocks

ARRAY = np.random.default_rng(0).normal(size=(2, 70, 33, 150)).astype(np.float32)


@pytest.fixture
def stored(tmp_path):
    file = tmp_path / "image.b2nd"
    return file, write_array(file, ARRAY, 3)


@given(st.data())
@settings(max_examples=25, deadline=None)
def test_any_box_is_what_numpy_cuts(tmp_path_factory, data):
    axes = data.draw(st.sampled_from([2, 3]))
    shape = tuple(data.draw(st.integers(1, 90)) for _ in range(axes))
    kind = data.draw(st.sampled_from([np.uint8, np.float32, np.int16]))
    leading = data.draw(st.sampled_from([(), (1,), (3,)]))
    array = np.random.default_rng(1).integers(0, 200, (*leading, *shape)).astype(kind)
    file = tmp_path_factory.mktemp("array") / "a.b2nd"
    facts = write_array(file, array, axes)
    starts = [data.draw(st.integers(0, n - 1)) for n in shape]
    stops = [data.draw(st.integers(a + 1, n)) for a, n in zip(starts, shape, strict=True)]
    box = [slice(None)] * len(leading) + [slice(*ab) for ab in zip(starts, stops, strict=True)]
    found = read_array(file, facts, box)
    assert found.dtype == array.dtype
    np.testing.assert_array_equal(found, array[tuple(box)])


@given(st.lists(st.integers(1, 3000), min_size=2, max_size=3))
def test_chunks_are_even_and_whole_numbers_of_blocks(shape):
    chunks, blocks = chunks_and_blocks((4, *shape), len(shape))
    assert chunks[0] == 4
    assert blocks[0] == 1
    for n, chunk, block in zip(shape, chunks[1:], blocks[1:], strict=True):
        assert 1 <= block <= chunk
        assert chunk % block == 0
        pieces = -(-n // chunk)
        assert pieces * chunk - n < pieces * block  # less than a block is wasted a chunk
        assert chunk <= (1024 if len(shape) == 2 else 128)


def test_the_same_array_gives_the_same_bytes_in_any_memory_order(tmp_path):
    write_array(tmp_path / "a", ARRAY, 3)
    write_array(tmp_path / "b", np.asfortranarray(ARRAY), 3)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_a_box_is_read_without_the_rest(stored):
    """Destroy the second half of the data: a box of the first half does not notice."""
    file, facts = stored
    content = bytearray(file.read_bytes())
    half = len(content) // 2
    content[half : half + 50_000] = bytes(50_000)
    file.write_bytes(content)
    box = [slice(None), slice(0, 16), slice(0, 16), slice(0, 16)]
    np.testing.assert_array_equal(read_array(file, facts, box), ARRAY[tuple(box)])
    with pytest.raises(CaseError, match="checksum"):
        check_array(file, facts)


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "noise", "another"])
def test_damage_is_one_line_that_names_the_file(stored, damage):
    file, facts = stored
    good = file.read_bytes()
    if damage == "missing":
        file.unlink()
    elif damage == "another":
        other = write_array(file, ARRAY[:, :-1], 3)
        facts = type(facts)(facts.shape, facts.dtype, other.bytes, facts.crc32)
    else:
        noise = np.random.default_rng(2).bytes(len(good))
        file.write_bytes({"empty": b"", "cut": good[:-1], "noise": noise}[damage])
    for read in (partial(read_array, box=[slice(None)] * 4), check_array):
        with pytest.raises(CaseError) as caught:
            read(file, facts)
        message = str(caught.value)
        assert message.startswith(f"{file}: damaged (")
        assert "gradsurge prepare" in message
        assert "\n" not in message


def test_a_sound_file_passes_its_check(stored):
    check_array(*stored)


def _read_in_child(file, facts, answers):
    answers.put(float(read_array(file, facts, [slice(None)] * 4).sum()))


def test_a_forked_worker_reads_although_the_parent_used_threads(stored):
    """With Blosc2's own threads the child would wait for ever for those of its parent."""
    file, facts = stored
    in_threads = blosc2.open(str(file), dparams={"nthreads": 2})[:]
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    child = fork.Process(target=_read_in_child, args=(file, facts, answers), daemon=True)
    child.start()
    assert answers.get(timeout=30) == float(in_threads.sum())
    child.join(timeout=30)
