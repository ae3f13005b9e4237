"""An answer to an exercise: read as it was typed, held against the value to the digits asked for, and shown."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Literal

from recnb.display import html
from recnb.display.language import N_, _, use_language
from recnb.display.text import one_line
from recnb.errors import RecnbError, is_number
from recnb.widgets.quiz.solution import Solution
from recnb.widgets.quiz.wording import Mistake

if TYPE_CHECKING:
    from recnb.results import Explanation
    from recnb.widgets.quiz.exercise import Quiz

#: Fewer decimals than these are never enough, however far apart the slips are.
FEWEST = 2

#: What arithmetic on floats may be off by, far below any digit that is asked for.
FLOAT = 1e-9

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?")

Verdict = Literal["right", "short", "undecided", "wrong"]


@dataclass(frozen=True)
class Number:
    """A number as it was given."""

    shown: str
    value: float
    decimals: int | None  #: how many decimals it was given to; None for a fraction, which is exact


def read(answer: object) -> Number:
    """A number, or text as one writes it: "0.8732", "0,8732", "2/3", "87.32%".

    >>> read("0,87"), read("2/3").decimals, read("87.3 %").value
    (Number(shown='0,87', value=0.87, decimals=2), None, 0.873)
    """
    if isinstance(answer, Decimal):
        answer = str(answer)
    if isinstance(answer, Fraction):
        return Number(str(answer), float(answer), None)
    if is_number(answer):
        # The digits of a float are those that it prints; of a count, none.
        text = str(int(answer)) if isinstance(answer, Rational) else repr(float(answer))
        # Shown shorter where arithmetic left more digits than anybody types.
        return Number(text if len(text) < 12 else f"{float(answer):.6g}", float(answer), _decimals(Decimal(text)))
    if not isinstance(answer, str):
        raise RecnbError(f"the answer is {_named(answer)}: give a number, such as 0.1234, or text, such as '2/3'.")
    found = _read_text(answer)
    if found is None:
        raise RecnbError(
            f"{one_line(answer, 40)!r} is not read as a number: type it as 0.1234, '0,1234', '2/3' or '12.34%'."
        )
    return found


def _read_text(answer: str) -> Number | None:
    # Full-width digits, as Korean and Japanese keyboards type them, are digits.
    text = unicodedata.normalize("NFKC", answer).strip().replace("−", "-").lower()
    shown = one_line(answer.strip(), 40)
    percent = text.endswith("%")
    text = text.removesuffix("%").strip()
    over, slash, under = text.partition("/")
    if slash and not percent:
        top, bottom = _decimal(over.strip()), _decimal(under.strip())
        if top is None or not bottom:
            return None
        return Number(shown, float(Fraction(top) / Fraction(bottom)), None)
    value = _decimal(text)
    if value is None:
        return None
    if percent:
        value = value.scaleb(-2)
    return Number(shown, float(value), _decimals(value))


def _decimal(text: str) -> Decimal | None:
    if text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    if len(text) > 40 or not _NUMBER.fullmatch(text):
        return None
    try:
        value = Decimal(text)
    except InvalidOperation:  # an exponent of many digits
        return None
    # Nothing that is asked for comes near these, and what is beyond is no float.
    return value if abs(value.adjusted()) < 100 else None


def _decimals(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def _named(value: object) -> str:
    text = one_line(repr(value), 60)
    return text if len(text) < 60 else f"a {type(value).__name__}"


def judge(
    given: Number, value: float, slips: Sequence[Mistake], digits: int
) -> tuple[Verdict, tuple[Mistake, ...], bool]:
    """Whether a number is right, which slips give it, and whether only its last digit is off.

    It is right if it is the value rounded to the digits asked for. With fewer digits than that it is judged at those
    given: right (`short`) if they tell the value from every slip, else undecided; below two decimals always undecided.
    """

    def meets(number: float, decimals: int) -> bool:
        return abs(given.value - number) <= 0.5 * 10.0**-decimals + FLOAT

    if meets(value, digits):
        return "right", (), False
    decimals = digits if given.decimals is None else min(given.decimals, digits)
    enough = decimals >= FEWEST
    made = tuple(slip for slip in slips if meets(slip.value, digits))
    if enough and not made:
        made = tuple(slip for slip in slips if meets(slip.value, decimals))
    if decimals < digits and meets(value, decimals) and (enough or not made):
        return ("short" if enough and not made else "undecided"), (), False
    near = enough and not made and abs(given.value - value) <= 1.5 * 10.0**-decimals + FLOAT
    return "wrong", made, near


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """What an exercise says to an answer; true if the answer is right."""

    quiz: Quiz
    number: Number | None  #: the value that was given, if one was
    #: Of the value: right, right to fewer digits ("short"), undecided for want of digits, wrong; None if none was given.
    verdict: Verdict | None
    slips: tuple[Mistake, ...]  #: those that give exactly this number
    near: bool  #: whether only the last digit is off
    largest: str | None  #: the item that was given for the largest term, if one was
    revealed: bool  #: whether the solution is shown whatever the answer

    @property
    def value_correct(self) -> bool | None:
        """Whether the value is right; None if none was given."""
        return None if self.verdict is None else self.verdict in ("right", "short")

    @property
    def largest_correct(self) -> bool | None:
        """Whether the largest term is that item's, or ties with it; None if none was given."""
        return None if self.largest is None else self.largest in self.quiz.largest

    @property
    def correct(self) -> bool:
        """Whether everything that was given is right."""
        return False not in (self.value_correct, self.largest_correct)

    def __bool__(self) -> bool:
        return self.correct

    @property
    def slip(self) -> str | None:
        """The name of the slip that gives exactly this number, if one does."""
        return self.slips[0].name if self.slips else None

    @property
    def solution(self) -> Solution | None:
        """The worked solution: after a right value, or if it was asked for."""
        return self.quiz.reveal() if self.revealed or self.value_correct else None

    @property
    def explanation(self) -> Explanation | None:
        """The worked explanation of the list, where the solution is shown."""
        return None if self.solution is None else self.solution.explanations[0]

    def sentences(self) -> list[str]:
        """What there is to say, one sentence or two for each thing."""
        with use_language(self.quiz.lang):
            return [*self._of_value(), *self._of_largest()]

    def _of_value(self) -> list[str]:
        if self.number is None:
            return []
        digits, label = self.quiz.digits, self.quiz.label
        value = f"{self.quiz.value:.{digits}f}"
        if self.verdict == "right":
            return [_("Right: {label} = {value}.", label=label, value=value)]
        if self.verdict == "short":
            return [
                _(
                    "Right to the decimals given ({given}); {digits} were asked for: {label} = {value}.",
                    given=self.number.decimals,
                    digits=digits,
                    label=label,
                    value=value,
                )
            ]
        if self.verdict == "undecided":
            return [
                _(
                    "{answer} has too few decimals to tell whether it is right: give {digits}.",
                    answer=self.number.shown,
                    digits=digits,
                )
            ]
        said = [_("{answer} is not right.", answer=self.number.shown)]
        if self.near:
            return [*said, _("Only the last digit is off: keep all digits on the way, and round once, at the end.")]
        if not self.slips:
            return [
                *said,
                _(
                    "No usual slip gives this number. Write down the term of each rank and compare; q.reveal() "
                    "shows the solution."
                ),
            ]
        openings = [
            N_("A usual slip gives exactly this number. {what}"),
            *[N_("So does another. {what}")] * (len(self.slips) - 1),
        ]
        return [*said, *(_(opening, what=slip.sentence) for opening, slip in zip(openings, self.slips, strict=True))]

    def _of_largest(self) -> list[str]:
        if self.largest is None:
            return []
        said = (
            N_("The largest term: {item}, right.")
            if self.largest_correct
            else N_(
                "The largest term: not {item}. A term is what an item adds to the sum: work out the term of each "
                "rank and compare."
            )
        )
        return [_(said, item=self.largest)]

    def __repr__(self) -> str:
        mark = "✓" if self.correct else "✗"
        lines = [f"{mark} {' '.join(self.sentences())}"]
        return "\n\n".join([*lines, *([] if self.solution is None else [repr(self.solution)])])

    def feedback_html(self) -> str:
        """The answer to the answer, without the solution."""
        mark = "✓" if self.correct else "✗"
        first, *rest = (html.text(sentence, 1000) for sentence in self.sentences())
        lines = "".join(f'<div style="margin: 0.25em 0;">{one}</div>' for one in rest)
        head = f'<div style="margin: 0.25em 0;"><b>{mark} {first}</b></div>'
        return html.root(head, lines, label=self.quiz.label)

    def _repr_html_(self) -> str:
        return self.feedback_html() + ("" if self.solution is None else self.solution._repr_html_())
