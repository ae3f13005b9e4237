"""Questions: the exercise that a seed draws, or of a list of one's own, as text, HTML,
a sheet and a widget; its answer and solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from numbers import Integral
from random import Random
from typing import Any, Never

from recnb.conventions import options_in_words
from recnb.data.files import File
from recnb.display.document import (
    Block,
    Fold,
    Line,
    Mark,
    Name,
    Note,
    Rows,
    html,
    joined,
    say,
)
from recnb.display.language import N_, _, use_language
from recnb.display.templates import framed, render
from recnb.display.text import one_line
from recnb.errors import (
    CutoffError,
    OptionError,
    RecnbError,
    Suggesting,
    is_several,
    quoted,
)
from recnb.metrics.formula import number as short_number
from recnb.metrics.measure import Measure, metric_named
from recnb.metrics.metric import METRICS, Metric
from recnb.results.explanation import Explanation
from recnb.results.single_list import Pair, explain, read_pairs
from recnb.results.table import in_lines
from recnb.widgets.live import Live
from recnb.widgets.quiz.exercise import (
    KINDS,
    LETTERS,
    TOP,
    Exercise,
    Mistake,
    common_mistakes,
    other_numbers,
)
from recnb.widgets.quiz.sheet import OwnQuestion, sheet
from recnb.widgets.quiz.typed import Number, as_fractions, read_answer

#: Options of exercises: with beta=1, F-beta would be F1, and ERR needs the scale of
#: grades.
DEFAULTS = {"fbeta": {"beta": 2}, "err": {"max_relevance": TOP}}

#: The decimals of an answer, and a unit of the last one.
DIGITS, UNIT = 4, 1e-4

#: Draws of which the best is taken; two numbers differ from so many units of the last
#: digit on, as one is an error of rounding.
DRAWS, APART = 60, 3

#: The error of rounding on the way, such as 1.6 for log2(3), as a share of the value.
NEAR = 0.005

UNKNOWN = N_(
    "No common mistake gives this number. Write down the term of each rank and compare."
)
ROUNDED = N_(
    "This is near: if the terms agree, figures were rounded on the way. Keep five "
    "decimals until the end."
)
UNBRACKETED = N_(
    "Brackets are missing: on paper the fraction bar holds each side together, and here "
    "brackets do. Type {fraction}."
)
OUTSIDE = N_(
    "No list has this value: {label} is never below 0 or above 1. Check what is divided by what."
)
NEGATIVE = N_("No list has this value: {label} is never below 0.")
METRIC_FIRST = N_(
    "{given} stands where the metric does: type its name first, {example}."
)
SEED_AND_LIST = N_("seed={seed} draws a list, and one is given: leave seed out.")
TWO_SEEDS = N_("{first} and seed={second} are two seeds: leave one of them out.")
NO_LIST = N_("{given} is no list: give the items from rank 1 down, {example}.")
HOW = N_(
    "Check your answer with q.check(value), where q is this exercise; q.reveal() "
    "shows the solution."
)


@dataclass(eq=False, repr=False)
class Quiz(Exercise, Live):
    """A small ranking, drawn from a seed or given, and the value to be computed.

    `print(q)` shows the question as text; in a notebook `q` shows itself with a box for
    the answer, if ipywidgets is installed. `q.check(0.8732)` returns whether that is
    right, and which mistake it is if not; `q.grade(...)` points.
    `q.to_html("sheet.html")` is a sheet to print.
    """

    lang: str

    def __post_init__(self) -> None:
        super().__post_init__()
        #: What was typed into the widget, and what was said of it.
        self.typed = ""
        self.answer: Answer | None = None

    @cached_property
    def mistakes(self) -> tuple[Mistake, ...]:
        """Common mistakes whose number here is not the value; several with one number
        are one, which names them all.
        """
        found: dict[float, Mistake] = {}
        with use_language(self.lang):
            for one in common_mistakes(self):
                if (
                    one.number
                    and math.isfinite(one.number)
                    and abs(one.number - self.value) >= APART * UNIT
                ):
                    number = round(one.number, DIGITS)
                    words = (
                        {"one": found[number].sentence, "other": one.sentence}
                        if number in found
                        else {}
                    )
                    found[number] = (
                        one._replace(sentence=_("{one} Or: {other}", **words))
                        if words
                        else one
                    )
        return tuple(found.values())

    def rounded(self, value: float) -> str:
        """Return a value with the decimals of the answer; a whole number without."""
        return f"{value:.{DIGITS}f}" if value % 1 else short_number(value)

    def check(self, answer: object = "", *decimals: object) -> Answer:
        """Check an answer, a number or text: 0.8732, "0,8732", "2/3", "87.32%",
        "(1+2/3)/4", "(1+2/3)/4 = 0.4167".

        It is right if it is the value rounded to the digits of the exercise. One with
        fewer decimals, at least two, is right if it distinguishes the value from the
        numbers of all mistakes; else more decimals are asked for. What is not read as a
        number is not right, and the answer says why.
        """
        with use_language(self.lang):
            if decimals:  # 0,8732 without quotes
                answer = ",".join(map(str, (answer, *decimals)))
            try:
                given = read_answer(answer)
            except RecnbError as unread:
                return Answer(self, str(unread))
            digits = DIGITS if given.decimals is None else min(given.decimals, DIGITS)
            mistakes = self._mistakes_of(given, digits)
            words = {"answer": one_line(str(answer).strip(), 40), "digits": DIGITS}
            words |= {"label": self.label, "value": self.rounded(self.value)}
            fits = given.fits(self.value, digits)
            if given.fits(self.value, DIGITS) or (
                fits and digits >= 2 and not mistakes
            ):
                right = Mark("strong", f"✓ {_('Right: {label} = {value}.', **words)}")
                return Answer(self, right, True, solved=True)
            if fits and (digits >= 2 or not mistakes):
                few = N_("{answer} has too few decimals to be checked: give {digits}.")
                return Answer(self, _(few, **words))
            wrong = Mark("strong", f"✗ {_('{answer} is not right.', **words)}")
            hint = self._hint(answer, given, digits, mistakes)
            return Answer(self, [wrong, " ", hint], mistake=next(iter(mistakes), None))

    def _mistakes_of(self, given: Number, digits: int) -> list[Mistake]:
        """Return the common mistakes that give a number of so many decimals."""
        exact = [one for one in self.mistakes if given.fits(one.number, DIGITS)]
        if exact:
            return exact
        near = [one for one in self.mistakes if given.fits(one.number, digits)]
        if digits >= 2:
            return near
        # A per cent without its sign has two decimals fewer than the share.
        return [one for one in near if one.number == 100 * self.value]

    def _hint(
        self,
        answer: object,
        given: Number,
        digits: int,
        mistakes: list[Mistake],
    ) -> str:
        """Say what a wrong answer is, or what to look at."""
        for fraction, number in as_fractions(answer):
            if number.fits(self.value, DIGITS, units=1.5):
                return _(UNBRACKETED, fraction=fraction)
        if mistakes:
            common = N_("A common mistake gives exactly this number. {what}")
            return _(common, what=mistakes[0].sentence)
        if digits >= 2 and given.fits(self.value, digits, units=1.5):
            return _(
                "Only the last digit is off: keep all digits on the way, and "
                "round once, at the end."
            )
        for other in other_numbers(self):
            # Many others are 0 or 1, which says nothing.
            if other.number not in (0, 1) and given.fits(other.number, DIGITS):
                return other.sentence
        if digits == DIGITS and abs(given.value / self.value - 1) < NEAR:
            return _(ROUNDED)
        low, high = Measure(METRICS[self.metric], self.options).bounds
        if high == 1 and not low <= given.value <= high:
            return _(OUTSIDE, label=self.label)
        if given.value < low:
            return _(NEGATIVE, label=self.label)
        return _(UNKNOWN)

    def grade(self, answer: object) -> float:
        """Return 1 for an answer that `check` finds right, else 0, also for text that
        is not read as a number.
        """
        return float(self.check(answer).correct)

    def reveal(self) -> Answer:
        """Return the solution: the worked explanation, and the numbers of common
        mistakes.
        """
        with use_language(self.lang):
            return Answer(self, Mark("strong", _("Solution")), solved=True)

    def to_html(
        self,
        path: File | None = None,
        *others: Quiz | OwnQuestion,
        questions: bool = True,
        solutions: bool = True,
        title: str = "",
    ) -> Any:
        """Return a sheet to print, or write it to `path`: this exercise and others with
        room to work, then the solutions on a page of their own.

        A question of your own is a pair of the question and its solution: text, or a
        list of paragraphs and tables, which are lists of rows. `title` stands at the
        head, by default the metrics that are asked for.

        >>> first, *others = [quiz("ndcg", seed) for seed in range(3)]
        >>> own = ("Which metric ignores the order?", "Precision.")
        >>> sheet = first.to_html(None, *others, own, solutions=False)
        >>> for_the_teacher = first.to_html(None, *others, own, questions=False)
        """
        return sheet(
            (self, *others),
            path,
            questions=questions,
            solutions=solutions,
            title=title,
            lang=self.lang,
        )

    def question(self) -> list[Block]:
        """Return the question as blocks: what is asked, the lists, the rules."""
        metric = METRICS[self.metric]
        words = {
            "name": metric.term,
            "label": self.label,
            "users": len(self.lists),
            "k": self.k,
        }
        rules: list[Line] = []
        if len(self.lists) > 1:
            asked = _("What is the {name} over these {users} users, {label}?", **words)
            users = enumerate(zip(self.lists, self.truths, strict=True), 1)
            rows: list[list[Line]] = [
                [str(user), *(joined(map(Name, row)) for row in pair)]
                for user, pair in users
            ]
            table = Rows(
                [_("user"), _("list, from rank 1 down"), _("relevant items")],
                rows,
                left=3,
            )
            rules += [_("Each list is cut at k = {k}.", **words)]
        else:
            ideal = N_(
                "What is the {name} that a list of these items could reach, {label}?"
            )
            asked = _(
                ideal
                if metric.over == "ideal"
                else N_("What is the {name} of this list, {label}?"),
                **words,
            )
            grades = {item: short_number(grade) for item, grade in self.truth.items()}
            rows = [
                [str(rank), Name(item), grades.get(item, "0")]
                for rank, item in enumerate(self.row, 1)
            ]
            table = Rows([_("rank"), _("item"), _("relevance")], rows, left=2)
            missed = joined(
                [
                    [Name(item), f" ({grades[item]})"]
                    for item in grades
                    if item not in self.row
                ]
            )
            listed = say(
                N_("Relevant, but not in the list (relevance in brackets): {items}."),
                items=missed,
            )
            rules += [listed] if missed else []
            rules += [_("The list is cut at k = {k}.", **words)] if self.k else []
            rules += (
                []
                if "gain" in self.options
                else [_("An item is relevant if its relevance is above 0.")]
            )
        # The usual denominator of precision and recall, and the usual target, are part
        # of what is asked.
        usual = (
            {}
            if self.metric == "average_precision"
            else {"out_of": "k relevant", "target": "first"}
        )
        told = {
            name: word
            for name, word in self.options.items()
            if str(word) not in usual.get(name, "").split()
        }
        rules += (
            [
                _(
                    "Conventions: {conventions}.",
                    conventions="; ".join(options_in_words(told)),
                )
            ]
            if told
            else []
        )
        rules += [
            _(
                "Answer to {digits} decimals, or with a fraction, such as 2/3.",
                digits=DIGITS,
            )
        ]
        title = Mark("strong", _("Exercise: {label}", label=self.label))
        return [
            Note(title, "plain"),
            Note(asked, "plain"),
            table,
            *(Note(rule, "plain") for rule in rules),
        ]

    def __repr__(self) -> str:
        with use_language(self.lang):
            return in_lines([*self.question(), Note(_(HOW))])

    def _html(self, live: bool) -> str:
        question, said = (
            self.question(),
            self.problem or (self.answer.feedback if self.answer is not None else ""),
        )
        shown = html(question if live else [*question, Note(_(HOW))])
        values = {
            "question": shown,
            "feedback": html([Note(said, "plain")]) if said else "",
            "typed": self.typed,
        }
        return str(
            render(
                "widgets/quiz/quiz.jinja",
                label=self.label,
                example=_("your answer"),
                live=live,
                **values,
            )
        )

    def _worked(self) -> list[str]:
        return ["" if self.answer is None else self.answer.worked_html()]

    def _use(self, name: str, value: str, key: str) -> None:
        if name == "value":
            self.typed = value
        else:
            self.answer = self.reveal() if name == "show" else self.check(self.typed)


@dataclass(frozen=True, eq=False, repr=False)
class Answer(Suggesting):
    """What is said of an answer, true if it is right; with the solution after a right
    one, or if that was asked for.
    """

    quiz: Quiz
    feedback: Line
    correct: bool = False
    mistake: Mistake | None = (
        None  #: the common mistake that gives this number, if one does
    )
    solved: bool = False  #: whether the solution is shown
    _translated = staticmethod(_)

    def __bool__(self) -> bool:
        return self.correct

    @cached_property
    def explanations(self) -> list[Explanation]:
        """The worked explanation of the list, or of each user's."""
        q = self.quiz
        pairs = zip(q.lists, q.truths, strict=True)
        return [
            explain(q.metric, row, truth, q.k, lang=q.lang, **q.options)
            for row, truth in pairs
        ]

    def _below(self) -> tuple[list[Block], Rows]:
        """Return the mean over several users, and the numbers of common mistakes."""
        q = self.quiz
        rows = [[q.rounded(one.number), one.sentence] for one in q.mistakes]
        mistakes = Rows(
            [_("value"), _("mistake")],
            rows,
            _("What common mistakes give here"),
            left=2,
            wraps=True,
        )
        if len(self.explanations) == 1:
            return [], mistakes
        total = " + ".join(f"{one.value:g}" for one in self.explanations)
        return [
            Note(
                f"{q.label} = ({total}) / {len(q.lists)} = {q.rounded(q.value)}",
                "plain",
            )
        ], mistakes

    def on_paper(self) -> list[Block]:
        """Return the solution as blocks without a formula to be typeset, which a file
        cannot do.
        """
        mean, mistakes = self._below()
        q = self.quiz
        title = Note(Mark("strong", f"{q.label} = {q.rounded(q.value)}"), "plain")
        return [title, *(mean or self.explanations[0].worked()), mistakes]

    def __repr__(self) -> str:
        with use_language(self.quiz.lang):
            if not self.solved:
                return in_lines([Note(self.feedback)])
            mean, mistakes = self._below()
            worked = [repr(one) for one in self.explanations] if not mean else []
            return "\n".join(
                [in_lines([Note(self.feedback), *mean]), *worked, in_lines([mistakes])]
            )

    def worked_html(self) -> str:
        """Return the solution as HTML, if it is shown."""
        if not self.solved:
            return ""
        with use_language(self.quiz.lang):
            mean, mistakes = self._below()
            worked = (
                [one._repr_html_() for one in self.explanations] if not mean else []
            )
            folded = Fold(mistakes.caption, [replace(mistakes, caption="")])
            return "".join([*worked, framed(_("Solution"), html([*mean, folded]))])

    def _repr_html_(self) -> str:
        with use_language(self.quiz.lang):
            return (
                str(framed(self.quiz.label, html([Note(self.feedback, "plain")])))
                + self.worked_html()
            )


