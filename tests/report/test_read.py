"""A report is read from its JSON and shown as it was; another file is refused."""

import json
import os
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
from tests.report.test_forms import REPORTS, SAMPLE
from tests.report.test_report import COMPARED, REPORT

KNN, POPULAR = SAMPLE.models["item-knn"], SAMPLE.models["popular"]


def of_days():
    days = ["2026-01-05", "2026-01-06"]
    recs, truth = (
        pd.concat([frame.assign(day=day) for day in days])
        for frame in (KNN, SAMPLE.test)
    )
    return recnb.evaluate(recs, truth, split="day").report(k=[5, 10])


def of_weights():
    users = SAMPLE.users.assign(spent=range(1, len(SAMPLE.users) + 1))
    weights = {"users": users, "user_weight": "spent"}
    propensity = recnb.popularity_propensity(
        SAMPLE.train, gamma=2.0, items=SAMPLE.test["item"]
    )
    found = recnb.compare(SAMPLE.models, SAMPLE.test, propensity=propensity, **weights)
    return found.report(k=5, metrics=["ndcg", "recall"], lang="ko")


def of_documents():
    names = {"user": "topic", "item": "docno"}
    recs, truth = KNN.rename(columns=names), SAMPLE.test.rename(columns=names)
    ev = recnb.evaluate(recs, truth, user="topic", item="docno")
    return ev.report(metrics=["nDCG@10", "P@5", "AP", "Judged@10", "auc"])


def of_judged():
    """Models whose order another one is over the items that are judged."""
    truth = {f"u{n}": {"a": 1, "b": 0, "c": 0} for n in range(12)}
    models = {
        "known": {user: ["b", "c", "a"] for user in truth},
        "<new>": {user: ["x", "y", "z", "a"] for user in truth},
    }
    return recnb.compare(models, truth).report(k=4)


def of_one_user():
    return recnb.evaluate({"u": ["a", "b"]}, {"u": ["b"]}).report(k=2)


EVERY_REPORT = {
    **{name: lambda name=name: REPORTS[name] for name in REPORTS},
    "many": lambda: recnb.compare(
        {f"m{n}": frame for n, frame in enumerate([KNN, POPULAR] * 3)}, SAMPLE.test
    ).report(k=[5, 10]),
    "days": of_days,
    "weights": of_weights,
    "documents": of_documents,
    "judged": of_judged,
    "one user": of_one_user,
}


def read_again(report, folder):
    path = Path(folder, "report.json")
    report.to_json(path)
    return recnb.read_report(path)


@pytest.mark.parametrize("name", EVERY_REPORT)
def test_a_report_that_is_read_is_shown_as_it_was(name, tmp_path):
    report = EVERY_REPORT[name]()
    again = read_again(report, tmp_path)
    recnb.language("ko")  # of which a report in English knows nothing
    try:
        assert repr(again) == repr(report)
        assert again._repr_html_() == report._repr_html_()
        assert again.to_html(title="<b>") == report.to_html(title="<b>")
        assert again.to_markdown() == report.to_markdown()
    finally:
        recnb.language("en")
    pd.testing.assert_frame_equal(again.to_frame(), report.to_frame())
    assert again.to_dict() == report.to_dict()
    assert again.to_json() == report.to_json()
    assert again.n_users == report.n_users
    assert len(again.findings) == len(report.findings)


def test_the_order_by_judged_items_is_in_the_data():
    report = of_judged()
    assert list(report.to_dict()["judged_order"]) == ["<new>", "known"]
    assert "in another order by nDCG@4: <new> 1.0000" in " ".join(repr(report).split())


def test_gates_of_the_command_line_are_left_out(tmp_path):
    report = EVERY_REPORT["one"]()
    path = tmp_path / "report.json"
    path.write_text(json.dumps({**report.to_dict(), "gates": []}), "utf-8")
    assert recnb.read_report(os.fspath(path)).to_dict() == report.to_dict()


def test_a_setting_that_is_gone_is_left_out_of_older_reports(tmp_path):
    told = EVERY_REPORT["one"]().to_dict()
    assert told["settings"] == {"confidence": 0.95}
    older = {**told, "settings": {**told["settings"], "keeps_untested": False}}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(older), "utf-8")
    assert recnb.read_report(path).to_dict() == told


