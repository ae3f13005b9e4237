"""The catalogue of translations: extract the messages of the code and of the templates,
update, compile.

    python -m tests.tools.translations

New messages are added to `recnb/locale/ko/LC_MESSAGES/recnb.po` without a translation,
messages that are gone are kept at its end behind `#~`: translate the new ones, delete
what is left over, and run the command again. A test fails until then.
"""

from __future__ import annotations

import ast
import io
import re
import string
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

import recnb
from recnb import LIST_METRICS, METRICS
from recnb.beyond.catalogue import NEEDED, missing
from recnb.display.data_file import rows_of
from recnb.display.language import LANGUAGES, LOCALE, Language
from recnb.metrics.measure import Measure
from recnb.metrics.metric import RETRIEVAL_METRICS, Metric

ROOT = Path(recnb.__file__).parent
#: Functions that mark messages, with the arguments that are messages ("c": a context),
#: as Babel has them.
KEYWORDS: dict[str, Any] = {
    "_": None,
    "N_": None,
    "Plural": (1, 2),
    "ngettext": (1, 2),
    "pgettext": ((1, "c"), 2),
}
#: Functions of the lint whose title and sentences are messages without a mark.
FINDINGS = ("check", "Problem", "Need", "NotCheckedError")
SENTENCES = ("short", "why", "advice")
#: Extensions of Jinja2 in use; a template that cannot be read is an error.
OPTIONS = {"extensions": "jinja2.ext.do", "silent": "false"}
#: Fields of the words for users and items, of which a translation has its own.
NOUNS = {*Language("ko").fields}
HEADER = (
    "# Korean translations of recnb. Updated by: python -m tests.tools.translations"
)


class Messages(Catalog):
    """A catalogue whose header holds no dates, so that it changes only with its
    messages.
    """

    @property
    def mime_headers(self) -> list[tuple[str, str]]:
        return [
            ("Language", "ko"),
            ("MIME-Version", "1.0"),
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Transfer-Encoding", "8bit"),
            ("Plural-Forms", self.plural_forms),
        ]

    @mime_headers.setter
    def mime_headers(self, headers: list[tuple[str, str]]) -> None:
        pass


def path_of(lang: str) -> Path:
    """The catalogue of a language; the compiled one is beside it."""
    return LOCALE / lang / "LC_MESSAGES" / "recnb.po"


