"""Checkpoints: whole or not at all, and nothing else is taken for one."""

import dataclasses
import errno
import os
import pickle
import random
import zipfile

import pytest
import torch

from gradsurge.training import Checkpoint, read_checkpoint
from gradsurge.training.checkpoint import write_checkpoint
from gradsurge.training.durable_file import write_durably
from tests.training.same_state import assert_same
from tests.training.small_job import SETTINGS


def example(step=7, ema=None):
    return Checkpoint(
        config={"model": {"name": "small", "patch": [8, 8]}, "spacing": [1.0, 0.5]},
        settings=SETTINGS.to_json(),
        step=step,
        validated=4,
        best={"dice": 0.5, "step": 4},
        model={"weight": torch.randn(3, 2), "count": torch.tensor(3)},
        ema=ema,
        loss={},
        optimiser={"state": {0: {"momentum_buffer": torch.randn(3, 2)}}, "param_groups": []},
        scaler={},
        notes={},
    )


def test_round_trip_and_plain_torch_can_read_it(tmp_path):
    file, written = tmp_path / "last.pt", example()
    write_checkpoint(file, written)
    assert_same(vars(read_checkpoint(file)), vars(written))
    plain = torch.load(file, weights_only=True)
    assert plain["format"] == "gradsurge checkpoint"
    assert plain["config"] == written.config
    assert [f.name for f in tmp_path.iterdir()] == ["last.pt"]


def test_weights_to_predict_with():
    mean = {"weight": torch.ones(1)}
    assert example(ema=mean).weights is mean
    kept = example()
    assert kept.weights is kept.model


def test_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"last\.pt: no such checkpoint"):
        read_checkpoint(tmp_path / "last.pt")


def refused(file):
    with pytest.raises(ValueError, match=file.name) as caught:
        read_checkpoint(file)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.99, 0.9999])
def test_truncated(tmp_path, share):
    file = tmp_path / "last.pt"
    write_checkpoint(file, example())
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * share)])
    assert "damaged" in refused(file)


def test_altered_bytes_are_noticed_or_do_not_matter(tmp_path):
    file, written = tmp_path / "last.pt", example()
    write_checkpoint(file, written)
    content, rng, noticed = file.read_bytes(), random.Random(0), 0
    for _ in range(200):
        changed = bytearray(content)
        changed[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file.write_bytes(changed)
        try:
            found = read_checkpoint(file)
        except ValueError:
            noticed += 1
        else:
            assert_same(vars(found), vars(written))
    assert noticed > 50


class Evil:
    def __reduce__(self):
        return os.system, ("echo executed > executed",)


def test_nothing_is_executed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "evil.pt"
    torch.save({"format": "gradsurge checkpoint", "config": Evil()}, file)
    refused(file)
    file.write_bytes(pickle.dumps(Evil()))
    refused(file)
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"model": {"weight": torch.zeros(1)}}, "not a gradsurge checkpoint; give a last.pt"),
        ([1, 2], "not a gradsurge checkpoint"),
        ({"format": "gradsurge checkpoint", "version": 99}, "version 99, this gradsurge reads 1"),
        ({"format": "gradsurge checkpoint", "version": 1, "step": 3}, "damaged"),
        ({"format": "gradsurge checkpoint", "version": 1, "strange": 3}, "damaged"),
    ],
)
def test_foreign(tmp_path, content, said):
    file = tmp_path / "model.pt"
    torch.save(content, file)
    assert said in refused(file)


def test_other_files(tmp_path):
    file = tmp_path / "image.nii.gz"
    for content in (b"", b"\x1f\x8b" + bytes(100), b"plain text\n" * 50):
        file.write_bytes(content)
        assert "not a gradsurge checkpoint" in refused(file)


def test_a_bomb_is_not_unpacked(tmp_path):
    file = tmp_path / "bomb.pt"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", bytes(10_000_000))
    assert "compressed" in refused(file)


@pytest.mark.parametrize("room", [0, 100, 700, 1500])
def test_no_room_leaves_the_old_one(tmp_path, room):
    """Whatever torch makes of it, the reason comes through."""
    file, old = tmp_path / "last.pt", example(step=1)
    write_checkpoint(file, old)
    new = dataclasses.replace(example(step=2), model={"weight": torch.zeros(1000)})

    def nearly_full(sink):
        write, left = sink._file.write, room

        class Full:
            def write(self, content):
                nonlocal left
                left -= len(content)
                if left < 0:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                return write(content)

            def flush(self):
                pass

        sink._file = Full()
        torch.save({"model": new.model}, sink)

    with pytest.raises(OSError, match="No space left on device"):
        write_durably(file, nearly_full)
    assert_same(vars(read_checkpoint(file)), vars(old))
    assert [f.name for f in tmp_path.iterdir()] == ["last.pt"]


def test_content_and_folder_are_on_the_disk_before_and_after_the_rename(tmp_path, monkeypatch):
    from pathlib import Path

    events, sync, replace = [], os.fsync, Path.replace

    def fsync(descriptor):
        name = Path(f"/proc/self/fd/{descriptor}").readlink().name
        events.append(("sync", name))
        sync(descriptor)

    def rename(self, target):
        events.append(("rename", Path(target).name))
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(Path, "replace", rename)
    write_checkpoint(tmp_path / "last.pt", example())
    (_, beside), *others = events
    assert beside.startswith(".last.pt.")
    assert others == [("rename", "last.pt"), ("sync", tmp_path.name)]


def test_two_writers_do_not_write_into_one_file(tmp_path, monkeypatch):
    """A worker that was taken for dead may save while another does."""
    file = tmp_path / "last.pt"

    def other_process(sink):
        sink.write(b"ours, ")
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr(os, "getpid", lambda: 4711)
            write_durably(file, lambda other: other.write(b"theirs"))
        sink.write(b"whole")

    write_durably(file, other_process)
    assert file.read_bytes() == b"ours, whole"
    assert [f.name for f in tmp_path.iterdir()] == ["last.pt"]