def quiz(
    metric: Any = "ndcg",
    shown: Any = None,
    relevant: Any = None,
    *others: Never,
    seed: Any = None,
    k: int | None = None,
    lang: str | None = None,
    **options: Any,
) -> Quiz:
    """Make an exercise: a small ranking, drawn or given, whose metric is to be computed
    by hand.

    The same metric, seed and options give the same exercise on every machine. Its value
    is not 0 or 1, and differs from the numbers that common mistakes give.

    Parameters
    ----------
    metric
        The name of a metric of accuracy, which may have a cut-off: "ndcg", "nDCG@3".
    shown, relevant
        A list of your own, as `recnb.explain` takes it: items from rank 1 down, and
        what is relevant, a mapping of items to relevance, or items; or the relevance of
        each rank alone. The hit rate takes several lists, which are those of users.
    seed
        A whole number, from which a list is drawn if none is given; by default 0. It
        may also stand in place of `shown`.
    k, lang
        The cut-off, from 2 to 10, by default drawn; of your own list, from 1 to its
        length, which is the default. "en" or "ko", by default the language that is set.
    **options
        Options of the metric, such as gain="exponential".

    Examples
    --------
    >>> q = quiz("precision", seed=3)
    >>> q.check("3/5")
    ✗ 3/5 is not right. A common mistake gives exactly this number. The list was
    not cut: all 5 ranks counted, where only the first 3 do.
    >>> bool(q.check("2/3")), q.grade(0.6667), q.grade("0.6")
    (True, 1.0, 0.0)
    >>> quiz("recall", ["A", "B", "C"], {"A": 1, "D": 1}, k=2).value
    0.5
    """
    with use_language(lang) as language:
        return _made(
            metric,
            shown,
            relevant,
            *others,
            seed=seed,
            k=k,
            lang=language,
            options=options,
        )


