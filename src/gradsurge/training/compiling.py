"""A model as torch.compile makes it, where that is possible."""

import os
import shutil
import sys

import torch
from torch import nn

# What torch takes where CXX says nothing.
_USUAL = {"darwin": "clang++", "win32": "cl"}


class NoCompilerError(ValueError):
    """On a CPU torch.compile writes C++, and there is nothing here to compile it."""


def compiled(model: nn.Module, device: torch.device) -> nn.Module:
    """Return the model, compiled on its first use; it shares its weights with the one given.

    Raises:
        NoCompilerError: see `check_compiler`.
    """
    check_compiler(device)
    made: nn.Module = torch.compile(model)  # type: ignore[assignment]
    return made


def check_compiler(device: torch.device) -> None:
    """See that a model can be compiled for a device.

    Raises:
        NoCompilerError: torch would find no C++ compiler, a minute later and at length.
    """
    compiler = os.environ.get("CXX", _USUAL.get(sys.platform, "g++"))
    if device.type == "cpu" and shutil.which(compiler) is None:
        raise NoCompilerError(
            f"compile: torch.compile needs a C++ compiler on a CPU, and {compiler or 'CXX'} is not "
            f"there; install it, name another one by CXX, or leave compile out"
        )
