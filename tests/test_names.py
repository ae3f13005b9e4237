"""The names that recnb shows: every metric bound, typed and documented; what is typed
wrongly is answered with the nearest.
"""

from __future__ import annotations

import builtins
import inspect
import pydoc
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pytest

import recnb
from recnb import LIST_METRICS, METRICS, errors
from recnb.display.data_file import rows_of
from recnb.errors import OptionError, RecnbError, UnknownNameError
from recnb.evaluate import KEYWORDS
from recnb.evaluation import Evaluation
from recnb.metrics.metric import ALIASES, EVERY_METRIC
from tests.rows import hold_calls, read_rows, value_of
from tests.sample import SAMPLE

EV = recnb.evaluate(SAMPLE.models["popular"], SAMPLE.test)
FOUND = recnb.compare(SAMPLE.recommendations, SAMPLE.test)
NAMES = [*METRICS, *ALIASES]
MANY = [f"name_{number}" for number in range(13)]
ROWS = read_rows("names.toml")


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
            assert options.count(f"\n{option} : ") == 1


def test_help_lists_calls_and_is_about_the_package() -> None:
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


PUBLIC = ROWS["public"]


def test_public_names() -> None:
    methods = {*PUBLIC["methods"], *NAMES}
    assert {*recnb.__all__} >= {*PUBLIC["functions"], *NAMES} - {"map"}
    assert len(recnb.__all__) == len({*recnb.__all__})
    shown = {name for name in dir(recnb) if not name.startswith("_")}
    assert shown <= {*recnb.__all__, "map"}
    assert {*dir(recnb.RecAccessor)} >= methods | {*PUBLIC["of_frames"]}
    for evaluation in (EV, FOUND["popular"]):
        assert {*dir(evaluation)} >= methods | {*PUBLIC["of_evaluation"]}
        assert not {*dir(evaluation)} & {*PUBLIC["hidden"]}
    space: dict[str, Any] = {}
    exec("from recnb import *", space)
    assert not {*space} & {*dir(builtins)} - {"__builtins__", "__doc__", "__name__"}
    assert {*recnb.__all__} <= {*space}


test_help_errors_and_copies = hold_calls(ROWS["same"], vars(errors) | globals())


@pytest.mark.parametrize("call", ROWS["misspelt"])
def test_the_nearest_name_is_told(call: str) -> None:
    of, _dot, typed = call.rpartition(".")
    place, meant = value_of(of, globals()), ROWS["misspelt"][call]
    with pytest.raises(
        UnknownNameError, match=rf"has no '{typed}'\. Did you mean .*'{meant}'"
    ):
        getattr(place, typed)
    assert not hasattr(place, typed)
    with pytest.raises(AttributeError) as caught:
        getattr(place, f"_{typed}")
    assert not isinstance(caught.value, RecnbError)


def test_of_a_name_that_is_near_none_all_are_told() -> None:
    with pytest.raises(
        AttributeError, match=r"Evaluation has no 'zzzz'\. Known: .*ndcg"
    ):
        getattr(EV, "zz" + "zz")


GUESSED = [
    (row["of"], name, row["say"])
    for row in rows_of("other_names.csv")
    for name in row["name"].split("|")
    if not row["until"]
]
PLACES = {
    "EvaluationMethods": EV,
    "Comparison": FOUND,
    "Report": EV.report(k=10),
    "MetricValue": EV.ndcg(k=10),
    "CatalogueScore": EV.entropy(k=10),
    "recnb": recnb,
}


def guess(of: str, name: str) -> Any:
    """Type a name, or a keyword of a metric or of `evaluate`."""
    if of == "metric":
        return EV.ndcg(**{name: 10})
    if of == "evaluate":
        return recnb.evaluate(SAMPLE.test, SAMPLE.test, **{name: 10})
    return getattr(PLACES[of], name)


def test_a_guessed_name_is_told_a_call() -> None:
    for of, name, say in GUESSED:
        with pytest.raises(OptionError) as error:
            guess(of, name)
        told = say.replace("{it}", "ev").replace("{name}", name)
        assert str(error.value).endswith(f" {told}"), (of, name)


