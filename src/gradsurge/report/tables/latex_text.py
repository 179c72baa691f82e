"""Plain text as LaTeX."""

import re

from gradsurge.report.tables.numbers import one_line

# Signs with a meaning in LaTeX, and those that its default fonts lack or set as something else.
_SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    '"': "''",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after the end of a row it would begin an option, and * belong to it
    "*": "{*}",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "·": r"$\cdot$",
    "−": r"$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "∪": r"$\cup$",
    "→": r"$\rightarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "²": r"$^2$",
    "³": r"$^3$",
    "–": "--",
    "—": "---",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "λ": r"$\lambda$",
    "σ": r"$\sigma$",
    "τ": r"$\tau$",
}
_HYPHEN, _APART = "-(?=-)", "-{}"  # no dash: the options of a command
_PATTERN = re.compile("|".join((_HYPHEN, *map(re.escape, _SIGNS))))


def latex_text(text: str) -> str:
    r"""Return LaTeX that shows a text as it is, on one line.

    Letters outside of ASCII pass; LaTeX of today reads UTF-8.

    >>> print(latex_text("50 % of lr_0.1 & ±3"))
    50 \% of lr\_0.1 \& $\pm$3
    """
    return _PATTERN.sub(lambda found: _SIGNS.get(found[0], _APART), one_line(text))
