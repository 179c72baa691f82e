"""How a run is measured."""

from dataclasses import dataclass

from gradsurge.experiments.demo.measuring import settings_of
from gradsurge.experiments.evaluation.settings import Region, Settings
from gradsurge.experiments.runs.task import Task
from gradsurge.experiments.study.shifts import STRENGTHS


@dataclass(frozen=True)
class MeasureSettings:
    """What is measured.

    Attributes:
        regions: voxels that count.
        lesions: whether to look at connected components, which is slow and says nothing of organs.
        lesion_edges: borders of the size classes, in mm³ (mm² in 2D); quartiles if None.
        shift: whether to measure shifted images too, 20 more inferences a case.
        seed: of the shifts' noise.
    """

    regions: tuple[Region, ...] = ("all", "active")
    lesions: bool = False
    lesion_edges: tuple[float, ...] | None = None
    shift: bool = False
    seed: int = 0

    @property
    def inferences(self) -> int:
        """How often the network looks at each case.

        >>> MeasureSettings(shift=True).inferences
        21
        """
        return 1 + (sum(map(len, STRENGTHS.values())) if self.shift else 0)

    def evaluation(self, task: Task, *, logits: bool) -> Settings:
        """Return the settings of `gradsurge evaluate` for what a task's network tells."""
        told = settings_of(task)
        return Settings(
            logits=logits,
            multilabel=told.multilabel,
            label_sets=told.label_sets,
            regions=self.regions,
            allow_empty=True,
        )
