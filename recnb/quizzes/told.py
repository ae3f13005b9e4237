"""A slip in one exercise, and the sentence that tells what went wrong and how to see it."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from recnb.formula import Formula, number
from recnb.metric import METRICS
from recnb.metrics.discounts import discount_of, gain_of
from recnb.quizzes.drawn import TOP, Drawn
from recnb.strings import known, say

#: What a slip takes for gain, discount and logarithm; the sentence puts it beside what is asked for.
_GAIN_OF_SLIP = {"linear_gain": "linear", "exponential_gain": "exponential", "binary_gain": "binary"}
_DISCOUNT_OF_SLIP = {"log_of_next_rank": "log", "log_of_rank": "clipped_log", "rank_discount": "rank"}
_BASE_OF_SLIP = {"base_2": 2.0, "natural_log": math.e, "log_10": 10.0}


@dataclass(frozen=True)
class Slip:
    """A slip and the number that it gives in one exercise."""

    name: str
    value: float
    drawn: Drawn

    @property
    def sentence(self) -> str:
        """What went wrong, and how to see it, in the language in force."""
        own = f"quiz.slip.{self.name}.{self.drawn.metric}"
        return particles(say(own if known(own) else f"quiz.slip.{self.name}", **_fields(self)))


def particles(sentence: str) -> str:
    """A Korean sentence whose particles fit the numbers before them, as they are read aloud.

    >>> particles("3(으)로 나눈다. 2.585(으)로 나눈다. 0.2을(를) 곱한다.")
    '3으로 나눈다. 2.585로 나눈다. 0.2를 곱한다.'
    """
    sentence = re.sub(r"(?<=[036])\(으\)로", "으로", sentence)
    sentence = re.sub(r"(?<=\d)\(으\)로", "로", sentence)
    sentence = re.sub(r"(?<=[2459])을\(를\)", "를", sentence)
    return re.sub(r"(?<=\d)을\(를\)", "을", sentence)


def log_name(base: float) -> str:
    """How a logarithm of this base is written.

    >>> log_name(2), log_name(math.e)
    ('log2', 'ln')
    """
    return Formula.of("log(rank)", log_base=base).text().partition("(")[0]


def _fields(slip: Slip) -> dict[str, Any]:
    drawn = slip.drawn
    fields: dict[str, Any] = {
        "depth": drawn.depth,
        "next": drawn.depth + 1,
        "length": drawn.length,
        "relevant": drawn.n_relevant,
        "users": len(drawn.lists),
    }
    chosen = METRICS[drawn.metric].defaults
    if "gain" in chosen:
        word: Any = _GAIN_OF_SLIP.get(slip.name, drawn.option("gain"))
        top = np.array([float(TOP)])
        fields |= {
            "gain": say(f"quiz.gain.{drawn.option('gain')}"),
            "top": TOP,
            "taken": number(float(gain_of(top, word)[0])),
            "counts": number(float(gain_of(top, drawn.option("gain"))[0])),
        }
    if "discount" in chosen:
        asked, base = drawn.option("discount"), float(drawn.option("log_base"))
        taken = _DISCOUNT_OF_SLIP.get(slip.name, asked)
        fields |= {
            "log": log_name(base),
            "discount": discount_in_words(asked, base),
            "divided": number(_at_rank_3(taken, _BASE_OF_SLIP.get(slip.name, base)), 4),
            "divides": number(_at_rank_3(asked, base), 4),
        }
    fields |= {name: number(float(drawn.option(name))) for name in ("p", "beta", "max_relevance") if name in chosen}
    if "p" in chosen:
        fields["rest"] = number(1 - float(drawn.option("p")))
    return fields


def discount_in_words(word: str, base: float) -> str:
    """A discount as it is written in the language in force."""
    return say(f"quiz.discount.{word}", log=log_name(base))


def _at_rank_3(word: Any, base: float) -> float:
    return float(discount_of(np.array([3]), word, base)[0])
