"""Primus, a transformer for volumes."""

from gradsurge.models.primus.network import Primus
from gradsurge.models.primus.plan import SIZES, build_primus, plan_primus, round_primus_patch

__all__ = ["SIZES", "Primus", "build_primus", "plan_primus", "round_primus_patch"]
