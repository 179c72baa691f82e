"""Phantoms: cases made from a seed, with the true posterior their labels were drawn from."""

from gradsurge.data.phantoms.case import PhantomCase
from gradsurge.data.phantoms.catalogue import PHANTOMS, Phantom, make_phantom

__all__ = ["PHANTOMS", "Phantom", "PhantomCase", "make_phantom"]
