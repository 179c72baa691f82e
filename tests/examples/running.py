"""Examples run as a reader would run them, in this process: importing MONAI takes seconds."""

import re
import runpy
from pathlib import Path

from monai.bundle import run as run_bundle  # here: its loggers keep the stream they first see

EXAMPLES = Path(__file__).parents[2] / "examples"
PAIRS = {
    "torch": ("before.py", "after.py"),
    "monai": ("before.py", "after.py"),
    "monai_bundle": ("before.yaml", "after.yaml"),
    "lightning": ("before.py", "after.py"),
    "smp": ("before.py", "after.py"),
}


def run(file, capsys):
    """Return the numbers that an example prints, by name."""
    capsys.readouterr()
    if file.suffix == ".yaml":
        run_bundle(config_file=str(file))
    else:
        runpy.run_path(str(file), run_name="__main__")
    last = capsys.readouterr().out.strip().splitlines()[-1]
    return {name: float(value) for name, value in re.findall(r"(\w+) ([\d.]+)", last)}
