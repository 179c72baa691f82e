"""Every Python block of README and docs runs, in order, one namespace a document."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(document: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", document.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_code_blocks_run(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a block may write a file
    namespace: dict[str, object] = {}
    for block in blocks(document):
        exec(compile(block, str(document), "exec"), namespace)


def test_the_readme_has_code():
    assert len(blocks(ROOT / "README.md")) >= 4


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: str(d.relative_to(ROOT)))
def test_local_links_and_pictures_exist(document):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text())
    local = [t for t in targets if "://" not in t]
    missing = [t for t in local if not (document.parent / t).exists()]
    assert not missing
