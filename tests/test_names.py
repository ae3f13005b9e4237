"""The names that recnb shows: every metric bound, typed and documented; what is typed
wrongly is answered with the nearest.
"""

from __future__ import annotations

import builtins
import copy
import inspect
import pydoc
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import polars as pl
import pytest

import recnb
from recnb import LIST_METRICS, METRICS
from recnb.display.data_file import rows_of
from recnb.errors import (
    OptionError,
    RecnbError,
    UnknownNameError,
    listed,
    near,
    no_attribute,
)
from recnb.evaluation import Evaluation
from recnb.metrics.metric import ALIASES
from tests.sample import SAMPLE

EV = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test)
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test)
NAMES = [*METRICS, *ALIASES]


@pytest.mark.parametrize("bound", NAMES)
def test_every_metric_is_bound_everywhere(bound: str) -> None:
    name = ALIASES.get(bound, bound)
    for place in (Evaluation, recnb.RecAccessor, recnb):
        assert callable(getattr(place, bound, None)), (
            f"{place} lacks {bound}: see the end of recnb/accuracy.py"
        )
        assert getattr(place, bound) is getattr(place, name)
    # `from recnb import *` must not replace Python's `map`.
    assert (bound in recnb.__all__) == (bound != "map"), (
        f"recnb/accuracy.py: __all__ and {bound!r}"
    )


