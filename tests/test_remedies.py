"""What an error advises works on the data that provoked it, and gives the right number.

Each case makes data that is refused, takes the advice out of the message as it stands there, and runs it on that data.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import recnb
from recnb.errors import RecnbError

PACKAGE = Path(recnb.__file__).parent

#: Two lists of three; u finds b at rank 2, v at rank 1: the mean reciprocal rank is 3/4.
DATA = """
recs = pd.DataFrame({"user": list("uuuvvv"), "item": list("abcbca"), "rank": [1, 2, 3, 1, 2, 3]})
truth = pd.DataFrame({"user": ["u", "v"], "item": ["b", "b"], "relevance": [1, 1]})
scored = recs.assign(score=4.0 - recs["rank"]).drop(columns="rank")
ev = recnb.evaluate(recs, truth)
"""
MRR = "recnb.evaluate(recs, truth).mrr()"


class Model:
    """Scores under which user 0 gets item 1 second and user 1 gets it first."""

    def __init__(self, changed: Callable[[Any], Any] = lambda scores: scores) -> None:
        self.changed = changed

    def predict(self, user: int) -> Any:
        return self.changed(np.array([[3.0, 2.0, 1.0], [1.0, 3.0, 2.0]])[user])


def matrices() -> tuple[Any, Any]:
    """What is relevant, and what users had: nothing."""
    return sparse.csr_matrix([[0, 1, 0], [0, 1, 0]]), sparse.csr_matrix((2, 3))


@dataclass(frozen=True)
class Case:
    """Data, the call that it makes fail, what the message advises, and what that comes to."""

    data: str  #: code that changes DATA
    fails: str  #: an expression
    advice: str  #: a pattern of the message, whose group is the code advised
    follow: str  #: code with {} in place of what is advised; it may set what `then` asks for
    then: str = ""  #: an expression; that which failed, unless given
    right: Any = 0.75


def keyword(data: str, advice: str, call: str = "recnb.evaluate(recs, truth, **more).mrr()", right: Any = 0.75) -> Case:
    """The advice is a keyword for the same call."""
    return Case(f"{data}\nmore = {{}}", call, advice, "more = dict({})", "", right)


CASES = {
    # ---- rows and columns of frames
    "ranks below 0": keyword('recs["rank"] *= -1', r"If it is a score, say so: (.+?)\.$"),
    "ranks with digits": keyword('recs["rank"] = 1 / recs["rank"]', r"If it is a score, say so: (.+?)\.$"),
    "ranks above all places": keyword('recs["rank"] = 2**40 - recs["rank"]', r"If it is a score, say so: (.+?)\.$"),
    "a relevance below 0, counted as 0": keyword('truth.loc[2] = ["u", "a", -1]', r"not judged, say (.+?), as"),
    "a relevance below 0, as in trec_eval": keyword('truth.loc[2] = ["u", "a", -1]', r", as (.+?) does", right=0.75),
    "metrics of an evaluation": Case("", "recnb.evaluate(recs, truth, metrics=['AP'])", r"Type (.+?), or", "ev = recnb.evaluate(recs, truth); found = {}", "found.loc['AP', 'mean']"),
    "a pair that is repeated, kept once": keyword('recs.loc[6] = ["u", "a", 4]', r"or say (.+?) to keep"),
    "a pair of the truth, kept once": keyword('truth.loc[2] = ["u", "b", 3]', r"or say (.+?) to keep"),
    "a pair under the general join": keyword('recs.loc[6] = ["u", "a", 4]', r"[Ss]ay (.+?) to keep", "recnb.evaluate(recs, truth, candidates='padded', **more).mrr()"),
    "segments by the numbers of rows": Case("users = pd.DataFrame(dict(user=list('uv'), city=list('xy'))); by = users['city']", "ev.table('mrr', k=3, by=by).xs('x', level='city')['mean'].item()", r"Put the users on its index, (.+?)\.$", "by = {}", "", 0.5),
    "segments by a frame": Case("frame = pd.DataFrame(dict(user=list('uv'), city='y'))", "ev.table('mrr', k=3, by=frame)", r"column of (.+?), or", "ev = {}", "ev.table('mrr', k=3, by='city')['mean'].item()"),
    "rank and score that disagree": keyword('recs["score"] = recs["rank"]', r"Say which one is the order: (order='rank') or"),
    "rank and score that disagree, by score": keyword('recs["score"] = recs["rank"]', r" or (order='score')\.", right=(1 / 2 + 1 / 3) / 2),
    "no order": keyword('recs = recs.drop(columns="rank")', r"rank order already, (.+?)\.$"),
    "no order, but a column": Case('recs["at"] = recs.pop("rank"); more = {}', "recnb.evaluate(recs, truth, **more).mrr()", r"list in order, (rank='\.\.\.')", "more = dict({}); more['rank'] = 'at'"),
    "an order that has no column": Case('recs = scored.rename(columns=dict(score="s")); more = {}', "recnb.evaluate(recs, truth, order='score', **more).mrr()", r"say (score='\.\.\.')", "more = dict({}); more['score'] = 's'"),
    "a column that is not found": keyword('recs = recs.rename(columns=dict(item="ware"))', r"Say which: (.+?)\.$"),
    "columns that are not found": keyword('recs = scored.rename(columns=dict(user="who", item="ware", score="points"))', r"Say which: (.+?)\.$"),
    "a column named by a number": Case('recs.columns = ["user", 0, "rank"]; more = dict(item=0)', "recnb.evaluate(recs, truth, **more).mrr()", r"If yours are not: (.+?)\.$", "frame = recs; {}; more = dict(item='0')"),
    "two columns for a role": keyword('recs["item_id"] = "z"', r"Say which: (.+?)\.$"),
    "a column for two roles": Case('recs = recs.rename(columns=dict(item="item_id")); more = dict(item="user")', "recnb.evaluate(recs, truth, **more).mrr()", r"for one, (item='\.\.\.')", "more = dict({}); more['item'] = 'item_id'"),
    "ids in the index": Case('recs = recs.set_index("user")', MRR, r"type (.+?) to make columns", "recs = recs{}"),
    "order in the index": Case('recs = recs.set_index("rank")', MRR, r"type (.+?) to make columns", "recs = recs{}"),
    "one frame that lacks a side": Case('frame = recs', "recnb.evaluate(frame).mrr()", r"the other frame as well, (.+?)\.$", "result = {}.mrr()", "result"),
    "one frame whose relevance has another name": Case('frame = recs.merge(truth, how="left").rename(columns=dict(relevance="stars")); more = {}', "recnb.evaluate(frame, **more).mrr()", r"Say which: (.+?)\. Or", "more = dict({})"),
    "lists of several models, compared": Case('recs = pd.concat([recs.assign(model="A"), recs.assign(model="B", rank=4 - recs["rank"])])', MRR, r"compare them, (.+?), or", "result = {}.table('mrr')['reciprocal_rank'].to_dict()", "result", {"A": 0.75, "B": (1 / 2 + 1 / 3) / 2}),
    "a lazy frame that cannot be read": Case('recs = pl.from_pandas(scored).lazy().with_columns(pl.col("item").cast(pl.Int64))', MRR, r"first, (frame\.collect\(\))", 'frame = pl.from_pandas(scored).lazy(); recs = {}'),
    # ---- conventions
    "a catalogue and its ties": Case('more = dict(ties="item_asc")', "recnb.evaluate(recs, truth, candidates='catalogue', **more).mrr()", r"goes with (ties='first')", "more = dict({})"),
    "ties and single hits": Case('more = dict(duplicates="hit_once")', "recnb.evaluate(scored, truth, ties='expected', **more).mrr()", r"choose (duplicates='dedupe')", "more = dict({})"),
    "ties and a preferred item": Case('more = dict(ties="expected")', "recnb.evaluate(scored, truth, **more).mrr(target='preferred')", r"choose (ties='first')", "more = dict({})"),
    "ties and ERR": Case('more = dict(ties="expected")', "recnb.evaluate(scored, truth, **more).err()", r"choose (ties='first')", "more = dict({})", right=(1 / 4 + 1 / 2) / 2),
    "ties and hits": Case('more = dict(ties="expected")', "recnb.evaluate(scored, truth, **more).average_precision(out_of='hits')", r"choose (ties='first')", "more = dict({})"),
    "ties and an explanation": Case('scored["score"] = 1.0; more = dict(ties="expected")', "recnb.evaluate(scored, truth, **more).explain('mrr', 'u').value", r"choose (ties='first')", "more = dict({})", right=0.5),
    "ties and serendipity explained": Case('more = dict(ties="expected")', "recnb.evaluate(scored, truth, train=recs.replace(list('uv'), list('xy')), **more).explain('serendipity', 'v', k=1).value", r"choose (ties='first')", "more = dict({})", right=1.0),
    "models in a list": Case("recs_a, recs_b = recs, recs; models = [recs, recs]", "recnb.compare(models, truth)", r"give each a name, (recnb\.compare\(.+?\}, truth\))", "result = {}.table('mrr').loc['a'].item()", "result"),
    "predictions of models in columns": Case("frame = recs.merge(truth.assign(relevance=1), how='left').fillna(0).drop(columns='rank').assign(pred_a=range(len(recs)), pred_b=0)", "recnb.compare(frame)", r"compare\(frame, score=(\[.+?\])\)", "result = [*{}]", "result", ["pred_a", "pred_b"]),
    "parts of one run as models": Case("import tempfile, os; from tests.kernels import FOLDER; here = os.getcwd(); folder = tempfile.mkdtemp(dir=os.environ[FOLDER]); [pl.from_pandas(recs[recs['user'] == user]).write_parquet(f'{folder}/recs_{user}.parquet') for user in 'uv']", "recnb.compare(dict(a=recs[:3], b=recs[3:]), truth)", r", as by (pl\.scan_parquet.+?), and", "os.chdir(folder); {}; os.chdir(here)", "recnb.evaluate(f'{folder}/recs.parquet', truth).mrr()"),
    # ---- lists and groups
    "grades and scores by position": Case("ranking, truth = [3, 0, 2], [0.2, 0.9, 0.5]", "recnb.mrr(ranking, truth)", r"type (recnb\.reciprocal_rank\(y_true=\.\.\., y_score=\.\.\.\));", "result = eval('{}'.replace('true=...', 'true=ranking').replace('score=...', 'score=truth'))", "result", 0.5),
    "ids by position": Case("ranking, truth = [3, 1, 2], [4, 5, 6]", "recnb.mrr(ranking, truth)", r"as a set, (.+?), or", "truth = {}", right=0.0),
    "ids of several lists by position": Case("ranking, truth = [[3, 1], [2, 4]], [[1, 5], [6, 7]]", "recnb.mrr(ranking, truth)", r"or of several lists (.+?);", "truth = {}", right=0.25),
    "labels and scores without users": Case("y_true, y_score, sizes = [3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7], [3, 2]", "recnb.evaluate(y_true, y_score)", r"and scores: (recnb\.evaluate_groups\(y_true, y_score, group=sizes\))", "result = {}.mrr()", "result", 0.5),
    "fractions as items": Case("ranking, truth = [3, 2, 1, 0], [0.2, 0.9, 0.5]", "recnb.mrr(ranking, truth)", r"type (recnb\.reciprocal_rank)\(y_true=\.\.\., y_score=\.\.\.\);", "result = {}(y_true=ranking[:3], y_score=truth)", "result", 1.0),
    "a cut-off of an evaluation": Case("more = dict(k=10)", "recnb.evaluate(recs, truth, **more).table().loc['reciprocal_rank'].item()", r"or (ev\.table\(.+\))\.$", "ev = recnb.evaluate(recs, truth); result = {}.loc['reciprocal_rank'].item()", "result", 0.75),
    "rows without groups": Case("y_true, y_score, more = [3, 0, 2, 1, 0], [0.2, 0.9, 0.5, 0.1, 0.7], {}", "recnb.evaluate_groups(y_true, y_score, **more).mrr()", r"needed once: (.+?), the rows", "more = dict({})", right=0.5),
    "labels and scores in other orders": Case("y_true = pd.Series([3, 0], index=['a', 'b']); y_score = pd.Series([0.9, 0.2], index=['b', 'a'])", "recnb.evaluate_groups(y_true, y_score, group=[2]).mrr()", r"in one, (.+?)\.$", "y_score = {}", right=0.5),
    "train without items": Case("frame = pd.DataFrame(dict(user=['u', 'u'], goods=['a', 'b'], score=[2, 1], relevance=[0, 1])); more = {}", "recnb.evaluate(frame, train=truth[['user', 'item']].assign(user='v').replace('b', 'z'), **more).mrr()", r"Name it, (item='\.\.\.')", "frame, more = frame.rename(columns=dict(goods='what')), dict({}); more['item'] = 'what'; truth = truth.rename(columns=dict(item='item'))", right=0.5),
    # ---- metrics and their options
    "several cut-offs": Case("more = [1, 3]", "ev.mrr(k=more)", r"type (\.table\(k=\[1, 3\]\))", "result = ev{}.loc['reciprocal_rank'].tolist()", "result", [0.5, 0.75]),
    "a gain without bound": Case("truth['relevance'] = 2000; more = dict(gain='exponential')", "recnb.evaluate(recs, truth).ndcg(**more)", r"use (gain='linear')", "more = dict({})", right=(1 / np.log2(3) + 1) / 2),
    "one list of a frame": Case("k = 10", "recnb.mrr(recs, truth)", r"are evaluated by (.+?), and", "result = {}.mrr()", "result"),
    "a Series as truth": Case("likes = pd.Series([2, 1], index=['b', 'c'])", "recnb.mrr(['a', 'b'], likes)", r"or (series\.to_dict\(\))\.", "series = likes; result = recnb.mrr(['a', 'b'], {})", "result", 0.5),
    "lists that are no frames": Case("ranking, relevant = ['a', 'b'], ['b']", "recnb.evaluate(ranking, relevant)", r"For one list: (.+?);", "result = {}", "result", 1 / np.log2(3)),
    "tuples as items": Case("ranking, truth = [('a', 'b'), ('c', 'd')], [('a', 'b'), ('x', 'y')]", "recnb.precision(ranking, truth, k=1)", r"as a set, (set\(truth\))", "result = recnb.precision(ranking, {}, k=1)", "result", 1.0),
    "tuples as lists": Case("ranking, truth = [('a', 'b'), ('c', 'd')], [('a', 'b'), ('x', 'y')]", "recnb.precision(ranking, truth, k=1)", r"lists of lists, (.+?);", "result = recnb.precision({}, truth, k=1)", "result", 0.5),
    # ---- beyond accuracy
    "no user for novelty": Case("ev = recnb.evaluate(recs, truth, train=recs); k = 2", "ev.explain('novelty', k=k).value", r"such as user=('u')", "result = ev.explain('novelty', {}, k=k).value", "result", 0.0),
    "a user for coverage": Case("ev = recnb.evaluate(recs, truth, train=recs)", "ev.explain('coverage', 'u', k=2).value", r"type \.(explain\(.+?\))\.", "result = ev.{}.value", "result", 1.0),
    # ---- comparisons
    "one model": Case("recs_a, recs_b = recs, recs", "recnb.compare(dict(a=recs), truth)", r"is given: (.+?)\.$", "result = {}.table('mrr').loc['a'].item()", "result"),
    "coverage of users": Case("found = recnb.compare(dict(a=recs, b=recs), truth, train=recs)", "found.differences('coverage', k=10)", r"each model is in (\.beyond\(k=10\))", "result = found{}.loc['a', 'coverage']", "result", 1.0),
    # ---- segments, printed numbers, libraries
    "segments without train": Case("users = truth; frame = recs", "ev.table(['mrr'], k=3, by='activity')", r"type (recs\.rec\.against\(truth, train=frame\))", "result = list({}.table(['mrr'], k=3, by='activity').n_users)", "result", [2]) ,
    "segments without users": Case("frame = pd.DataFrame(dict(user=list('uv'), age=['old', 'young']))", "ev.table(['mrr'], k=3, by='age')", r"known of them: (recs\.rec\.against\(truth, users=frame\))", "result = list({}.table(['mrr'], k=3, by='age').n_users)", "result", [1, 1]),
    # ---- measures as text
    "judged items and ties": Case('more = dict(ties="expected")', "recnb.evaluate(scored, truth, judged_only=True, **more).mrr()", r"choose (ties='first')", "more = dict({})", right=1.0),
    "ties and Bpref": Case('truth.loc[2] = ["u", "a", 0]; more = dict(ties="expected")', "recnb.evaluate(scored, truth, **more).bpref()", r"choose (ties='first')", "more = dict({})", right=0.5),
    "a text that is no measure": Case("ev = recnb.evaluate(recs, truth.assign(relevance=2)); more = 'AP@@5'", "ev.measure(more)", r"such as '(nDCG@10)', '(AP\(rel=2\))' or \"(nDCG\(.+?\)@10)\"", 'result = [ev.measure(more) for more in ("{0}", "{1}", "{2}")]', "result", [(1 / np.log2(3) + 1) / 2, 0.75, (1 / np.log2(3) + 1) / 2]),
    "a measure's parameter without a name": Case("ev = recnb.evaluate(recs, truth.assign(relevance=2)); more = 'AP(2)'", "ev.measure(more)", r"'(AP\(rel=2\))' or", "more = '{}'"),
    "a measure's threshold": Case("ev = recnb.evaluate(recs, truth.assign(relevance=[1, 2])); more = 'rel=0'", "ev.measure(f'RR({more})')", r"such as (rel=2)", "more = '{}'", right=1.0),
    "a table of no measures": Case("more = dict(names=[])", "ev.measures(**more).loc['nDCG@10', 'mean']", r"such as (names=\['nDCG@10'\])", "more = dict({})", right=(1 / np.log2(3) + 1) / 2),
    "an explanation of what is judged": Case("", "ev.explain('judged', 'u', k=2)", r"see (\.measure\('judged@2'\)\.per_user)", "result = ev{}['u']", "result", 0.5),
    "a report of a comparison with another threshold": Case("truth.loc[2] = ['u', 'c', 2]; found = recnb.compare(dict(a=recs, b=recs[::-1]), truth)", "found.report(k=3, metrics=['rr', 'RR(rel=2)'])", r"ask for it by (\.table\(.+?\))\.$", "result = found{}['RR(rel=2)'].tolist()", "result", [1 / 3, 1 / 3]),
    "segments by days": Case("frame = pd.concat([truth.assign(item=f'x{day}', date=pd.Timestamp('2026-01-01') + pd.Timedelta(days=day)) for day in range(210)] + [truth.assign(date=pd.Timestamp('2026-01-01'))])", "recnb.evaluate(recs, frame).table('mrr', k=3, by='date')", r"periods, (.+?), and", "frame['week'] = 0; frame['date'] = pd.to_datetime(frame['date']); {}", "recnb.evaluate(recs, frame.drop(columns='date')).table('mrr', k=3, by='week')['mean'].iloc[0]"),
    "a frame for each model, as users": Case("models = dict(a=recs, b=recs)", "recnb.evaluate(models, truth)", r"compared by (recnb\.compare\(models, truth\))", "result = {}['b'].mrr()", "result"),
    # ---- parts
    "a quiz of one's own list": Case("ranking, relevant = ['a', 'b'], ['b']", "recnb.quiz('mrr', ranking, relevant)", r"of yours: (.+?)\.$", "result = {}.value", "result", 0.5),
    "movers by novelty": Case("found = recnb.compare(dict(a=recs, b=recs), truth, train=recs)", "found.movers('novelty', k=2)", r"or (\.beyond\(k=10\))", "result = found{}.loc['a', 'novelty']", "result", 0.0),
    "evaluations of two kinds of ids": Case("recs['item'] = recs['item'].map(dict(a=1, b=2, c=3)); truth['item'] = 2; other = recs.astype(dict(item=str)), truth.astype(dict(item=str))", "recnb.compare(dict(a=recnb.evaluate(recs, truth), b=recnb.evaluate(*other))).table('mrr').loc['a'].item()", r"make them one kind, (.+?)\.$", "recs['item'], truth['item'] = recs['item']{0}, truth['item']{0}"),
    "an option of the data": Case("", "ev.mrr(relevant_from=1)", r"where the frames are: (.+?), recnb", "ev = eval('{}'.replace('...', '1'))", "ev.mrr()"),
    "axes of a figure": Case("import matplotlib.figure; axes = matplotlib.figure.Figure().subplots(1, 2)", "ev.table('mrr').plot(ax=axes)", r"such as (ax=axes\[0\])\.$", "more = dict({}); result = ev.table('mrr').plot(**more) is axes[0]", "result", True),
    "against something else": Case("other = recs", "ev.detectable('mrr', against=recs)", r"such as (recnb\.evaluate\(other, truth\))", "result = ev.detectable('mrr', against={}).sd", "result", 0.0),
    "a model that needs more than a user": Case("class Other(MODEL):\n    def predict(self, user, items): return super().predict(user)\nmatrices, model = MATRICES, Other()", "recnb.evaluate_model(model, *matrices, metrics='mrr', k=3).to_numpy().item()", r"or (lambda user: model\.predict\(user, np\.arange\(n_items\)\)) for one of LightFM\.$", "n_items = 3; function = {}; result = recnb.evaluate_model(function, *matrices, metrics='mrr', k=3).to_numpy().item()", "result"),
    "ends of bins": Case("users = pd.DataFrame(dict(user=['u', 'v'], age=[20, 40])); more = dict(bins=[0, 18, 30, 100])", "recnb.evaluate(recs, truth, users=users).table('mrr', k=3, by='age', **more)", r"column of them, (users\.assign\(.+?\))\.$", "result = list(recnb.evaluate(recs, truth, users={}).table('mrr', k=3, by='bin').index.get_level_values('bin'))", "result", ["(18, 30]", "(30, 100]"]),
    "a spread": Case("other = recs.assign(rank=4 - recs['rank']); sd = 'large'", "recnb.users_needed(0.1, sd)", r"or (ev\.detectable\('ndcg', k=10\))", "sd = {}; result = recnb.users_needed(0.1, sd) == recnb.users_needed(0.1, sd.sd)", "result", True),
    "a matrix that is dense": Case("from scipy import sparse; import scipy.sparse; Model = MODEL; test, train = (one.toarray() for one in MATRICES)", "recnb.evaluate_model(Model(), test, sparse.csr_matrix(train), metrics='mrr', k=3).to_numpy().item()", r"holds numbers, (.+?)\.$", "test = {}"),
    "scores that are sparse": Case("from scipy import sparse; matrices = MATRICES; Model = MODEL; changed = lambda scores: sparse.csr_matrix(scores)", "recnb.evaluate_model(Model(changed), *matrices, metrics='mrr', k=3).to_numpy().item()", r"if it is sparse, (.+?)\. Give", "changed = lambda scores: sparse.csr_matrix(scores){}[0]"),
}  # fmt: skip


def refused(name: str) -> tuple[str, dict[str, Any]]:
    """Return the message, and the data."""
    case = CASES[name]
    space: dict[str, Any] = {"recnb": recnb, "pd": pd, "np": np, "pl": pl, "MODEL": Model, "MATRICES": matrices()}
    exec(DATA, space)
    exec(case.data, space)
    with pytest.raises(RecnbError) as found:
        eval(case.fails, space)
    return str(found.value), space


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CASES)
def test_what_is_advised_works_and_gives_the_right_number(name: str) -> None:
    case = CASES[name]
    message, space = refused(name)
    advised = re.search(case.advice, message)
    assert advised, message
    code = case.follow
    for at, one in enumerate(advised.groups()):
        code = code.replace(f"{{{at}}}", one).replace("{}", one)
    exec(code, space)
    result = eval(case.then or case.fails, space)
    assert result == pytest.approx(case.right, abs=1e-12), f"{message}\n{code}"


def test_a_segment_that_is_offered_serves() -> None:
    recs = pd.DataFrame({"user": list("uuvv"), "item": list("abab"), "rank": [1, 2, 1, 2]})
    truth = pd.DataFrame({"user": list("uuvv"), "item": list("abab"), "rating": 1, "city": ["x", "x", "y", "y"]})
    users = pd.DataFrame({"user": ["u", "v"], "age": ["old", "young"]})
    side_data: dict[str, Any] = {"users": users, "train": recs[["user", "item"]]}
    for known, offered in (
        ({}, {"city"}),
        (side_data, {"age", "city", "activity"}),
    ):
        ev = recnb.evaluate(recs, truth, **known)
        with pytest.raises(RecnbError, match="by='nope' is no column") as found:
            ev.table(k=1, by="nope")
        names = re.findall(r"'(\w+)'", str(found.value).split("Known:")[1])
        assert set(names) == offered
        for name in names:
            assert ev.table(["ndcg"], k=1, by=name).n_users.sum() == 2
