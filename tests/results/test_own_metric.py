"""A metric of one's own: as recnb's own wherever a name is taken, refused where its
formula says something else; the example of the page runs.
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import recnb
from recnb.cli.command import main
from recnb.errors import OptionError
from recnb.metrics import Credit, as_column, out_of_count
from recnb.metrics.metric import METRICS
from tests.evaluated import EV, FOUND
from tests.rows import hold_refusals, read_rows, value_of

PAGE = Path(recnb.__file__).with_name("metrics") / "README.md"
pytestmark = pytest.mark.usefixtures("forgotten")


def twin() -> Any:
    """The precision of recnb, written as a user would."""

    @recnb.metric(symbol="Twin", credit="1", out_of="k", bounds=(0, 1))
    def twin(hits, k=None):
        """Share of the first k places that hold a <b>relevant</b> item."""
        return Credit(hits, k, np.ones(len(hits.rank)), out_of_count(hits, k, "k"))

    return twin


def played(metric: Any) -> Any:
    play = recnb.playground(["A", "B", "C"], {"B": 1, "C": 2}, metrics=["ndcg", metric])
    play.look_at(metric)
    play.move("C", 1)
    return play.explain().numbers, play._html(live=False)


#: Wherever a metric is taken, and what is shown of it.
TAKEN = read_rows("results/own_metric_taken.toml")


@pytest.mark.parametrize("call", TAKEN["alike"].values(), ids=TAKEN["alike"])
def test_it_is_as_one_of_recnb_wherever_a_name_is_taken(call: str) -> None:
    """The same numbers and words; the options in words are those of recnb's alone."""
    shown, shown_of_recnb, by_name = (
        str(eval(call, {**globals(), "one": one}))
        for one in (twin(), "precision", "twin")
    )
    same = [
        re.sub(
            r"(; )?(out of k|out of the list's length|precision: .*?(?=;|$))",
            "",
            re.sub("Precision|twin|Twin", "precision", re.sub(r"\s+", " ", text)),
        )
        for text in (shown, shown_of_recnb)
    ]
    assert same[0] == same[1]
    assert by_name == shown


ALL_TAKEN = {**TAKEN["alike"], **TAKEN["shown"]}


@pytest.mark.parametrize("where", ALL_TAKEN)
def test_it_is_shown_everywhere_and_its_words_are_text(where: str) -> None:
    shown = str(eval(ALL_TAKEN[where], {**globals(), "one": twin()}))
    assert shown
    assert "<b>relevant" not in shown


def test_the_example_of_the_page_runs() -> None:
    section = PAGE.read_text("utf-8").split("## A metric of your own")[1]
    section = section.split("\n## ")[0]
    programs = re.findall(r"```python\n(.*?)```", section, flags=re.DOTALL)
    program, cost, of_lists, of_train, of_history = programs
    names: dict[str, Any] = {}
    exec(program, names)
    exec(cost, names)
    value = float(names["ev"].measure("search_length", k=10))
    assert f"# search_length {value:.4f}\n" in cost
    printed = names["ev"].table([names["soft_precision"], "ndcg"], k=10)[10]
    assert (
        f"# soft_precision {printed.iloc[0]:.4f}, ndcg {printed.iloc[1]:.4f}" in program
    )
    at_rank = names["ev"].explain("soft_precision(power=2)@3", "u002").rows
    assert at_rank["credit"].tolist() == [
        hit / rank**2
        for hit, rank in zip(at_rank["relevance"] > 0, at_rank["rank"], strict=True)
    ]
    for program, called in (
        (of_lists, ["mean_year", "oldest", "novelty"]),
        (of_train, ["popularity_complement"]),
        (of_history, ["distance_from_history", "diversity"]),
    ):
        exec(program, names)
        means = names["ev"].table(called, k=10)[10]
        shown = ", ".join(f"{name} {means[name]:.4f}" for name in called)
        assert f"  # {shown}\n" in program


def test_a_cell_that_is_run_again_replaces_it() -> None:
    def made(worth: float) -> Any:
        def again(hits, k=None):
            return Credit(hits, k, np.full(len(hits.rank), worth))

        return recnb.metric(symbol="Again", credit=str(worth))(again)

    first = made(1.0)
    before, second = EV.measure("again@5"), made(2.0)
    for asked in ("again", "again@5", second):
        assert EV.measure(asked, k=5) == 2 * before
    assert EV.measure(first, k=5) == before
    assert pickle.loads(pickle.dumps(second)).name == "again"