def test_every_keyword_of_the_frames_is_told_where_a_metric_is_asked() -> None:
    told = {name for of, name, _say in GUESSED if of == "metric"}
    options = {option for metric in EVERY_METRIC.values() for option in metric.defaults}
    assert {*KEYWORDS} - options <= told


def test_the_call_for_a_guessed_name_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recnb.datasets, "load_movielens", recnb.datasets.load_sample)
    recs, truth = SAMPLE.models["popular"], SAMPLE.test.assign(column="a")
    names = {
        "recnb": recnb,
        "recs": recs,
        "others": SAMPLE.models["item-knn"],
        "truth": truth,
        "ev": recnb.evaluate(recs, truth, train=SAMPLE.train),
        "found": recnb.compare(SAMPLE.models, truth),
        "report": PLACES["Report"],
        "values": EV.ndcg(k=10).per_user,
        "user": "u026",
    }
    for of, say in dict.fromkeys((of, say) for of, _name, say in GUESSED):
        call = say.removeprefix("Type ").removesuffix(".")
        keywords = ("k=", "by=", "relevant_from=", "{name}=")
        if not call.startswith(keywords) and not call.endswith('="column"'):
            code = call.replace("{it}", "ev").partition(", which ")[0]
            value_of(code, {**names, "score": PLACES.get(of)})
            plt.close("all")
            recnb.language("en")


@pytest.mark.parametrize("typed", ROWS["guessed"])
def test_a_metric_by_another_librarys_name_is_told_its_call(typed: str) -> None:
    of, _dot, name = typed.rpartition(".")
    with pytest.raises(UnknownNameError) as error:
        getattr(value_of(of, globals()), name)
    assert str(error.value).endswith(f"has no {name!r}. Type {ROWS['guessed'][typed]}.")


def test_a_truth_given_to_a_method_of_a_frame_is_told_against() -> None:
    with pytest.raises(OptionError, match=r"recs\.rec\.against\(truth\)\.ndcg"):
        SAMPLE.models["popular"].rec.ndcg(SAMPLE.test, k=10)


def test_a_removed_name_says_what_to_type() -> None:
    gate = EV.at_least("ndcg", 0, k=1)
    places = {"recnb": recnb, "Evaluation": EV, "Comparison": FOUND, "Gate": gate}
    for row in rows_of("other_names.csv"):
        of, name = row["of"], row["name"]
        if row["until"] and of in places:
            with pytest.raises(UnknownNameError) as error:
                getattr(places[of], name)
            assert str(error.value).endswith(row["say"])


# Their keywords and defaults: `python -m tests.test_names` records them again.

SIGNATURES = Path(__file__).with_name("signatures.txt")


def signatures() -> str:
    """A line for each public function and method: its keywords, with their defaults."""
    lines = []
    for name in sorted(recnb.__all__):
        value = getattr(recnb, name)
        if inspect.isfunction(value):
            lines.append(signature_of(name, value))
        elif inspect.isclass(value) and not issubclass(value, Exception):
            methods = inspect.getmembers(value, inspect.isfunction)
            own = [pair for pair in methods if pair[1].__module__.startswith("recnb")]
            public = [pair for pair in own if not pair[0].startswith("_")]
            lines += [signature_of(f"{name}.{method}", call) for method, call in public]
    return "\n".join(lines) + "\n"


def signature_of(name: str, call: Any) -> str:
    """A function without the types of its keywords, which `test_typing` checks."""
    signature = inspect.signature(call)
    given = signature.parameters.values()
    bare = [keyword.replace(annotation=inspect.Parameter.empty) for keyword in given]
    return f"{name}{inspect.Signature(bare)}"


def test_keywords_and_defaults_are_those_recorded() -> None:
    assert signatures() == SIGNATURES.read_text("utf-8")


if __name__ == "__main__":
    SIGNATURES.write_text(signatures(), "utf-8")
