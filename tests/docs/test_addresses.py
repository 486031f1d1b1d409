"""One table of pyproject.toml says where the documentation is published; tags and the version switcher follow it."""

import json
import os
import re
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOC = ROOT / "doc"
STABLE, LATEST = "https://docs.test/skembed/stable/", "https://docs.test/skembed/latest/"


@pytest.fixture(scope="module")
def addresses():
    spec = spec_from_file_location("addresses", DOC / "addresses.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_table_of_the_project_is_read(addresses, tmp_path):
    path = tmp_path / "pyproject.toml"
    path.write_text(f'[project]\nname = "x"\n[project.urls]\nDocumentation = "{STABLE}"\n', encoding="utf-8")
    assert addresses.read_urls(path) == {"documentation": STABLE}
    path.write_text('[project]\nname = "x"\n', encoding="utf-8")
    assert addresses.read_urls(path) == {}
    path.write_text('[project]\n[project.urls]\nSource = "docs.test"\n', encoding="utf-8")
    with pytest.raises(ValueError, match="Source in .* must begin with https://, got 'docs.test'"):
        addresses.read_urls(path)


@pytest.mark.parametrize(
    "version, urls, environment, expected",
    [
        ("0.1.0", {}, {}, ""),
        ("0.1.0", {"documentation": STABLE}, {}, STABLE),
        ("0.1.0", {"documentation": STABLE[:-1]}, {}, STABLE),
        ("0.2.0.dev0", {"documentation": STABLE}, {}, LATEST),
        ("0.2.0.dev0", {"documentation": "https://docs.test"}, {}, "https://docs.test/"),
        ("0.2.0.dev0", {"documentation": STABLE}, {"READTHEDOCS_CANONICAL_URL": "https://read.test/en/9"}, "https://read.test/en/9/"),
    ],
)  # fmt: skip
def test_the_pages_of_a_version_have_an_address(addresses, version, urls, environment, expected):
    assert addresses.published_at(version, urls, environment) == expected


@pytest.mark.parametrize("version, address", [("0.1.0", STABLE), ("0.2.0.dev0", LATEST)])
def test_the_switcher_has_the_stable_and_the_development_pages(addresses, version, address):
    entries = addresses.versions(version, address)
    assert [entry["url"] for entry in entries] == [STABLE, LATEST]
    assert [entry.get("preferred", False) for entry in entries] == [True, False]
    options = addresses.theme_options(version, address, {})
    [shown] = [entry for entry in entries if entry["version"] == options["switcher"]["version_match"]]
    assert shown["url"] == address
    assert options["switcher"]["json_url"] == f"{STABLE}_static/switcher.json"
    assert options["show_version_warning_banner"]


def test_without_an_address_the_switcher_is_relative(addresses):
    options = addresses.theme_options("0.1.0", "", {})
    assert options["switcher"] == {"json_url": "_static/switcher.json", "version_match": "0.1.0"}
    assert [entry["url"] for entry in addresses.versions("0.1.0", "")] == [""]
    assert addresses.tags("index.html", "") == {}


@pytest.mark.slow
@pytest.mark.parametrize("address", ["", STABLE])
def test_tags_of_built_pages(tmp_path, address):
    """Two pages, built with the settings of the documentation."""
    for needed in ("sphinx_gallery", "pydata_sphinx_theme"):
        pytest.importorskip(needed)
    source, out = tmp_path / "source", tmp_path / "out"
    (source / "tasks").mkdir(parents=True)
    (source / "index.rst").write_text("Start\n=====\n\nFirst.\n\n.. toctree::\n\n   tasks/page\n", encoding="utf-8")
    (source / "tasks" / "page.rst").write_text("A task\n======\n\nWhat it is.\n", encoding="utf-8")
    environment = {**os.environ, "READTHEDOCS_CANONICAL_URL": address, "PYTHONPATH": str(ROOT)}
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-q",
        "-c",
        str(DOC),
        "-D",
        "extensions=sphinx.ext.mathjax",
        "-b",
        "html",
    ]
    subprocess.run([*command, str(source), str(out)], check=True, env=environment)
    page = (out / "tasks" / "page.html").read_text(encoding="utf-8")
    tags = dict(re.findall(r'<meta property="(og:[\w:]+)" content="(.*?)" />', page))
    assert tags["og:title"] == "A task" and tags["og:description"] == "What it is."
    canonical = re.findall('<link rel="canonical" href="(.*?)"', page)
    entries = json.loads((out / "_static" / "switcher.json").read_text(encoding="utf-8"))
    assert (out / "_static" / "card.png").is_file()
    assert "version-switcher__button" in page
    if address:
        assert tags["og:url"] == f"{STABLE}tasks/page.html"
        assert tags["og:image"] == f"{STABLE}_static/card.png"
        assert canonical == [f"{STABLE}tasks/page.html"]
        assert {entry["url"] for entry in entries} == {STABLE, LATEST}
        assert f"theme_switcher_json_url = '{STABLE}_static/switcher.json'" in page
    else:
        assert not {"og:url", "og:image"} & set(tags) and canonical == []
        assert "docs.test" not in page
        assert "theme_switcher_json_url = '_static/switcher.json'" in page
