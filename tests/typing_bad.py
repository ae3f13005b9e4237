"""What a type checker must refuse: one mistake on each line that says so; test_typing.py counts them."""

from __future__ import annotations

import pandas as pd

import recnb

recs = pd.DataFrame({"user": [1, 1], "item": ["a", "b"], "rank": [1, 2]})
ev = recnb.evaluate(recs, recs)

ev.ndcg(k=10, gain="exp")  # error: no such word
ev.ndcg(k=10, gian="linear")  # error: no such option
ev.ndcg(k="ten")  # error: k is a number
ev.ndcg(k=[5, 10])  # error: one number a call
ev.ndcg(k=2.5)  # error: k is whole
ev.ndcg(10, "exponential")  # error: options go by name
ev.precision(k=10, gain="linear")  # error: of another metric
ev.precision(k=10, out_of="relevant")  # error: a word of recall
ev.mrr(target="last")  # error: no such word
ev.rbp(p="0.8")  # error: p is a number
ev.hit_rate(beta=2)  # error: of another metric
ev.ndgc(k=10)  # error: no such metric
ev.ndcg(k=10).interval(method="boot")  # error: no such method
ev.ndcg(k=10).per_users  # error: no such attribute  # noqa: B018
text: str = ev.ndcg(k=10)  # error: a score is a float
recnb.ndcg([3, 2], k=2, gain="exp")  # error: no such word
recnb.ndcg([3, 2], gian="linear")  # error: no such option
recnb.ndcg(["a"], ["a"], k="2")  # error: k is a number
recnb.ndcg(["a"], 5)  # error: no truth
recnb.ndcg(5)  # error: no ranking
recnb.precision(["a"], ["a"], out_of="hits")  # error: a word of average precision
recnb.map(["a"], ["a"], out_of="everything")  # error: no such word
recnb.evaluate(recs, user="user").table(k="5")  # error: k is a number
recnb.evaluate()  # error: nothing to evaluate
recnb.Convention(users="everyone")  # error: no such word
