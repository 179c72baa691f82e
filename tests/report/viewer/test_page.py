"""The file to send: complete, closed to the outside, and with nobody's paths in it."""

import base64
import gzip
import hashlib
import json
import re

import pytest

from gradsurge.report.viewer import page as pages
from gradsurge.report.viewer.contents import contents_of
from gradsurge.report.viewer.page import write_page
from gradsurge.report.viewer.precision import EIGHT_BITS
from tests.report.viewer.browsing import needs_niivue
from tests.report.viewer.example import picture_view, volume_view

pytestmark = needs_niivue
HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    file = tmp_path_factory.mktemp("page") / "deep" / "case.html"
    size = write_page(volume_view(("dice", HOSTILE), case=HOSTILE), file)
    assert file.stat().st_size == size
    return file.read_text(encoding="utf-8")


def test_all_parts_are_inside(written):
    contents = contents_of(volume_view(("dice", HOSTILE), case=HOSTILE))
    found = dict(re.findall(r'data-part="([^"]+)">([^<]*)</script>', written))
    inside = {name: base64.b64decode(text) for name, text in found.items()}
    assert gzip.decompress(inside.pop("niivue")).decode() == pages.niivue_script().source
    assert inside == contents.parts


def test_the_description_is_json_and_names_cannot_end_it(written):
    (text,) = re.findall(r'id="description">(.*?)</script>', written, re.DOTALL)
    told = json.loads(text)
    assert told["case"] == HOSTILE
    assert HOSTILE not in written


def test_the_policy_lets_only_our_own_script_and_style_through(written):
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', written)
    policy = policy.replace("&#39;", "'")
    for tag, name in (("script", 'type="module">'), ("style", ">")):
        (text,) = re.findall(rf"<{tag}[^>]*?{re.escape(name)}(.*?)</{tag}>", written, re.DOTALL)[
            -1:
        ]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy


def test_nothing_is_fetched_and_the_licence_is_there(written):
    without_data = re.sub(r'(data-part="[^"]+">)[^<]*', r"\1", written)
    assert re.findall(r'(?:src|href)="(?!data:)', without_data) == []
    assert "Redistribution and use in source and binary forms" in written
    assert "127.0.0.1" not in without_data


def test_no_folder_of_this_machine_is_told(tmp_path):
    write_page(picture_view(), tmp_path / "case.html")
    assert str(tmp_path) not in (tmp_path / "case.html").read_text(encoding="utf-8")


def test_large_maps_are_rounded_and_the_page_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "precision_of", lambda view: EIGHT_BITS)
    write_page(volume_view(), tmp_path / "case.html")
    assert "rounded to 8 bits" in (tmp_path / "case.html").read_text(encoding="utf-8")


def test_an_older_file_stays_where_the_new_one_cannot_be_made(tmp_path, monkeypatch):
    file = tmp_path / "case.html"
    file.write_text("old")

    def missing():
        raise ValueError("ipyniivue is missing")

    monkeypatch.setattr(pages, "niivue_script", missing)
    with pytest.raises(ValueError, match="missing"):
        write_page(picture_view(), file)
    assert file.read_text() == "old"
