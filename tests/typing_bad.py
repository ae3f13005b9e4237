"""What a type checker must refuse: mypy names an `ignore` that hides no error."""

from __future__ import annotations

import pandas as pd

import recnb

recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]})
ev = recnb.evaluate(recs, recs)

ev.ndcg(k=10, gain="exp")  # type: ignore[arg-type]  # no such word
ev.ndcg(k=10, gian="linear")  # type: ignore[call-arg]  # no such option
ev.ndcg(k="ten")  # type: ignore[arg-type]  # k is a number
ev.ndcg(k=[5, 10])  # type: ignore[arg-type]  # one number a call
ev.ndcg(k=2.5)  # type: ignore[arg-type]  # k is whole
ev.ndcg(10, "exponential")  # type: ignore[call-arg]  # options go by name
ev.precision(k=10, gain="linear")  # type: ignore[call-arg]  # of another metric
ev.precision(k=10, out_of="relevant")  # type: ignore[arg-type]  # a word of recall
ev.mrr(target="last")  # type: ignore[arg-type]  # no such word
ev.rbp(p="0.8")  # type: ignore[arg-type]  # p is a number
ev.hit_rate(beta=2)  # type: ignore[call-arg]  # of another metric
ev.ndgc(k=10)  # type: ignore[attr-defined]  # no such metric
ev.ndcg(k=10).interval(confidence="95%")  # type: ignore[arg-type]  # a number
ev.ndcg(k=10).per_users  # type: ignore[attr-defined]  # no such attribute  # noqa: B018
text: str = ev.ndcg(k=10)  # type: ignore[assignment]  # a score is a float
recnb.ndcg([3, 2], k=2, gain="exp")  # type: ignore[call-overload]  # no such word
recnb.ndcg([3, 2], gian="linear")  # type: ignore[call-overload]  # no such option
recnb.ndcg(["a"], ["a"], k="2")  # type: ignore[call-overload]  # k is a number
recnb.ndcg(["a"], 5)  # type: ignore[call-overload]  # no truth
recnb.ndcg(5)  # type: ignore[call-overload]  # no ranking
recnb.precision(["a"], ["a"], out_of="hits")  # type: ignore[call-overload]  # a word of average precision
recnb.map(["a"], ["a"], out_of="everything")  # type: ignore[attr-defined, call-overload]  # no such word
recnb.evaluate(recs, user="user").table(k="5")  # type: ignore[arg-type]  # k is a number
recnb.evaluate()  # type: ignore[call-arg]  # nothing to evaluate
recnb.Convention(users="everyone")  # type: ignore[call-arg]  # no such word
