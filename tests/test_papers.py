"""The papers of the project: how to contribute, report, cite and release."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import recnb

ROOT = Path(__file__).resolve().parent.parent
PAPERS = ROOT / ".github"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read_yaml(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def tracked_files() -> list[str]:
    done = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


def test_what_lies_at_the_top():
    """GitHub looks there for a citation, and for the rest in .github as well."""
    assert {name.partition("/")[0] for name in tracked_files()} == {
        ".ci",
        ".git-blame-ignore-revs",
        ".gitattributes",
        ".github",
        ".gitignore",
        "CITATION.cff",
        "LICENSE",
        "README.md",
        "environment.yml",
        "notebooks",
        "pyproject.toml",
        "recnb",
        "tests",
    }


# ---- CITATION.cff

#: The fields of version 1.2.0 of the format that are used here.
CITATION_SCHEMA = json.loads(
    (ROOT / "tests" / "recorded" / "citation.schema.json").read_text("utf-8")
)


def test_the_citation_is_valid_and_of_this_version():
    citation = yaml.load(
        (ROOT / "CITATION.cff").read_text("utf-8"), Loader=yaml.BaseLoader
    )
    jsonschema.validate(citation, CITATION_SCHEMA)
    assert citation["version"] == recnb.__version__ == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert citation["title"] == PROJECT["name"]
    authors = [author["name"] for author in citation["authors"]]
    assert authors == [author["name"] for author in PROJECT["authors"]]


@pytest.mark.parametrize("name", ["CITATION.cff", "README.md", "recnb/PEERS.md"])
def test_a_paper_counts_the_libraries_that_there_are(name: str) -> None:
    text = " ".join((ROOT / name).read_text("utf-8").split())
    counts = re.findall(r"(\d+) (?:other )?libraries", text)
    assert set(counts) <= {str(len(recnb.conventions.names()))}
    assert counts or name == "recnb/PEERS.md"


# ---- links


def test_links_of_the_papers_lead_to_files_and_headings():
    pages = [*PAPERS.rglob("*.md"), ROOT / "recnb" / "PEERS.md"]
    for path in (*pages, ROOT / "tests" / "README.md"):
        text = path.read_text("utf-8")
        for target, heading in re.findall(r"\]\(([^)#:]*)#?([^):]*)\)", text):
            linked = (path.parent / target).resolve() if target else path
            assert linked.exists(), f"{path.name}: {target}"
            if heading:
                heads = re.findall(
                    r"^#+ (.*)$", linked.read_text("utf-8"), re.MULTILINE
                )
                assert heading in {head.lower().replace(" ", "-") for head in heads}


# ---- contributing


def test_the_walks_are_those_of_the_map():
    text = (PAPERS / "CONTRIBUTING.md").read_text("utf-8")
    listed = re.findall(r"^- (\w[\w ]*)$", text, re.M)
    walks = (ROOT / "recnb" / "README.md").read_text("utf-8")
    headings = re.findall(r"^\*\*(.*)\*\*$", walks, re.M)
    assert listed == headings
    assert len(headings) >= 7


def test_the_map_and_the_walks_are_short():
    text = (ROOT / "recnb" / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 150
    assert len(text.split()) <= 2_000
    walks = text.partition("\n## Walks\n")[2].partition("\n## ")[0]
    steps = [len(re.findall(r"^\d\. ", walk, re.M)) for walk in walks.split("\n**")[1:]]
    assert max(steps) <= 5


def test_what_the_walks_name_is_there():
    """Files by the end of their paths; names of the code, of which each word is there."""
    text = (ROOT / "recnb" / "README.md").read_text("utf-8")
    walks = text.partition("\n## Walks\n")[2].partition("\n## ")[0]
    named = {name for name in re.findall(r"`([^`\n]+)`", walks) if " " not in name}
    files = [f"/{name}" for name in tracked_files()]
    paths = {name for name in named if re.search(r"\.(py|csv|md|po)$", name)}
    assert len(paths) > 30
    for path in paths:
        assert any(file.endswith(f"/{path}") for file in files), path
    folders = {name for name in named if name.endswith("/")}
    names = set(re.findall(r"\w+", " ".join(named - paths - folders)))
    assert len(names) > 60
    code = "\n".join(
        (ROOT / file[1:]).read_text("utf-8")
        for file in files
        if re.fullmatch(r"/(recnb|tests)/.*\.(py|csv)", file)
    )
    assert names <= set(re.findall(r"\w+", code))


# ---- templates of issues


def test_a_wrong_number_asks_for_what_it_is_made_with(capsys):
    form = read_yaml(PAPERS / "ISSUE_TEMPLATE" / "wrong_number.yml")
    (number,) = (field for field in form["body"] if field.get("id") == "number")
    assert number["validations"]["required"]
    program = re.search(r"`(print\(.*\))`", number["attributes"]["description"])
    assert program
    sample = recnb.datasets.load_sample()
    ev = recnb.evaluate(sample.models["popular"], sample.test)
    eval(program[1], {"ev": ev})
    said = capsys.readouterr().out
    assert repr(ev.ndcg(k=10)) in said
    assert f"'recnb': '{recnb.__version__}'" in said