def _made(
    metric: Any,
    shown: Any,
    relevant: Any,
    *others: Any,
    seed: Any,
    k: int | None,
    lang: str,
    options: dict[str, Any],
) -> Quiz:
    """Make the exercise that `quiz` is asked for."""
    if not isinstance(metric, (str, Metric)):
        example = "recnb.quiz('ndcg', ['A', 'B'], {'A': 1})"
        if isinstance(metric, Integral):
            example = f"recnb.quiz('ndcg', seed={metric})"
        raise OptionError(_(METRIC_FIRST, given=quoted(metric), example=example))
    chosen = metric_named(metric, METRICS)
    chosen.check(options)
    if others:
        problem = N_(
            "{value} is one argument too many: after metric, list and relevant items, "
            "name each, such as k=5."
        )
        raise OptionError(_(problem, value=quoted(others[0])))
    cut, own_depth = chosen.cut_at(k), chosen.name == "r_precision"
    if cut is not None and own_depth:
        problem = N_("k={k}: R-precision has its own depth; leave k out.")
        raise CutoffError(_(problem, k=cut))
    every = {**chosen.defaults, **DEFAULTS.get(chosen.name, {})}
    every |= {name: word for name, word in options.items() if word is not None}
    if shown is None or _is_seed(shown):
        seed = _seed(chosen.name, seed, shown, relevant)
        return _drawn(chosen.name, seed, cut, every, lang)
    if seed is not None:
        raise OptionError(_(SEED_AND_LIST, seed=quoted(seed)))
    if not is_several(shown):
        raise OptionError(_no_list(chosen.name, shown))
    pairs = read_pairs(shown, relevant, chosen)
    if chosen.name == "err" and "max_relevance" not in options:
        every["max_relevance"] = max(
            (grade for pair in pairs for _item, grade in pair.truth), default=1
        )
    return _own(chosen.name, pairs, cut, every, lang)


