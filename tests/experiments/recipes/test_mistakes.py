"""Every mistake in a recipe is one line that names the file and the key."""

import datetime
import math
import re
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.experiments.recipes import read_recipe, shipped, shipped_recipes
from gradsurge.experiments.recipes.read_run import RUN, TRAINING
from tests.experiments.recipes.texts import GRID, SMALL, refusal_of, written


def refusal(folder, text, scale="paper"):
    file = written(folder, text)
    with pytest.raises(ValueError, match="discs") as caught:
        read_recipe(str(file), scale)
    message = str(caught.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    return message.removeprefix(f"{file}: ")


RANGE = "{ low = 1e-3, high = 1e-2, scale = 'log' }".replace("'", '"')
DATA = 'dataset = "lesions-2d"\nsettings = { cases = 10, size = [32, 32] }'
LR = 'search.space."training.learning_rate"'
CHANGES = {  # (what is replaced, by what): how the message begins, what it also says
    ('title = "Discs"', ""): ("title: missing", ""),
    ('title = "Discs"', "title = 3"): ("title: expected a text, got 3", ""),
    ('title = "Discs"', 'titel = "Discs"'): ("titel: unknown key", "did you mean 'title'?"),
    ("training = { steps = 30 }", "training = 30"): ("run.training: expected a table, got 30", ""),
    ('dataset = "lesions-2d"', 'dataset = "lesions"'): ("data.dataset: unknown", "lesions-2d"),
    ('dataset = "lesions-2d"', 'dataset = "fives"'): (
        "data.settings.cases: unknown key",
        "known: none",
    ),
    (
        'space = { "training.learning_rate" =',
        'space = { "training.momentum" = [0.9], "training.learning_rate" =',
    ): ('search.space."training.momentum": is of sgd; ce is trained with adamw', ""),
    (DATA, 'dataset = "nnunet"\nsettings = { fold = -1 }'): (
        "data.settings.fold: expected a whole number of 0 or above, got -1",
        "",
    ),
    (DATA, 'dataset = "images"\nsettings = { patient = "(P" }'): (
        "data.settings.patient: '(P' is no regular expression",
        "",
    ),
    ("cases = 10", "case = 10"): ("data.settings.case: unknown key", "did you mean 'cases'?"),
    ("cases = 10", "cases = 0"): ("data.settings.cases: expected", ""),
    ("cases = 10", "cases = true"): ("data.settings.cases: expected a whole number", ""),
    ("[32, 32]", "[32]"): ("data.settings.size: lesions-2d has 2 axes", ""),
    ("[32, 32]", '"32"'): ("data.settings.size: expected a list", ""),
    ("[run]", "cases = 0\n[run]"): ("data.cases: expected a whole number of 1", ""),
    ("[run]", "cases = { trian = 3 }\n[run]"): ("data.cases.trian: unknown key", "'train'"),
    ('"quick"', '"quik"'): ("run.preset: unknown 'quik'", "did you mean 'quick'?"),
    ('"quick"', '"paper-3d"'): ("run.preset: paper-3d is for 3D", ""),
    ('"quick"', '"quick"\nmodel = "unet"'): ("run.model: unknown 'unet'", "residual-unet"),
    ('"quick"', '"quick"\nmodel_options = { feature = 8 }'): (
        "run.model_options.feature: ",
        "'features'",
    ),
    ('"quick"', '"quick"\naugmentation = "ligth"'): ("run.augmentation: unknown", "'light'"),
    ('"quick"', '"quick"\npatch = 32'): ("run.patch: expected a list", ""),
    ('"quick"', '"quick"\npatch = [32, 32, 32]'): ("run.patch: expected 2 sizes", "got 3"),
    ('"quick"', '"quick"\npatch = [32]'): ("run.patch: expected two or three", ""),
    ('"quick"', '"quick"\npatches = { bach = 2 }'): ("run.patches.bach: unknown key", "'batch'"),
    ('"quick"', '"quick"\npatches = { batch = 0 }'): ("run.patches.batch: expected", ""),
    ('"quick"', '"quick"\npatches = { oversample = "x" }'): (
        "run.patches.oversample: expected a number, got 'x'",
        "",
    ),
    ('"quick"', '"quick"\npatches = { oversample = 2 }'): ("run.patches.oversample: ", "0 to 1"),
    ('"quick"', '"quick"\npatch = [30, 30]'): ("run.patch: (30, 30) is not divisible", ""),
    ('"quick"', '"quick"\nvalidation_cases = 0'): ("run.validation_cases: expected", ""),
    ('"quick"', '"quick"\nloss = "dice"'): ("run.loss: unknown key", ""),
    ("steps = 30", "stepz = 30"): ("run.training.stepz: unknown key", "did you mean 'steps'?"),
    ("steps = 30", 'steps = "many"'): ("run.training.steps: expected a whole", "got 'many'"),
    ("steps = 30", "steps = 30, betas = 1.5"): (
        "run.training.betas: expected a list of 2 numbers, got 1.5",
        "",
    ),
    ("steps = 30", "steps = 30, warmup = 30"): ("run.training.warmup: expected fewer", ""),
    ("steps = 30", "steps = 30, learning_rate = 1e-3"): (LR, "searched and fixed"),
    ('"random"', '"grid"'): ("search.trials: is for kind = 'random'", ""),
    ('"random"', '"bayes"'): ("search.kind: unknown 'bayes'", "random, grid"),
    ("trials = 4\n", ""): ("search.trials: missing", ""),
    ("trials = 4", "trials = 4\nshare = 0.5"): ("search.share: is for kind = 'grid'", ""),
    ("trials = 4", "trials = 1000000000"): ("search.trials: ", "from 1 to 10000"),
    ("keep = 2", "keep = 5"): ("search.keep: expected at most the 4 trials, got 5", ""),
    ("low = 1e-3", "low = 1e-1"): (f"{LR}: expected low < high", ""),
    ("low = 1e-3", "low = 0"): (f"{LR}: a log scale needs low > 0", ""),
    ("low = 1e-3", "low = nan"): (f"{LR}.low: expected a number, got nan", ""),
    ("low = 1e-3, ", ""): (f"{LR}.low: expected a number, got nothing", ""),
    ('scale = "log"', 'scale = "logs"'): (f"{LR}.scale: unknown 'logs'", "'log'"),
    (RANGE, "[]"): (f"{LR}: expected at least one value", ""),
    (RANGE, "[1e-3, 1e-3]"): (f"{LR}: 0.001 comes twice", ""),
    (RANGE, "[1e-3, 0.0]"): (f"{LR}: expected a number above 0, got 0.0", ""),
    (RANGE, "1e-3"): (f"{LR}: expected a list of values or", ""),
    ('"training.learning_rate"', "training.learning_rate"): ("search.space.training: ", "quoted"),
    ('"training.learning_rate"', '"training.leaning_rate"'): (
        'search.space."training.leaning_rate": unknown setting',
        "did you mean 'learning_rate'?",
    ),
    ('"training.learning_rate"', '"training.seed"'): ('search.space."training.seed": is not', ""),
    ('"training.learning_rate"', '"loss.a"'): ('search.space."loss.a": ce does not take', ""),
    ("ce = {}\ndice-surgery = {}", "cee = {}"): ("variants.cee.loss: missing", ""),
    ("ce = {}", 'CE = { loss = "ce" }'): ("variants.CE: expected a name", ""),
    ("ce = {}", '"ce..x" = {}'): ('variants."ce..x": expected a name', ""),
    ("ce = {}", '"../ce" = { loss = "ce" }'): ('variants."../ce": expected a name', ""),
    ("ce = {}", 'ce = { loss = "cee" }'): ("variants.ce.loss: unknown 'cee'", "'ce'"),
    ("ce = {}", "ce = { seed = 2 }"): ("variants.ce.seed: unknown key", "did you mean 'seeds'?"),
    ("ce = {}", "ce = { seeds = 2 }"): ("variants.ce.seeds: a random search", ""),
    ("ce = {}", "ce = { seeds = 1000000000 }"): ("variants.ce.seeds: ", "from 1 to 1000"),
    ("ce = {}", "ce = { share = 0 }"): ("variants.ce.share: expected a number above 0", ""),
    ("ce = {}", "ce = { share = 30 }"): ("variants.ce.share:", "up to 10, got 30"),
    ("ce = {}", "ce = 3"): ("variants.ce: expected a table, got 3", ""),
    ("ce = {}", "ce = { loss_options = { decline = 3 } }"): (
        "variants.ce.loss_options.decline: ",
        "unknown option 'decline'",
    ),
    ("ce = {}", 'ce = { loss_options = { activation = "sigmoid" } }'): (
        "variants.ce.loss_options.activation: follows from the store",
        "",
    ),
    ("ce = {}", "ce = { surgery = { start = 0.5 } }"): ("variants.ce.surgery: ce has none", ""),
    ("ce = {}", "ce = { training = { stepz = 3 } }"): ("variants.ce.training.stepz: ", "'steps'"),
    ("ce = {}", "ce = { training = { steps = 0 } }"): ("variants.ce.training.steps: ", ""),
    ("dice-surgery = {}", "dice-surgery = { surgery = { start = 2 } }"): (
        "variants.dice-surgery.surgery.start: expected a fraction",
        "",
    ),
    ("dice-surgery = {}", "dice-surgery = { surgery = { start = 0.5, full = 0.2 } }"): (
        "variants.dice-surgery.surgery: ramp: expected",
        "",
    ),
    ("dice-surgery = {}", "dice-surgery = { loss_options = { decline = -1 } }"): (
        "variants.dice-surgery.loss_options.decline: ",
        "-1",
    ),
    ("[0.3, 0.7]", "[0.3, 1.7]"): (
        'variants.tversky.space."loss.a": tversky does not take 1.7',
        "",
    ),
    ("[0.3, 0.7] }", "[0.3] }, loss_options = { a = 0.1 }"): (
        'variants.tversky.space."loss.a": is searched and fixed as 0.1',
        "",
    ),
    ("ce = {}", 'ce = { init = "dice" }'): ("variants.ce.init: unknown 'dice'", "dice-surgery"),
    ("ce = {}", 'ce = { init = "ce" }'): ("variants.ce.init: goes round in a circle", ""),
    ("ce = {}", 'ce = { point_of = "tversky", space = { "loss.b" = [1] } }'): (
        "variants.ce.space: its point is another's",
        "",
    ),
    ("ce = {}", 'ce = { point_of = "tversky" }'): (
        'variants.tversky.space."loss.a": ce does not take',
        "",
    ),
    ("1 = {}", "9 = {}"): ("tables.9: unknown key", "corrections"),
    ("1 = {}", 'shfit = { variants = ["ce"] }'): ("tables.shfit: unknown key", "'shift'"),
    ("1 = {}", '1 = { variants = ["dice"] }'): ("tables.1.variants: no variant 'dice'", ""),
    ("1 = {}", '1 = { variants = ["ce", "ce"] }'): ("tables.1.variants: ", "different"),
    ("1 = {}", '1 = { variants = "ce" }'): ("tables.1.variants: expected a list", ""),
    ("1 = {}", '1 = { published = "fivs" }'): ("tables.1.published: unknown 'fivs'", "'fives'"),
    ("1 = {}", 'shift = { published = "fives" }'): ("tables.shift.published: the paper has no", ""),
    ("[scale.smoke]", "[scale.tiny]"): ("scale.tiny: unknown key", "smoke, small"),
    ("[scale.smoke]", "[scale.smoke]\nvariants = {}"): ("scale.smoke.variants: unknown key", ""),
    ("[scale.smoke]", "[scale.smoke]\nseeds = 1001"): ("scale.smoke.seeds: ", "to 1000, got"),
    ("[scale.smoke]", "[scale.smoke]\nseeds = 0"): ("scale.smoke.seeds: expected", ""),
    ("steps = 3 }", "stepz = 3 }"): ("scale.smoke.run.training.stepz: unknown key", "'steps'"),
    ("steps = 3 }", "steps = 0 }"): ("scale.smoke.run.training.steps: expected", ""),
    ("[scale.smoke]", "[evaluation]\nprofile = 'papre'\n[scale.smoke]"): (
        "evaluation.profile: unknown 'papre'",
        "did you mean 'paper'?",
    ),
    ("[scale.smoke]", "[evaluation]\nregions = ['band']\n[scale.smoke]"): (
        "evaluation.regions",
        "",
    ),
    ("[scale.smoke]", "[evaluation]\nregions = ['active']\n[scale.smoke]"): (
        "evaluation.regions: expected 'all' among them",
        "",
    ),
    ("[scale.smoke]", "[evaluation]\nlesion_edges = [3, 2]\n[scale.smoke]"): (
        "evaluation.lesion_edges: expected two or more rising numbers",
        "",
    ),
    ("[scale.smoke]", "[evaluation]\nlesion_edges = [2, 2]\n[scale.smoke]"): (
        "evaluation.lesion_edges: expected two or more rising numbers",
        "",
    ),
    ("[scale.smoke]", "[evaluation]\nlesion_edges = [-5, 3]\n[scale.smoke]"): (
        "evaluation.lesion_edges: expected two or more rising numbers of 0 or above",
        "",
    ),
}


@pytest.mark.parametrize(("change", "words"), CHANGES.items(), ids=lambda pair: str(pair[1]))
def test_a_mistake_names_its_key(tmp_path, change, words):
    old, new = change
    assert SMALL.count(old) == 1 or old == "steps = 3 }"
    message = refusal(tmp_path, SMALL.replace(old, new, 1))
    assert message.startswith(words[0]), message
    assert words[1] in message, message


GRID_CHANGES = {
    ("share = 0.3333", "share = 0.3333\nkeep = 1"): "search.keep: is for kind = 'random'",
    ("[1e-3, 3e-3]", "{ low = 1e-3, high = 1e-2 }"): f"{LR}: a grid has no ranges",
    ('"dice.first" }', '"dice.frist" }'): 'variants."dice-surgery.last".init: unknown',
    ('0.4, point_of = "dice"', '0.4, point_of = "dice.first"'): (
        'variants."dice-surgery.last".point_of: dice.first takes that of dice'
    ),
    ('0.4, point_of = "dice"', '0.4, point_of = "tversky-surgery"'): (
        'variants."dice-surgery.last".point_of: goes on from dice.first and must take the same'
    ),
    ('0.4, point_of = "dice"', "0.4"): (
        'variants."dice-surgery.last".point_of: goes on from dice.first and must take the same'
    ),
    ("0.6, point", '0.6, init = "dice-surgery.last", point'): (
        'variants."dice.first".init: goes round in a circle: dice.first from dice-surgery.last '
        "from dice.first"
    ),
}


@pytest.mark.parametrize(("change", "words"), GRID_CHANGES.items(), ids=str)
def test_a_mistake_of_a_grid_or_of_a_start(tmp_path, change, words):
    assert GRID.count(change[0]) == 1
    assert refusal(tmp_path, GRID.replace(*change)).startswith(words)


def test_a_mistake_of_a_scale_is_found_whichever_is_asked_for(tmp_path):
    text = SMALL.replace("steps = 3 }", "steps = 0 }")
    messages = {refusal(tmp_path, text, scale) for scale in ("smoke", "small", "paper")}
    assert len(messages) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('title = "x"\nthis is no TOML', "not TOML: .*line 2"),
        ('title = "x"\ntitle = "y"\n\n', "not TOML: .*line 2"),
        ("a = " + "[" * 100_000, "not TOML"),
        ("", "missing"),
    ],
)
def test_what_is_no_recipe(tmp_path, text, words):
    with pytest.raises(ValueError, match=f"discs.toml: .*{words}"):
        read_recipe(str(written(tmp_path, text)))


