"""The front page: the README's first screen, six cards, the playground after each of some
moves, and a gallery of the notebooks.

A page has no kernel, so what a reader of the playground chooses between is made here, by
the methods that a notebook has. Choosing needs no script: they are the tabs of a report.
"""

from __future__ import annotations

import json
import re

from markupsafe import Markup

from recnb.display.templates import _environment, framed
from recnb.widgets import Playground
from tests.tools.notebooks import BUILT, ROOT
from tests.tools.site.mathml import with_formulas

#: What a reader comes for, the page of the repository that has it, and in few words what
#: is there.
CARDS = (
    (
        "Your data",
        "recnb/data/README.md",
        (
            "Frames, dictionaries, files, logs of questions, predictions of a model: what to "
            "type for what you have."
        ),
    ),
    (
        "Which metric?",
        "recnb/metrics/README.md",
        (
            "Recall, nDCG, average precision, novelty and others: what each means, its "
            "formula, its bounds, and how to make one of your own."
        ),
    ),
    (
        "How sure is it?",
        "recnb/stats/README.md",
        (
            "Confidence intervals, models compared with corrected tests, groups of users, "
            "weeks and folds."
        ),
    ),
    (
        "Whose number is it?",
        "recnb/conventions/README.md",
        (
            "The conventions of other libraries by name, and why two numbers for the same "
            "lists differ."
        ),
    ),
    (
        "A gate in CI",
        "recnb/cli/README.md",
        (
            "A report on the command line, and an exit code that stops a release that is "
            "worse."
        ),
    ),
    (
        "In a training loop",
        "recnb/TRAINING.md",
        "A metric after each epoch, beside scikit-learn, LightGBM, XGBoost and MLflow.",
    ),
)
#: A row of the table of notebooks in their README: number, file, question.
ROW = re.compile(r"^\| \[(\w+)\]\((\w+\.ipynb)\) \| (.*) \|$", re.MULTILINE)
WORDS = (
    "A list of six items, scored by four metrics. "
    "Choose a move to see which terms it changes. In a notebook, `recnb.playground()` "
    "shows the same list, whose items are dragged."
)
#: What is done, one after the other, in words and as it is typed.
MOVES = (
    ("The list", "play = recnb.playground()"),
    ("Move C to the top", 'play.move("C", 1)'),
    ("Take G in", 'play.move("G", 3)'),
    ("Cut at 3", "play.change(k=3)"),
    ("Exponential gain", 'play.change(gain="exponential")'),
)


def front_page() -> str:
    """Return the front page, with links from the top of the repository."""
    readme = (ROOT / "README.md").read_text("utf-8")
    first_screen = readme.partition("\n- **")[0]
    install = re.findall(r"```sh\n.*?```", readme, re.DOTALL)[0]
    raw = f"```````{{raw}} html\n{playground()}\n```````"
    sections = [
        first_screen.rstrip(),
        _list("cards", [f"**[{name}]({page})** {text}" for name, page, text in CARDS]),
        "## Start",
        "In a clone of recnb, with Python 3.11 or newer:",
        install,
        "[Start](README.md) has what to type for your data and your question.",
        "## What one move changes",
        WORDS,
        raw,
        "## Notebooks",
        _list("gallery", _gallery()),
    ]
    return "\n\n".join(sections) + "\n"


def _list(name: str, rows: list[str]) -> str:
    """Return a list of Markdown that the style sheet lays out by its class."""
    lines = [f"- {row}" for row in rows]
    return "\n".join([f"{{.recnb-{name}}}", *lines])


def _gallery() -> list[str]:
    """Return each notebook by its title with the question that it answers."""
    table = (BUILT / "README.md").read_text("utf-8")
    rows = []
    for _number, file, question in ROW.findall(table):
        first_cell = json.loads((BUILT / file).read_text("utf-8"))["cells"][0]
        title = "".join(first_cell["source"]).partition("\n")[0].removeprefix("# ")
        korean = f"[한국어](notebooks/ko/{file})"
        rows.append(f"**[{title}](notebooks/{file})** {question} {korean}")
    return rows


def playground() -> str:
    """Return the playground after each move, each behind a tab."""
    play = Playground()
    bodies = [_body(play, *MOVES[0])]
    for title, code in MOVES[1:]:
        exec(code, {"play": play})  # a line of the table above
        bodies.append(_body(play, title, code))
    tabs = _environment("html").get_template("display/html.jinja").module
    sections = [
        tabs.section(title, "recnb-moves", number == 0, caller=lambda body=body: body)
        for number, (title, body) in enumerate(bodies)
    ]
    moves = tabs.tabs("moves", caller=lambda: Markup("").join(sections))
    return with_formulas(framed("playground", moves))


def _body(play: Playground, title: str, code: str) -> tuple[str, Markup]:
    """Return what is behind one tab, the worked calculation folded."""
    body = Markup(
        "<p><code>{code}</code></p>{list}"
        "<details><summary>The calculation, term by term</summary>{worked}</details>"
    )
    worked = Markup("".join(play._worked()))
    return title, body.format(
        code=code, list=Markup(play._html(live=False)), worked=worked
    )