NO_REPORT = "no report of recnb: give a file that report"
REFUSED = {
    "text": (b"nDCG@10 = 0.3", NO_REPORT),
    "empty": (b"", NO_REPORT),
    "no text": (b"\xff\xfe\x00", NO_REPORT),
    "a list": (b"[1, 2]", NO_REPORT),
    "deep": (b"[" * 100_000, NO_REPORT),
    "a gate": (b'{"schema": "recnb.gate/2"}', NO_REPORT),
    "other JSON": (b'{"means": []}', NO_REPORT),
    "older": (
        b'{"schema": "recnb.report/9"}',
        r"format 'recnb.report/9', and recnb [\d.a-z]+ reads 'recnb.report/10': make",
    ),
    "newer": (b'{"schema": "recnb.report/11"}', "'recnb.report/11'"),
    "without its data": (
        b'{"schema": "recnb.report/10"}',
        "missing or was changed: make",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_report_of_this_version_is_refused(name, tmp_path):
    content, words = REFUSED[name]
    path = tmp_path / "night.json"
    path.write_bytes(content)
    with pytest.raises(FrameError, match=words) as refused:
        recnb.read_report(path)
    assert str(path) in str(refused.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("lang", "fr"),
        ("n_users", "261"),
        ("k", [5, "10"]),
        ("means", []),
        ("curve", {}),
        ("models", None),
        ("settings", {"confidence": 95}),
        ("lints", {"": None}),
    ],
)
def test_a_report_that_was_changed_is_refused(name, value, tmp_path):
    told = {**EVERY_REPORT["one"]().to_dict(), name: value}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(told), "utf-8")
    with pytest.raises(FrameError, match="missing or was changed"):
        recnb.read_report(path)
    del told[name]
    path.write_text(json.dumps(told), "utf-8")
    with pytest.raises(FrameError, match="missing or was changed"):
        recnb.read_report(path)


def test_a_table_whose_columns_are_not_of_one_length_is_refused(tmp_path):
    told = EVERY_REPORT["one"]().to_dict()
    told["means"]["mean"].pop()
    path = tmp_path / "report.json"
    path.write_text(json.dumps(told), "utf-8")
    with pytest.raises(FrameError, match="missing or was changed"):
        recnb.read_report(path)


#: The key that is named, where a value is changed, and into what.
INCONSISTENT = [
    ("models", ["models"], []),
    ("baseline", ["baseline"], "other"),
    ("lead_k", ["lead_k"], 3),
    ("metrics", ["metrics", "is_accuracy", 0], False),
    ("means", ["means", "k"], []),
    ("means.mean", ["means", "mean", 0], "0.5"),
    ("means", ["means", "model", 0], "other"),
    ("means.mark", ["means", "mark", 0], "good"),
    ("differences", ["differences", "verdict", 0], "good"),
    ("curve", ["curve", "k", 0], None),
    ("distributions.edges", ["distributions", "edges", 0], [0.0, 1.0]),
    ("hit_rates", ["hit_rates", "model", 0], "other"),
    ("segments.names", ["segments", "names"], []),
    ("users", ["users", "kind", 0], "good"),
    ("lints", ["lints"], {}),
    ("made_with.versions", ["made_with", "versions"], {}),
]


@pytest.mark.parametrize("report", [REPORT, COMPARED], ids=["one", "several"])
def test_values_that_do_not_go_together_are_refused_with_their_key(report, tmp_path):
    path = tmp_path / "report.json"
    for key, (*where, last), value in INCONSISTENT:
        told = report.to_dict()
        holder = told
        for name in where:
            holder = holder[name]
        if holder == []:
            continue  # differences of one model
        holder[last] = value
        path.write_text(json.dumps(told), "utf-8")
        words = rf"report of recnb in which '{key}' is missing or was changed: make"
        with pytest.raises(FrameError, match=words):
            recnb.read_report(path)


def test_values_in_no_bins_are_refused(tmp_path):
    told = REPORT.to_dict()
    told["distributions"] |= {"edges": [[0.0]], "counts": [[]], "shares": [[]]}
    path = tmp_path / "report.json"
    path.write_text(json.dumps(told), "utf-8")
    with pytest.raises(FrameError, match=r"'distributions\.shares' is missing"):
        recnb.read_report(path)


#: Texts by which a report chooses and finds, which others would not be read or shown.
CHOOSING = {
    *("schema", "lang", "kind", "verdict", "severity", "mark", "time", "bounds"),
    *(
        "effect_size",
        "model",
        "models",
        "baseline",
        "metric",
        "better",
    ),
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
def test_whatever_text_a_file_holds_is_shown_as_text(name, tmp_path):
    path = tmp_path / "report.json"
    hostile = with_hostile_text(EVERY_REPORT[name]().to_dict())
    path.write_text(json.dumps(hostile), "utf-8")
    report = recnb.read_report(path)
    for page in (report.to_html(), report._repr_html_()):
        assert "".join(EVIL[:3]) in "".join(Page(page).text)
    assert not re.search(r"(?<!\\)<script", re.sub("``.*?``", "", report.to_markdown()))
    assert "<script>" in repr(report), "text of a console"


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(FrameError, match=r"there is no file '.*report\.json'"):
        recnb.read_report(tmp_path / "report.json")


RECORDED = Path(__file__).parent / "schema.json"


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
