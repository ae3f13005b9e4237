"""`recnb.check`: the numbers of a record computed again, and compared one by one."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isclose
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from recnb.comparison import compare
from recnb.conventions.convention import DECISIONS
from recnb.data import Frame
from recnb.data.files import checked_input, json_values
from recnb.data.load import Input
from recnb.display.document import Line
from recnb.display.language import N_, _, ngettext
from recnb.display.text import one_line
from recnb.errors import FrameError, OptionError, quoted
from recnb.evaluate import WEIGHTS, evaluate
from recnb.metrics.hits import Cutoffs
from recnb.metrics.measure import measure_named
from recnb.results.arguments import Asked
from recnb.results.evaluation_data import Models
from recnb.results.measuring import measured
from recnb.results.numbers import label_of
from recnb.results.record import SCHEMA, SHORT, record_of, recorded_numbers
from recnb.results.table import Table
from recnb.stats import Settings

Record = Mapping[str, Any]

#: Numbers this close, in proportion, are the same: libraries round the last digits
#: otherwise in other versions.
CLOSE = 1e-9

#: What a record has, each of which is compared or needed to compute it again.
PARTS = (
    "versions",
    "inputs",
    "convention",
    "library",
    "options",
    "split",
    "cluster",
    "baseline",
    "confidence",
    "numbers",
)

#: Parts that are mappings, and what each number has.
MAPPINGS = ("versions", "inputs", "convention", "options")
OF_NUMBER = (
    "model",
    "metric",
    "options",
    "k",
    "mean",
    "low",
    "high",
    "n_users",
    "n_lists",
)

#: Options of a comparison that the record decides.
RECORDED = ("baseline", "pairs", "confidence")

#: What a row of the table is of.
NUMBER, INPUT, CONVENTION, VERSION = "number", "input", "convention", "version"


class Checked(Table):
    """What `check` returns: a row for each number, input and version, then and now."""

    @property
    def passed(self) -> bool:
        """Whether all is the same, but for versions."""
        return bool(self["same"][self["of"] != VERSION].all())

    def _cell(
        self, value: Any, label: object, column: object, digits: int | None = None
    ) -> Line:
        """Return a cell: of a number as many digits as show what is not the same."""
        if isinstance(value, float):
            return f"{value:.10g}"
        return super()._cell(value, label, column, digits)


def check(
    record: str | PathLike[str] | Record,
    recs: Mapping[str, Input] | Frame,
    truth: Input | None = None,
    **options: Any,
) -> Checked:
    """Compute the numbers of a record again, and say of each whether it is the same.

    Parameters
    ----------
    record : path or mapping
        The JSON file of a report or a gate, or of `ev.record()`; or such a mapping.
    recs : frame, mapping, Series or path
        As `recnb.evaluate` takes it; of several models as `recnb.compare` does. A metric
        of your own that the record has is to be defined before.
    truth : frame, mapping, Series or path, optional
        As `recnb.evaluate` takes it.
    **options
        Those of `recnb.evaluate`: `train=` and other frames that the numbers need.
        Conventions and names of columns are those of the record unless they are given.

    Returns
    -------
    Checked
        A table with the columns of, name, then, now and same, first what is not the
        same. Its `passed` is true if all numbers, inputs and conventions are the same;
        versions may differ. An input is the same if its rows are, in any order,
        library and form of file.

    Examples
    --------
    >>> import recnb
    >>> sample = recnb.datasets.load_sample()
    >>> recs = sample.models["popular"]
    >>> record = recnb.evaluate(recs, sample.test).record("ndcg", k=10)
    >>> recnb.check(record, recs.sample(frac=1), sample.test).passed
    True
    >>> recnb.check(record, recs[1:], sample.test).passed
    False
    """
    then = _read(record)
    models = _evaluated(then, recs, truth, options)
    now = _computed_again(then, models)
    rows = [
        # First what is the reason of other numbers.
        *_inputs(then["inputs"], now["inputs"]),
        *_conventions(then, now),
        *_numbers(then, now),
        *_versions(then["versions"], now["versions"]),
    ]
    return _table(rows)


# ---- the record


def _read(given: Any) -> Record:
    """Return the record in a file or in a mapping."""
    name, content = "record", given
    if isinstance(given, (str, PathLike)):
        name = str(given)
        content = _content(checked_input(name), name)
    if isinstance(content, Mapping) and isinstance(content.get("record"), Mapping):
        content = content["record"]
    if not isinstance(content, Mapping) or "numbers" not in content:
        raise FrameError(
            f"{name} holds no record of numbers.",
            fix="Give the JSON of a report or a gate, .to_json(path), or ev.record().",
        )
    if content.get("schema") != SCHEMA:
        raise FrameError(
            f"{name} holds a record of schema {quoted(content.get('schema'))}, and this "
            f"version of recnb reads {SCHEMA}.",
            fix="Check it with the version that it names.",
        )
    lacking = [part for part in PARTS if part not in content]
    if lacking or not content["numbers"]:
        part = lacking[0] if lacking else "numbers"
        raise FrameError(f"{name} holds a record without {part!r}: make it again.")
    for part in MAPPINGS:
        if not _is_mapping_of_mappings(content[part], deep=part == "inputs"):
            raise _damaged(name, part, content[part])
    for number in content["numbers"]:
        if not _is_number(number):
            raise _damaged(name, "numbers", number)
    return content


def _is_mapping_of_mappings(value: Any, *, deep: bool) -> bool:
    """Return whether a value is a mapping; if `deep`, whether its values are as well."""
    if not isinstance(value, Mapping):
        return False
    return not deep or all(isinstance(table, Mapping) for table in value.values())


def _is_number(number: Any) -> bool:
    """Return whether this is a number of a record with all that it has."""
    has_all = isinstance(number, Mapping) and all(part in number for part in OF_NUMBER)
    return has_all and isinstance(number["options"], Mapping)


def _damaged(name: str, part: str, value: Any) -> FrameError:
    """Return the error for a part of a record that is not what `record_of` makes."""
    return FrameError(
        f"{name} holds a record whose {part!r} has {quoted(value)}, which recnb does "
        "not write.",
        fix="Give the file as it was written, or make the record again.",
    )


def _content(file: Path, name: str) -> Any:
    try:
        return json.loads(file.read_bytes())
    except ValueError as problem:
        raise FrameError(
            f"{name} is no JSON: {problem}.",
            fix="Give the file that .to_json(path) of a report or a gate wrote.",
        ) from problem


# ---- computed again


def _evaluated(
    record: Record, recs: Any, truth: Input | None, options: Mapping[str, Any]
) -> Models:
    """Evaluate by the conventions and the columns of a record."""
    keywords = _keywords(record, options)
    names = dict.fromkeys(number["model"] for number in record["numbers"])
    decided = [name for name in RECORDED if name in keywords]
    if decided:
        raise OptionError(
            f"{decided[0]}= is that of the record, {quoted(record.get(decided[0]))}: ",
            "leave it out.",
        )
    if "" in names:
        return {"": evaluate(recs, truth, **keywords)}
    return compare(
        recs,
        truth,
        baseline=record["baseline"],
        pairs="all" if record["baseline"] is None else "baseline",
        confidence=record["confidence"],
        **keywords,
    )


def _keywords(record: Record, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of a record with those that are given now."""
    keywords = dict(record["options"])
    if record["library"] is not None:
        keywords["convention"] = record["library"]
    elif "convention" not in options:
        # Also those that are the usual ones, which may be others in another version.
        order = keywords.get("order", "auto")
        keywords |= {**record["convention"], "order": order}
    if "convention" in options:
        keywords = {
            name: value for name, value in keywords.items() if name not in DECISIONS
        }
    if record["split"]:
        keywords["split"] = record["split"]
    if record["cluster"] is not None:
        keywords["cluster"] = record["cluster"]
    keywords |= options
    for name in WEIGHTS:
        if name in keywords and keywords[name] is None:
            raise OptionError(
                f"the record was made with {name}=, which was no column: give it, "
                f"{name}=weights."
            )
    return keywords