def test_a_name_in_capital_letters_is_found_with_a_cut_off() -> None:
    """Also after another name was unknown, for which all terms were looked through."""
    with pytest.raises(OptionError, match="no metric"):
        EV.measure("unknown")

    def nearness(hits, k=None):
        return Credit(hits, k, 1 / hits.rank)

    nearness.__name__ = "Nearness"
    made = recnb.metric(symbol="Near", credit="1 / rank")(nearness)
    assert EV.measure("Nearness@5") == EV.measure(made, k=5)


def test_another_process_finds_it_in_a_file_that_it_can_import(tmp_path: Path) -> None:
    header = "import recnb\nfrom recnb.metrics import Credit\n"
    code = (
        "@recnb.metric(symbol='M', credit='rank')\ndef mine(hits, k=None):\n    "
        "return Credit(hits, k, hits.rank * 1.0)\n"
    )
    (tmp_path / "metrics_of_mine.py").write_text(header + code)
    process: dict[str, Any] = {"cwd": tmp_path, "capture_output": True, "check": True}
    process["env"] = {**os.environ, "PYTHONPATH": str(PAGE.parents[2])}
    make = (
        "import pickle, sys; from metrics_of_mine import mine; "
        "sys.stdout.buffer.write(pickle.dumps(mine))"
    )
    sent = subprocess.run([sys.executable, "-c", make], **process).stdout
    read = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read()).label(3))"
    got = subprocess.run([sys.executable, "-c", read], **process, input=sent)
    assert got.stdout.strip() == b"M@3"
    own = pickle.dumps(twin())
    METRICS.pop("twin")
    with pytest.raises(OptionError, match="this process has no twin of"):
        pickle.loads(own)


def make(
    returned: Callable[[Any, Any], Any] = lambda hits, k: Credit(
        hits, k, 1.0 / hits.rank
    ),
    function: Any = None,
    **changed: Any,
) -> Any:
    def mine(hits, k=None):
        return returned(hits, k)

    return recnb.metric(**{"symbol": "Mine", "credit": "1 / rank", **changed})(
        function or mine
    )


def named(name: str, text: str) -> Any:
    scope: dict[str, Any] = {}
    exec(f"def {name}({text}): return 1", scope)
    return recnb.metric(symbol="M", credit="1")(scope[name])


def times(hits, k=None, *, factor=1.0):
    return Credit(
        hits,
        k,
        np.where(hits.rank > 8, 0, factor / hits.rank),
        as_column(hits.list_length),
    )


def of_word(hits, k=None, *, mode="linear"):
    return Credit(hits, k, 1 / hits.rank)


def with_times() -> Any:
    """A metric that leaves its bounds under an option, and differs from its formula
    below rank 8.
    """
    return make(
        function=times, credit="factor / rank", out_of="list_length", bounds=(0, 1)
    )


test_what_is_no_metric_is_refused = hold_refusals(
    read_rows("results/own_metric_refused.toml"), globals()
)


def search_length() -> Any:
    """Expected search length, a cost: items seen in vain (Cooper 1968)."""

    @recnb.metric(
        symbol="ESL",
        credit="first * (rank - 1)",
        missed="no_hit * k",
        better="low",
    )
    def search_length(hits, k=None):
        """Items seen before the first relevant one; k where there is none."""
        no_hit = 1 - hits.total(hits.first, k)
        missed = no_hit * out_of_count(hits, k, "k")
        return Credit(hits, k, hits.first * (hits.rank - 1), missed=missed)

    return search_length


CAREFUL = {user: ["x", "a"] for user in range(30)}
LAZY = {0: ["x", "a"]}
FOUND_BY_ALL = {user: ["a"] for user in range(30)}
RANKED = pd.DataFrame({"user": 0, "item": ["x", "a"], "rank": [1, 2]})
JUDGED = pd.DataFrame({"user": [0, 1], "item": "a"})
#: Calls with a cost of the caller's, by what they are made of.
WITHOUT_CUTOFF = TAKEN["without_cutoff"]


@pytest.mark.parametrize("call", WITHOUT_CUTOFF)
def test_a_cost_that_depends_on_k_is_refused_without_a_cut_off(call: str) -> None:
    """Of thirty users whom a lazy model lists once it was 0.0333, the lowest cost."""
    with pytest.raises(OptionError, match=r"missed='no_hit \* k'.*k=10"):
        eval(WITHOUT_CUTOFF[call], {**globals(), "cost": search_length()})