def in_python(
    file: Any, keywords: Any, comment_tags: Any, options: Any
) -> Iterator[tuple[int, str, Any, list[str]]]:
    """Extract from Python by its syntax tree, as Babel's own method finds no call
    within an f-string.
    """
    for node in ast.walk(ast.parse(file.read())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in FINDINGS:
                words = [one.value for one in node.keywords if one.arg in SENTENCES]
                for word in [*node.args, *words]:
                    if isinstance(word, ast.Constant) and isinstance(word.value, str):
                        yield word.lineno, "N_", word.value, []
            texts = [
                one.value
                for one in node.args
                if isinstance(one, ast.Constant) and isinstance(one.value, str)
            ]
            if node.func.id in keywords and texts:
                yield (
                    node.lineno,
                    node.func.id,
                    tuple(texts) if len(texts) > 1 else texts[0],
                    [],
                )


def extracted() -> Catalog:
    """All messages: those marked in Python and in templates, the words of decisions,
    what metrics are called and described by.
    """
    catalogue = Messages(project="recnb")
    for pattern, method in (("*.py", in_python), ("*.jinja", "jinja2")):
        for path in sorted(ROOT.rglob(pattern)):
            where = path.relative_to(ROOT.parent).as_posix()
            with path.open("rb") as file:
                found = sorted(
                    extract(method, file, KEYWORDS, options=OPTIONS),
                    key=lambda one: one[0],
                )
            for _lineno, message, _comments, context in found:
                catalogue.add(message, locations=[(where, 0)], context=context)
    for row in rows_of("conventions/phrases.csv"):
        for text in filter(None, (row["phrase"], row["alone"])):
            catalogue.add(text, locations=[("recnb/conventions/phrases.csv", 0)])
    for row in rows_of("widgets/quiz/slips.csv"):
        catalogue.add(row["sentence"], locations=[("recnb/widgets/quiz/slips.csv", 0)])
    for metric in LIST_METRICS.values():
        catalogue.add(metric.no_value, locations=[("recnb/metrics/metric.py", 0)])
    for argument in NEEDED:
        catalogue.add(
            missing("", argument).lack,
            locations=[("recnb/beyond/catalogue.py", 0)],
        )
    for metric in (
        *METRICS.values(),
        *RETRIEVAL_METRICS.values(),
        *LIST_METRICS.values(),
    ):
        where = f"{metric.function.__module__.replace('.', '/')}.py"
        title = " ".join((metric.function.__doc__ or "").split("\n\n")[0].split())
        for text in (
            metric.called,
            title,
            metric.sentence,
            Measure(metric).range_text if metric.name in LIST_METRICS else "",
        ):
            if text:
                catalogue.add(text, locations=[(where, 0)])
        for name in sorted(formula_names(metric)):
            catalogue.add(
                name, context="formula", locations=[("recnb/metrics/formula.py", 0)]
            )
    return catalogue


def formula_names(metric: Metric[...]) -> set[str]:
    """The names in the formulas of a metric, under each value of each option; single
    letters are the same everywhere.
    """
    choices: list[dict[str, Any]] = (
        [{}, {"distances": "given"}] if "distances" in metric.defaults else [{}]
    )
    choices += [
        {option: word} for option, words in metric.words.items() for word in words
    ]
    choices += [
        {option: not value}
        for option, value in metric.defaults.items()
        if isinstance(value, bool)
    ]
    measures = [Measure(metric, options) for options in choices]
    formulas = [measure.credit for measure in measures]
    formulas += [measure.out_of for measure in measures]
    names = {name for formula in formulas for name in formula.names()}
    return {name for name in names if len(name) > 1} | (
        {"ideal"} if any(formula.ideal() for formula in formulas) else set()
    )


def stored(lang: str) -> Catalog:
    """The catalogue as it is in the repository."""
    catalogue = Messages(locale=lang, header_comment=HEADER)
    if path_of(lang).exists():
        with path_of(lang).open("rb") as file:
            kept = read_po(file, locale=lang)
        for message in kept:
            if message.id:
                catalogue[message.id] = message
        catalogue.obsolete = kept.obsolete
    return catalogue


def updated(lang: str) -> Catalog:
    """The catalogue with the messages that there are."""
    catalogue = stored(lang)
    catalogue.update(extracted(), no_fuzzy_matching=True)
    catalogue.header_comment, catalogue.fuzzy = HEADER, False
    return catalogue


def po_of(catalogue: Catalog) -> bytes:
    """The catalogue as text, a message's places without line numbers."""
    file = io.BytesIO()
    write_po(file, catalogue, width=120, include_lineno=False)
    return file.getvalue()


def mo_of(catalogue: Catalog) -> bytes:
    """The catalogue compiled."""
    file = io.BytesIO()
    write_mo(file, catalogue)
    return file.getvalue()


def fields(text: str) -> set[str]:
    """The names of the values that are put into a message."""
    return {
        name
        for _text, name, _spec, _conversion in string.Formatter().parse(text)
        if name
    }


def problems(catalogue: Catalog) -> list[str]:
    """Messages without a translation or with one that does not fit, and translations of
    messages that are gone.
    """
    found = [f"obsolete: {message.id!r}" for message in catalogue.obsolete.values()]
    for message in catalogue:
        texts = (
            [message.string]
            if isinstance(message.string, str)
            else list(message.string or [""])
        )
        ids = [message.id] if isinstance(message.id, str) else list(message.id)
        # A metric's formula is headed by its name in Korean: an English one is not.
        # Braces of LaTeX hold no value.
        extra = {"name"} if re.match(r"add (1|\{credit\}) for each", ids[0]) else set()
        values = set().union(*map(fields, ids)) | extra
        if not message.id:
            continue  # the head
        if not all(texts):
            found.append(f"not translated: {message.id!r}")
        elif message.fuzzy:
            found.append(f"fuzzy: {message.id!r}")
        elif any(text != text.strip() for text in texts) != any(
            text != text.strip() for text in ids
        ):
            found.append(f"blanks at an end: {message.id!r}")
        elif "\\" not in str(message.string) and any(
            fields(text) - NOUNS != values - NOUNS for text in texts
        ):
            found.append(f"other values: {message.id!r} {message.string!r}")
    return found


def main() -> int:
    """Extract, update, compile; what is left to do is printed."""
    left: list[str] = []
    for lang in LANGUAGES:
        if lang != "en":
            catalogue = updated(lang)
            path_of(lang).parent.mkdir(parents=True, exist_ok=True)
            path_of(lang).write_bytes(po_of(catalogue))
            path_of(lang).with_suffix(".mo").write_bytes(mo_of(catalogue))
            left += [f"{lang}: {one}" for one in problems(catalogue)]
    print("\n".join(left) or "All messages are translated.")
    return bool(left)


if __name__ == "__main__":
    sys.exit(main())
