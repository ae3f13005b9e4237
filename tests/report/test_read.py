"""A report is read from its JSON and shown as it was; another file is refused."""

import json
import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import pandas as pd
import pytest

import recnb
from recnb.errors import FrameError
from recnb.report.as_json import SCHEMA
from recnb.report.data import ReportData
from tests.display.test_escaping import EVIL, Page
from tests.report.test_forms import REPORTS, SAMPLE, report_of
from tests.rows import read_rows

KNN, POPULAR = SAMPLE.models["item-knn"], SAMPLE.models["popular"]


WEIGHTS = {
    "users": SAMPLE.users.assign(spent=range(1, len(SAMPLE.users) + 1)),
    "user_weight": "spent",
    "propensity": recnb.popularity_propensity(
        SAMPLE.train, gamma=2.0, items=SAMPLE.test["item"]
    ),
}
DOCUMENTS = {"user": "topic", "item": "docno"}
#: Models whose order another one is over the items that are judged.
JUDGED = {f"u{n}": {"a": 1, "b": 0, "c": 0} for n in range(12)}
MODELS = {
    "known": {user: ["b", "c", "a"] for user in JUDGED},
    "<new>": {user: ["x", "y", "z", "a"] for user in JUDGED},
}


def of_days(frame):
    days = ["2026-01-05", "2026-01-06"]
    return pd.concat([frame.assign(day=day) for day in days])


CALLS = read_rows("report/reports.toml")["calls"]


def made(name):
    return report_of(name) if name in REPORTS else eval(CALLS[name], dict(globals()))


@pytest.fixture
def read_again(tmp_path):
    """Write values as JSON and read them as a report."""

    def read(values):
        path = tmp_path / "report.json"
        path.write_text(json.dumps(values), "utf-8")
        return recnb.read_report(path)

    return read


@pytest.mark.parametrize("name", [*REPORTS, *CALLS])
def test_a_report_that_is_read_is_shown_as_it_was(name, tmp_path):
    report = made(name)
    path = str(tmp_path / "report.json")
    report.to_json(path)
    again = recnb.read_report(path)
    recnb.language("ko")  # of which a report in English knows nothing
    try:
        assert repr(again) == repr(report)
        assert again._repr_html_() == report._repr_html_()
        assert again.to_markdown() == report.to_markdown()
    finally:
        recnb.language("en")
    pd.testing.assert_frame_equal(again.to_frame(), report.to_frame())
    assert again.to_dict() == report.to_dict()
    assert again.to_json() == report.to_json()


def test_the_order_by_judged_items_is_in_the_data():
    report = made("judged")
    assert list(report.to_dict()["judged_order"]) == ["<new>", "known"]
    assert "in another order by nDCG@4: <new> 1.0000" in " ".join(repr(report).split())


def test_keys_of_others_are_left_out(read_again):
    """Such as gates of the command line, and settings of an older version."""
    told = report_of("one").to_dict()
    settings = {**told["settings"], "keeps_untested": False}
    again = read_again({**told, "gates": [], "settings": settings})
    assert again.to_dict() == told


def test_a_share_that_is_no_number_is_shown(read_again):
    told = report_of("several").to_dict()
    told["hit_rates"]["mean"][0] = None
    assert "nan%" in repr(read_again(told))


REFUSED = read_rows("report/no_reports.toml")


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_report_of_this_version_is_refused(name, tmp_path):
    path = tmp_path / "night.json"
    path.write_text(REFUSED[name]["content"], "utf-8")
    with pytest.raises(FrameError, match=REFUSED[name]["words"]) as refused:
        recnb.read_report(path)
    assert str(path) in str(refused.value)


CHANGED = Path(__file__).with_name("changed.json")


@pytest.mark.parametrize("name", ["one", "several"])
def test_a_report_that_was_changed_is_refused(name, read_again):
    """A row of the file has the keys of a value, and another value."""
    for (*where, last), value in json.loads(CHANGED.read_text("utf-8")):
        told = report_of(name).to_dict()
        holder = told
        for key in where:
            holder = holder[key]
        if not holder and where[0] in ("differences", "distribution"):
            continue  # one model has no differences, and several no distribution
        holder[last] = value
        with pytest.raises(FrameError, match="report of recnb that was changed: make"):
            read_again(told)


#: Texts by which a report chooses and finds, which others would not be read or shown.
CHOOSING = {
    *("schema", "lang", "kind", "verdict", "bounds", "effect_size", "model", "models"),
    *("baseline", "metric", "better"),
}


def with_hostile_text(value, key=""):
    """Put tags behind every text of a report but those that choose what is shown."""
    if isinstance(value, dict):
        return {name: with_hostile_text(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [with_hostile_text(part, key) for part in value]
    if isinstance(value, str) and key not in CHOOSING:
        return value + "".join(EVIL[:3])
    return value


@pytest.mark.parametrize("name", ["one", "several"])
def test_whatever_text_a_file_holds_is_shown_as_text(name, read_again):
    report = read_again(with_hostile_text(report_of(name).to_dict()))
    for page in (report.to_html(), report._repr_html_()):
        assert "".join(EVIL[:3]) in "".join(Page(page).text)
    assert not re.search(r"(?<!\\)<script", re.sub("``.*?``", "", report.to_markdown()))
    assert "<script>" in repr(report), "text of a console"


RECORDED = Path(__file__).with_name("schema.json")


def fields_of(kind):
    """Return the keys of a type as JSON has them, and those of its parts; of text, numbers
    and what else has no keys, None.
    """
    if is_dataclass(kind):
        parts = get_type_hints(kind)
        return {field.name: fields_of(parts[field.name]) for field in fields(kind)}
    of_parts = [fields_of(part) for part in get_args(kind)]
    return next((keys for keys in of_parts if keys), None)


def test_the_keys_are_those_of_the_version_of_the_format():
    """An older file lacks a key that is new, so it is of another version."""
    recorded = json.loads(RECORDED.read_text("utf-8"))
    assert {SCHEMA: fields_of(ReportData)} == recorded, (
        "make SCHEMA the next number, and run: python -m tests.report.test_read"
    )


if __name__ == "__main__":
    keys = json.dumps({SCHEMA: fields_of(ReportData)}, indent=1)
    RECORDED.write_text(f"{keys}\n", "utf-8")