def _computed_again(record: Record, models: Models) -> Record:
    """Return the record of the same numbers."""
    first = next(iter(models.values()))
    confidence, baseline = record["confidence"], record["baseline"]
    settings = Settings(confidence)
    again = record_of(models, [], [], confidence, baseline)
    numbers = []
    for name, options, cutoffs in _asked(record["numbers"]):
        measure = measure_named(name)
        beside_text = {
            option: value
            for option, value in options.items()
            if option not in measure.options
        }
        measure = measure.with_options(beside_text)
        asked = [Asked(name, measure)]
        rows = measured(models, asked, Cutoffs.of(cutoffs), settings=settings)
        numbers += recorded_numbers(first, rows.mean_rows(), [measure])
    return {**again, "numbers": json_values(numbers)}


def _asked(
    numbers: Iterable[Record],
) -> Iterator[tuple[str, Mapping[str, Any], Sequence[int | None]]]:
    """Give each metric of some numbers with its options and cut-offs."""
    cutoffs: dict[str, list[int | None]] = {}
    for number in numbers:
        key = json.dumps([number["metric"], number["options"]])
        of_metric = cutoffs.setdefault(key, [])
        if number["k"] not in of_metric:
            of_metric.append(number["k"])
    for key, of_metric in cutoffs.items():
        name, options = json.loads(key)
        yield name, options, of_metric