@pytest.mark.parametrize("name", [*METRICS, *LIST_METRICS])
def test_signatures_and_help_are_real(name: str) -> None:
    metric = METRICS.get(name) or LIST_METRICS[name]
    hints = typing.get_type_hints(metric.function)
    places: list[tuple[Any, list[str]]] = [
        (Evaluation, ["self"]),
        (recnb.RecAccessor, ["self"]),
        (SAMPLE.test.rec, []),
    ]
    for place, first in places + [(recnb, ["ranking", "truth"])] * (name in METRICS):
        function = getattr(place, name)
        signature = inspect.signature(function)
        last = ["y_true", "y_score"] if place is recnb else []
        assert list(signature.parameters) == [*first, "k", *metric.defaults, *last], (
            place
        )
        assert signature.parameters["k"].default is None
        assert signature.parameters["k"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert function.__name__ == name
        assert "Score" in str(signature.return_annotation)
        own, _, options = (inspect.getdoc(function) or "").partition(
            "Parameters\n----------\n"
        )
        assert own.splitlines()[0] == metric.title
        assert "k : int, optional\n    Cut-off" in options
        assert options.count("Returns\n-------") == 1
        for option, default in metric.defaults.items():
            assert signature.parameters[option].default == default
            assert signature.parameters[option].kind is inspect.Parameter.KEYWORD_ONLY
            (line,) = [
                line for line in options.splitlines() if line.startswith(f"{option} : ")
            ]
            if option in metric.words:
                assert all(
                    f'"{word}"' in line for word in typing.get_args(hints[option])
                )
            if default is not None:
                assert (
                    f'default "{default}"'
                    if isinstance(default, str)
                    else f"default {default}"
                ) in line


def test_what_a_metric_says_of_an_option_stands_at_its_parameter() -> None:
    written = inspect.getdoc(METRICS["fbeta"].function) or ""
    assert "- beta: How much recall weighs beside precision" in written
    for function in (recnb.fbeta, Evaluation.fbeta):
        described = inspect.getdoc(function) or ""
        assert "- beta:" not in described
        parameter = "beta : float, default 1.0\n    How much recall weighs beside"
        assert parameter in described


def test_a_paragraph_after_the_options_of_a_metric_is_kept() -> None:
    described = inspect.getdoc(Evaluation.serendipity) or ""
    meaning, _title, _parameters = described.partition("Parameters\n")
    assert "Other things are called serendipity" in meaning
    assert "- out_of:" not in meaning


def test_the_sources_of_a_metric_are_its_references() -> None:
    described = inspect.getdoc(recnb.rbp) or ""
    _before, _title, references = described.partition("References\n----------\n")
    assert references.startswith("- Moffat, A. and Zobel, J. 2008.")
    assert "https://doi.org/10.1145/1416950.1416952" in references


def test_help_is_there_and_about_the_package() -> None:
    for place in (
        Evaluation,
        recnb.RecAccessor,
        recnb.Score,
        recnb.Table,
        recnb.Explanation,
        recnb.Convention,
        recnb,
    ):
        for name in vars(place):
            thing = getattr(place, name)
            if (
                not name.startswith("_")
                and callable(thing)
                and getattr(thing, "__module__", "").startswith("recnb")
            ):
                assert inspect.getdoc(thing), f"{place.__name__}.{name}"
    menu = [
        line
        for line in (inspect.getdoc(EV) or "").splitlines()
        if line.startswith("ev.")
    ]
    calls = [call.strip() for line in menu for call in line.split("    ")[0].split(";")]
    assert len(calls) > 10
    assert not [
        call
        for call in calls
        if not hasattr(EV, call.removeprefix("ev.").split("(")[0])
    ]
    text = pydoc.render_doc(recnb, renderer=pydoc.plaintext)
    assert len(text.splitlines()) < 8_000  # with 21,000 it would be that of pandas
    assert "class Evaluation(" in text
    assert "evaluate(recs: " in text
    assert "Methods inherited from pandas" not in text


def test_public_names() -> None:
    """What users rely on; names may be added, none may go."""
    methods = {
        "table",
        "worst",
        "curve",
        "explain",
        "report",
        "lint",
        "items",
        "user",
        "measure",
        "measures",
        *NAMES,
    }
    functions = {
        "evaluate",
        "evaluate_groups",
        "evaluate_model",
        "compare",
        "as_in",
        "explain",
        "playground",
        "quiz",
        "read_report",
    }
    classes = {"Score", "Table", "Explanation", "Interval", "Convention"}
    assert {*recnb.__all__} >= (functions | classes | {*NAMES}) - {"map"}
    assert len(recnb.__all__) == len({*recnb.__all__})
    assert {name for name in dir(recnb) if not name.startswith("_")} <= {
        *recnb.__all__,
        "map",
    }
    assert {*dir(recnb.RecAccessor)} >= methods | {"against", "evaluation", "compare"}
    others = {
        "under",
        "why",
        "identify",
        "explore",
        "beyond",
        "at_least",
        "detectable",
        "with_lists",
    }
    assert {*dir(Evaluation)} >= methods | others
    evaluation = FOUND["popular"]
    assert {*dir(evaluation)} >= methods | others | {"basis", "n_users", "users"}
    # What results read of its data is no offer to users.
    assert not {*dir(evaluation)} & {"joined", "lists_of", "restricted", "source"}
    assert issubclass(recnb.errors.RecnbError, ValueError)
    assert issubclass(recnb.errors.ColumnError, recnb.errors.FrameError)
    assert (Path(recnb.__file__).parent / "py.typed").exists()
    space: dict[str, Any] = {}
    exec("from recnb import *", space)
    assert not {*space} & {*dir(builtins)} - {"__builtins__", "__doc__", "__name__"}
    assert {*recnb.__all__} <= {*space}
    assert recnb.map is recnb.average_precision


MISSPELT = [
    (EV, "ndgc", "ndcg"),
    (EV, "explian", "explain"),
    (SAMPLE.test.rec, "agianst", "against"),
    (pl.DataFrame({"user": [1]}).rec, "reprot", "report"),
    (FOUND, "diferences", "differences"),
    (FOUND["popular"], "tabel", "table"),
    (recnb, "evalute", "evaluate"),
    (recnb, "compar", "compare"),
]


def test_types_of_options_are_shown_as_they_are_written() -> None:
    assert "user: 'str | Sequence[str] | None' = None" in str(
        inspect.signature(recnb.evaluate)
    )
    assert "users=" in (inspect.getdoc(FOUND.report) or "")
    assert near("country", ["amount"]) == "Known: 'amount'."
    assert near("amout", ["amount"]) == "Did you mean 'amount'? Known: 'amount'."
    many = [f"name_{number}" for number in range(13)]
    assert near("amout", ["amount", *many]) == "Did you mean 'amount'?"
    assert near("zzz", many).startswith("Known: 'name_0', 'name_1'")


def test_names_in_an_error_are_few_and_public() -> None:
    """Ten of many, two that are near, none that begins with an underscore."""
    ten = ", ".join(map(str, range(10)))
    assert [listed(range(n)) for n in (10, 11)] == [ten, f"{ten} and 1 more"]
    assert (
        near("name", ["name1", "name2", "name3"]).partition("?")[0].count("name") == 2
    )
    known = [[f"name{at}" for at in range(size)] for size in (12, 13)]
    assert ["Known" in near("name1", names) for names in known] == [True, False]
    assert str(no_attribute("X", "at", ["_at", "b"])).endswith("Known: 'b'.")


@pytest.mark.parametrize(("place", "typed", "meant"), MISSPELT)
def test_the_nearest_name_is_told(place: Any, typed: str, meant: str) -> None:
    with pytest.raises(
        UnknownNameError, match=rf"has no '{typed}'\. Did you mean .*'{meant}'"
    ):
        getattr(place, typed)
    assert not hasattr(place, typed)
    with pytest.raises(AttributeError) as caught:
        getattr(place, f"_{typed}")
    assert not isinstance(caught.value, RecnbError)
    if place is EV:
        with pytest.raises(
            AttributeError, match=r"Evaluation has no 'zzzz'\. Known: .*ndcg"
        ):
            getattr(EV, "zz" + "zz")


def test_objects_are_copied_and_compared_models_are_a_mapping() -> None:
    assert float(copy.copy(EV).ndcg(k=5)) == float(EV.ndcg(k=5))
    assert (
        copy.copy(FOUND).names
        == FOUND._ipython_key_completions_()
        == [name for name, _model in FOUND.items()]
    )
    assert not hasattr(FOUND, "ndcg")


GUESSED = [
    (row["of"], name, row["type"])
    for row in rows_of("guessed_names.csv")
    for name in row["name"].split("|")
]
PLACES = {
    "EvaluationMethods": EV,
    "Comparison": FOUND,
    "Report": EV.report(k=10),
    "MetricValue": EV.ndcg(k=10),
    "recnb": recnb,
}


@pytest.mark.parametrize(("of", "name", "call"), GUESSED)
def test_a_guessed_name_is_told_a_call(of: str, name: str, call: str) -> None:
    asked: dict[str, Callable[[], Any]] = {
        "metric": lambda: EV.ndcg(**{name: 10}),
        "evaluate": lambda: recnb.evaluate(SAMPLE.test, SAMPLE.test, **{name: 10}),
    }
    with pytest.raises(OptionError) as error:
        asked.get(of, lambda: getattr(PLACES[of], name))()
    assert str(error.value).endswith(f" Type {call.replace('{it}', 'ev')}.")


@pytest.mark.parametrize("call", dict.fromkeys(call for _of, _name, call in GUESSED))
def test_the_call_for_a_guessed_name_works(
    call: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recnb.datasets, "load_movielens", recnb.datasets.load_sample)
    recs, truth = SAMPLE.models["popular"], SAMPLE.test.assign(column="a")
    names = {
        "recnb": recnb,
        "recs": recs,
        "others": SAMPLE.models["item-knn"],
        "truth": truth,
        "ev": recnb.evaluate(recs, truth),
        "found": recnb.compare(SAMPLE.models, truth),
        "report": PLACES["Report"],
        "score": PLACES["MetricValue"],
        "values": EV.ndcg(k=10).per_user,
        "user": "u026",
    }
    if call.startswith(("k=", "by=", "relevant_from=")) or call.endswith('="column"'):
        return  # a keyword
    eval(call.replace("{it}", "ev").partition(", which ")[0], names)
    plt.close("all")
    recnb.language("en")


@pytest.mark.parametrize(
    ("place", "name", "call"),
    [
        (EV, "정밀도", "ev.precision(k=10)"),  # as Korean calls it
        (EV, "ndcg_at_10", "ev.ndcg(k=10)"),
        (EV, "precision_at_k", "ev.precision(k=10)"),
        (EV, "MAP", "ev.average_precision(k=10)"),
        (EV, "mean_reciprocal_rank", "ev.reciprocal_rank(k=10)"),
        (EV, "recall20", "ev.recall(k=20)"),
        (EV, "coverage_at_5", "ev.coverage(k=5)"),
        (SAMPLE.test.rec, "recall_at", "df.rec.recall(k=10)"),
        (SAMPLE.test.rec, "plot", 'df.rec.curve("ndcg").plot()'),
        (FOUND, "ndcg", 'found.table("ndcg", k=10)'),
        (recnb, "ndcg_at_k", "recnb.ndcg(ranking, relevant, k=10)"),
        (recnb, "ndcg_score", "recnb.ndcg(ranking, relevant, k=10)"),
        (recnb, "coverage", "recnb.evaluate(recs, truth).coverage(k=10)"),
    ],
)
def test_a_metric_by_another_librarys_name_is_told_its_call(
    place: Any, name: str, call: str
) -> None:
    with pytest.raises(UnknownNameError) as error:
        getattr(place, name)
    assert str(error.value).endswith(f"has no {name!r}. Type {call}.")


def test_a_truth_given_to_a_method_of_a_frame_is_told_against() -> None:
    with pytest.raises(OptionError, match=r"recs\.rec\.against\(truth\)\.ndcg"):
        SAMPLE.models["popular"].rec.ndcg(SAMPLE.test, k=10)


REMOVED = rows_of("removed_names.csv")


@pytest.mark.parametrize(
    "row", REMOVED, ids=[f"{row['of']}.{row['name']}" for row in REMOVED]
)
def test_a_removed_name_says_what_to_type(row: dict[str, str]) -> None:
    of, name, instead = row["of"], row["name"], row["instead"]
    error = no_attribute(of, name, [])
    assert str(error) == f"{of}.{name} was removed. {instead}"
    gate = EV.at_least("ndcg", 0, k=1)
    places = {"recnb": recnb, "Evaluation": EV, "Comparison": FOUND, "Gate": gate}
    if of in places:
        with pytest.raises(UnknownNameError, match="was removed"):
            getattr(places[of], name)
