"""The methods of numbers in sentences, for a paper, with the references.

They say definitions, users, conventions, intervals, tests and software, in the words of
tables and reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recnb.display.data_file import rows_of
from recnb.display.document import Note, html, inline
from recnb.display.language import N_, _, current, use_language
from recnb.display.templates import framed
from recnb.errors import Suggesting
from recnb.metrics import REFERENCES
from recnb.metrics.hits import Cutoffs
from recnb.report import one, several
from recnb.report.build import words_of
from recnb.report.conclusions import n_tested
from recnb.report.data import MetricWords, TestedNumbers
from recnb.results.arguments import Asked
from recnb.results.evaluation_data import EvaluationData, Models
from recnb.results.measuring import measured
from recnb.results.numbers import MeanRow, Pairs
from recnb.results.record import versions
from recnb.results.scoring import scoring_of
from recnb.results.tables import phrases_of
from recnb.results.unweighted import plain_means
from recnb.results.values import merged
from recnb.stats import Settings

#: Publications on intervals and tests, as `REFERENCES` has those on metrics.
PUBLICATIONS = {row["key"]: row for row in rows_of("report/references.csv")}
#: Publications that a metric cites for its weighted form alone.
OF_WEIGHTS = ("yang2018",)
#: Publications that a metric cites for its exponential gain alone.
OF_EXPONENTIAL_GAIN = ("burges2005",)

DEFINITION = N_("{labels} ({term}): {formula}{references}.")
BASIS = N_("Users and conventions: {basis}.")
ON_TESTS = N_("References for intervals and tests: {references}.")
SOFTWARE = N_(
    "Computed with recnb {recnb} [recnb] (Python {python}, numpy {numpy}, pandas "
    "{pandas}, Polars {polars})."
)


@dataclass(frozen=True, eq=False, repr=False)
class MethodsSection(Suggesting):
    """The methods of numbers: sentences, which are text, and their references.

    `[key]` in a sentence is a key of `bibtex`.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> ev = recnb.evaluate(sample.models["popular"], sample.test)
    >>> ev.methods("recall", k=10).bibtex.splitlines()[0]
    '@misc{manning2008,'
    """

    sentences: tuple[str, ...]
    references: tuple[str, ...]  #: keys, those of recnb last
    version: str  #: of recnb
    #: The language of its words, that in force when it was made.
    lang: str = field(default_factory=current)

    @property
    def text(self) -> str:
        """The sentences, one after the other."""
        return " ".join(self.sentences)

    @property
    def bibtex(self) -> str:
        """An entry of BibTeX for each reference."""
        known = {**REFERENCES, **PUBLICATIONS, "recnb": self._software}
        entries = [_entry(known[key]) for key in self.references]
        return "\n\n".join(entries) + "\n"

    @property
    def _software(self) -> dict[str, str]:
        return {
            "key": "recnb",
            "authors": "{The recnb developers}",
            "year": "",
            "title": "recnb: evaluate rankings and recommendations",
            "where": f"Version {self.version}",
            "doi": "",
        }

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def _repr_html_(self) -> str:
        with use_language(self.lang):
            notes = [Note(sentence, "plain") for sentence in self.sentences]
            return str(framed(_("methods"), html(notes)))


def methods_of(
    models: Models,
    asked: Sequence[Asked],
    k: Cutoffs,
    settings: Settings,
    *,
    pairs: Pairs = (),
    basis: str = "",
) -> MethodsSection:
    """Return the methods of metrics at some cut-offs, of one model or of several.

    Several are compared by `pairs`; `basis` is their users and conventions in words.
    """
    first = next(iter(models.values()))
    of_accuracy = [each for each in asked if each.metric.is_accuracy]
    numbers = measured(models, asked, k, pairs=pairs, settings=settings)
    words = [words_of(first, each.measure, whole=k.is_whole) for each in asked]
    made = TestedNumbers(
        # What a report says of other metrics is where it shows them.
        metrics=tuple(metric for metric in words if metric.is_accuracy),
        means=tuple(numbers.mean_rows()),
        differences=tuple(numbers.difference_rows()),
        settings=settings,
        n_users=first.n_users,
        n_lists=None if first.clusters is None else first.n_lists,
        cluster=first.side_data.cluster or "",
        clustered_by=first.clustered_by,
        unweighted=plain_means(models, [each.measure for each in of_accuracy], k),
    )
    remarks = several.remarks(made) if pairs else one.remarks(made)
    on_tests = _on_tests(made)
    software = versions()
    cited_for = {
        each.name: _references_of(each, first, whole=k.is_whole) for each in asked
    }
    sentences = [
        *_definitions(asked, words, made.means, cited_for),
        _(BASIS, basis=basis or "; ".join(merged(phrases_of(numbers)))),
        *remarks,
    ]
    if on_tests:
        cited = ", ".join(f"[{key}]" for key in on_tests)
        sentences.append(_(ON_TESTS, references=cited))
    sentences.append(_(SOFTWARE, **software))
    of_metrics = [key for keys in cited_for.values() for key in keys]
    return MethodsSection(
        sentences=tuple(sentences),
        references=(*dict.fromkeys([*of_metrics, *on_tests]), "recnb"),
        version=software["recnb"],
    )


def _references_of(asked: Asked, data: EvaluationData, *, whole: bool) -> list[str]:
    """Return the keys of what the definition of a metric is taken from."""
    left_out: list[str] = []
    if not data.source.weighted:
        left_out.extend(OF_WEIGHTS)
    options = scoring_of(data, asked.measure, whole=whole).measure.chosen
    if options.get("gain") != "exponential":
        left_out.extend(OF_EXPONENTIAL_GAIN)
    return [key for key in asked.metric.references if key not in left_out]


def _definitions(
    asked: Sequence[Asked],
    words: Sequence[MetricWords],
    means: Sequence[MeanRow],
    cited_for: Mapping[str, Sequence[str]],
) -> Iterable[str]:
    """Give the definition of each metric under its options."""
    for each, metric in zip(asked, words, strict=True):
        of_metric = [row.label for row in means if row.metric == metric.metric]
        yield _(
            DEFINITION,
            labels=", ".join(dict.fromkeys(of_metric)),
            term=metric.term,
            formula=metric.formula,
            references="".join(f" [{key}]" for key in cited_for[each.name]),
        )


def _on_tests(made: TestedNumbers) -> list[str]:
    """Return the keys of what intervals and tests rest on."""
    keys = []
    has_exact = any(metric.bounds == (0, 1) for metric in made.metrics)
    if has_exact and made.n_users > 1 and made.n_lists is None:
        keys.append("clopper1934")
    if made.differences and made.settings.test == "randomization":
        keys.append("smucker2007")
    if n_tested(made.differences) > 1:
        keys.append("holm1979")
    return keys


# ---- BibTeX


def _entry(reference: dict[str, str]) -> str:
    """Return an entry of BibTeX: an article if a journal's volume and number are known."""
    kind, place = "misc", {"howpublished": reference["where"]}
    article = re.fullmatch(r"(.+) (\d+)\((\d+)\)", reference["where"])
    if article is not None:
        kind = "article"
        place = dict(
            zip(("journal", "volume", "number"), article.groups(), strict=True)
        )
    fields = {
        "author": _authors(reference["authors"]),
        "title": f"{{{inline(reference['title'], 'tex')}}}",
        **place,
        "year": reference["year"],
        "doi": reference["doi"],
    }
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items() if value]
    return "\n".join([f"@{kind}{{{reference['key']},", *lines, "}"])


def _authors(names: str) -> str:
    """Return names as BibTeX divides them: "A, B., C, D. and E, F." has three."""
    divided = re.sub(r"(?<=\.), (?=[^\W\d_])", " and ", names)
    return divided.replace(" et al.", " and others")
