"""What the documents hold: their code, and the commands they tell people to type."""

import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
# A block that cannot run says why in the line before it.
_PYTHON = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]+) -->\n+)?```python\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
_FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHELLS = ("", "bash", "console", "sh")
_INLINE = re.compile(r"(?<!`)`((?:pip [^`]*&& )?gradsurge [^`]+)`(?!`)")
_COMMAND = re.compile(r"(?:^|(?<=[\s\"(]))gradsurge (?=[a-z-])(.*)")
_ENDS = {"|", "||", "&&", ";", ">", ">>", ")"}  # of a command, with others to follow


def python_blocks(document: Path) -> list[tuple[str, str]]:
    """Return the blocks of Python, and why each is not run ("" if it is)."""
    return [(m["code"], m["why"] or "") for m in _PYTHON.finditer(document.read_text())]


def said_to_print(code: str) -> list[str]:
    """Return what a block says it prints: after a print, or in the comments at its end."""
    lines = code.splitlines()
    beside = [m[1] for line in lines if (m := re.fullmatch(r"print\(.*\)  # (.+)", line))]
    below = list(takewhile(lambda line: line.startswith("# "), reversed(lines)))
    return [*beside, *(line[2:] for line in below)]


def prose(document: Path) -> str:
    """Return the text of a document without its blocks of code."""
    return _FENCED.sub("", document.read_text())


def commands(document: Path) -> list[list[str]]:
    """Return the words after ``gradsurge`` of every command in blocks and between backticks."""
    blocks = _FENCED.findall(document.read_text())
    typed = [block for language, block in blocks if language in _SHELLS]
    lines = [line for block in typed for line in _lines(block)]
    lines += [" ".join(span.split()) for span in _INLINE.findall(prose(document))]
    return [words for line in lines if (words := _words(line))]


def _lines(block: str) -> Iterator[str]:
    """Yield what is typed in a block: after a prompt if it shows output too, else every line."""
    joined = re.sub(r"\\\n\s*", " ", block).splitlines()
    typed = [line[2:] for line in joined if line.startswith("$ ")]
    yield from typed or joined


def _words(line: str) -> list[str]:
    found = _COMMAND.search(line)
    if found is None or line.lstrip().startswith("#"):
        return []
    separated = re.sub(r"(\)\"|[;|)])", r" \1 ", found[1]).replace(')"', ")")
    words = shlex.split(separated, comments=True)
    ends = [place for place, word in enumerate(words) if word in _ENDS]
    return words[: ends[0]] if ends else words
