"""Records, and `recnb.check`, which computes them again."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import recnb
from recnb.data import buckets
from recnb.errors import FrameError, OptionError
from recnb.metrics import Credit, out_of_count
from recnb.metrics.measure import parsed
from recnb.metrics.metric import METRICS

SAMPLE = recnb.datasets.load_sample()
RECS = SAMPLE.models["item-knn"][["user", "item", "rank"]]
TRUTH = SAMPLE.test[["user", "item", "rating"]]
NAMES = ["ndcg", "recall", "hit_rate"]


def record_of(recs=RECS, truth=TRUTH, **options):
    return recnb.evaluate(recs, truth, **options).record(NAMES, k=[5, 10])


RECORD = record_of()


def differing(checked):
    return checked.loc[~checked["same"], ["of", "name"]].to_numpy().tolist()


def fingerprints(record):
    return {name: table["fingerprint"] for name, table in record["inputs"].items()}


# ---- what a record holds


def test_a_record_is_plain_json_with_all_that_is_needed_to_check_it(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    record = record_of(relevant_from=4)
    assert json.loads(json.dumps(record)) == record
    assert record["schema"] == 1
    assert record["made"] == "1970-01-02T00:00:00Z"
    assert record["versions"]["pandas"] == pd.__version__
    assert {*record["versions"]} == {
        *("recnb", "python", "pandas", "polars", "numpy", "pyarrow")
    }
    assert record["convention"]["relevant_from"] == 4
    assert record["options"] == {"relevant_from": 4}
    assert record["inputs"]["truth"] | {"fingerprint": ""} == {
        "files": [],
        "rows": len(TRUTH),
        "users": TRUTH["user"].nunique(),
        "lists": TRUTH["user"].nunique(),
        "items": TRUTH["item"].nunique(),
        "columns": {"user": "user", "item": "item", "relevance": "rating"},
        "fingerprint": "",
    }


def test_the_numbers_of_a_record_are_those_of_the_table():
    table = recnb.evaluate(RECS, TRUTH).table(NAMES, k=[5, 10], intervals=True)
    for number in RECORD["numbers"]:
        row = table.loc[number["metric"], number["k"]]
        assert [number["mean"], number["low"], number["high"]] == row.tolist()
        assert number["n_users"] == recnb.evaluate(RECS, TRUTH).n_users
    assert len(RECORD["numbers"]) == 6


def test_a_time_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "yesterday")
    with pytest.raises(OptionError, match=r"SOURCE_DATE_EPOCH='yesterday'.*seconds"):
        record_of()


def test_reports_gates_and_comparisons_hold_the_record_of_their_numbers():
    ev = recnb.evaluate(RECS, TRUTH)
    of_report = json.loads(ev.report(k=[5, 10], metrics=NAMES).to_json())["record"]
    assert of_report == RECORD
    of_gate = json.loads(ev.at_least("ndcg", 0.1, k=10).to_json())["record"]
    assert of_gate["numbers"] == [
        number
        for number in RECORD["numbers"]
        if number["metric"] == "ndcg" and number["k"] == 10
    ]
    found = recnb.compare(SAMPLE.models, TRUTH, baseline="popular")
    record = found.record("ndcg", k=10)
    assert [number["model"] for number in record["numbers"]] == found.names
    assert record["baseline"] == "popular"
    assert record["inputs"]["model 'item-knn'"]["rows"] == len(RECS)
    assert found.not_worse("ndcg", k=10).record == record


def test_a_report_ends_with_version_day_and_fingerprints():
    report = recnb.evaluate(RECS, TRUTH).report()
    short = {name: text[:8] for name, text in fingerprints(report.record).items()}
    line = (
        f"recnb {recnb.__version__}, 2026-01-01; recommendations "
        f"{short['recommendations']}, truth {short['truth']}"
    )
    assert report.to_markdown().rstrip().endswith(line)
    assert f">{line}<" in report.to_html()
    assert short["truth"] not in report._repr_html_()


# ---- fingerprints of inputs


def as_files(folder, ending):
    write = {
        "csv": lambda frame, path: frame.write_csv(path),
        "parquet": lambda frame, path: frame.write_parquet(path),
        "jsonl": lambda frame, path: frame.write_ndjson(path),
    }[ending]
    paths = []
    for name, frame in (("recs", RECS), ("truth", TRUTH)):
        paths.append(folder / f"{name}.{ending}")
        write(pl.from_pandas(frame), paths[-1])
    return paths


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_files_and_libraries_of_frames_give_one_fingerprint(tmp_path, ending):
    assert fingerprints(record_of(*as_files(tmp_path, ending))) == fingerprints(RECORD)
    frames = pl.from_pandas(RECS), pl.from_pandas(TRUTH)
    assert fingerprints(record_of(*frames)) == fingerprints(RECORD)
    arrow = [frame.to_arrow() for frame in frames]
    assert fingerprints(record_of(*arrow)) == fingerprints(RECORD)
    lazy = [frame.lazy() for frame in frames]
    assert fingerprints(record_of(*lazy)) == fingerprints(RECORD)


def test_tables_larger_than_memory_have_the_same_fingerprints(tmp_path, monkeypatch):
    monkeypatch.setattr(buckets, "WHOLE", 100)
    monkeypatch.setattr(buckets, "SHARE", 0)
    monkeypatch.setattr(buckets, "BUCKET", 10_000)
    ev = recnb.evaluate(*as_files(tmp_path, "parquet"))
    assert not ev.source.in_memory
    record = ev.record(NAMES, k=[5, 10])
    files = {name: table["files"] for name, table in record["inputs"].items()}
    for name, table in record["inputs"].items():
        assert table == RECORD["inputs"][name] | {"files": files[name]}
    assert files["truth"] == [str(tmp_path / "truth.parquet")]
    assert record["numbers"] == RECORD["numbers"]


def test_whole_numbers_as_ids_are_those_of_a_csv_file(tmp_path):
    recs = RECS.assign(user=RECS["user"].str[1:].astype(int))
    truth = TRUTH.assign(user=TRUTH["user"].str[1:].astype(int))
    files = [tmp_path / "recs.csv", tmp_path / "truth.csv"]
    for frame, file in zip((recs, truth), files, strict=True):
        frame.to_csv(file, index=False)
    assert fingerprints(record_of(*files)) == fingerprints(record_of(recs, truth))
    assert fingerprints(record_of(recs, truth)) != fingerprints(RECORD)


def test_where_rows_are_the_order_their_order_counts():
    lists = RECS.drop(columns="rank")
    record = record_of(lists, order="row")
    swapped = lists.iloc[[1, 0, *range(2, len(lists))]]
    checked = recnb.check(record, swapped, TRUTH)
    assert ["input", "recommendations"] in differing(checked)
    by_user = lists.sort_values("user", kind="stable", ascending=False)
    assert recnb.check(record, by_user, TRUTH).passed


# ---- then and now


@pytest.mark.parametrize("library", ["pandas", "polars", "csv", "parquet"])
def test_the_same_rows_pass_in_any_order_library_and_file(tmp_path, library):
    frames = [frame.sample(frac=1, random_state=1) for frame in (RECS, TRUTH)]
    if library == "polars":
        frames = [pl.from_pandas(frame) for frame in frames]
    if library in ("csv", "parquet"):
        frames = as_files(tmp_path, library)
    checked = recnb.check(RECORD, *frames)
    assert checked.passed
    assert checked["same"].all()
    assert "all numbers, inputs and conventions are the same" in repr(checked)


def test_a_file_of_a_report_a_gate_and_a_record_can_be_checked(tmp_path):
    ev = recnb.evaluate(RECS, TRUTH)
    file = tmp_path / "made.json"
    for result in (ev.report(), ev.at_most("ndcg", 1, k=10)):
        result.to_json(file)
        assert recnb.check(file, RECS, TRUTH).passed
    file.write_text(json.dumps(RECORD))
    assert recnb.check(str(file), RECS, TRUTH).passed


@pytest.mark.parametrize(
    ("side", "column", "value"),
    [
        ("recommendations", "item", "another"),
        ("recommendations", "rank", 999),
        ("truth", "item", "another"),
        ("truth", "rating", 77),
    ],
)
def test_one_changed_cell_is_found(side, column, value):
    frames = {"recommendations": RECS.copy(), "truth": TRUTH.copy()}
    last = frames[side].index[-1]
    frames[side].loc[last, column] = value
    checked = recnb.check(RECORD, *frames.values())
    assert not checked.passed
    found = [row for row in differing(checked) if row[0] == "input"]
    assert found == [["input", side]]


def test_a_missing_and_a_repeated_row_are_found():
    for truth in (TRUTH[1:], pd.concat([TRUTH, TRUTH[:1]])):
        checked = recnb.check(RECORD, RECS, truth, duplicates="dedupe")
        assert ["input", "truth"] in differing(checked)


def test_a_changed_option_is_named_and_the_recorded_one_is_used():
    record = record_of(relevant_from=4, averaged_users="recs", no_relevant="zero")
    assert recnb.check(record, RECS, TRUTH).passed
    checked = recnb.check(record, RECS, TRUTH, relevant_from=3)
    assert ["convention", "relevant_from"] in differing(checked)
    (row,) = checked[checked["name"] == "relevant_from"].to_dict("records")
    assert (row["then"], row["now"]) == (4, 3)


@pytest.mark.parametrize("library", ["rectools", "trec_eval", "ranx"])
def test_a_library_is_followed_again(library):
    recs = SAMPLE.models["item-knn"]
    record = recnb.evaluate(recs, TRUTH, convention=library).record("ndcg", k=[5, 10])
    assert recnb.check(record, recs, TRUTH).passed
    checked = recnb.check(record, recs, TRUTH, convention="recbole")
    assert ["convention", "library"] in differing(checked)
    under = recnb.evaluate(recs, TRUTH).under(library).record("ndcg", k=10)
    assert recnb.check(under, recs, TRUTH).passed


def test_columns_that_were_named_are_looked_for_again():
    recs, truth = (
        RECS.rename(columns={"user": "who"}),
        TRUTH.rename(columns={"user": "who", "rating": "stars"}),
    )
    record = record_of(recs, truth, user="who", relevance="stars")
    assert recnb.check(record, recs, truth).passed
    assert recnb.check(record, RECS, TRUTH, user=None, relevance=None).passed


def test_texts_of_measures_whole_lists_and_options_are_computed_again():
    ev = recnb.evaluate(RECS, TRUTH)
    record = ev.record(["AP(rel=2)@5", "nDCG", "RBP(p=0.5)", "Judged@10"], k=None)
    assert recnb.check(record, RECS, TRUTH).passed
    options = {"ndcg@5": {"gain": "exponential"}, "ndcg@10": {"log_base": 3}}
    checked = recnb.check(ev.record(options), RECS, TRUTH)
    assert checked.passed
    assert checked["of"].tolist().count("number") == 2


def test_every_metric_can_be_checked():
    sides = {"train": SAMPLE.train, "items": SAMPLE.items}
    ev = recnb.evaluate(RECS, TRUTH, **sides)
    names = [*recnb.METRICS, *ev.beyond(k=5).index]
    checked = recnb.check(ev.record(names, k=[5, None]), RECS, TRUTH, **sides)
    assert checked.passed
    assert checked["of"].tolist().count("number") == 2 * len(names)


def test_side_data_are_inputs_too():
    sides = {"train": SAMPLE.train, "items": SAMPLE.items}
    ev = recnb.evaluate(RECS, TRUTH, **sides)
    record = ev.record(["ndcg", "novelty"], k=10)
    assert recnb.check(record, RECS, TRUTH, **sides).passed
    less = {**sides, "train": SAMPLE.train[1:]}
    assert ["input", "train"] in differing(recnb.check(record, RECS, TRUTH, **less))
    without = recnb.check(ev.record("ndcg", k=10), RECS, TRUTH)
    assert differing(without) == [["input", "train"], ["input", "items"]]


def test_models_are_compared_again():
    found = recnb.compare(SAMPLE.models, TRUTH, baseline="popular")
    record = found.report().record
    assert recnb.check(record, SAMPLE.models, TRUTH).passed
    changed = {**SAMPLE.models, "popular": SAMPLE.models["popular"][:-1]}
    checked = recnb.check(record, changed, TRUTH)
    inputs = [row for row in differing(checked) if row[0] == "input"]
    assert inputs == [["input", "model 'popular'"]]
    pairs = recnb.compare(SAMPLE.models, TRUTH, pairs="all").record("ndcg", k=10)
    assert recnb.check(pairs, SAMPLE.models, TRUTH).passed
    renamed = {f"new {name}": model for name, model in SAMPLE.models.items()}
    checked = recnb.check(pairs, renamed, TRUTH)
    assert np.isnan(
        checked["now"].infer_objects()[checked["of"] == "number"].astype(float)
    ).all()


def test_lists_of_several_days_are_split_again():
    recs = pd.concat([RECS.assign(day=1), RECS[:100].assign(day=2)])
    record = record_of(recs, split="day")
    assert record["split"] == ["day"]
    assert record["inputs"]["recommendations"]["users"] == RECS["user"].nunique()
    assert recnb.check(record, recs.sample(frac=1), TRUTH).passed
    moved = recs.assign(day=[2, *recs["day"][1:]])
    assert not recnb.check(record, moved[1:], TRUTH).passed


@pytest.mark.parametrize(
    ("name", "role"), [("user_weight", "user"), ("propensity", "item")]
)
def test_weights_that_are_no_column_have_a_fingerprint(name, role):
    ids = (SAMPLE.users if role == "user" else SAMPLE.items)[role]
    weights = pd.Series(np.linspace(0.5, 1, len(ids)), ids)

    def record_of(**given):
        return recnb.evaluate(RECS, TRUTH, **given).record("ndcg", k=5)

    record = record_of(**{name: weights})
    assert record["inputs"][name]["rows"] == len(weights)
    assert record_of(**{name: weights[::-1]})["inputs"] == record["inputs"]
    assert name in repr(recnb.check(record, RECS, TRUTH, **{name: weights}))
    others = pd.Series(weights.to_numpy()[::-1], ids)
    table = recnb.check(record, RECS, TRUTH, **{name: others})
    assert not table.set_index("name").loc[name, "same"]
    # Records of earlier versions have none.
    del record["inputs"][name]
    assert recnb.check(record, RECS, TRUTH, **{name: weights}).passed


def test_weights_are_those_of_a_column_or_given_again():
    weights = pd.Series(np.linspace(1, 2, len(SAMPLE.users)), SAMPLE.users["user"])
    record = record_of(user_weight=weights)
    assert recnb.check(record, RECS, TRUTH, user_weight=weights).passed
    with pytest.raises(OptionError, match=r"made with user_weight=.*give it"):
        recnb.check(record, RECS, TRUTH)
    users = SAMPLE.users.assign(w=weights.to_numpy())
    record = record_of(users=users, user_weight="w")
    assert recnb.check(record, RECS, TRUTH, users=users).passed


def test_other_versions_are_said_and_decide_nothing(monkeypatch):
    versions = dict.fromkeys(RECORD["versions"], "0.0")
    monkeypatch.setattr("recnb.results.record.versions", lambda: versions)
    checked = recnb.check(RECORD, pl.from_pandas(RECS), TRUTH)
    assert checked.passed
    assert differing(checked) == [["version", name] for name in versions]
    assert "other versions, which decide nothing" in repr(checked)


# ---- what cannot be checked


def broken(**parts):
    return RECORD | parts


@pytest.mark.parametrize(
    ("record", "words"),
    [
        ({}, "record holds no record of numbers.*to_json"),
        (broken(schema=2), "record holds a record of schema 2, and this.* reads 1"),
        ({"record": broken(schema="x")}, "a record of schema 'x'"),
        (broken(numbers=[]), "a record without 'numbers'"),
        (
            {name: part for name, part in RECORD.items() if name != "inputs"},
            "a record without 'inputs'",
        ),
    ],
)
def test_what_is_no_record_is_refused(record, words):
    with pytest.raises(FrameError, match=words):
        recnb.check(record, RECS, TRUTH)


DAMAGED = {
    **{part: {part: "x"} for part in ("versions", "inputs", "convention", "options")},
    "a table": {"inputs": {"truth": "x"}},
    "numbers": {"numbers": "x"},
    "a number": {"numbers": ["x"]},
    "a part of a number": {"numbers": [{"model": "", "metric": "ndcg"}]},
}


@pytest.mark.parametrize("case", DAMAGED)
def test_a_record_that_was_damaged_is_refused(case):
    record = recnb.evaluate(RECS, TRUTH).record("ndcg", k=5) | DAMAGED[case]
    with pytest.raises(FrameError, match="which recnb does not write"):
        recnb.check(record, RECS, TRUTH)


def test_what_the_record_decides_is_no_option():
    models = {"a": RECS, "b": RECS.iloc[::-1]}
    record = recnb.compare(models, TRUTH).record("ndcg", k=5)
    for option in ({"baseline": "b"}, {"pairs": "all"}, {"confidence": 0.9}):
        with pytest.raises(OptionError, match="is that of the record"):
            recnb.check(record, models, TRUTH, **option)


def test_files_without_a_record_are_refused(tmp_path):
    with pytest.raises(FrameError, match=r"there is no file '.*none.json'"):
        recnb.check(tmp_path / "none.json", RECS, TRUTH)
    file = tmp_path / "report.json"
    file.write_text("<html>")
    with pytest.raises(FrameError, match=r"report.json is no JSON"):
        recnb.check(file, RECS, TRUTH)
    file.write_text('{"schema": "recnb.report/6", "means": []}')
    with pytest.raises(FrameError, match=r"report.json holds no record of numbers"):
        recnb.check(file, RECS, TRUTH)


def test_a_metric_of_the_callers_own_is_defined_before():
    @recnb.metric(symbol="Twin", credit="1", out_of="k", bounds=(0, 1))
    def twin(hits, k=None):
        """Share of the first k places that hold a relevant item."""
        return Credit(hits, k, np.ones(len(hits.rank)), out_of_count(hits, k, "k"))

    try:
        record = recnb.evaluate(RECS, TRUTH).record([twin], k=10)
        assert recnb.check(record, RECS, TRUTH).passed
    finally:
        del METRICS["twin"]
        parsed.cache_clear()
    with pytest.raises(OptionError, match="'twin' is no metric of recnb"):
        recnb.check(record, RECS, TRUTH)


def test_the_table_names_what_differs_first_and_escapes_names():
    models = {"<b>x": RECS, "y": SAMPLE.models["popular"]}
    record = recnb.compare(models, TRUTH).record("ndcg", k=10)
    checked = recnb.check(record, models, TRUTH[1:])
    assert not checked["same"].iloc[0]
    assert checked["of"].iloc[0] == "input"
    assert "<b>x" not in checked._repr_html_()
    assert re.search(r"\d of \d+ numbers, inputs and conventions", repr(checked))


def test_columns_of_every_kind_may_stand_in_side_data():
    n = len(SAMPLE.items)
    odd = pl.from_pandas(SAMPLE.items[["item"]]).with_columns(
        day=pl.lit("2026-01-01").str.to_date(),
        took=pl.duration(hours=1),
        raw=pl.lit(b"\xff"),
        vector=pl.Series([[0.5, 1.0]] * n),
        kind=pl.lit("film").cast(pl.Categorical),
    )
    record = record_of(items=odd)
    assert {*record["inputs"]["items"]["columns"]} == {"item", "day", "kind"}
    assert recnb.check(record, RECS, TRUTH, items=odd).passed
    other = odd.with_columns(kind=pl.lit("book"))
    assert not recnb.check(record, RECS, TRUTH, items=other).passed
