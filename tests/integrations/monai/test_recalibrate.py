"""Recalibration as MONAI transforms: array and dictionary, files, losses, metadata."""

import json

import numpy as np
import pytest
import torch
from monai.data import MetaTensor
from monai.transforms import Compose
from scipy.special import expit

from gradsurge.calibration import CalibrationSketch, fit_recalibration
from gradsurge.integrations.monai import (
    Recalibrate,
    RecalibrateD,
    Recalibrated,
    RecalibrateDict,
    SurgeryDiceCELoss,
    SurgeryDiceLoss,
)
from tests.integrations.batches import KINDS, batches, whole


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["temperature", "platt", "bias", "isotonic"])
def test_a_case_is_a_part_of_the_batch(kind, method):
    found = fit_recalibration(method, whole(kind))
    z, _ = next(batches(kind))
    expected = found.apply_logits(z, channel_axis=1)
    for case, wanted in zip(z, expected, strict=True):
        torch.testing.assert_close(Recalibrate(found, "logits")(case), wanted)
    p = z.sigmoid() if kind == "multilabel" else z.softmax(1)
    wanted = found.apply_probabilities(p, channel_axis=1)[0]
    torch.testing.assert_close(Recalibrate(found, "probabilities")(p[0]), wanted)


def test_types_and_metadata_stay():
    found = fit_recalibration("temperature", whole("binary"))
    transform = Recalibrate(found, "logits")
    z = next(batches("binary"))[0][0]
    expected = transform(z)
    affine = torch.diag(torch.tensor([2.0, 3.0, 1.0, 1.0], dtype=torch.float64))
    meta = transform(MetaTensor(z, affine=affine, meta={"filename_or_obj": "case_7"}))
    assert isinstance(meta, MetaTensor)
    assert torch.equal(meta.affine, affine)
    assert meta.meta["filename_or_obj"] == "case_7"
    torch.testing.assert_close(meta.as_tensor(), expected)
    array = transform(z.numpy())
    assert isinstance(array, np.ndarray)
    np.testing.assert_allclose(array, expected)
    assert transform(z.half()).dtype == torch.float32
    assert transform(z.double()).dtype == torch.float64


def test_from_a_file(tmp_path):
    file = tmp_path / "recalibration.json"
    found = fit_recalibration("platt", whole("multiclass"))
    found.save(file)
    z = next(batches("multiclass"))[0][0]
    for source in (file, str(file)):
        torch.testing.assert_close(
            Recalibrate(source, "logits")(z), found.apply_logits(z, channel_axis=0)
        )


@pytest.mark.parametrize("channels", [1, 2])
def test_of_a_surgery_loss_that_trains(channels):
    """The transform follows the loss: after more steps, another correction."""
    options = {"sigmoid": True} if channels == 1 else {"softmax": True, "to_onehot_y": True}
    loss = SurgeryDiceLoss(include_background=channels == 1, **options)
    transform = Recalibrate(loss, "logits")
    case = torch.randn(channels, 6, 6)
    with pytest.raises(RuntimeError, match="equilibrium: nothing measured yet"):
        transform(case)
    seen = []
    for share in (0.2, 0.6):
        z = torch.randn(2, channels, 6, 6, requires_grad=True)
        loss(z, (torch.rand(2, 1, 6, 6) < share).float()).backward()
        gap = case[-1] if channels == 1 else case[1] - case[0]
        expected = expit((gap - loss.equilibrium_shift()[-1]).double().numpy())
        found = transform(case)
        np.testing.assert_allclose(found[-1], expected, rtol=1e-4)
        seen.append(found)
    assert not torch.allclose(*seen)


def test_of_a_loss_with_cross_entropy():
    """Beside cross-entropy the correction is no mere shift: against the field itself."""
    loss = SurgeryDiceCELoss(include_background=False, to_onehot_y=True, softmax=True)
    z = torch.randn(2, 2, 6, 6, requires_grad=True)
    loss(z, torch.randint(0, 2, (2, 1, 6, 6))).backward()
    case = torch.stack((torch.zeros(5), torch.linspace(-4, 4, 5)))
    p = case.double().softmax(0)
    r = Recalibrate(loss, "logits")(case.double())
    rates = loss.equilibrium()
    m = p.max(0).values
    decline = (1 - m**20) * (1 - (1 - m) ** 20)
    to_1 = rates.cross_entropy[0, 1] + decline * rates.region[0, 1, 0]
    to_0 = rates.cross_entropy[0, 0] + decline * rates.region[0, 0, 1]
    torch.testing.assert_close(r[1] * p[0] * to_1, r[0] * p[1] * to_0)


def test_dictionaries():
    found = fit_recalibration("bias", whole("binary"))
    z = next(batches("binary"))[0][0]
    data = {"pred": z, "other": z, "name": "case_7"}
    for kind in (Recalibrated, RecalibrateD, RecalibrateDict):
        result = Compose([kind(keys="pred", recalibration=found, input="logits")])(data)
        torch.testing.assert_close(result["pred"], found.apply_logits(z, channel_axis=0))
        assert result["other"] is z
        assert data["pred"] is z
    with pytest.raises(KeyError, match="missing"):
        Recalibrated("missing", found, "logits")(data)
    kept = Recalibrated(("missing", "pred"), found, "logits", allow_missing_keys=True)(data)
    assert set(kept) == set(data)


def test_bad_input(tmp_path):
    found = fit_recalibration("temperature", whole("binary"))
    with pytest.raises(ValueError, match="input: expected 'logits' or 'probabilities'"):
        Recalibrate(found, "auto")
    with pytest.raises(TypeError, match="recalibration: expected a file, a Recalibration or a sur"):
        Recalibrate(CalibrationSketch(), "logits")
    with pytest.raises(FileNotFoundError, match="nowhere"):
        Recalibrate(tmp_path / "nowhere.json", "logits")
    (tmp_path / "other.json").write_text(json.dumps({"some": "thing"}))
    with pytest.raises(ValueError, match=r"other.json: not a recalibration that can be read"):
        Recalibrate(tmp_path / "other.json", "logits")
    with pytest.raises(ValueError, match="expected 1 or 2 channels on axis 0"):
        Recalibrate(found, "logits")(torch.zeros(3, 4, 4))
    with pytest.raises(ValueError, match="for logits there is apply_logits"):
        Recalibrate(found, "probabilities")(torch.full((1, 4), 3.0))
