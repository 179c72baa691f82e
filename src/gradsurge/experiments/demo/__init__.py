"""The demo: three losses with one budget, measured on held-out cases against the truth."""

from gradsurge.experiments.demo.compared import COMPARED, POSTERIOR, Compared
from gradsurge.experiments.demo.plan import PRESETS, DemoPlan, plan_phantoms, plan_real, smoke
from gradsurge.experiments.demo.result import DemoResult, ScoreRow
from gradsurge.experiments.demo.run import run_demo
from gradsurge.experiments.demo.watcher import DemoStopped, Watcher

__all__ = [
    "COMPARED",
    "POSTERIOR",
    "PRESETS",
    "Compared",
    "DemoPlan",
    "DemoResult",
    "DemoStopped",
    "ScoreRow",
    "Watcher",
    "plan_phantoms",
    "plan_real",
    "run_demo",
    "smoke",
]