def test_files_that_cannot_be_read(tmp_path):
    file = tmp_path / "discs.toml"
    file.write_bytes(b"title = '\xff'")
    with pytest.raises(ValueError, match="expected text in UTF-8"):
        read_recipe(str(file))
    with pytest.raises(ValueError, match=r"other.toml: no such recipe file"):
        read_recipe(str(tmp_path / "other.toml"))
    with pytest.raises(ValueError, match="no such recipe file"):
        read_recipe(str(tmp_path))
    with pytest.raises(ValueError, match=r"unknown 'fivs'; did you mean 'fives'\?.*\.toml"):
        read_recipe("fivs")
    with pytest.raises(ValueError, match=r"scale: unknown 'papr'; did you mean 'paper'\?"):
        read_recipe("fives", "papr")


def test_a_key_with_a_line_break_stays_on_one_line(tmp_path):
    assert refusal(tmp_path, SMALL + '\n["a\\nb"]').startswith(r'"a\nb": unknown key')


VALUES = [-1, 0, 3, 0.5, math.inf, math.nan, True, "", "x", [], [1], [[1]], {}, {"a": 1}]
VALUES += [datetime.date(1979, 5, 27), 10**20, ["ce"], [0.5, 0.9], {"start": 0.5}, "dice", "a\nb"]
TABLES = {
    "": ["title", "data", "run", "search", "variants", "tables", "evaluation", "scale"],
    "data": ["dataset", "settings", "source", "cases"],
    "data.settings": ["cases", "seed", "size"],
    "run": list(RUN),
    "run.training": list(TRAINING),
    "run.patches": ["batch", "oversample", "patches_per_case", "draw"],
    "run.model_options": ["features", "cap", "resolution", "deep_supervision", "blocks"],
    "search": ["kind", "trials", "keep", "seed", "space"],
    "search.space": ["training.momentum", "training.betas", "loss.smooth", "x"],
    "variants.dice-surgery": ["title", "loss", "space", "surgery", "init", "training", "share"],
    "variants.dice-surgery.loss_options": ["decline", "scale", "blend", "smooth", "class_weights"],
    "variants.dice-surgery.surgery": ["start", "full"],
    "tables": ["1", "shift"],
    "tables.1": ["variants", "published"],
    "evaluation": ["profile", "regions", "lesion_edges"],
    "scale.small": ["data", "run", "search", "seeds"],
}


