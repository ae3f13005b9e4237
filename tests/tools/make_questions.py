"""The five retrievers of the bundled questions: `python -m tests.tools.make_questions`.

They are real, if small, and see the texts only; the questions, the passages and the
judgements were written once, and are data. The command writes the lists again, the same
bytes each time: scores are rounded before they are ordered, and equal scores keep the
order of the passages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from math import log, sqrt
from pathlib import Path

import pandas as pd

import recnb.datasets
from recnb.datasets.bundled import read_bundled

FOLDER = Path(recnb.datasets.__file__).parent / "questions"
LIST_LENGTH = 10
DIGITS = 4  # decimals kept in a written score
SATURATION, LENGTH_WEIGHT = 1.2, 0.75  # k1 and b of BM25
SYNONYM_WEIGHT = 0.8
FUSION_CONSTANT = 60  # of reciprocal rank fusion

#: Words that "words" does not count.
STOP_WORDS = """
    a all am an and are as at be been by can cannot do does for from has have how i in
    is it its me my not of on or our that the there they to up us was we what when
    where which while who why with you your
"""

#: Other words for those of the questions: the part of a language model.
SYNONYMS = {
    "abroad": "country",
    "buffering": "connection",
    "captions": "subtitles",
    "cheaper": "half price",
    "cost": "pay charged",
    "declined": "expired",
    "gone": "removed deleted",
    "hacked": "security",
    "kids": "children",
    "log": "sign",
    "money": "bank cards",
    "offline": "internet",
    "paying": "cards",
    "plane": "journey",
    "receipts": "invoices",
    "travel": "journey",
    "tv": "television",
    "video": "film films",
}

Score = Callable[[str], "list[float]"]

PASSAGES = read_bundled("questions", "passages")
QUERIES = read_bundled("questions", "queries")


def words_of(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"[a-z0-9]+", text.lower())


def content_words(question: str) -> list[str]:
    """The different words of a question that "words" counts, in order."""
    return sorted(set(words_of(question)).difference(words_of(STOP_WORDS)))


def trigrams_of(text: str) -> Counter[str]:
    """How often each piece of three letters is in a text; words begin with a blank."""
    padded = " " + " ".join(words_of(text)) + " "
    return Counter(padded[start : start + 3] for start in range(len(padded) - 2))


PASSAGE_WORDS = [words_of(text) for text in PASSAGES["text"]]
PASSAGE_TRIGRAMS = [trigrams_of(text) for text in PASSAGES["text"]]
MEAN_LENGTH = sum(map(len, PASSAGE_WORDS)) / len(PASSAGE_WORDS)
PASSAGES_WITH = Counter(word for words in PASSAGE_WORDS for word in set(words))


def words(question: str) -> list[float]:
    """How many different words each passage shares with the question."""
    asked = set(content_words(question))
    return [float(len(asked & set(passage))) for passage in PASSAGE_WORDS]


def bm25_of(weights: dict[str, float]) -> list[float]:
    """BM25 of each passage for words that have weights."""
    return [_bm25_of_passage(weights, passage) for passage in PASSAGE_WORDS]


def _bm25_of_passage(weights: dict[str, float], passage: list[str]) -> float:
    counts = Counter(passage)
    length = 1 - LENGTH_WEIGHT + LENGTH_WEIGHT * len(passage) / MEAN_LENGTH
    total = 0.0
    for word, weight in weights.items():
        count, containing = counts[word], PASSAGES_WITH[word]
        rarity = log(1 + (len(PASSAGES) - containing + 0.5) / (containing + 0.5))
        gain = count * (SATURATION + 1) / (count + SATURATION * length)
        total += weight * rarity * gain
    return total


def bm25(question: str) -> list[float]:
    """BM25 of each passage."""
    return bm25_of(dict.fromkeys(words_of(question), 1.0))


def trigrams(question: str) -> list[float]:
    """The cosine of the trigrams of question and passage."""
    asked = trigrams_of(question)
    return [_cosine(asked, passage) for passage in PASSAGE_TRIGRAMS]


def _cosine(left: Counter[str], right: Counter[str]) -> float:
    product = sum(count * right[piece] for piece, count in left.items())
    return product / sqrt(_square(left) * _square(right))


def _square(counts: Counter[str]) -> int:
    return sum(count**2 for count in counts.values())


def expanded(question: str) -> list[float]:
    """BM25 of each passage, with other words for those of the question."""
    asked = content_words(question)
    weights = dict.fromkeys(asked, 1.0)
    for word in asked:
        for synonym in SYNONYMS.get(word, "").split():
            weights.setdefault(synonym, SYNONYM_WEIGHT)
    return bm25_of(dict(sorted(weights.items())))


def fused(question: str) -> list[float]:
    """The lists of three retrievers, merged by reciprocal rank fusion."""
    scores = [0.0] * len(PASSAGES)
    for retrieve in (bm25, trigrams, expanded):
        for rank, passage in enumerate(best(retrieve(question)), 1):
            scores[passage] += 1 / (FUSION_CONSTANT + rank)
    return scores


def best(scores: list[float]) -> list[int]:
    """The positions of the LIST_LENGTH best passages with a score, best first."""
    rounded = [round(score, DIGITS) for score in scores]
    order = sorted(range(len(rounded)), key=lambda passage: -rounded[passage])
    return [passage for passage in order if rounded[passage] > 0][:LIST_LENGTH]


def written(retriever: str) -> bytes:
    """The file of a retriever's lists, with the same line ends on every system."""
    lists = []
    for query, text in zip(QUERIES["query"], QUERIES["text"], strict=True):
        scores = pd.Series(RETRIEVERS[retriever](text), index=PASSAGES["doc"])
        retrieved = scores.iloc[best(scores.to_list())]
        lists.append(retrieved.rename("score").reset_index().assign(query=query))
    rows = pd.concat(lists)[["query", "doc", "score"]]
    return rows.to_csv(
        index=False, lineterminator="\n", float_format=f"%.{DIGITS}f"
    ).encode()


RETRIEVERS: dict[str, Score] = {
    "words": words,
    "bm25": bm25,
    "trigrams": trigrams,
    "expanded": expanded,
    "fused": fused,
}

if __name__ == "__main__":
    for name in RETRIEVERS:
        (FOLDER / f"run-{name}.csv").write_bytes(written(name))
