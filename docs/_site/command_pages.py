"""The reference of commands, made from the commands themselves when the site is built."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import typer.main

_PLACE = "<!-- commands -->"
_VALUES = {int: "N", float: "X", Path: "PATH"}


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the commands where a page asks for them."""
    if _PLACE not in markdown:
        return markdown
    from gradsurge.cli import app

    group = typer.main.get_command(app)
    return markdown.replace(_PLACE, "\n\n".join(_sections(group, "gradsurge")))


def _sections(command: Any, name: str) -> Iterator[str]:
    below = getattr(command, "commands", {})
    if name != "gradsurge":
        yield _section(command, name, below)
    for word, one in below.items():
        yield from _sections(one, f"{name} {word}")


def _section(command: Any, name: str, below: dict[str, Any]) -> str:
    shown = [p for p in command.params if p.name != "help" and not getattr(p, "hidden", False)]
    arguments = " ".join(_value(p) for p in shown if p.param_type_name == "argument")
    usage = f"{name} COMMAND" if below else f"{name} {arguments}".strip()
    lines = [f"## {name}", f"```\n{usage}\n```", _help_of(command)]
    rows = [f"| {_names(p)} | {_text(p)} |" for p in shown]
    if rows:
        lines.append("\n".join(["| | |", "|---|---|", *rows]))
    return "\n\n".join(lines)


def _help_of(command: Any) -> str:
    """Return the help as Markdown: examples and tables in it are kept as they are."""
    paragraphs = (command.help or "").replace("\b\n", "").split("\n\n")
    return "\n\n".join(_paragraph(text.strip("\n")) for text in paragraphs)


def _paragraph(text: str) -> str:
    is_code = text.startswith("gradsurge ") or "   " in text.strip()
    return f"```\n{text}\n```" if is_code else " ".join(text.split())


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_value(parameter)}`"
    *others, last = (*parameter.opts, *parameter.secondary_opts)
    value = "" if parameter.is_flag else f" {_value(parameter)}"
    return ", ".join(f"`{name}`" for name in (*others, f"{last}{value}"))


def _value(parameter: Any) -> str:
    """Return what stands for a value: its metavar, the choices, or a letter for a number."""
    annotation = parameter.type_descriptor.annotation
    if parameter.metavar:
        return str(parameter.metavar)
    if get_origin(annotation) is Literal:
        return "/".join(get_args(annotation))
    return _VALUES.get(annotation, parameter.name.upper())


def _text(parameter: Any) -> str:
    text = " ".join((parameter.help or "").split())
    is_option = parameter.param_type_name == "option"
    needed = " *Required.*" if parameter.required and is_option else ""
    default = parameter.default
    plain = isinstance(default, str | int | float | Path) and not isinstance(default, bool)
    given = f" *{default} if left out.*" if plain and "left out" not in text else ""
    return f"{text}{needed}{given}".replace("|", "\\|").replace("[", "\\[")