def _is_seed(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _seed(metric: str, seed: Any, shown: Any, relevant: Any) -> int:
    """Return the seed, which may stand in place of a list, or refuse what is none."""
    if seed is not None and shown is not None:
        raise OptionError(_(TWO_SEEDS, first=shown, second=quoted(seed)))
    number = shown if seed is None else seed
    number = 0 if number is None else number
    if not _is_seed(number):
        problem = N_(
            "seed={seed}: a quiz draws its own list from a whole number, such as "
            "recnb.quiz('{metric}', seed=1), or takes yours, from rank 1 down, with "
            "what is relevant."
        )
        raise OptionError(_(problem, seed=quoted(number), metric=metric))
    if relevant is not None:
        problem = N_(
            "relevant={relevant} belongs to a list, and seed={seed} draws one: {call}."
        )
        call = f"recnb.quiz({metric!r}, ['A', 'B'], {{'A': 1}})"
        raise OptionError(_(problem, relevant=quoted(relevant), seed=number, call=call))
    return int(number)


def _no_list(metric: str, shown: object) -> str:
    """Say what to type in place of something that is no list."""
    items = ["A", "B", "C"]
    if isinstance(shown, str) and 2 <= len(set(shown)) == len(shown) <= len(LETTERS):
        items = [*shown]
    example = f"recnb.quiz({metric!r}, {items}, {{{items[0]!r}: 1}})"
    return _(NO_LIST, given=quoted(shown), example=example)


def _own(
    metric: str, pairs: list[Pair], cut: int | None, options: dict[str, Any], lang: str
) -> Quiz:
    """Return the exercise of lists that are given."""
    if len(pairs) > 1 and metric != "hit_rate":
        problem = N_(
            "{metric} is asked of one list, and {n} were given: only the hit rate is "
            "asked of several."
        )
        raise RecnbError(_(problem, metric=metric, n=len(pairs)))
    longest = max(len(pair.items) for pair in pairs)
    if cut is not None and cut > longest:
        raise CutoffError(
            _(
                "k={k}: the exercise of a list is cut within it, at 1 to {last}.",
                k=cut,
                last=longest,
            )
        )
    lists, truths = list[list[str]](), list[dict[str, float]]()
    for pair in pairs:
        names = (
            dict(enumerate(LETTERS, 1))
            if not pair.named and longest <= len(LETTERS)
            else {}
        )
        lists.append([str(names.get(item, item)) for item in pair.items])
        truths.append({str(names.get(item, item)): grade for item, grade in pair.truth})
    q = Quiz(
        metric,
        options,
        None if metric == "r_precision" else cut or longest,
        lists,
        truths,
        lang,
    )
    if not q.value:
        why = N_(
            "{label} is 0: no item that is relevant stands so high in the list, "
            "so there is nothing to compute."
        )
        raise RecnbError(_(why, label=q.label))
    return q


def _drawn(
    metric: str, seed: int, cut: int | None, options: dict[str, Any], lang: str
) -> Quiz:
    """Draw an exercise that tells mistakes apart."""
    if cut is not None and not 2 <= cut <= 10:
        problem = N_("k={k}: an exercise is cut at 2 to 10; leave k out.")
        raise CutoffError(_(problem, k=cut))

    own_depth, found = metric == "r_precision", list[Quiz]()
    for draw in KINDS:
        if {one.value for one in found} <= {0, 1}:
            draws = islice(draw(Random(f"{metric}/{seed}"), cut), DRAWS)
            found = [
                Quiz(metric, options, None if own_depth else k, lists, truths, lang)
                for k, lists, truths in draws
            ]
    found = [
        one for one in found if min(one.value, abs(one.value - 1)) > APART * UNIT
    ]  # the value says something
    found = [
        one for one in found if abs(one.value / UNIT % 1 - 0.5) > 0.02
    ]  # and is not on an edge of rounding
    if not found:
        label = METRICS[metric].label(cut)
        problem = N_(
            "no small list gives an exercise of {label} under {options}: its value is "
            "always 0 or 1."
        )
        raise RecnbError(_(problem, label=label, options=options))
    # Of most metrics there are lists whose value differs at the cut-offs beside k, so
    # that who is off by one is told.
    told = [
        one
        for one in found
        if one.k
        and all(abs(one.score(k=one.k + by) - one.value) > UNIT for by in (-1, 1))
    ]
    return max(told or found, key=lambda one: len(one.mistakes))
