"""What this environment has, what it lacks, and what to type about it."""

from gradsurge.experiments.doctor.diagnosis import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose"]