def test_the_command_line_refuses_a_cost_without_a_cut_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    search_length()
    paths = [str(tmp_path / name) for name in ("recs.csv", "truth.csv")]
    for frame, path in zip((RANKED, JUDGED), paths, strict=True):
        frame.to_csv(path, index=False)
    assert main(["report", *paths, "--fail-above", "search_length=1"]) == 2
    assert "give a cut-off, such as --k 10" in capsys.readouterr().err


@pytest.mark.parametrize("k", [1, 3, 10])
def test_a_cost_adds_what_a_list_without_a_hit_costs(k: int) -> None:
    values = EV.measure(search_length(), k=k).per_user
    first = EV.mrr(k=k).per_user
    expected = (1 / first - 1).where(first > 0, k)
    assert values.to_dict() == pytest.approx(expected.to_dict())
    in_table = EV.table("search_length", k=[k, 7]).iloc[0, 0]
    assert in_table == pytest.approx(expected.mean())


def of_nothing(no_relevant: str) -> recnb.Evaluation:
    """User a has nothing to find, and user b misses it."""
    truth = {"a": {"x": 0}, "b": {"z": 1}}
    return recnb.evaluate({"a": ["x"], "b": ["y"]}, truth, no_relevant=no_relevant)


def share() -> Any:
    @recnb.metric(
        symbol="Share of-gain",
        credit="relevance^power",
        out_of="ideal(relevance^power)",
        bounds=(0, 1),
        reads="{so}",
    )
    def share(hits, k=None, *, power=1):
        ideal = Credit(hits.ideal, k, hits.ideal.relevance**power)
        return Credit(hits, k, hits.relevance**power, ideal)

    return share


def of_logs() -> Any:
    def gain(hits, k=None, *, log_base=10):
        earned = np.log2(1 + hits.rank) + np.log(hits.rank) / np.log(log_base)
        return Credit(hits, k, earned)

    return make(function=gain, credit="log2(1 + rank) + log(rank)")


def doubled() -> Any:
    """A metric that calls another of hits."""
    own = twin()
    return make(lambda hits, k: Credit(hits, k, 2 * own(hits, k).earned), credit="2")


def by_length() -> Any:
    return make(
        lambda hits, k: Credit(hits, k, hits.rank * 1.0, as_column(hits.list_length)),
        credit="rank",
        out_of="list_length",
    )


def below_0():
    return make(
        lambda hits, k: Credit(hits, k, 0.0 - hits.rank),
        credit="0 - rank",
        bounds=(-99, 0),
    )


OWN = (search_length, share, of_logs, doubled, by_length, below_0)
KNOWN = TAKEN["known"]


@pytest.mark.parametrize("call", KNOWN)
def test_what_it_gives(call: str) -> None:
    names = {**globals(), **{f"a_{own.__name__}": own() for own in OWN}}
    assert value_of(call, names) == pytest.approx(value_of(KNOWN[call], names))


#: Bounds below 0, with what each hit earns, in words of numpy and of a formula.
BELOW = [
    ((-1, 0), "-1 / rank", "(0 - 1) / rank"),
    ((-1, 1), "0.5 - first", "0.5 - first"),
    ((-np.inf, np.inf), "2.0 - rank", "2 - rank"),
    ((-np.inf, 0), "0.0 - rank", "0 - rank"),
]


@pytest.mark.parametrize(("bounds", "earned", "credit"), BELOW)
def test_values_below_0_are_shown_in_every_form(
    bounds: Any, earned: str, credit: str
) -> None:
    def returned(hits, k):
        known = {"rank": hits.rank, "first": hits.first}
        return Credit(hits, k, eval(earned, known), out_of_count(hits, k, "k"))

    own = make(returned, credit=credit, out_of="k", bounds=bounds)
    values = EV.measure(own, k=10).per_user
    report = EV.report(metrics=[own], by="segment")
    spread = report._data.distribution
    assert sum(spread.counts) == len(values)
    assert spread.edges[0] <= values.min() <= values.max() <= spread.edges[-1]
    for text in (report.to_html(), report.to_markdown()):
        assert "nan" not in re.findall(r"\w+", text)
    assert FOUND.report(metrics=[own], by="segment").to_html()
    assert sum(EV.explore(own).bars().values()) == len(values)
    curve = EV.curve(own, k=range(1, 4))
    assert curve.plot().get_ylim()[0] <= curve.iloc[:, 0].min()
