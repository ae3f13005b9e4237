"""The widget that shows HTML in a notebook, and sends which of its controls was used."""

from importlib import resources

import anywidget
import traitlets

FILES = resources.files("recnb.widgets")


class LiveHtml(anywidget.AnyWidget):
    """HTML with controls; using one comes back as a message of its name, its value and the key of its row."""

    _esm = FILES.joinpath("live.js").read_text("utf-8")
    _css = FILES.joinpath("live.css").read_text("utf-8")

    html = traitlets.Unicode().tag(sync=True)
