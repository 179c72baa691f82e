"""FIVES, INbreast, BraTS-METS, KiTS and CHASE_DB1: what each recipe makes of known numbers."""

import re

import nibabel
import numpy as np
import pytest
from skimage.draw import polygon

from gradsurge.data import CaseError
from gradsurge.data.datasets import BratsMets, Chase, Fives, Inbreast, Kits
from gradsurge.data.datasets.kits import tumours
from tests.data.datasets import trees

# --- FIVES ------------------------------------------------------------------------------------


def test_fives_names_tell_the_split_apart(tmp_path):
    found = Fives().find(trees.fives(tmp_path))
    assert [c.name for c in found.cases] == [
        "test_1_D",
        "test_2_G",
        "train_1_D",
        "train_2_G",
        "train_3_N",
    ]
    assert {c.split for c in found.cases} == {"train", "test"}


def test_fives_is_the_centre_of_area_means(tmp_path):
    trees.fives(tmp_path, train=0, test=1, size=2048)
    fives = Fives()
    case = fives.load(fives.find(tmp_path).cases[0])
    assert case.image.shape == (3, 512, 512)
    raw = trees.rng(1).integers(0, 255, (2048, 2048, 3), dtype=np.uint8)
    means = raw.reshape(1024, 2, 1024, 2, 3).mean(axis=(1, 3))[256:768, 256:768].transpose(2, 0, 1)
    expected = (means - means.mean((1, 2), keepdims=True)) / means.std((1, 2), keepdims=True)
    np.testing.assert_allclose(case.image, expected, atol=1e-4)
    assert case.label.sum(axis=1).tolist() == [0] * 254 + [512] * 4 + [0] * 254


def test_fives_masks_of_one_colour_count(tmp_path):
    trees.fives(tmp_path, train=0, test=1)
    mask = np.zeros((64, 64, 4), np.uint8)
    mask[..., 3] = 255  # opaque, which is not foreground
    mask[30:34, :, 2] = 200
    trees.write_picture(tmp_path / "test" / "Ground truth" / "1_D.png", mask)
    case = Fives().load(Fives().find(tmp_path).cases[0])
    assert case.label.mean() == pytest.approx(4 * 16 / 512, abs=0.01)


def test_fives_faults(tmp_path):
    trees.fives(tmp_path)
    (tmp_path / "train/Ground truth/2_G.png").unlink()
    trees.write_picture(tmp_path / "train/Ground truth/3_N.png", np.zeros((64, 64, 3), np.uint8))
    trees.write_picture(tmp_path / "test/Original/1_D.png", np.zeros((32, 64, 3), np.uint8))
    fives = Fives()
    found = fives.find(tmp_path)
    assert found.problems == [("train_2_G", "train/Ground truth/2_G.png is missing; get it again")]
    cases = {c.name: c for c in found.cases}
    with pytest.raises(CaseError, match=r"3_N.png: is empty, but every case .* has vessels"):
        fives.load(cases["train_3_N"])
    with pytest.raises(CaseError, match=r"1_D.png: has 32x64 pixels but its label 64x64"):
        fives.load(cases["test_1_D"])


# --- INbreast ---------------------------------------------------------------------------------


def test_inbreast_masses_are_drawn_at_native_resolution(tmp_path):
    inbreast = Inbreast()
    found = inbreast.find(trees.inbreast(tmp_path, shape=(1024, 768)))
    case = inbreast.load(found.cases[0])
    assert case.label.shape == case.image.shape[1:] == (512, 512)
    points = np.array(trees.circle(40, 60, 14))
    native = np.zeros((1024, 768))
    native[polygon(points[:, 1], points[:, 0], native.shape)] = 1
    halved = native.reshape(512, 2, 768).mean(axis=1)  # columns shrink by 1.5, rows by 2
    assert case.label.sum() == pytest.approx(halved.sum() / 1.5, rel=0.03)
    rows, columns = np.nonzero(case.label)
    assert (rows.mean(), columns.mean()) == pytest.approx((60 / 2, 40 / 1.5), abs=0.5)
    assert case.spacing == pytest.approx((0.14, 0.105))
    assert case.image.mean() == pytest.approx(0, abs=1e-4)


