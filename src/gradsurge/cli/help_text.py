"""Help that fits any terminal: paragraphs without the line breaks of the sources."""

import inspect

import typer


def join_lines(app: typer.Typer) -> None:
    """Give all commands below help whose paragraphs are one line each; the terminal folds them.

    Typer does so with the first paragraph alone.
    """
    for command in app.registered_commands:
        text = command.help or (command.callback and command.callback.__doc__) or ""
        command.help = joined(text)
    for group in app.registered_groups:
        if group.typer_instance is not None:
            join_lines(group.typer_instance)


def joined(text: str) -> str:
    r"""Return paragraphs of one line each, but for those that begin with the sign for "as it is".

    >>> joined("One.\n\n    Two\n    lines.\n    ")
    'One.\n\nTwo lines.'
    """
    paragraphs = inspect.cleandoc(text).split("\n\n")
    return "\n\n".join(p if p.startswith("\b") else " ".join(p.split()) for p in paragraphs)
