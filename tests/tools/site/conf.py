"""What Sphinx reads: extensions, the theme, and how docstrings are shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import recnb
from tests.tools.site import docstrings, mathml, reference
from tests.tools.site.pages import TOP

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "recnb"
author = "The recnb developers"
release = recnb.__version__
language = "en"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_nb",
]
root_doc = "index"
default_role = "py:obj"  # a name in backquotes leads to its page, if it has one

# Docstrings.
autosummary_generate = False
toc_object_entries_show_parents = "hide"
smartquotes = False  # quotes in the text are those of strings, which are copied
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
maximum_signature_line_length = 80
numpydoc_show_class_members = False
add_module_names = False

# Markdown and notebooks, which are never run.
nb_execution_mode = "off"
nb_ipywidgets_js: dict[str, Any] = {}  # widgets are stored as they start, as HTML
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath", "attrs_block"]
myst_dmath_allow_labels = False
myst_dmath_allow_space = False
myst_dmath_allow_digits = False

# What is shown.
html_theme = "pydata_sphinx_theme"
html_title = f"recnb {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "recnb"},
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "primary_sidebar_end": [],
    "header_links_before_dropdown": 5,
    "show_toc_level": 2,
    "navigation_depth": 2,
    "show_prev_next": True,
}
#: A page that stands alone has no list of pages beside it, and more room.
html_sidebars: dict[str, list[str]] = {
    page: [] for page in ["index", *TOP] if "/" not in page
}
html_context = {"default_mode": "auto"}
copyright = author


def setup(app: Sphinx) -> dict[str, bool]:
    """Add what recnb's pages need."""
    mathml.register(app)
    docstrings.register(app)
    reference.register(app)
    app.connect("html-page-context", _set_language)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _set_language(
    _app: Sphinx, page: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Say of a Korean page that it is Korean, for fonts, line breaks and readers."""
    if page.startswith("notebooks/ko/"):
        context["language"] = "ko"
