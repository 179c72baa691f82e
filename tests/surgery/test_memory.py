"""Memory tricks change nothing but the time."""

import sys

import pytest
import torch

from gradsurge.surgery import memory
from gradsurge.surgery.memory import Scratch, ask_for_huge_pages


@pytest.mark.parametrize("elements", [1, 1 << 18, (1 << 22) + 13])
def test_advised_memory_can_be_written_whole(elements):
    x = ask_for_huge_pages(torch.empty(elements))
    x.fill_(3.0)
    assert x.sum(dtype=torch.float64).item() == 3.0 * elements


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="madvise is Linux's")
def test_only_whole_pages_inside_the_tensor_are_advised(monkeypatch):
    calls = []
    monkeypatch.setattr(memory, "_madvise", lambda: lambda *a: calls.append(a))
    x = torch.empty(1 << 22)
    ask_for_huge_pages(x)
    ((start, length, advice),) = calls
    end = x.data_ptr() + x.numel() * 4
    assert start % (1 << 21) == 0
    assert length % (1 << 21) == 0
    assert x.data_ptr() <= start < start + length <= end
    assert advice == 14


def test_without_madvise_nothing_is_asked(monkeypatch):
    monkeypatch.setattr(memory, "_madvise", lambda: None)
    assert ask_for_huge_pages(torch.empty(1 << 22)).shape == (1 << 22,)


def test_buffers_are_distinct_and_come_again():
    scratch = Scratch(torch.zeros(1), torch.float64, buffers=2)
    scratch.start((2, 3))
    first, second = scratch.take(), scratch.take()
    assert first.dtype == torch.float64
    first.fill_(1.0)
    second.fill_(2.0)
    assert first.sum() == 6
    assert scratch.take() is None
    scratch.start((1, 4))
    again = scratch.take()
    assert again.shape == (1, 4)
    assert again.data_ptr() in (first.data_ptr(), second.data_ptr())


def test_accelerators_allocate_as_usual():
    scratch = Scratch(torch.zeros(1, device="meta"), torch.float32, buffers=2)
    scratch.start((2, 3))
    assert scratch.take() is None