def test_inbreast_leaves_out_what_has_no_mass(tmp_path):
    trees.inbreast(tmp_path)
    assert len(Inbreast().find(tmp_path).cases) == 6
    everything = Inbreast(breasts="all")
    found = everything.find(tmp_path)
    assert len(found.cases) == 8
    assert not everything.load(found.cases[-1]).label.any()
    assert not everything.load(found.cases[-2]).label.any()
    assert everything.settings != Inbreast().settings
    with pytest.raises(ValueError, match="breasts: expected 'masses' or 'all', got 'left'"):
        Inbreast(breasts="left")


def test_inbreast_groups_are_patients_and_hidden_files_are_passed_over(tmp_path):
    root = tmp_path / "INbreast Release 1.0"
    trees.inbreast(root)
    (root / "AllXML" / "._20586900.xml").write_bytes(b"\0\5\26\7")
    (root / "AllDICOMs" / ".DS_Store").write_bytes(b"\0")
    found = Inbreast().find(tmp_path)
    assert found.problems == []
    assert [c.group for c in found.cases] == [f"{p:016x}" for p in (0, 0, 1, 1, 2, 2)]


def test_monochrome1_is_turned_round(tmp_path):
    trees.inbreast(tmp_path, patients=2)
    inbreast = Inbreast()
    case = inbreast.find(tmp_path).cases[0]
    before = inbreast.load(case).image
    pixels = trees.rng(20586900).integers(0, 2**14, (128, 96))
    inverse = 2**14 - 1 - pixels
    trees.write_dicom(case.files["image"], inverse, PhotometricInterpretation="MONOCHROME1")
    np.testing.assert_allclose(inbreast.load(case).image, before, atol=1e-4)


