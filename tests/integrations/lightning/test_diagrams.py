"""Reliability diagrams in loggers: TensorBoard's files are read, a stand-in plays W&B."""

import numpy as np
import pytest
from lightning.pytorch.loggers import CSVLogger, TensorBoardLogger
from lightning.pytorch.loggers.logger import Logger
from PIL import Image
from tensorboardX.proto.event_pb2 import Event

from gradsurge.integrations.lightning import CalibrationCallback
from tests.integrations.batches import KINDS
from tests.integrations.lightning.tasks import WARNINGS, Task, loader, trainer

pytestmark = WARNINGS


class Pictures(Logger):
    """A logger with `log_image`, as W&B's has it."""

    def __init__(self):
        super().__init__()
        self.shown = []

    name = version = "pictures"

    def log_metrics(self, metrics, step=None):
        pass

    def log_hyperparams(self, params, *args, **kwargs):
        pass

    def log_image(self, key, images, step=None):
        assert isinstance(images, list)
        self.shown.append((key, images[0], step))


class Words(Pictures):
    """A logger that takes neither pictures nor files."""

    log_image = None

    def __getattribute__(self, name):
        if name == "log_image":
            raise AttributeError(name)
        return super().__getattribute__(name)

    experiment = None


def validate(root, logger, kind="binary", times=1, **options):
    callback = CalibrationCallback("logits", kind, KINDS[kind], **options)
    fit = trainer(root, callback, logger=logger)
    for _ in range(times):
        fit.validate(Task(), loader(kind), verbose=False)


def events(folder):
    """Yield the summaries of TensorBoard's files: length, checksum, event, checksum."""
    for file in sorted(folder.rglob("events.out*")):
        data, at = file.read_bytes(), 0
        while at < len(data):
            size = int.from_bytes(data[at : at + 8], "little")
            event = Event.FromString(data[at + 12 : at + 12 + size])
            at += 16 + size
            yield from event.summary.value


def looks_drawn(picture):
    """More than a blank page: the diagram's colours are there."""
    pixels = np.asarray(picture.convert("RGB")).reshape(-1, 3)
    return picture.width > 300 and len(np.unique(pixels, axis=0)) > 20


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ("binary", {"val_reliability"}),
        ("multiclass", {"val_reliability_class_1", "val_reliability_class_2"}),
        ("multilabel", {f"val_reliability_class_{k}" for k in range(3)}),
    ],
)
def test_loggers_with_pictures_get_one_a_class(kind, names, tmp_path):
    logger = Pictures()
    validate(tmp_path, logger, kind)
    assert {key for key, _, _ in logger.shown} == names
    assert all(looks_drawn(picture) and step == 0 for _, picture, step in logger.shown)
    assert not list(tmp_path.rglob("*.png"))


def test_tensorboard_gets_pictures(tmp_path):
    logger = TensorBoardLogger(tmp_path)
    validate(tmp_path, logger)
    logger.finalize("success")
    found = {value.tag: value for value in events(tmp_path)}
    assert {"val_nll", "val_reliability"} <= set(found)
    picture = found["val_reliability"].image
    (tmp_path / "read.png").write_bytes(picture.encoded_image_string)
    with Image.open(tmp_path / "read.png") as image:
        assert image.size == (picture.width, picture.height)
        assert looks_drawn(image)


def test_csv_gets_files(tmp_path):
    logger = CSVLogger(tmp_path)
    validate(tmp_path, logger)
    (file,) = tmp_path.rglob("*.png")
    assert file.parent.parent.samefile(logger.log_dir)
    assert (file.parent.name, file.name) == ("reliability", "val_reliability_step_000000.png")
    with Image.open(file) as image:
        assert looks_drawn(image)


def test_others_get_a_note_once_or_a_folder(tmp_path):
    with pytest.warns(UserWarning, match="Words takes no pictures that we know of") as notes:
        validate(tmp_path, Words(), "multiclass", times=2)
    assert sum("Words takes no" in str(note.message) for note in notes) == 1
    validate(tmp_path, Words(), folder=tmp_path / "diagrams", names="{stage}/{score}")
    assert [f.name for f in (tmp_path / "diagrams").iterdir()] == [
        "val_reliability_step_000000.png"
    ]


def test_no_logger_no_picture(tmp_path):
    validate(tmp_path, False)
    assert not list(tmp_path.rglob("*.png"))
    validate(tmp_path, False, folder=str(tmp_path / "diagrams"))
    assert len(list(tmp_path.rglob("*.png"))) == 1


@pytest.mark.parametrize(("every", "drawn"), [(0, 0), (1, 3), (2, 2)])
def test_some_validations_are_drawn(every, drawn, tmp_path):
    logger = Pictures()
    validate(tmp_path, logger, times=3, diagram_every=every)
    assert len(logger.shown) == drawn
