"""The report of one model or of several: its numbers, and its forms."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import UndefinedError

from recnb.data.files import File
from recnb.display.forms import Name
from recnb.display.language import use_language
from recnb.display.templates import FormName, page, write
from recnb.errors import FrameError, Suggesting
from recnb.lint import Finding
from recnb.report import sections, words
from recnb.report.as_json import data_of, values_in, values_of
from recnb.report.data import ReportData
from recnb.results.files import AsJson, written
from recnb.results.numbers import DifferenceRow, MeanRow
from recnb.results.user_cards import UserCards
from recnb.results.user_groups import UserGroup

#: What is raised where a value that was changed is read or shown.
CHANGED = (
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    UndefinedError,
    ValueError,
)


@dataclass(frozen=True, eq=False, repr=False)
class Report(AsJson, Suggesting):
    """Findings about the data, metrics with intervals, and what may be concluded.

    A notebook displays it; `to_html`, `to_markdown`, `to_frame`, `to_dict` and `to_json`
    are its other forms.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
    >>> report.to_frame().loc[:1, ["metric", "k", "mean"]].round(4)
                  metric   k    mean
    0               ndcg  10  0.1725
    1  average_precision  10  0.0948
    """

    _data: ReportData

    @property
    def n_users(self) -> int:
        """The number of users that all numbers of accuracy are over."""
        return self._data.n_users

    @property
    def means(self) -> tuple[MeanRow, ...]:
        """The mean of each model in each metric at each cut-off, with its interval."""
        return self._data.means

    @property
    def differences(self) -> tuple[DifferenceRow, ...]:
        """The difference of each two models that are compared, with its test."""
        return self._data.differences

    @property
    def findings(self) -> list[tuple[list[str], list[Finding]]]:
        """Problems in the data, warnings first, each with the models that have it."""
        return self._data.findings

    @property
    def users(self) -> tuple[UserGroup, ...]:
        """The users shown, with their lists."""
        return self._data.users

    def to_frame(self) -> pd.DataFrame:
        """Return one long frame: a row for each metric, cut-off and model.

        With several models `low` and `high` are mean_low and mean_high, and
        `difference` with what follows is from the model's baseline.

        Returns
        -------
        DataFrame
            The means, beside the differences.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
        >>> report.to_frame().columns.tolist()
        ['metric', 'k', 'mean', 'low', 'high', 'n_users']
        """
        means = pd.DataFrame([row.to_dict() for row in self.means])
        means = means.drop(columns=["symbol", "mark"])
        if not self.differences:
            return means.drop(columns=["model", "best", "near_best"])
        tests = pd.DataFrame([row.to_dict() for row in self.differences])
        tests = tests.drop(
            columns=["symbol", "n_users", "p", "n_lists", "cluster"], errors="ignore"
        )
        means = means.rename(columns={"low": "mean_low", "high": "mean_high"})
        return means.merge(tests, on=["metric", "k", "model"], how="left", sort=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain Python that `json` can write.

        NaN is None, and an infinite number is text, "inf".

        Returns
        -------
        dict
            All numbers and words of the report, and `schema`. Tables are written by
            column: `pd.DataFrame(report.to_dict()["means"])` is one of them. Ids that are
            neither numbers nor text are written as text. Keys are the same in any
            language; texts are in the report's.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
        >>> report.to_dict()["metrics"]["metric"][:3]
        ['ndcg', 'average_precision', 'reciprocal_rank']
        """
        return values_of(self._data)

    def to_html(self, path: str | Path | None = None, title: str | None = None) -> Any:
        """Return the report as an HTML document, or write it to `path`.

        It runs no script and fetches nothing.

        Parameters
        ----------
        path : path, optional
            Where it is written; without it text is returned.
        title : str, optional
            The heading.

        Returns
        -------
        str or None
            The document, unless it is written.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
        >>> "<title>Autumn</title>" in report.to_html(title="Autumn")
        True
        """
        with use_language(self._data.language):
            heading = words.title(self._data) if title is None else title
            return written(page(heading, self._written("html", is_file=True)), path)

    def to_markdown(self, path: str | Path | None = None) -> Any:
        """Return the report in Markdown, or write it to `path`.

        Its tables are as GitHub has them.

        Parameters
        ----------
        path : path, optional
            Where it is written; without it text is returned.

        Returns
        -------
        str or None
            The Markdown, unless it is written.

        Examples
        --------
        >>> import recnb
        >>> sample = recnb.datasets.load_sample()
        >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
        >>> print(report.to_markdown().splitlines()[0])
        ## **nDCG@10** = 0.1725 (95% interval 0.1503–0.1979 · 261 users)
        """
        with use_language(self._data.language):
            return written(self._written("md", is_file=True) + "\n", path)

    def _written(self, form: FormName, *, is_file: bool = False) -> str:
        """Write the report in a form, a file with its version and day."""
        data = self._data
        # The buttons of the tabs of two reports on a page are not of one group. The name
        # has no time in it and no last digits, which other versions of numpy give, so
        # that a notebook built again is the same.
        means = [f"{row.mean:.6g}" for row in data.means]
        content = repr((data.models, data.k, means))
        return write(
            "report/report.jinja",
            form,
            report=data,
            title=Name(words.title(data), 200),
            tabs=f"recnb-{sha256(content.encode()).hexdigest()[:12]}",
            is_file=is_file,
            sections=sections,
            words=words,
            cards=UserCards(data.users, data.label, words.nouns(data)),
        )

    def __repr__(self) -> str:
        with use_language(self._data.language):
            return self._written("txt")

    def _repr_html_(self) -> str:
        with use_language(self._data.language):
            return self._written("html")


def read_report(path: File) -> Report:
    """Read a report from the JSON that `report.to_json` or `recnb report` has written.

    It is shown as it was, in its language, and has the same numbers; no data are read.

    Parameters
    ----------
    path : path
        The file of JSON, of this version of the format, `"recnb.report/11"`.

    Returns
    -------
    Report
        The report, with all its forms.

    Examples
    --------
    >>> import pathlib, recnb, tempfile
    >>> sample = recnb.datasets.load_sample()
    >>> report = recnb.evaluate(sample.models["popular"], sample.test).report(k=10)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "report.json")
    ...     report.to_json(path)
    ...     again = recnb.read_report(path)
    >>> again.to_html() == report.to_html()
    True
    """
    values = values_in(path)
    try:
        report = Report(data_of(values))
        # Both show each value.
        report.to_html()
        report.to_markdown()
    except CHANGED as problem:
        raise FrameError(
            f"{path} is a report of recnb that was changed: make it again with "
            "report.to_json, or with recnb report -o."
        ) from problem
    return report