BOMB = """<?xml version="1.0"?><!DOCTYPE plist [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;">]><plist><dict><key>Name</key><string>&c;</string></dict></plist>"""
THIEF = """<?xml version="1.0"?><!DOCTYPE plist [<!ENTITY a SYSTEM "file:///etc/passwd">]>
<plist><dict><key>Name</key><string>&a;</string></dict></plist>"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, r"cannot be read as OsiriX XML \(it declares XML entities.*get it anew"),
        (THIEF, r"cannot be read as OsiriX XML \(it declares XML entities.*get it anew"),
        ("<plist><dict>", "cannot be read as OsiriX XML"),
        ("<html></html>", "expected a property list"),
        ("", "cannot be read as OsiriX XML"),
        ("<a>" * 9000, "cannot be read as OsiriX XML"),
    ],
)
def test_hostile_xml(tmp_path, text, message):
    trees.inbreast(tmp_path, patients=3)
    (tmp_path / "AllXML" / "20586900.xml").write_text(text)
    found = Inbreast().find(tmp_path)
    assert len(found.cases) == 3
    ((name, said),) = found.problems
    assert name == "20586900"
    assert "20586900.xml: " in said
    assert "\n" not in said
    assert re.search(message, said)


@pytest.mark.parametrize(
    "point", ["(1.0)", "(nan, 2)", "(inf, 2)", "x, y", "", "(1, 2, 3)", "(1, 1e300)"]
)
def test_points_that_are_none(tmp_path, point):
    trees.inbreast(tmp_path, patients=2)
    mass = trees.region("Mass", trees.circle(40, 60, 14))
    mass["Point_px"][3] = point
    trees.write_osirix(tmp_path / "AllXML" / "20586900.xml", mass)
    ((_, said),) = Inbreast().find(tmp_path).problems
    assert "20586900.xml: expected points like (1024.5, 310.2), got" in said


def test_masses_outside_the_image_and_names_in_any_case(tmp_path):
    trees.inbreast(tmp_path, patients=2)
    outside = trees.region(" MASS ", trees.circle(4000, 9e5, 14))
    trees.write_osirix(tmp_path / "AllXML" / "20586900.xml", outside)
    inbreast = Inbreast()
    found = inbreast.find(tmp_path)
    assert len(found.cases) == 2
    with pytest.raises(CaseError, match=r"20586900.xml: nothing is left .* the 96x128 pixels"):
        inbreast.load(found.cases[0])


@pytest.mark.parametrize("points", [[(40.0, 60.0)], [(40.0, 60.0), (40.2, 60.1), (40.1, 60.3)]])
def test_a_mass_that_vanishes_is_told(tmp_path, points):
    trees.inbreast(tmp_path, patients=2, shape=(2048, 1024))
    trees.write_osirix(tmp_path / "AllXML" / "20586900.xml", trees.region("Mass", points))
    inbreast = Inbreast()
    case = inbreast.find(tmp_path).cases[0]
    with pytest.raises(CaseError, match=r"20586900.xml: nothing is left of its masses.*points"):
        inbreast.load(case)


def test_inbreast_files_that_do_not_belong(tmp_path):
    trees.inbreast(tmp_path, patients=2)
    first = next((tmp_path / "AllDICOMs").glob("20586900*"))
    first.rename(first.with_name("scan.dcm"))
    second = next((tmp_path / "AllDICOMs").glob("20586901*"))
    second.with_name("20586901_ffff_MG_L_ML_ANON.dcm").write_bytes(second.read_bytes())
    found = Inbreast().find(tmp_path)
    assert found.cases == []
    said = dict(found.problems)
    assert "expected a name like" in said["scan.dcm"]
    assert "has no image in AllDICOMs" in said["20586900"]
    assert "two cases have this name" in said["20586901"]


@pytest.mark.parametrize(
    ("tags", "message"),
    [
        ({"Rows": 60000, "Columns": 60000}, "promises|cannot be read"),
        ({"NumberOfFrames": 3}, "holds 3 frames"),
        ({"SamplesPerPixel": 3}, "of 3 samples a pixel"),
        ({"Rows": 0}, "holds no voxels"),
    ],
)
def test_dicom_that_is_not_a_mammogram(tmp_path, tags, message):
    trees.inbreast(tmp_path, patients=2)
    inbreast = Inbreast()
    case = inbreast.find(tmp_path).cases[0]
    trees.write_dicom(case.files["image"], np.zeros((128, 96), int), **tags)
    with pytest.raises(CaseError, match=message) as caught:
        inbreast.load(case)
    assert "_ANON.dcm: " in str(caught.value)


# --- BraTS-METS -------------------------------------------------------------------------------


def test_brats_is_the_brain_in_ras_at_one_millimetre(tmp_path):
    brats = BratsMets()
    found = brats.find(trees.brats_mets(tmp_path, patients=1))
    first, second = (brats.load(case) for case in found.cases)
    assert first.image.shape == (1, 30, 30, 30)  # a ball of radius 15
    assert second.spacing == pytest.approx((1, 1, 1))
    assert second.image.shape == pytest.approx((1, 30, 30, 38), abs=1)  # 1.25 mm slices
    outside = first.image == 0
    assert outside[0, 0, 0].all()
    assert first.image[~outside].mean() == pytest.approx(0, abs=1e-3)
    assert first.image[~outside].std() == pytest.approx(1, abs=1e-3)
    source = nibabel.load(found.cases[0].files["label"])
    turned = nibabel.as_closest_canonical(source).get_fdata()
    box = tuple(slice(*span) for span in first.grid.crop)
    np.testing.assert_array_equal(first.label, np.isin(turned[box], (1, 3)))


def test_brats_in_nested_folders_and_without_tumour(tmp_path):
    root = tmp_path / "MICCAI-LH-BraTS2025" / "UCSD - Training"
    trees.brats_mets(root, patients=2)
    seg = root / "BraTS-MET-00000-000" / "BraTS-MET-00000-000-seg.nii.gz"
    label = np.zeros((40, 44, 36), np.uint8)
    label[20, 20, 20] = 4  # a cavity is what is left
    trees.write_nifti(seg, label)
    brats = BratsMets()
    found = brats.find(tmp_path)
    assert [c.group for c in found.cases] == ["BraTS-MET-00000"] * 2 + ["BraTS-MET-00001"] * 2
    assert not brats.load(found.cases[0]).label.any()


def test_brats_faults(tmp_path):
    trees.brats_mets(tmp_path, patients=2)
    for name, end in (("BraTS-MET-00000-000", "t1c"), ("BraTS-MET-00001-001", "seg")):
        (tmp_path / name / f"{name}-{end}.nii.gz").unlink()
    name = "BraTS-MET-00000-001"
    label = np.full((40, 44, 36), 7, np.uint8)
    trees.write_nifti(
        tmp_path / name / f"{name}-seg.nii.gz", label, trees.LPS @ np.diag([1, 1, 1.25, 1])
    )
    brats = BratsMets()
    found = brats.find(tmp_path)
    assert found.problems == [
        ("BraTS-MET-00000-000", "BraTS-MET-00000-000-t1c.nii.gz missing; get the case again"),
        ("BraTS-MET-00001-001", "BraTS-MET-00001-001-seg.nii.gz missing; get the case again"),
    ]
    with pytest.raises(
        CaseError, match=r"-seg.nii.gz: holds class 7, but BraTS-METS declares 0, 1"
    ):
        brats.load(found.cases[0])


# --- KiTS -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("level", "label"),
    [
        ("data", "segmentation.nii.gz"),
        ("", "aggregated_MAJ_seg.nii.gz"),
        ("kits21/data", "aggregated_MAJ_seg.nii.gz"),
        ("dataset", "segmentation.nii.gz"),
    ],
)
def test_kits_layouts(tmp_path, level, label):
    found = Kits().find(trees.kits(tmp_path, 2, level, label))
    assert [c.name for c in found.cases] == ["case_00000", "case_00001"]
    assert found.cases[0].files["label"].name == label


def test_kits_is_the_region_round_the_kidneys(tmp_path):
    kits = Kits()
    case = kits.load(kits.find(trees.kits(tmp_path, 3)).cases[2])
    # Slices first and reversed, 5 mm: the head axis is the last and has 24 * 5 / 1.5 voxels.
    assert case.grid.axes == (2, 1, 0)
    assert case.grid.flips == (True, True, True)
    assert case.grid.resampled_shape == (48, 43, 80)
    # The kidneys span 52 columns of 0.8 mm; 60 mm more than fill the small scan in two axes.
    assert case.grid.crop == ((0, 48), (0, 43), (0, 80))
    assert case.image.mean() == pytest.approx(0, abs=0.02)  # of the scan, before resampling
    assert case.image.std() == pytest.approx(1, abs=0.25)
    tumour = (trees.kits_label(2) == 2).sum() * 0.8 * 0.8 * 5
    assert case.label.sum() * np.prod(case.spacing) == pytest.approx(tumour, rel=0.25)


def test_kits_clips_before_it_resamples(tmp_path):
    trees.kits(tmp_path, 1)
    scan = np.full((24, 80, 90), -1000, np.int16)
    scan[:, :, 45:] = 3000
    trees.write_nifti(tmp_path / "dataset/case_00000/imaging.nii.gz", scan, trees.KITS_AFFINE)
    kits = Kits()
    case = kits.load(kits.find(tmp_path).cases[0])
    np.testing.assert_allclose([case.image.min(), case.image.max()], [-1, 1], atol=0.3)
    assert kits.settings["hounsfield"] == [-58.0, 302.0]


def test_kits_faults(tmp_path):
    trees.kits(tmp_path, 4)
    data = tmp_path / "dataset"
    (data / "case_00000/imaging.nii.gz").unlink()
    (data / "case_00001/segmentation.nii.gz").unlink()
    trees.write_nifti(
        data / "case_00002/segmentation.nii.gz", np.zeros((24, 80, 90), np.uint8), trees.KITS_AFFINE
    )
    trees.write_nifti(data / "case_00210/imaging.nii.gz", np.zeros((4, 4, 4), np.int16))
    kits = Kits()
    found = kits.find(tmp_path)
    assert [c.name for c in found.cases] == ["case_00002", "case_00003"]  # 210 was never labelled
    said = dict(found.problems)
    assert list(said) == ["case_00000", "case_00001"]
    assert "run the download script" in said["case_00000"]
    with pytest.raises(CaseError, match="is empty, so there is no region round the kidneys"):
        kits.load(found.cases[0])
    # The split still works: what is damaged fails when it is loaded.
    (data / "case_00003/segmentation.nii.gz").write_bytes(b"")
    assert sum(map(len, kits.split(found.cases, 0).values())) == 2


def test_kits_tells_of_the_labels_it_reads_for_the_split(tmp_path):
    kits = Kits()
    cases = kits.find(trees.kits(tmp_path, 5)).cases
    told = []
    split = kits.watched_split(cases, 0, lambda *numbers: told.append(numbers))
    assert told == [(n, 5) for n in range(1, 6)]
    assert split == kits.split(cases, 0)


def test_tumours_are_counted_without_specks():
    label = np.zeros((30, 30, 30), np.uint8)
    label[2:8, 2:8, 2:8] = label[8, 8, 8] = 2  # joined by a corner
    label[20:25, 20:25, 20:25] = 2
    label[15, 15, 15] = 2
    assert tumours(label, (1.0, 1.0, 1.0)) == (2, 217 + 125)
    assert tumours(label, (1.0, 1.0, 0.1)) == (0, 0.0)
    assert tumours(np.ones((3, 3, 3), np.uint8), (1, 1, 1)) == (0, 0.0)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_tumours_on_one_line_are_counted(axis):  # of booleans cc3d found no room for the second
    label = np.ones((5, 5, 5), np.uint8)
    line = [2, 2, 2]
    line[axis] = slice(1, 4, 2)
    label[tuple(line)] = 2
    assert tumours(label, (5.0, 5.0, 5.0)) == (2, 250.0)


# --- CHASE_DB1 --------------------------------------------------------------------------------


def test_chase_has_both_raters(tmp_path):
    chase = Chase()
    case = chase.load(chase.find(trees.chase(tmp_path)).cases[0])
    np.testing.assert_array_equal(np.roll(case.label, 1, axis=0), case.extras["second_rater"])
    np.testing.assert_array_equal(case.extras["field_of_view"], trees.disc((48, 50), 22))
    assert all(extra.dtype == np.uint8 for extra in case.extras.values())


def test_chase_at_half_resolution(tmp_path):
    whole, half = Chase(), Chase(shrink=2)
    case = whole.find(trees.chase(tmp_path, shape=(48, 51))).cases[0]
    full, small = whole.load(case), half.load(case)
    assert small.label.shape == small.extras["second_rater"].shape == (24, 26)
    assert small.grid.source_shape == full.label.shape
    share = full.label.mean()
    assert small.label.mean() == pytest.approx(share, rel=0.25)
    assert half.settings != whole.settings


@pytest.mark.parametrize("shrink", [0, -1, 17])
def test_chase_shrinks_by_whole_numbers(shrink):
    with pytest.raises(ValueError, match="shrink: expected"):
        Chase(shrink=shrink)


def test_chase_in_one_folder_without_field_of_view(tmp_path):
    trees.chase(tmp_path / "tree", children=2)
    flat = tmp_path / "flat"
    flat.mkdir()
    for part in ("images", "1st_manual", "2nd_manual"):
        for file in (tmp_path / "tree" / part).iterdir():
            file.rename(flat / file.name)
    chase = Chase()
    found = chase.find(flat)
    assert len(found.cases) == 4
    assert found.problems == []
    assert set(chase.load(found.cases[0]).extras) == {"second_rater"}


def test_chase_faults(tmp_path):
    trees.chase(tmp_path)
    (tmp_path / "2nd_manual/Image_01L_2ndHO.png").unlink()
    (tmp_path / "images/Image_01R.jpg").rename(tmp_path / "images/left.jpg")
    trees.write_picture(tmp_path / "2nd_manual/Image_02L_2ndHO.png", np.ones((4, 4), bool))
    trees.write_picture(tmp_path / "1st_manual/Image_02R_1stHO.png", np.zeros((48, 50), bool))
    chase = Chase()
    found = chase.find(tmp_path)
    assert found.problems == [
        ("Image_01L", "Image_01L_2ndHO.png is missing; get it again"),
        ("left.jpg", "expected a name like Image_01L.jpg, got left.jpg"),
    ]
    with pytest.raises(CaseError, match=r"2ndHO.png: has shape \(4, 4\)"):
        chase.load(found.cases[0])
    with pytest.raises(CaseError, match="is empty"):
        chase.load(found.cases[1])
