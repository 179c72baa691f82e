"""Tables of ``gradsurge search``, by hand."""

import io

from rich.console import Console

from gradsurge.cli.search_output import studies_table
from gradsurge.experiments.search import SearchTrial, StudyStatus

POINT = {"training.learning_rate": 0.0031234, "loss.a": 0.3}
TRIALS = (
    SearchTrial(0, POINT, "done", dice=0.71, minutes=30.0, run="runs/dice/trial_000"),
    SearchTrial(1, POINT, "done", dice=0.8349, minutes=30.0, run="runs/dice/trial_001"),
    SearchTrial(
        2, POINT, "running", minutes=10.0, step=40, steps=120, beats=41, worker="node7-88-a1b2c3"
    ),
    SearchTrial(3, POINT, "failed", reason="the loss is [red]not finite[/red]"),
    SearchTrial(4, POINT, "waiting", reason="its worker far died after step 7"),
    SearchTrial(5, POINT, "waiting"),
)


def printed(*found):
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(studies_table(found))
    return console.export_text().splitlines()


def test_a_study_at_work():
    lines = printed(StudyStatus("tiny/paper/dice", TRIALS))
    # Twenty minutes of one, thirty of each that waits, by the one worker that is there.
    assert lines[0] == (
        "tiny/paper/dice: 2 done, 1 running, 2 waiting, 1 failed; about 1:20:00 left"
    )
    assert lines[1] == "  best: trial 1, Dice 0.8349: learning_rate 0.003123, a 0.3"
    assert lines[2].split() == ["trial", "worker", "step", "beats", "min", "point"]
    row = ["2", "node7-88-a1b2c3", "40/120", "41", "10.0", "learning_rate", "0.003123,", "a", "0.3"]
    assert lines[3].split() == row
    assert lines[4:] == [
        "  trial 3: given up: the loss is [red]not finite[/red]",
        "  trial 4: will be tried again: its worker far died after step 7",
    ]


def test_studies_before_and_after_work():
    assert printed() == ["no studies yet"]
    assert printed(StudyStatus("a", TRIALS[5:]), StudyStatus("b", TRIALS[:1])) == [
        "a: 1 waiting",
        "b: 1 done",
        "  best: trial 0, Dice 0.7100: learning_rate 0.003123, a 0.3",
    ]