# ---- then and now


@dataclass(frozen=True)
class ThenAndNow:
    """A value of a record, then and now."""

    of: str  #: one of NUMBER, INPUT, CONVENTION and VERSION
    name: str
    then: Any
    now: Any
    same: bool


def _numbers(then: Record, now: Record) -> Iterator[ThenAndNow]:
    """Compare numbers: the mean of each, and what else is not the same."""
    known = {_key(number): number for number in now["numbers"]}
    for number in then["numbers"]:
        again = known.get(_key(number), {})
        metric = metric_label(number)
        for part in ("mean", "low", "high", "n_users", "n_lists"):
            before, after = number[part], again.get(part)
            same = _is_same(before, after)
            if part == "mean":
                yield ThenAndNow(NUMBER, metric, before, after, same)
            elif not same:
                yield ThenAndNow(NUMBER, f"{metric} {part}", before, after, same)


def _key(number: Record) -> tuple[Any, ...]:
    options = json.dumps(number["options"], sort_keys=True)
    return number["model"], number["metric"], number["k"], options


def metric_label(number: Record) -> str:
    """Return the name of a number: ndcg@10, of several models with the model."""
    label = label_of(number["metric"], number["k"])
    return f"{one_line(number['model'])} {label}".lstrip()


def _is_same(then: Any, now: Any) -> bool:
    if then is None or now is None:
        return then is now
    return isclose(then, now, rel_tol=CLOSE, abs_tol=CLOSE)


def _inputs(then: Record, now: Record) -> Iterator[ThenAndNow]:
    """Compare the rows of each input."""
    for name in {**then, **now}:
        if name in WEIGHTS and name not in then:
            continue  # earlier versions kept no fingerprint of weights
        before, after = then.get(name, {}), now.get(name, {})
        fingerprint = before.get("fingerprint")
        same = fingerprint is not None and fingerprint == after.get("fingerprint")
        yield ThenAndNow(
            INPUT, name, _rows_in_brief(before), _rows_in_brief(after), same
        )


def _rows_in_brief(table: Record) -> str | None:
    """Return the number of rows and the beginning of the fingerprint, if it is known."""
    if table.get("fingerprint") is None:
        return None
    rows = ngettext("{n:,} row", "{n:,} rows", table["rows"])
    return f"{rows}, {table['fingerprint'][:SHORT]}"


def _conventions(then: Record, now: Record) -> Iterator[ThenAndNow]:
    """Compare the library, and give the decisions that are not the same."""
    before = {"library": then["library"] or "recnb", **then["convention"]}
    after = {"library": now["library"] or "recnb", **now["convention"]}
    for part in ("split", "cluster"):
        before[part], after[part] = then[part], now[part]
    for name in {**before, **after}:
        same = before.get(name) == after.get(name)
        if name == "library" or not same:
            yield ThenAndNow(CONVENTION, name, before.get(name), after.get(name), same)


def _versions(then: Record, now: Record) -> Iterator[ThenAndNow]:
    for name in {**then, **now}:
        before, after = then.get(name), now.get(name)
        yield ThenAndNow(VERSION, name, before, after, before == after)


def _table(rows: Sequence[ThenAndNow]) -> Checked:
    """Return the rows as a table, first those that are not the same."""
    ordered = sorted(rows, key=lambda row: row.same)
    frame = pd.DataFrame([vars(row) for row in ordered])
    of_versions = [row for row in rows if row.of == VERSION]
    n_differ = sum(not row.same for row in rows if row.of != VERSION)
    words = N_("all numbers, inputs and conventions are the same")
    if n_differ:
        words = N_(
            "{n:,} of {n_all:,} numbers, inputs and conventions are not the same"
        )
    basis = [_(words, n=n_differ, n_all=len(rows) - len(of_versions))]
    if not all(row.same for row in of_versions):
        basis.append(_("other versions, which decide nothing"))
    table = Checked.made(frame, basis, _("a record, then and now"))
    headings = {
        "of": _("of"),
        "name": _("name"),
        "then": _("then"),
        "now": _("now"),
        "same": _("same"),
    }
    table.attrs |= {"drawn": "", "headings": headings}
    return table
