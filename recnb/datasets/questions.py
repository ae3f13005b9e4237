"""The questions that come with recnb: a chatbot's, with passages that answer them.

The lists are what `tests/tools/make_questions.py` retrieves.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from recnb.datasets.bundled import frames_by, read_bundled
from recnb.display.language import _

RETRIEVERS = ("words", "bm25", "trigrams", "expanded", "fused")


@dataclass(frozen=True, repr=False, eq=False)
class Questions:
    """Questions about an imaginary film service, and what five retrievers find.

    Every question was held against every passage, so that a passage that is not in
    the truth of a question is of no use to it.

    Parameters
    ----------
    queries : DataFrame
        Columns query, text.
    passages : DataFrame
        Columns doc, text.
    truth : DataFrame
        Columns query, doc, relevance (2 answers the question, 1 helps).
    runs : DataFrame
        Columns retriever, query, doc, score (falling, with ties): at most ten passages a
        query.

    Examples
    --------
    >>> import recnb
    >>> questions = recnb.datasets.load_questions()
    >>> list(questions.retrievers)
    ['words', 'bm25', 'trigrams', 'expanded', 'fused']
    """

    queries: pd.DataFrame  #: query, text
    passages: pd.DataFrame  #: doc, text
    truth: pd.DataFrame  #: query, doc, relevance (2 answers the question, 1 helps)
    #: retriever, query, doc, score (falling, with ties): at most ten passages a query
    runs: pd.DataFrame

    @property
    def retrievers(self) -> dict[str, pd.DataFrame]:
        """Lists by retriever: new frames of query, doc and score."""
        return frames_by(self.runs, "retriever")

    def __repr__(self) -> str:
        return _(
            "Questions({queries:,} queries, {passages:,} passages, {truth:,} relevant "
            "pairs, retrievers {names})",
            queries=len(self.queries),
            passages=len(self.passages),
            truth=len(self.truth),
            names=", ".join(self.retrievers),
        )


def load_questions() -> Questions:
    """Read the questions, their passages and the lists of five retrievers.

    `"words"` counts the words that question and passage share, `"bm25"` weighs them,
    `"trigrams"` compares pieces of words, `"expanded"` knows other words for those of
    the question, and `"fused"` merges the lists of the three before it.

    Returns
    -------
    Questions
        Frames of queries, passages, truth and runs.

    Examples
    --------
    >>> import recnb
    >>> recnb.datasets.load_questions()
    Questions(20 queries, 48 passages, 67 relevant pairs,
    retrievers words, bm25, trigrams, expanded, fused)
    """
    runs = pd.concat(
        [
            read_bundled("questions", f"run-{name}").assign(retriever=name)
            for name in RETRIEVERS
        ],
        ignore_index=True,
    )
    return Questions(
        queries=read_bundled("questions", "queries"),
        passages=read_bundled("questions", "passages"),
        truth=read_bundled("questions", "truth"),
        runs=runs[["retriever", "query", "doc", "score"]],
    )