@settings(max_examples=200)
@given(st.sampled_from(sorted(TABLES)), st.data())
def test_whatever_stands_there_is_read_or_refused_in_one_line(table, data):
    content = tomllib.loads(SMALL)
    place = content
    for key in filter(None, table.split(".")):
        place = place.setdefault(key, {})
    place[data.draw(st.sampled_from(TABLES[table]))] = data.draw(st.sampled_from(VALUES))
    message = refusal_of(content)
    assert message is None or re.fullmatch(r"[^\n]*fives.toml: [\w.\"+-]+: [^\n]+", message)


def test_shipped_names_are_found_whatever_the_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert {read_recipe(name).name for name in shipped_recipes()} == set(shipped_recipes())


def test_a_wheel_has_its_recipes_inside(tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "gradsurge"
    (package / "recipes").mkdir(parents=True)
    written(package / "recipes", SMALL)
    monkeypatch.setattr(shipped, "files", lambda name: package)
    assert shipped_recipes() == ("discs",)
    assert read_recipe("discs").file == package / "recipes" / "discs.toml"


@pytest.mark.parametrize(
    "space",
    [
        '"training.optimiser" = ["sgd", "adamw"], "training.momentum" = [0.9]',
        '"training.betas" = [[0.9, 0.98]]',
    ],
)
def test_what_some_point_uses_may_be_searched(tmp_path, space):
    rate = '"training.learning_rate" ='
    text = SMALL.replace(rate, f"{space}, {rate}", 1)
    assert len(read_recipe(str(written(tmp_path, text))).search.space) > 1
