"""``python -m gradsurge`` is the command ``gradsurge``."""

from gradsurge.cli import main

if __name__ == "__main__":
    main()
