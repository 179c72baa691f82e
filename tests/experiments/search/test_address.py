import sys
import traceback
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.experiments.search.address import database_url, shown_storage, without_secrets
from gradsurge.experiments.search.folder_mark import mark_of, name_ending, shared_name
from gradsurge.experiments.search.storage import open_storage

passwords = st.text(st.characters(codec="ascii", exclude_categories=["C"]), min_size=1).map(
    lambda text: f"Secret{text}Secret"
)


@given(passwords, st.booleans())
def test_a_password_is_never_shown(password, quoted):
    typed = quote(password, safe="") if quoted else password
    for storage in (
        f"postgresql://ann:{typed}@server:5432/studies",
        f"postgresql://server/studies?user=ann&password={quote(password, safe='')}",
        f"mysql://ann:{typed}@server/studies",
    ):
        assert "Secret" not in shown_storage(storage)
    if "@" not in typed:  # else what follows it is the server
        assert "Secret" not in shown_storage(f"postgresql://ann:{typed}")
    known = f"postgresql://ann:{typed}@server/studies"
    assert password not in without_secrets(f"bad {password} or {typed}", known)


@pytest.mark.parametrize(
    ("storage", "words"),
    [
        ("postgresql://ann:Secret@127.0.0.1:1/studies", "connection"),
        ("postgresql://ann:Sec/ret@127.0.0.1:1/studies", "ann:***@127.0.0.1"),
        ("postgresql://ann:Secret@127.0.0.1:port/studies", "is no URL"),
        ("postgresql://ann:Secret", "is no URL"),
        ("mysql://ann:Secret@server/studies", "expected the path of a journal file, or postgresql"),
        ("sqlite:///Secret.db", "expected the path of a journal file, or postgresql"),
        ("postgresql+psycopg2://ann:Secret@server/studies", "pip install 'gradsurge[postgres]'"),
    ],
)
def test_what_is_no_database_is_told_in_one_line(storage, words, monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg2", None)  # as if it were not installed
    with pytest.raises(ValueError, match=r"^storage: ") as error:
        open_storage(storage)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    if "://ann" in storage:
        assert "Secret" not in "".join(traceback.format_exception_only(error.value))


def test_the_driver_is_named():
    assert database_url("postgres://server/x") == "postgresql+psycopg://server/x"
    assert database_url("postgresql+psycopg2://server/x") == "postgresql+psycopg2://server/x"


def test_folders_that_share_a_database_have_their_own_studies(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    url = "postgresql://server/studies"
    assert shared_name("a", one, url) == shared_name("a", one, url) == f"a@{mark_of(one)}"
    assert shared_name("a", one, url) != shared_name("a", other, url)
    assert shared_name("a", one, str(one / "search.journal")) == "a"
    assert name_ending(one, url) == f"@{mark_of(one)}"
    assert name_ending(Path("/nowhere"), "/nowhere/search.journal") == ""
    with pytest.raises(ValueError, match="no search was begun there"):
        name_ending(tmp_path / "third", url)
    (one / "search.mark").write_text("")
    with pytest.raises(ValueError, match="not the mark of a search"):
        mark_of(one)
