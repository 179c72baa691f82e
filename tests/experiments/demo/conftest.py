import pytest

from gradsurge.experiments.demo import plan_phantoms, run_demo, smoke


class Log:
    """Remembers stages and how far each came."""

    def __init__(self):
        self.stages, self.parts, self.notes = {}, {}, []

    def stage(self, title, total):
        self.stages[title] = total
        self.parts[title] = []
        self._now = title

    def done(self, parts, facts=""):
        self.parts[self._now].append((parts, facts))

    def note(self, text):
        self.notes.append((self._now, text))


@pytest.fixture(scope="session")
def log():
    return Log()


@pytest.fixture(scope="session")
def finished(tmp_path_factory, log):
    """A demo on phantoms, too small to show an effect."""
    out = tmp_path_factory.mktemp("demo") / "out"
    return run_demo(smoke(plan_phantoms("2d", 0)), out, watcher=log)
